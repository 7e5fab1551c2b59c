/**
 * Listeners on the window. `document.open()`, and so Playwright's `setContent`, takes them all away
 * and leaves the scripts running: these come back.
 */

/** @type {Set<[string, (event: any) => void]>} */
const all = new Set();
/** @type {MutationObserver | undefined} */
let watching;

/**
 * @param {string} type
 * @param {(event: any) => void} listener
 * @returns {() => void} takes it away
 */
export function onWindow(type, listener) {
  // What observes is not taken away. Of a page that is written anew the first to go is the root.
  if (globalThis.MutationObserver) (watching ??= new MutationObserver(() => all.forEach(add))).observe(document, { childList: true });
  /** @type {[string, (event: any) => void]} */
  const mine = [type, listener];
  all.add(mine);
  add(mine);
  return () => {
    all.delete(mine);
    globalThis.removeEventListener?.(type, listener);
  };
}

/** Of the same listener there is one only. @param {[string, (event: any) => void]} it */
const add = (it) => globalThis.addEventListener?.(...it);
