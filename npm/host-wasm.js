/**
 * The wasm module of hosts. The build puts it beside the entry points.
 */
import init, { hostHandle } from '#host';
import { fetched } from './wasm.js';
import { once } from './instance.js';

// A bundler follows a URL only if its text is here.
const bytes = fetched(() => new URL('./host.wasm', import.meta.url));

/** The functions of the wasm half, once the module is loaded. */
export const load = once(init, bytes, hostHandle);
