import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Removes from wasm-bindgen's glue what the package's module does not need: workarounds for
 * browsers that cannot run the package anyway, and functions that only pass on their arguments. The
 * package uses the exported classes; in an app written in Rust they are private.
 *
 * @param {string} file the glue, with names that are already shortened
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
    // Numbers that name something come back as they were sent: signed in both directions.
    .replace(/\b(arg\d+) >>> 0(?=[,)])(?!\) \+)/g, '$1');
  return trimmed.replace(/^ {4}wasm = instance\.exports;\n/m, (line) => line + links.join(''));
}

/**
 * The class of functions that a struct becomes. Methods that only pass on their arguments and
 * results are replaced by the module's own functions, once the module is there. A boolean is then 1
 * or 0, which the JavaScript beside the crate accepts as well.
 *
 * @param {string} body of the class
 * @returns {[rest: string, names: string[]]}
 */
function withoutPassingOn(body) {
  /** @type {string[]} */
  const names = [];
  const rest = body
    .replace(/^ {4}\/\*\*\n(?: {5}\*.*\n)+/gm, '')
    // Nobody makes objects of these classes.
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
