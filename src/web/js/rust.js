/**
 * All functions that Rust calls, with their imports. The crate ships this as one file.
 */
export { connectFromRust } from './in-rust.js';
export * from './rust/agent.js';
export * from './rust/host.js';
export { noticeTraps, panicked } from './traps.js';
export { inWorker, serve } from './workers/serve.js';
