/**
 * Ensures one host for each window, port or object, also among several copies of this package: two
 * hosts would run each call twice. The claim is stored on the target itself, where all copies see it.
 */
import { abpError, report } from './errors.js';

/**
 * @param {any} target
 * @param {string} what the kind: `window`, `port`, or `object` for its `abp`
 * @param {boolean | undefined} replace whether to replace another host
 * @param {() => void} release called by another host that replaces this one
 * @returns {() => void} gives the claim up
 */
export function claim(target, what, replace, release) {
  const mark = markOf(what);
  // After `document.open()`, scripts of the previous document still run. A host of the current document
  // takes precedence.
  const root = target.document?.documentElement;
  const before = target[mark];
  if (before && !replace && before.root === root) {
    throw abpError('INVALID_PARAMS', `This ${target.window === target ? 'window' : what} has a host already: close it first, or pass { replace: true }`);
  }
  report(before?.release);
  const mine = { root, release };
  Reflect.defineProperty(target, mark, /** @type {any} */ ({ __proto__: null, value: mine, configurable: true }));
  return () => {
    if (target[mark] === mine) delete target[mark];
  };
}

/** @param {any} target @param {string} what @param {unknown} release @returns {boolean} whether the target still has this claim */
export const isClaimed = (target, what, release) => target[markOf(what)]?.release === release;

/** @param {string} what */
const markOf = (what) => Symbol.for(`caphost.${what}`);
