/** @import { Call } from '../call-history.js' */
import { isFinal, shownState } from '../call-history.js';
import { stateText } from '../call-text.js';
import { element } from '../dom.js';
import { isolated } from '../format.js';

const WINDOW_MS = 30_000;
const LANES = 6;
/** The time in which the strip moves by about a pixel. */
const STEP_MS = 100;
/** The least width of a bar, so that a call of a millisecond is visible. */
const MIN_PERCENT = 0.35;

/**
 * @typedef {object} Bar
 * @property {HTMLElement} element
 * @property {HTMLElement} run
 * @property {Call} call
 * @property {number} lane
 * @property {boolean} settled whether the bar is drawn in its final state
 */

/** The last half minute of calls: a bar per call, moving left. The list below says the same in words. */
export class Strip {
  /** @type {Map<string, Bar>} */
  #bars = new Map();
  /** The time at which the last bar of each lane ends. */
  #ends = new Array(LANES).fill(0);
  #serial = 0;
  #origin = Date.now();
  #track = element('div', { class: 'strip-track' });
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #clock;
  #reveal;

  /**
   * @param {HTMLElement} container
   * @param {(call: Call) => void} reveal
   */
  constructor(container, reveal) {
    this.#reveal = reveal;
    container.append(this.#track);
  }

  /** @param {Iterable<Call>} calls all calls, newest last */
  draw(calls) {
    const now = Date.now();
    const shown = new Set();
    for (const call of calls) {
      if ((call.endedAt ?? now) < now - WINDOW_MS) continue;
      shown.add(call.key);
      this.#place(this.#bars.get(call.key) ?? this.#add(call), now);
    }
    for (const [key, bar] of this.#bars) {
      if (shown.has(key)) continue;
      bar.element.remove();
      this.#bars.delete(key);
    }
    this.#track.style.transform = `translateX(${100 - percent(now - this.#origin)}%)`;
    this.#runClock();
  }

  /**
   * @param {Call} call
   * @returns {Bar}
   */
  #add(call) {
    const run = element('div', { class: 'strip-run' });
    const bar = element('div', { class: 'strip-bar' }, run);
    bar.addEventListener('click', () => this.#reveal(call));
    const free = this.#ends.findIndex((end) => end < call.queuedAt - 300);
    const lane = free === -1 ? this.#serial++ % LANES : free;
    bar.style.insetBlockStart = `${(100 * lane) / LANES}%`;
    bar.style.insetInlineStart = `${percent(call.queuedAt - this.#origin)}%`;
    this.#track.append(bar);
    const made = { element: bar, run, call, lane, settled: false };
    this.#bars.set(call.key, made);
    return made;
  }

  /**
   * @param {Bar} placed
   * @param {number} now
   */
  #place(placed, now) {
    if (placed.settled) return;
    const { element: bar, run, call, lane } = placed;
    const end = call.endedAt ?? now;
    placed.settled = isFinal(call.state);
    this.#ends[lane] = placed.settled ? end : Infinity;
    bar.dataset.state = shownState(call);
    bar.title = `${isolated(call.capability)}: ${stateText(call)}`;
    const whole = end - call.queuedAt;
    bar.style.inlineSize = `${Math.max(MIN_PERCENT, percent(whole))}%`;
    const waited = call.startedAt === undefined ? whole : call.startedAt - call.queuedAt;
    run.style.insetInlineStart = `${whole > 0 ? Math.min(100, (100 * waited) / whole) : 0}%`;
  }

  #runClock() {
    if (this.#bars.size === 0) {
      clearInterval(this.#clock);
      this.#clock = undefined;
    } else {
      this.#clock ??= setInterval(() => this.draw([...this.#bars.values()].map((bar) => bar.call)), STEP_MS);
    }
  }
}

/** @param {number} ms */
function percent(ms) {
  return (100 * ms) / WINDOW_MS;
}
