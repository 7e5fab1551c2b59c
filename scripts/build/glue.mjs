import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Leaves out of wasm-bindgen's glue what the package's module does without: the ways around
 * browsers that cannot run the package anyway, and functions that only pass on what they are given.
 * The classes, which are private in an app in Rust, are what the package takes of the module.
 *
 * @param {string} file the glue, its names shortened already
 */
export function trimGlue(file) {
  writeFileSync(file, trim(readFileSync(file, 'utf8')));
}

/** @param {string} glue */
export function trim(glue) {
  /** @type {string[]} */
  const links = [];
  const trimmed = glue
    .replace(/^class (\w+) \{\n([^]*?)^\}\n(?:if \(Symbol\.dispose\).*\n)?/gm, (_, name, body) => {
      const [rest, names] = withoutPassingOn(body);
      links.push(`    Object.assign(${name}, { ${names.join(', ')} });\n`);
      return `export class ${name} {\n${rest}}\n`;
    })
    .replace(/^const \w+Finalization = [^]*?;\n/gm, '')
    .replace(/^if \(!\('encodeInto' in cachedTextEncoder\)\) \{\n[^]*?^\}\n/m, '')
    .replace(/^ {4}if \(realloc === undefined\) \{\n[^]*?^ {4}\}\n/m, '')
    // Numbers that name something come back as they were given out: signed, both ways.
    .replace(/\b(arg\d+) >>> 0(?=[,)])(?!\) \+)/g, '$1');
  return trimmed.replace(/^ {4}wasm = instance\.exports;\n/m, (line) => line + links.join(''));
}

/**
 * The class of functions that a struct becomes: those of its methods that pass on their arguments
 * and what is returned are the module's own, once there is one. A boolean is 1 or 0 then, which the
 * JavaScript beside the crate takes as well.
 *
 * @param {string} body of the class
 * @returns {[rest: string, names: string[]]}
 */
function withoutPassingOn(body) {
  /** @type {string[]} */
  const names = [];
  const rest = body
    .replace(/^ {4}\/\*\*\n(?: {5}\*.*\n)+/gm, '')
    // Nothing is ever made of these classes.
    .replace(/^ {4}(?:__destroy_into_raw|free)\(\) \{\n[^]*?^ {4}\}\n/gm, '')
    .replace(
      /^ {4}static (\w+)\((.*)\) \{\n {8}(?:const ret = )?wasm\.(\S+?)\((.*)\);\n(?: {8}return ret(?: >>> 0| !== 0)?;\n)? {4}\}\n/gm,
      (whole, method, params, short, args) => {
        if (params !== args) return whole;
        names.push(`${method}: wasm.${short}`);
        return '';
      },
    );
  return [rest, names];
}
