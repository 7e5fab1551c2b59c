/**
 * The wasm module as a part of the JavaScript: the build of `inline.js` uses this file in place of
 * `wasm.js`.
 */
// @ts-ignore: the build turns this import into bytes.
import bytes from '#wasm-bytes';
import { instance } from './instance.js';

/** The crate's exports. */
export const load = () => instance(async () => bytes);
