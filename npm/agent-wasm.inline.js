/**
 * The wasm module of agents as a part of the JavaScript: the build of `inline.js` uses this file in
 * place of `agent-wasm.js`.
 */
// @ts-ignore: the build turns this import into bytes.
import bytes from '#agent-bytes';
import init, { agentHandle } from '#agent';
import { once } from './instance.js';

/** The functions of the wasm half, once the module is loaded. */
export const load = once(init, async () => bytes, agentHandle);
