import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * Makes what esbuild has made small smaller still, by some 3 % of what is sent.
 *
 * @param {string[]} files of JavaScript modules, which are overwritten
 */
export async function minifyModules(files) {
  // Only now: a fresh clone has no terser until the set-up has run.
  const { minify } = await import('terser');
  for (const file of files) {
    const mapped = `${file}.map`;
    const sourceMap = existsSync(mapped) && { content: readFileSync(mapped, 'utf8'), url: basename(mapped) };
    // Nobody constructs a function that is no class, so each may be an arrow.
    const compress = { passes: 3, unsafe_arrows: true, unsafe_methods: true };
    const { code, map } = await minify(readFileSync(file, 'utf8'), { module: true, ecma: 2020, compress, sourceMap });
    if (!code) throw new Error(`terser has made nothing of ${file}`);
    writeFileSync(file, code);
    if (sourceMap) writeFileSync(mapped, String(map));
  }
}
