import { readFileSync, writeFileSync } from 'node:fs';

/** The option that makes wasm-opt shorten the names in a module, and print the old and new names. */
export const shorten = '--minify-imports-and-exports-and-modules';

/**
 * A module and its glue call each other by long names that contain hashes and hardly compress. This
 * applies the short names that wasm-opt has chosen to the glue. The glue also gets a function that
 * starts it with an instance, so that a bundler can leave out wasm-bindgen's own ways of loading
 * one.
 *
 * @param {string} glue the JavaScript file; its type file is beside it
 * @param {string} printed what wasm-opt printed
 */
export function shortenNames(glue, printed) {
  const names = JSON.parse(printed.slice(printed.indexOf('{'), printed.lastIndexOf('}') + 1));
  writeFileSync(glue, rewrite(readFileSync(glue, 'utf8'), names));
  const types = glue.replace(/\.js$/, '.d.ts');
  writeFileSync(types, `${readFileSync(types, 'utf8')}
export const HostHandle: any;
export const AgentHandle: any;
/** What the module imports. */
export function imports(): WebAssembly.Imports;
/** Has everything exported here work with this instance. */
export function start(instance: WebAssembly.Instance): void;
`);
}

/**
 * @param {string} glue
 * @param {{ imports: [module: string, from: string, to: string][], exports: [from: string, to: string][] }} names
 */
function rewrite(glue, { imports, exports }) {
  const exported = new Map(exports);
  const own = new Map(imports.filter(([module]) => module.endsWith('_bg.js')).map(([, from, to]) => [from, to]));
  const snippets = imports.filter(([module]) => !module.endsWith('_bg.js'));
  const modules = new Map([...glue.matchAll(/^import \* as (\w+) from "(.+)"$/gm)].map(([, name, path]) => [path, name]));
  const entries = snippets.map(([module, from, to]) => `${to}: ${modules.get(module)}.${from}`);
  const [whole = '', body = ''] = /^function __wbg_get_imports\(\) \{\n([^]*?)^\}$/m.exec(glue) ?? [];
  const table = body.slice(0, body.lastIndexOf('    return {'))
    .replace(/^ {8}(\w+): function/gm, (_, name) => `        ${own.get(name)}: function`);
  return glue
    .replace(whole, () => `function __wbg_get_imports() {\n${table}    return { a: { ...import0, ${entries.join(', ')} } };\n}`)
    .replace(/\bwasm\.(\w+)/g, (found, name) => (exported.has(name) ? `wasm.${exported.get(name)}` : found))
    .concat('export { __wbg_get_imports as imports, __wbg_finalize_init as start };\n');
}
