/** In Node `fetch` reads no files: entry points for it import this module first. */
import { readFile } from 'node:fs/promises';
import { loadFrom } from './wasm.js';

loadFrom(() => readFile(new URL('./caphost_bg.wasm', import.meta.url)));
