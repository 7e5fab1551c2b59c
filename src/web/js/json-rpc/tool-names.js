/**
 * The names that capabilities have as tools, as `gateway/src/broker/tool_names.rs` gives them, by the same vectors.
 */

/** As many characters as every interface to a model takes. */
const MAX = 64;

/**
 * For each name of a capability the name of its tool: unique, of 1 to 64 letters, digits, `_` and `-`, and the
 * same for the same set of names, whatever their order. A name that is so already stays. Any other is made
 * plain, and where that is too long, says nothing or is another's, its hash tells it from the others.
 *
 * @param {string[]} names
 * @returns {string[]}
 */
export function toolNames(names) {
  const plain = names.map((name) => name.replace(/[^\w-]/gu, '_'));
  /** @type {Map<string, number>} */
  const alike = new Map();
  for (const name of plain) alike.set(name, (alike.get(name) ?? 0) + 1);
  /** @type {string[]} */
  const given = [];
  const taken = new Set();
  const rest = [];
  for (const [at, name] of plain.entries()) {
    if (isFit(name) && (name === names[at] || alike.get(name) === 1)) taken.add((given[at] = name));
    else rest.push(at);
  }
  const bytes = new Map(rest.map((at) => [at, utf8(names[at])]));
  rest.sort((one, other) => inOrder(bytes.get(one), bytes.get(other)));
  for (const at of rest) taken.add((given[at] = toldApart(String(plain[at]), String(names[at]), taken)));
  return given;
}

/** @param {string} name */
const isFit = (name) => name.length <= MAX && /[A-Za-z0-9]/.test(name);

/**
 * A plain name with the hash of the name it is made of; with that of a longer one, if it is taken.
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
