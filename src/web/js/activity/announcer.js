/**
 * Announces the state of calls to screen readers: at most once a second, and many calls as a number.
 */
import { keyOf } from './activity.js';
import { isRunning, isolated, stateText } from './words.js';

/** @import { ActivityCall, ActivityTexts } from '../../../../npm/activity.js' */

const PAUSE = 1000;

/** The number of calls that are named one by one. */
const NAMED = 3;

export class Announcer {
  /** The text that was last announced for a call, or that will be announced next. @type {Map<string, string>} */
  #said = new Map();
  /** @type {Map<string, string>} */
  #waiting = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #region;

  /** @param {HTMLElement} region a polite live region */
  constructor(region) {
    this.#region = region;
  }

  /**
   * @param {readonly ActivityCall[]} calls all that there are
   * @param {ActivityTexts} texts
   */
  tell(calls, texts) {
    const before = this.#said;
    this.#said = new Map();
    for (const call of calls) {
      const key = keyOf(call.sessionId, call.callId);
      const text = `${isolated(call.title ?? call.capability)}: ${stateText({ ...call, state: call.state === 'queued' ? 'running' : call.state }, texts)}`;
      this.#said.set(key, text);
      // The end of a call is not announced if its start was not.
      if (before.get(key) === text || (!before.has(key) && !isRunning(call))) continue;
      this.#waiting.set(key, text);
    }
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => this.#speak(texts), PAUSE);
  }

  /** @param {ActivityTexts} texts */
  #speak(texts) {
    this.#timer = undefined;
    const sentences = [...this.#waiting.values()];
    this.#waiting.clear();
    const rest = sentences.length - NAMED;
    if (rest > 0) sentences.splice(NAMED, rest, texts.more(rest));
    this.#region.textContent = sentences.map((it) => (/[.…]$/.test(it) ? it : `${it}.`)).join(' ');
  }

  /** Stops all announcements. */
  silence() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting.clear();
  }
}
