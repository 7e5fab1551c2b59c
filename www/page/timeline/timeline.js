/** @import { Call, CallHistory } from '../call-history.js' */
import { isFinal } from '../call-history.js';
import { CallCard } from './call-card.js';

/** The interval for updating durations. Nobody reads the hundredths of a running stopwatch. */
const TICK_MS = 100;

/** Drawing may take at most one part in this many of the page's time. The rest is for the calls. */
const DRAWING_SHARE = 6;

/** The list of calls, newest first. Changes are drawn in batches, at most once per frame. */
export class Timeline {
  /** @type {Map<string, CallCard>} */
  #cards = new Map();
  /** @type {Set<Call>} */
  #changed = new Set();
  #scheduled = false;
  /** The time before which nothing is drawn. It is set after a slow drawing. */
  #notBefore = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #clock;
  #list;
  #history;
  #options;

  /**
   * @param {HTMLElement} list an `ol`
   * @param {CallHistory} history
   * @param {{ cancel: (call: Call) => Promise<void>, isOwn: (call: Call) => boolean, drawn: () => void }} options `drawn` runs after each drawing
   */
  constructor(list, history, options) {
    this.#list = list;
    this.#history = history;
    this.#options = options;
    list.addEventListener('keydown', (event) => this.#keydown(event));
    list.addEventListener('focusin', (event) => this.#rove(event.target));
  }

  /** @param {Call} call added, changed or removed */
  change(call) {
    this.#changed.add(call);
    this.#schedule();
    // A hidden page draws no frames, so calls that were added and removed meanwhile can be skipped.
    if (this.#changed.size > 1000) {
      for (const one of this.#changed) if (!this.#known(one)) this.#changed.delete(one);
    }
  }

  /** @param {Call} call */
  reveal(call) {
    this.#draw();
    this.#cards.get(call.key)?.open();
  }

  /** Cancels the call that has the focus. */
  cancelFocused() {
    const card = this.#cardAt(document.activeElement);
    if (!card || isFinal(card.call.state)) return false;
    void card.cancel();
    return true;
  }

  /** @param {Call} call */
  #known(call) {
    return this.#history.calls.has(call.key) || this.#cards.has(call.key);
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const wait = this.#notBefore - performance.now();
    const draw = () => requestAnimationFrame(() => this.#draw());
    if (wait > 0) setTimeout(draw, wait);
    else draw();
  }

  #draw() {
    const start = performance.now();
    this.#scheduled = false;
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const call of changed) this.#drawCall(call);
    const newest = this.#list.firstElementChild;
    if (newest && !this.#list.querySelector(':scope > [tabindex="0"]')) newest.setAttribute('tabindex', '0');
    this.#list.hidden = newest === null;
    this.#runClock();
    this.#options.drawn();
    const end = performance.now();
    this.#notBefore = end + DRAWING_SHARE * (end - start);
  }

  /** @param {Call} call */
  #drawCall(call) {
    const card = this.#cards.get(call.key);
    if (this.#history.calls.get(call.key) !== call) {
      if (!card) return;
      const focused = card.element.contains(document.activeElement);
      this.#cards.delete(call.key);
      card.remove();
      if (focused) this.#list.parentElement?.focus();
    } else if (card) {
      card.update();
    } else {
      const own = this.#options.isOwn(call);
      const made = new CallCard(call, { own, agent: this.#history.agentOf(call.sessionId), cancel: this.#options.cancel });
      this.#cards.set(call.key, made);
      this.#list.prepend(made.element);
    }
  }

  #runClock() {
    const running = [...this.#cards.values()].some(({ call }) => !isFinal(call.state));
    if (running) {
      this.#clock ??= setInterval(() => {
        for (const card of this.#cards.values()) if (!isFinal(card.call.state)) card.tick();
      }, TICK_MS);
    } else {
      clearInterval(this.#clock);
      this.#clock = undefined;
    }
  }

  /** @param {KeyboardEvent} event */
  #keydown(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !(event.target instanceof HTMLLIElement) || event.altKey || event.ctrlKey || event.metaKey) return;
    const next = step > 0 ? event.target.nextElementSibling : event.target.previousElementSibling;
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
  }

  /**
   * Makes one call at a time a stop of the Tab key. The arrow keys reach the others.
   * @param {EventTarget | null} target
   */
  #rove(target) {
    const card = target instanceof Element ? this.#cardAt(target) : undefined;
    if (!card) return;
    for (const item of this.#list.querySelectorAll(':scope > [tabindex="0"]')) item.setAttribute('tabindex', '-1');
    card.element.tabIndex = 0;
  }

  /** @param {Element | null} element */
  #cardAt(element) {
    const item = element?.closest('.call');
    if (!item) return undefined;
    for (const card of this.#cards.values()) if (card.element === item) return card;
    return undefined;
  }
}
