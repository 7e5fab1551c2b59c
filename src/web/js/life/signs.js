/**
 * How a host and an agent show that they live: by what they say, or without words by a lock. A Web
 * Lock is let go of when whatever holds it is gone, be it a worker that was terminated, and whoever
 * waits for it is told by that.
 */

/** The host asks its agent. */
export const ASKED = 'notifications/life/asked';
/** Type of the agent's answer. */
export const ANSWER = 'life/answer';
/** The host holds a lock for as long as it lives. */
export const LOCK = 'notifications/life/lock';

/** Names come from strangers: only locks of ours are waited for. */
const PREFIX = 'caphost.life.';

/**
 * Holds a lock for as long as this page or worker lives, or until it is let go of.
 *
 * @param {string} id that nobody else has
 * @returns {Promise<{ name: string, release: () => void } | undefined>} undefined where there are no locks
 */
export function holdLock(id) {
  const name = PREFIX + id;
  return new Promise((resolve) => {
    const held = () => new Promise((/** @type {(value?: unknown) => void} */ release) => resolve({ name, release: () => release() }));
    const none = () => resolve(undefined);
    const { locks } = globalThis.navigator ?? {};
    // An insecure page has none, and a sandboxed one may not use them.
    if (locks) locks.request(name, held).catch(none);
    else none();
  });
}

/**
 * Waits for the end of whoever holds a lock.
 *
 * @param {unknown} name as it was told
 * @param {() => void} gone
 * @param {() => void} [found] it is held, so that its end will be told
 * @returns {() => void} stops it
 */
export function watchLock(name, gone, found) {
  const stop = new AbortController();
  const { signal } = stop;
  const watch = async () => {
    const { locks } = navigator;
    const { held } = await locks.query();
    // The locks of another origin are others: they do not show, and one could be had at once.
    if (!held?.some((it) => it.name === name)) return;
    found?.();
    await locks.request(/** @type {string} */ (name), { mode: 'shared', signal }, () => signal.aborted || gone());
  };
  // There may be no locks, and one that is not waited for any more rejects.
  if (typeof name === 'string' && name.startsWith(PREFIX)) watch().catch(() => {});
  return () => stop.abort();
}
