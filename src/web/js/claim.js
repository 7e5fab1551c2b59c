/**
 * One host for each window, port or object, whichever copy of this package it comes from: two would
 * run each call twice. So it is said there, for all copies to see.
 */
import { abpError, report } from './errors.js';

/**
 * @param {any} target
 * @param {string} what of it: `window`, `port`, or `object` for its `abp`
 * @param {boolean | undefined} replace instead of another host
 * @param {() => void} release what another host calls that replaces this one
 * @returns {() => void} gives it up
 */
export function claim(target, what, replace, release) {
  const mark = markOf(what);
  // Scripts of the document before go on after `document.open()`, but a host of the one that is there now comes first.
  const root = target.document?.documentElement;
  const before = target[mark];
  if (before && !replace && before.root === root) {
    throw abpError('INVALID_PARAMS', `This ${target.window === target ? 'window' : what} has a host already: close it first, or pass { replace: true }`);
  }
  report(before?.release);
  const mine = { root, release };
  Reflect.defineProperty(target, mark, { value: mine, configurable: true });
  return () => {
    if (target[mark] === mine) delete target[mark];
  };
}

/** @param {any} target @param {string} what @param {unknown} release @returns {boolean} whether it is still claimed with that */
export const isClaimed = (target, what, release) => target[markOf(what)]?.release === release;

/** @param {string} what */
const markOf = (what) => Symbol.for(`caphost.${what}`);
