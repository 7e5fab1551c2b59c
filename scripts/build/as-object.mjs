const PREFIX = 'object:';

/**
 * Gives a module as an object of its exports: `import glue from 'object:#agent'`. For `import * as glue`, esbuild uses a
 * helper of its own, which it puts into a separate file that every page would load.
 *
 * @type {import('esbuild').Plugin}
 */
export const asObject = {
  name: 'as-object',
  setup({ esbuild, onLoad, onResolve, resolve }) {
    onResolve({ filter: /^object:/ }, async ({ path, importer, kind, namespace, resolveDir }) => {
      const found = await resolve(path.slice(PREFIX.length), { importer, kind, namespace, resolveDir });
      return { path: found.path, errors: found.errors, namespace: 'object' };
    });
    onLoad({ filter: /./, namespace: 'object' }, async ({ path }) => {
      const { metafile } = await esbuild.build({ entryPoints: [path], format: 'esm', metafile: true, outdir: '.', write: false });
      const names = Object.values(metafile.outputs).flatMap((it) => it.exports).join(', ');
      return { contents: `import { ${names} } from ${JSON.stringify(path)};\nexport default { ${names} };`, resolveDir: '/' };
    });
  },
};
