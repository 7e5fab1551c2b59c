/**
 * How a host and an agent give signs of life: by their messages, or without messages by a lock. The
 * browser releases a Web Lock when its holder is gone, even if the holder is a terminated worker. The
 * end of the lock tells that to everybody who waits for the lock.
 */

/** The type of the agent's answer. */
export const ANSWER = 'life/answer';

/** Names come from other parties: only locks with our prefix are waited for. */
const PREFIX = 'caphost.life.';

/**
 * Holds a lock for as long as this page or worker lives, or until the lock is released.
 *
 * @param {string} id a unique id
 * @returns {Promise<{ name: string, release: () => void } | undefined>} undefined if there are no locks
 */
export function holdLock(id) {
  const name = PREFIX + id;
  return new Promise((resolve) => {
    const held = () => new Promise((/** @type {(value?: unknown) => void} */ release) => resolve({ name, release: () => release() }));
    const none = () => resolve(undefined);
    const { locks } = globalThis.navigator ?? {};
    // An insecure page has no locks, and a sandboxed page may not use them.
    if (locks) locks.request(name, held).catch(none);
    else none();
  });
}

/**
 * Waits for the end of the holder of a lock.
 *
 * @param {unknown} name the announced name
 * @param {() => void} gone
 * @param {() => void} [found] called if the lock is held, so that its end will be reported
 * @returns {() => void} stops waiting
 */
export function watchLock(name, gone, found) {
  const stop = new AbortController();
  const { signal } = stop;
  const watch = async () => {
    const { locks } = navigator;
    const { held } = await locks.query();
    // Locks of another origin are separate: they do not show up, and a lock of that name would be
    // granted at once.
    if (!held?.some((it) => it.name === name)) return;
    found?.();
    await locks.request(/** @type {string} */ (name), { mode: 'shared', signal }, () => signal.aborted || gone());
  };
  // There may be no locks. A lock request that is no longer wanted rejects.
  if (typeof name === 'string' && name.startsWith(PREFIX)) watch().catch(() => {});
  return () => stop.abort();
}
