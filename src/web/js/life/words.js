/**
 * What is said between a host and an agent to show that they live.
 */

/** The host asks its agent. */
export const ASKED = 'notifications/life/asked';
/** Type of the agent's answer. */
export const ANSWER = 'life/answer';
/** The host holds a lock for as long as it lives. */
export const LOCK = 'notifications/life/lock';
