/** Node's `fetch` cannot read files: entry points for Node import this module first. */
import { readFile } from 'node:fs/promises';
import { abpError, text } from '../src/web/js/errors.js';
import { readWith } from './wasm.js';

readWith(async (url) => {
  try {
    return await readFile(url);
  } catch (error) {
    throw abpError('INTERNAL_ERROR', `The wasm of caphost is not at ${url}: ${text(error)}. ${REMEDY}`);
  }
});

const REMEDY = "Keep the package out of a server's bundle, in Next.js with serverExternalPackages: ['caphost']; or import from 'caphost/inline'.";
