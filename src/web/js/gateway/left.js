/**
 * Keeps the token of a gateway session that ended with its page, for the next page in the same tab. A
 * connection that breaks with much data unsent cannot report the end of the session.
 *
 * Written only when the user leaves a page, so that a copied tab never gets the token of a session that
 * is in use.
 */

/** @param {(storage: Storage) => string | null | void} work */
function inTab(work) {
  try {
    return work(sessionStorage) ?? undefined;
  } catch {
    // A worker has no such storage, and some pages may not use it.
    return undefined;
  }
}

const PREFIX = 'caphost.left ';

/** @param {string} key of the gateway and the app @param {string} token */
export const leave = (key, token) => void inTab((storage) => storage.setItem(PREFIX + key, token));

/** @param {string} key @returns {string | undefined} the token, which is removed */
export const takeLeft = (key) =>
  inTab((storage) => {
    const token = storage.getItem(PREFIX + key);
    storage.removeItem(PREFIX + key);
    return token;
  });
