// Made of ../js by `npm run build`, and to be changed there.

// src/web/js/consent/visible.js
var HIDDEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;
var visible = (text) => text.replace(HIDDEN, (it) => `\\u{${it.codePointAt(0)?.toString(16)}}`);
var VALUES = 1e4;
var LEVELS = 100;
function shown(value, most) {
  const text = new Text(most);
  text.write(value, LEVELS);
  const characters = visible(text.text.slice(0, most));
  const more = text.length - most;
  if (more <= 0) return characters;
  return `${characters}… (${text.values < 0 ? "more than " : ""}${more} more characters)`;
}
var Text = class {
  text = "";
  /** Characters of the whole text, of which only the first are kept. */
  length = 0;
  /** The number of values that may still be read; negative if there are more. */
  values = VALUES;
  #most;
  /** @param {number} most characters that are kept */
  constructor(most) {
    this.#most = most;
  }
  /** @param {unknown} value @param {number} levels that objects may still be nested */
  write(value, levels) {
    this.values -= 1;
    if (typeof value === "string") this.#quote(value);
    else if (typeof value === "number") this.#put(Object.is(value, -0) ? "-0" : String(value));
    else if (typeof value === "bigint") this.#put(`${value}n`);
    else if (typeof value === "function" || typeof value === "symbol") this.#put(typeof value);
    else if (typeof value !== "object" || value === null) this.#put(String(value));
    else if (levels === 0) this.#put("…");
    else this.#object(value, levels - 1);
  }
  /** @param {object} object @param {number} levels */
  #object(object, levels) {
    let kind = "object";
    try {
      kind = kindOf(object);
      if (kind !== "Object" && kind !== "Array") return this.#put(ofKind(kind, object));
      const names = Object.keys(object);
      const { length } = (
        /** @type {any[]} */
        object
      );
      const list = kind === "Array" && names.length === length && names.every((name, at) => name === String(at));
      this.#put(list ? "[" : kind === "Array" ? `Array(${length}){` : "{");
      this.#members(object, names, list, levels);
      return this.#put(list ? "]" : "}");
    } catch {
      return this.#put(kind);
    }
  }
  /** @param {object} object @param {string[]} names @param {boolean} list @param {number} levels */
  #members(object, names, list, levels) {
    let comma = false;
    for (const name of names) {
      if (this.values < 0) return;
      if (comma) this.#put(",");
      comma = true;
      if (!list) {
        this.#quote(name);
        this.#put(":");
      }
      const member = (
        /** @type {PropertyDescriptor} */
        Object.getOwnPropertyDescriptor(object, name)
      );
      if (Object.hasOwn(member, "value")) this.write(member.value, levels);
      else this.#put("getter");
    }
  }
  /** @param {string} it */
  #quote(it) {
    const begin = it.slice(0, this.#most);
    if (this.length >= this.#most) this.length += it.length + 2;
    else {
      this.#put(JSON.stringify(begin));
      this.length += it.length - begin.length;
    }
  }
  /** @param {string} piece */
  #put(piece) {
    if (this.length < this.#most) this.text += piece;
    this.length += piece.length;
  }
};
var kindOf = (it) => Array.isArray(it) ? "Array" : Object.hasOwn(it, Symbol.toStringTag) ? "Object" : Object.prototype.toString.call(it).slice(8, -1);
function ofKind(kind, it) {
  if (kind === "Date") return Date.prototype.toISOString.call(it);
  if (kind === "Map" || kind === "Set") return `${kind}(${it.size})`;
  if (ArrayBuffer.isView(it)) return `${kind}(${it.byteLength})`;
  return kind;
}

// src/web/js/consent/ask-agent.js
var MOST = 1e3;
async function askAgent(shell, key, { callId, capability }, params) {
  const { title = capability } = shell.capabilities.find(capability) ?? {};
  const request = {
    method: "elicitation/confirm",
    message: `Allow "${title}" in ${shell.app.name}?
${shown(params, MOST)}`,
    callId,
    capability,
    requestedSchema: { type: "object", properties: { confirmed: { type: "boolean", title: `Allow "${title}"` } }, required: ["confirmed"] }
  };
  const answer = await shell.asks.agent(request, shell.rust.elicit, key);
  shell.rust.consent(shell.number, key, verdict(answer));
}
function verdict({ success, data, cancelled, error }) {
  if (success && (data === true || data?.confirmed === true)) return 1;
  return success || cancelled || error?.code === "PERMISSION_DENIED" ? 2 : 0;
}
export {
  askAgent
};
