/**
 * All of `caphost` in a single file that contains the wasm, see `caphost/inline`.
 */
export * from './index.js';
