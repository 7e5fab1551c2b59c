/**
 * All of `caphost` and `caphost/agent` in a single file that contains the wasm: for esbuild, extensions,
 * user scripts, and environments that cannot fetch files. A Content-Security-Policy must allow `script-src
 * 'wasm-unsafe-eval'`, as for any WebAssembly.
 *
 * A page that plays one role loads less with `caphost/inline/host` or `caphost/inline/agent`.
 *
 * Import everything from one of these files: an import of another one, or of `caphost` beside it, would
 * load a second copy.
 */
export * from './agent.js';
export * from './index.js';
