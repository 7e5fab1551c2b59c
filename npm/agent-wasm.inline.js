/**
 * The wasm module of agents as a part of the JavaScript: the build of a single file uses this file in
 * place of `agent-wasm.js`.
 */
import glue from 'object:#agent';
// @ts-ignore: the build turns this import into bytes.
import bytes from '#agent-bytes';
import functions from 'object:../src/web/js/rust/agent.js';
import { once } from './instance.js';

/** The functions of the wasm half, once the module is loaded. */
export const load = once(async () => bytes, glue, functions, glue.agentHandle);
