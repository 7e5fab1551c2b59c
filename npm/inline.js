/**
 * Hosts and agents in a single file that includes the wasm: it fetches nothing and imports nothing.
 */
export * from './agent.js';
export * from './index.js';
