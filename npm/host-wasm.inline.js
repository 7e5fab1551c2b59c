/**
 * The wasm module of hosts as a part of the JavaScript: the build of a single file uses this file in
 * place of `host-wasm.js`.
 */
import glue from 'object:#host';
// @ts-ignore: the build turns this import into bytes.
import bytes from '#host-bytes';
import functions from 'object:../src/web/js/rust/host.js';
import { once } from './instance.js';

/** The functions of the wasm half, once the module is loaded. */
export const load = once(async () => bytes, glue, functions, glue.hostHandle);
