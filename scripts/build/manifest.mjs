// Prints the ABP manifest of a built demo: node manifest.mjs <folder of the built page>

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = resolve(process.argv[2] ?? '.');
const demo = await import(pathToFileURL(join(folder, 'caphost_demo.js')).href);
await demo.default({ module_or_path: readFileSync(join(folder, 'caphost_demo_bg.wasm')) });
const manifest = await demo.manifest();
const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
const lines = `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
// A host may keep timers, so the process exits once the manifest is printed.
process.stdout.write(lines, () => process.exit(0));
