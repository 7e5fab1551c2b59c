/**
 * The wasm module of hosts. The build puts it beside the entry points.
 */
import * as glue from '#host';
import * as functions from '../src/web/js/rust/host.js';
import { once } from './instance.js';
import { fetched } from './wasm.js';

// A bundler follows a URL only if its text is here.
const bytes = fetched(() => new URL('./host.wasm', import.meta.url));

/** The functions of the wasm half, once the module is loaded. */
export const load = once(bytes, glue, functions, glue.hostHandle);
