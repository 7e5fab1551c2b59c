/**
 * All functions that Rust calls, with their imports. The crate ships this as one file.
 */
export { describe, problemWithApp, problemWithCapability } from './descriptor.js';
export { callEnded, cancelConfirmation, cancelResponse, errorOf, lateEnd, progressOf } from './envelope.js';
export { thrown } from './errors.js';
export { guard } from './guard.js';
export { Host } from './host.js';
export { connectFromRust } from './in-rust.js';
export { inspect } from './inspect.js';
export { abortWith, array, inNextTask, now, push, textAt } from './platform.js';
export { failureOf } from './failure.js';
export { Shell } from './shell.js';
export { inWorker, panicked, serve } from './workers/serve.js';
