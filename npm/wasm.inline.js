/**
 * The wasm module as a part of the JavaScript: the build of `inline.js` takes this in place of `wasm.js`.
 */
// @ts-ignore: the build makes bytes of it.
import bytes from '#wasm-bytes';
import { instance } from './instance.js';

/** The crate's exports. */
export const load = () => instance(async () => bytes);
