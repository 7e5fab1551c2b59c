/** The part of the module that wasm-bindgen builds from the demo crate that the page uses. */
import type { Host } from './protocol.js';

export default function init(): Promise<unknown>;
export function createDemo(): Host | Promise<Host>;
