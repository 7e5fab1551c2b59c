/**
 * The events of the notifications that an agent gets from its host and a gateway.
 * Written by a test, from `src/dialect/events.rs`.
 */

/** The set of capabilities has changed: `{ added, removed, changed }`. */
export const CAPABILITIES_CHANGED = 'notifications/capabilities/list_changed';

/** The handler of an abandoned call has ended: `{ callId, success, after }`. */
export const CALL_ENDED = 'notifications/call/ended';

/** A question was withdrawn: `{ id }`. */
export const ELICITATION_WITHDRAWN = 'notifications/elicitation/withdrawn';

/** The host has let go of the agent. */
export const HOST_CLOSED = 'notifications/host/closed';

/** The host asks for a sign of life. */
export const LIFE_ASKED = 'notifications/life/asked';

/** The host holds a lock for as long as it lives: `{ lock }`. */
export const LIFE_LOCK = 'notifications/life/lock';

/** The next message is large: `{ bytes }`. */
export const LARGE_MESSAGE = 'notifications/life/large';
