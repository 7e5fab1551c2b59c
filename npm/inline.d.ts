/**
 * All of `caphost` and `caphost/agent` in a single file, with the wasm inside: for esbuild, extensions,
 * user scripts, and wherever nothing can be fetched. A Content-Security-Policy must allow
 * `script-src 'wasm-unsafe-eval'`, as for any WebAssembly.
 *
 * Import from here alone: `caphost` beside it would be a second copy.
 */
export * from './agent.js';
export * from './index.js';
