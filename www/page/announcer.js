/** @import { Call } from './call-history.js' */
/** @import { CallState } from './types/protocol.js' */
import { STATE_NAMES, stateText } from './call-text.js';
import { setText } from './dom.js';
import { isolated, plural } from './format.js';

const PAUSE_MS = 700;

/** Announces state changes to screen readers: a single change in full, many changes as counts, and never in quick succession. */
export class Announcer {
  /** The last state that was announced or is about to be announced. @type {WeakMap<Call, CallState>} */
  #said = new WeakMap();
  /** @type {Map<Call, CallState>} */
  #waiting = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #region;

  /** @param {HTMLElement} region a polite live region */
  constructor(region) {
    this.#region = region;
  }

  /** @param {Call} call */
  change(call) {
    if (this.#said.get(call) === call.state) return;
    this.#said.set(call, call.state);
    if (this.#waiting.size < 1000) this.#waiting.set(call, call.state);
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#speak(), PAUSE_MS);
  }

  /** @param {string} text */
  say(text) {
    setText(this.#region, text);
  }

  #speak() {
    this.#timer = undefined;
    const calls = [...this.#waiting.keys()];
    const states = [...this.#waiting.values()];
    this.#waiting.clear();
    if (calls.length <= 2) return this.say(calls.map((call) => `${isolated(call.capability)}: ${stateText(call)}.`).join(' '));
    /** @type {Partial<Record<CallState, number>>} */
    const counts = {};
    for (const state of states) counts[state] = (counts[state] ?? 0) + 1;
    const parts = Object.entries(counts).map(([state, n]) => `${plural(n, 'call')} ${STATE_NAMES[/** @type {CallState} */ (state)].toLowerCase()}`);
    return this.say(`${parts.join(', ')}.`);
  }
}
