import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Makes what esbuild has made small smaller still, by some 3 % of what is sent.
 *
 * @param {string[]} files of JavaScript modules, which are overwritten
 */
export async function minifyModules(files) {
  // Only now: a fresh clone has no terser until the set-up has run.
  const { minify } = await import('terser');
  for (const file of files) {
    const { code } = await minify(readFileSync(file, 'utf8'), { module: true, ecma: 2020, compress: { passes: 3 } });
    if (!code) throw new Error(`terser has made nothing of ${file}`);
    writeFileSync(file, code);
  }
}
