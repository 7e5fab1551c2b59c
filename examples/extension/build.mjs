// Bundles the content script with the wasm.

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));

// A content script is no module and cannot fetch files of the package, so the wasm is inside this file.
await build({ entryPoints: [join(here, 'content.js')], outdir: join(here, 'dist'), bundle: true, format: 'iife', target: 'chrome116', minify: true });
