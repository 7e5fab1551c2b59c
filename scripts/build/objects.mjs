import { readFileSync, writeFileSync } from 'node:fs';

/** How esbuild makes the namespace of a module. */
const NAMESPACE = /for \(var ([\w$]+) in ([\w$]+)\)(\s+)([\w$]+)\(([\w$]+), \1, \{ get: \2\[\1\], enumerable: (!0|true) \}\);/g;

/**
 * Lets modules load in pages that have added members to `Object.prototype`: esbuild goes through the members
 * of objects with `for…in`, and describes properties with objects that inherit. Lines keep their numbers, so
 * source maps stay right if the output has its lines.
 *
 * @param {string[]} files output of esbuild, which is overwritten
 */
export function readOwnMembersOnly(files) {
  for (const file of files) {
    const before = readFileSync(file, 'utf8');
    const after = before.replace(NAMESPACE, 'for (var $1 of Object.keys($2))$3$4($5, $1, { __proto__: null, get: $2[$1], enumerable: $6 });');
    if (/\{ ?get: ?([\w$]+)\[([\w$]+)\]/.test(after)) throw new Error(`esbuild makes namespaces in another way in ${file}`);
    if (after !== before) writeFileSync(file, after);
  }
}
