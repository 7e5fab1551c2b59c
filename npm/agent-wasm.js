/**
 * The wasm module of agents. The build puts it beside the entry points.
 */
import glue from 'object:#agent';
import functions from 'object:../src/web/js/rust/agent.js';
import { once } from './instance.js';
import { fetched } from './wasm.js';

// A bundler follows a URL only if the text of the URL is in this file.
const bytes = fetched(() => new URL('./agent.wasm', import.meta.url));

/** Loads the module. Resolves to its functions. */
export const load = once(bytes, glue, functions, glue.agentHandle);
