/**
 * Notices traps of a module in tasks and closures of the app, which do not enter it through a guard: an
 * exhausted stack, an access out of bounds, a panic whose hook is not ours. The browser reports such an
 * error to the page, or to the worker, if nobody catches the error.
 */
import { text } from './errors.js';
import { isLost } from './guard.js';
import { get, getA } from './read.js';
import { lose } from './workers/serve.js';

/** Marks an event that tells of a trap in another instance of the same code. */
const TAKEN = '@caphost.trap';
/** Whether the module has panicked in this job. */
let panics = false;
/** The code of the module, as stacks name it. @type {string | undefined} */
let code;

// A frame of wasm is `at name (code:wasm-function[1]…` or `name@code:wasm-function[1]…`.
/** The innermost frame of wasm. */
const ANY = /^.*(?:at |[(@])(.+):wasm-function\[/m;
/** The innermost frame, if it is one of wasm. */
const TOP = /^(?:RuntimeError: .*\n)?.*(?:at |[(@])(.+):wasm-function\[/;

/** @param {Event} event @returns {unknown} the error, if it is a trap of the module */
function trapOf(event) {
  const error = get(event, 'error') ?? get(event, 'reason');
  const exhausted = /call stack|recursion/.test(getA('string', error, 'message') ?? '');
  const trapped = exhausted || getA('string', error, 'name') === 'RuntimeError';
  const frame = (exhausted ? ANY : TOP).exec(getA('string', error, 'stack') ?? '');
  return trapped && frame?.[1] === code ? error : undefined;
}

/** The module has panicked. Its frames are still on the stack. @param {string} message @param {string} place */
export function panicked(message, place) {
  panics = true;
  void Promise.resolve().then(() => (panics = false));
  lose(message, place);
}

/** The module itself calls this, so the stack names its code. */
export function noticeTraps() {
  if (code !== undefined) return;
  code = ANY.exec(getA('string', new Error(), 'stack') ?? '')?.[1];
  // Safari does not name the code of a frame.
  if (code === undefined || typeof addEventListener !== 'function') return;
  for (const type of ['error', 'unhandledrejection']) {
    // These listeners come first.
    addEventListener(type, (/** @type {any} */ event) => {
      if (panics && trapOf(event)) event[TAKEN] = true;
    }, true);
    addEventListener(type, (/** @type {any} */ event) => {
      const trap = isLost() || event[TAKEN] ? undefined : trapOf(event);
      if (trap) lose(text(trap), "in the app's own code");
    });
  }
}
