// Bundles the content script, the wasm included: node build.mjs [folder to write to]

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const [outdir = join(here, 'dist')] = process.argv.slice(2);

// A content script is no module, and can fetch nothing beside it: hence the file with the wasm inside.
await build({ entryPoints: [join(here, 'content.js')], outdir, bundle: true, format: 'iife', target: 'chrome116', minify: true });
