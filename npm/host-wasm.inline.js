/**
 * The wasm module of hosts as a part of the JavaScript: the build of `inline.js` uses this file in
 * place of `host-wasm.js`.
 */
// @ts-ignore: the build turns this import into bytes.
import bytes from '#host-bytes';
import init, { hostHandle } from '#host';
import { once } from './instance.js';

/** The functions of the wasm half, once the module is loaded. */
export const load = once(init, async () => bytes, hostHandle);
