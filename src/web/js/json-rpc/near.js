/**
 * Finds existing names that are close to an unknown name, the same as in `src/offers/near.rs`, by the
 * same vectors. Tools have names of their own, so the wasm module does not know them.
 */

/** How many names are suggested, and among how many names they are searched. */
const SAID = 3;
const LOOKED_AT = 1024;
/** The length above which a name is not taken for a typing mistake. */
const LONGEST = 64;
/** The number of letters that may differ, for names of any length. */
const MOST = 4;

/**
 * The names that `name` may stand for, the nearest first: a few letters differ in one place, or `name`
 * is the end of them.
 *
 * @param {string} name
 * @param {string[]} names
 * @returns {string[]}
 */
export function near(name, names) {
  if (name === '' || name.length > LONGEST) return [];
  const most = Math.min(Math.max(Math.floor(name.length / 3), 1), MOST);
  const far = names.slice(0, LOOKED_AT).map((it) => ({ it, by: it.endsWith(`.${name}`) || it.endsWith(`_${name}`) ? most : difference(name.toLowerCase(), it.toLowerCase()) }));
  return far.filter(({ by }) => by <= most).sort((one, other) => one.by - other.by).slice(0, SAID).map(({ it }) => it);
}

/**
 * The number of letters that differ in one place: the rest of the longer name, without the common
 * beginning and the common end of both names.
 *
 * @param {string} one
 * @param {string} other
 */
function difference(one, other) {
  let [begin, end] = [0, 0];
  while (begin < one.length && one[begin] === other[begin]) begin += 1;
  while (end < one.length && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const both = Math.min(begin + end, one.length, other.length);
  return Math.max(one.length, other.length) - both;
}
