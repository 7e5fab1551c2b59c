/**
 * Ends the job that holds a page's thread, if the job belongs to a cancelled call and keeps the page
 * from answering. Uses the browser's DevTools (Chromium, from Puppeteer and Playwright).
 *
 * The owner of the job is read while the job is paused. The debugger pauses it anywhere, in a loop, in
 * a regular expression or in WebAssembly. The job is ended only if the host has marked it as that
 * call's, and if it is the same job as a moment before. Any other job continues as if nothing had
 * happened: a page that is merely busy has many jobs, and none of them holds the thread. The browser
 * takes a debugger only while the thread is free, so the debugger is attached before the first call.
 */
import { hasMarks, mayEnd, recover } from './in-page.js';

/** @import { DevTools } from './dev-tools.js' */

/** Milliseconds until the next check of the page. */
const AGAIN = 250;
/** Milliseconds that one job must be known to hold the thread. */
const HELD = 30;
/** How often a job is checked until it has left the host's own code, and the milliseconds between checks. */
const LOOKS = 40;
const BETWEEN = 3;
/** Milliseconds for the debugger to pause a job. A native function cannot be paused. */
const PAUSE = 1000;
/** Milliseconds for a paused job to say whose it is. */
const ANSWER = 10_000;

/** @param {number} time */
const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {number} time
 * @returns {Promise<T | undefined>} undefined if it takes longer or fails
 */
async function within(promise, time) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, time)));
  const result = await Promise.race([promise.catch(() => undefined), late]);
  clearTimeout(timer);
  return /** @type {T | undefined} */ (result);
}

export class Thread {
  /** @type {((paused: any) => void) | undefined} */
  #onpaused;
  /** Whether a requested pause has not come in time. */
  #late = false;
  /** The previous attempt: only one runs at a time. @type {Promise<unknown>} */
  #turn = Promise.resolve();
  #closed = false;
  /** The calls that must give the thread back: one attempt for all that wait for it. @type {Map<string, Promise<boolean>>} */
  #ends = new Map();

  /** @param {DevTools} devTools */
  constructor(devTools) {
    this.devTools = devTools;
    devTools.on('Debugger.paused', (event) => {
      if (this.#onpaused) this.#onpaused(event);
      // A pause that came too late. Any other pause belongs to somebody who debugs the page.
      else if (this.#late) this.#send('Debugger.resume').catch(() => {});
      this.#late = false;
    });
  }

  /**
   * @param {Promise<DevTools | undefined>} opening of the page
   * @param {{ evaluate: (work: any) => Promise<any> }} frame the page, or one of it
   * @returns {Promise<Thread | undefined>} undefined if there is no such debugger, or if the page does not say whose job it is
   */
  static async open(opening, frame) {
    const devTools = await opening;
    if (!devTools || !(await frame.evaluate(hasMarks).catch(() => false))) return undefined;
    const thread = new Thread(devTools);
    try {
      await devTools.send('Debugger.enable', { maxScriptsCacheSize: 1 });
      // `debugger` statements of the page must not pause it.
      await devTools.send('Debugger.setBreakpointsActive', { active: false });
      return thread;
    } catch {
      thread.close();
      return undefined;
    }
  }

  close() {
    this.#closed = true;
    this.#send('Debugger.disable').catch(() => {});
  }

  /**
   * Makes sure that a cancelled call gives the thread back.
   *
   * @param {string} callId
   * @param {Promise<unknown>} answered settles when the page has answered
   * @param {{ evaluate: (work: any) => Promise<any> }} desk in the page
   * @param {() => number} heard when the page last gave any answer, by `performance.now()`
   * @param {number} after milliseconds that the page has to answer
   */
  async free(callId, answered, desk, heard, after) {
    let waits = true;
    void answered.then(() => (waits = false));
    for (let pause = after; waits && !this.#closed; pause = AGAIN) {
      await within(answered, pause / 2);
      if (!waits || this.#closed) return;
      // A page whose thread is free answers this question, or another one, regardless of what its host
      // waits for.
      const began = performance.now();
      const free = await within(desk.evaluate(() => true), pause / 2);
      if (!waits || this.#closed || free || heard() > began) continue;
      if (await this.#end(callId)) {
        await desk.evaluate(recover).catch(() => {});
        return;
      }
    }
  }

  /** @param {string} callId @returns {Promise<boolean>} whether the job was that call's, and was ended */
  #end(callId) {
    const known = this.#ends.get(callId);
    if (known) return known;
    const done = this.#turn.then(() => this.#endNow(callId)).catch(() => false);
    void done.then(() => this.#ends.delete(callId));
    this.#ends.set(callId, done);
    this.#turn = done;
    return done;
  }

  /** @param {string} callId */
  async #endNow(callId) {
    let known = false;
    for (let looks = 0; looks < LOOKS; looks += 1) {
      if (this.#closed) return false;
      /** @type {Promise<any>} */
      const pausing = new Promise((resolve) => (this.#onpaused = resolve));
      this.#send('Debugger.pause').catch(() => {});
      const paused = await within(pausing, PAUSE);
      this.#onpaused = undefined;
      this.#late = !paused;
      if (!paused) return false;
      // A paused job answers, however busy the machine is. If the job is allowed to end, it must be
      // ended.
      const { isIts, heldFor, ends } = (await within(this.#mayEnd(callId, paused.callFrames), ANSWER)) ?? { isIts: false, heldFor: 0, ends: false };
      await this.#send('Debugger.resume', { terminateOnResume: ends });
      // If another job runs by now, that is one more reason to leave the page alone.
      if (!isIts || ends || (known && heldFor < HELD)) return ends;
      known = true;
      // The host is in the middle of its own work, and lets the job end after that.
      await sleep(heldFor < HELD ? HELD - heldFor + 5 : BETWEEN);
    }
    return false;
  }

  /**
   * @param {string} callId
   * @param {{ callFrameId: string }[]} frames the first is the innermost
   * @returns {Promise<ReturnType<typeof mayEnd>>}
   */
  async #mayEnd(callId, frames) {
    const callFrameId = frames.at(-1)?.callFrameId;
    const expression = `(${mayEnd})(${JSON.stringify(callId)}, ${HELD})`;
    const evaluated = await this.#send('Debugger.evaluateOnCallFrame', { callFrameId, expression, silent: true, returnByValue: true });
    return evaluated?.result?.value;
  }

  /** @param {string} method @param {object} [params] @returns {Promise<any>} */
  async #send(method, params) {
    return this.devTools.send(method, params);
  }
}
