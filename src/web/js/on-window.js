/**
 * Listeners on the window. `document.open()`, and so Playwright's `setContent`, removes all of them,
 * but the scripts continue to run. These listeners are added again.
 */

/** @type {Set<[string, (event: any) => void]>} */
const all = new Set();
/** @type {MutationObserver | undefined} */
let watching;

/**
 * @param {string} type
 * @param {(event: any) => void} listener
 * @returns {() => void} removes it
 */
export function onWindow(type, listener) {
  // Observers are not removed. When a page is written anew, its root is removed first.
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

/** Adding the same listener twice has no effect. @param {[string, (event: any) => void]} it */
const add = (it) => globalThis.addEventListener?.(...it);
