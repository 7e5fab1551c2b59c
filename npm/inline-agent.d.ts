/**
 * All of `caphost/agent` in a single file that contains the wasm, see `caphost/inline`.
 */
export * from './agent.js';
