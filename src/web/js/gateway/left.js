/**
 * The token of a session with a gateway that a page has left, for the page that takes its place in
 * the same tab: a connection that breaks with much still to be sent does not say that it is over.
 *
 * Written only when a page is left, so that a tab made as a copy of another never has that of a
 * session in use.
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

/** @param {string} key @returns {string | undefined} the token, which is there no more */
export const takeLeft = (key) =>
  inTab((storage) => {
    const token = storage.getItem(PREFIX + key);
    storage.removeItem(PREFIX + key);
    return token;
  });
