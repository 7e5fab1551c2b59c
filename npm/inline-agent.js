/**
 * Agents in a single file that includes the wasm: it fetches nothing and imports nothing.
 */
export * from './agent.js';
