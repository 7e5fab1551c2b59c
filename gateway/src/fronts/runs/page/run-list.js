/** @import { Api } from './api.js' */
/** @import { Filters } from './filters.js' */
/** @import { Run } from './types.js' */
import { byId, setText } from './dom.js';
import { count, plural } from './format.js';
import { RunCard } from './run-card.js';
import { isOver } from './run-text.js';

const TICK_MS = 200;
/** How many cards are shown at first, and how many more with each press of the button. */
const PAGE = 100;

/** The list of runs, newest first. */
export class RunList {
  #list = byId('list');
  #empty = byId('empty');
  #foot = byId('foot');
  #shownText = byId('shown');
  #more = byId('more', HTMLButtonElement);
  /** @type {Map<string, RunCard>} */
  #cards = new Map();
  /** @type {Run[]} */
  #runs = [];
  #omitted = 0;
  #room = PAGE;
  /** The difference of the gateway's clock to the browser's clock. */
  #ahead = 0;
  #filters;
  #options;

  /**
   * @param {Filters} filters
   * @param {{ api: Api, announce: (text: string) => void, asked: () => void }} options
   */
  constructor(filters, options) {
    this.#filters = filters;
    this.#options = options;
    this.#list.addEventListener('keydown', (event) => this.#keydown(event));
    this.#list.addEventListener('focusin', (event) => this.#rove(event.target));
    this.#more.addEventListener('click', () => {
      const next = this.#room;
      this.#room += PAGE;
      this.draw();
      const item = this.#list.children[next];
      if (item instanceof HTMLElement) item.focus();
    });
    setInterval(() => this.#tick(), TICK_MS);
  }

  /**
   * @param {Run[]} runs newest first
   * @param {{ omitted: number, now: number }} more
   */
  show(runs, { omitted, now }) {
    this.#runs = runs;
    this.#omitted = omitted;
    this.#ahead = now - Date.now();
    this.draw();
  }

  clear() {
    this.show([], { omitted: 0, now: Date.now() });
  }

  /** Updates the list to the known runs and the filters. */
  draw() {
    const wanted = this.#filters.of(this.#runs);
    const shown = wanted.slice(0, this.#room);
    const kept = new Set(shown.map(({ runId }) => runId));
    const known = new Map(this.#runs.map((run) => [run.runId, run]));
    const now = this.#now();
    for (const [id, card] of this.#cards) {
      if (kept.has(id)) continue;
      const run = known.get(id);
      // A person must be able to read a confirmation, even if the run does not match the filters any more.
      if (run && card.isBusy && card.element.contains(document.activeElement)) {
        card.update(run, now);
        continue;
      }
      const focused = card.element.contains(document.activeElement);
      this.#cards.delete(id);
      card.element.remove();
      if (focused) this.#list.focus();
    }
    let place = this.#list.firstElementChild;
    for (const run of shown) {
      const card = this.#card(run);
      if (card.run !== run || card.element.dataset.state === undefined) card.update(run, now);
      if (place === card.element) place = place.nextElementSibling;
      else this.#list.insertBefore(card.element, place);
    }
    const first = this.#list.firstElementChild;
    if (first && !this.#list.querySelector(':scope > [tabindex="0"]')) first.setAttribute('tabindex', '0');
    this.#say(wanted.length, shown.length);
  }

  /** @param {Run} run */
  #card(run) {
    let card = this.#cards.get(run.runId);
    if (!card) {
      card = new RunCard(run, this.#options);
      this.#cards.set(run.runId, card);
    }
    return card;
  }

  /**
   * @param {number} matching
   * @param {number} shown
   */
  #say(matching, shown) {
    const all = this.#runs.length;
    this.#empty.hidden = shown > 0;
    setText(this.#empty, all === 0
      ? 'No runs yet. Every call an agent makes through this gateway appears here, whatever protocol it speaks; one in flight can be cancelled.'
      : `None of ${plural(all, 'run')} is like that.`);
    this.#foot.hidden = all === 0;
    this.#more.hidden = matching <= shown;
    const parts = [matching === all ? plural(all, 'run') : `${count(matching)} of ${plural(all, 'run')}`];
    if (matching > shown) parts.push(`the first ${count(shown)} shown`);
    if (this.#omitted > 0) parts.push(`${count(this.#omitted)} older not asked for`);
    setText(this.#shownText, `${parts.join(', ')}.`);
  }

  #now() {
    return Date.now() + this.#ahead;
  }

  #tick() {
    // While the list is out of date, the durations stand still.
    if (document.hidden || this.#list.closest('.stale')) return;
    const now = this.#now();
    for (const card of this.#cards.values()) if (!isOver(card.run)) card.tick(now);
  }

  /** @param {KeyboardEvent} event */
  #keydown(event) {
    if (!(event.target instanceof HTMLLIElement) || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Delete') {
      this.#cards.get(event.target.dataset.runId ?? '')?.askToCancel();
      event.preventDefault();
      return;
    }
    const next = { ArrowDown: event.target.nextElementSibling, ArrowUp: event.target.previousElementSibling }[event.key];
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
  }

  /**
   * The Tab key stops at one run only. The arrow keys reach the others.
   * @param {EventTarget | null} target
   */
  #rove(target) {
    const item = target instanceof Element ? target.closest('.run') : null;
    if (!(item instanceof HTMLElement)) return;
    for (const other of this.#list.querySelectorAll(':scope > [tabindex="0"]')) other.setAttribute('tabindex', '-1');
    item.tabIndex = 0;
  }
}
