/**
 * Hosts and agents in a single file, the wasm included: nothing is fetched, and nothing is imported.
 */
export * from './agent.js';
export * from './index.js';
