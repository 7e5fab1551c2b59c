/**
 * The functions that the host's half in Rust calls.
 */
export { confirms, describe, problemWithApp, problemWithCapability } from '../descriptor.js';
export { cancelConfirmation, cancelResponse, errorOf, lateEnd } from '../envelope.js';
export { thrown } from '../errors.js';
export { failureOf } from '../failure.js';
export { guard } from '../guard.js';
export { Host } from '../host.js';
export { inspect } from '../inspect.js';
export { abortWith, array, inNextTask, now, push, textAt } from '../platform.js';
export { Shell } from '../shell.js';
export { callEnded, progressOf } from '../to-agent.js';
