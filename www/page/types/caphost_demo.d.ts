/** The module wasm-bindgen builds from the demo crate, as far as the page uses it. */
import type { Host } from './protocol.js';

export default function init(): Promise<unknown>;
export function createDemo(): Host | Promise<Host>;
