/**
 * The wasm module of agents as a part of the JavaScript: the build of a single file uses this file in
 * place of `agent-wasm.js`.
 */
import * as glue from '#agent';
// @ts-ignore: the build turns this import into bytes.
import bytes from '#agent-bytes';
import * as functions from '../src/web/js/rust/agent.js';
import { once } from './instance.js';

/** The functions of the wasm half, once the module is loaded. */
export const load = once(async () => bytes, glue, functions, glue.agentHandle);
