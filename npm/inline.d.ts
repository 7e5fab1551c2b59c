/**
 * All of `caphost` and `caphost/agent` in a single file that contains the wasm: for esbuild, extensions,
 * user scripts, and environments that cannot fetch files. A Content-Security-Policy must allow `script-src
 * 'wasm-unsafe-eval'`, as for any WebAssembly.
 *
 * Import everything from this file: an import of `caphost` beside it would load a second copy.
 */
export * from './agent.js';
export * from './index.js';
