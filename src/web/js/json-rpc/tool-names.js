/**
 * The tool names of capabilities, the same as in `gateway/src/broker/apps/tool_names.rs`, by the same
 * vectors.
 */

/** The number of characters that every model interface accepts. */
const MAX = 64;

/**
 * The name of the tool for each name of a capability. Tool names are unique, have 1 to 64 letters,
 * digits, `_` and `-`, and are the same for the same set of names in any order. A name of this form
 * stays. Any other name is simplified. If the simple name is too long, empty, or already taken, a hash
 * makes it unique.
 *
 * @param {string[]} names
 * @returns {string[]}
 */
export function toolNames(names) {
  const plainNames = names.map(plain);
  /** @type {Map<string, number>} */
  const alike = new Map();
  for (const name of plainNames) alike.set(name, (alike.get(name) ?? 0) + 1);
  /** @type {string[]} */
  const given = [];
  const taken = new Set();
  const rest = [];
  for (const [at, name] of plainNames.entries()) {
    if (isFit(name) && (name === names[at] || alike.get(name) === 1)) taken.add((given[at] = name));
    else rest.push(at);
  }
  const bytes = new Map(rest.map((at) => [at, utf8(names[at])]));
  rest.sort((one, other) => inOrder(bytes.get(one), bytes.get(other)));
  for (const at of rest) taken.add((given[at] = toldApart(String(plainNames[at]), String(names[at]), taken)));
  return given;
}

/** A name with `_` in place of everything but letters, digits, `_` and `-`. @param {string} name */
export const plain = (name) => name.replace(/[^\w-]/gu, '_');

/** @param {string} name */
const isFit = (name) => name.length <= MAX && /[A-Za-z0-9]/.test(name);

/**
 * A simplified name with the hash of its original name; with the hash of a longer text, if that is
 * taken.
 *
 * @param {string} plain
 * @param {string} name
 * @param {Set<string>} taken
 */
function toldApart(plain, name, taken) {
  for (let salted = name; ; salted += '+') {
    const hash = fnv1a(utf8(salted)).toString(16).padStart(8, '0');
    const found = `${/[A-Za-z0-9]/.test(plain) ? plain.slice(0, MAX - 1 - hash.length) : 'tool'}_${hash}`;
    if (!taken.has(found)) return found;
  }
}

/** @param {string | undefined} text */
const utf8 = (text) => new TextEncoder().encode(text);

/** @param {Uint8Array | undefined} one @param {Uint8Array | undefined} other */
function inOrder(one = new Uint8Array(), other = new Uint8Array()) {
  const at = one.findIndex((byte, index) => byte !== other[index]);
  return at < 0 ? one.length - other.length : Number(one[at]) - (other[at] ?? -1);
}

/** The hash FNV-1a of 32 bits. @param {Uint8Array} bytes */
const fnv1a = (bytes) => bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5) >>> 0;
