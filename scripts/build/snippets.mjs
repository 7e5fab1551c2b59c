import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../paths.mjs';

/** The folder of each crate's sources, by the name that wasm-bindgen gives their copies. @type {Record<string, string>} */
const crates = { caphost: root, 'caphost-demo': join(root, 'www') };

/**
 * wasm-bindgen copies the JavaScript modules that Rust names to a folder beside its glue. This
 * plugin resolves an import of a copy to the original module, so that a direct import of the same
 * module gives no second instance. The crate has bundles of its modules, see `crate-glue.mjs`.
 *
 * @type {import('esbuild').Plugin}
 */
export const oneCopyOfSnippets = {
  name: 'one-copy-of-snippets',
  setup(build) {
    build.onResolve({ filter: /[\\/]snippets[\\/]/ }, ({ path, importer }) => {
      const [, crate = '', rest = ''] = /[\\/]snippets[\\/](.+)-[0-9a-f]{8,}[\\/](.+)$/.exec(path) ?? [];
      const home = crates[crate];
      const original = home && join(home, rest.replace(/^src[\\/]web[\\/]bundled[\\/]page\.js$/, `src/web/js/${calledBy(importer)}`));
      // Inline snippets exist nowhere else.
      return original && existsSync(original) ? { path: original } : undefined;
    });
  },
};

/**
 * The glue imports a module whole. The glue of one role therefore gets what this role calls.
 *
 * @param {string} glue
 * @returns {string} the module of what Rust calls there
 */
function calledBy(glue) {
  const [, role] = /[\\/]glue[\\/](host|agent)[\\/]/.exec(glue) ?? [];
  return role ? `rust/${role}.js` : 'rust.js';
}
