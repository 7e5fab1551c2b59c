/**
 * Hosts in a single file that includes the wasm: it fetches nothing and imports nothing.
 */
export * from './index.js';
