/**
 * The wasm module of agents. The build puts it beside the entry points.
 */
import init, { agentHandle } from '#agent';
import { fetched } from './wasm.js';
import { once } from './instance.js';

// A bundler follows a URL only if its text is here.
const bytes = fetched(() => new URL('./agent.wasm', import.meta.url));

/** The functions of the wasm half, once the module is loaded. */
export const load = once(init, bytes, agentHandle);
