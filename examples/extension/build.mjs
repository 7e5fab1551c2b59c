// Bundles the content script, the wasm included.

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));

// A content script is no module, and can fetch nothing beside it: hence the file with the wasm inside.
await build({ entryPoints: [join(here, 'content.js')], outdir: join(here, 'dist'), bundle: true, format: 'iife', target: 'chrome116', minify: true });
