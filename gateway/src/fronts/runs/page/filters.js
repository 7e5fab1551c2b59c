/** @import { Run, State } from './types.js' */
import { byId, element, icon, setText } from './dom.js';
import { count } from './format.js';
import { STATE_NAMES, dialectName } from './run-text.js';

/** The filters of the list. The page's address contains them, so that a view can be shared and reloaded. */
export class Filters {
  /** @type {Map<State, { button: HTMLButtonElement, number: HTMLElement }>} */
  #states = new Map();
  #find = byId('find', HTMLInputElement);
  #apps = new Choice(byId('apps', HTMLSelectElement), 'All apps');
  #dialects = new Choice(byId('dialects', HTMLSelectElement), 'All dialects', dialectName);
  #changed;

  /** @param {() => void} changed */
  constructor(changed) {
    this.#changed = changed;
    const address = new URLSearchParams(location.search);
    const wanted = address.get('state')?.split(',') ?? [];
    for (const [state, name] of Object.entries(STATE_NAMES)) {
      const number = element('span', { class: 'number' }, '0');
      const button = element('button', { type: 'button', class: 'state', 'data-state': state, 'aria-pressed': wanted.includes(state) ? 'true' : 'false' }, icon(state), name, ' ', number);
      button.addEventListener('click', () => {
        button.setAttribute('aria-pressed', String(button.getAttribute('aria-pressed') !== 'true'));
        this.#apply();
      });
      this.#states.set(/** @type {State} */ (state), { button, number });
      byId('states').append(button);
    }
    this.#find.value = address.get('find') ?? '';
    this.#find.addEventListener('input', () => this.#apply());
    this.#apps.want(address.get('app') ?? '', () => this.#apply());
    this.#dialects.want(address.get('dialect') ?? '', () => this.#apply());
    byId('filters').addEventListener('submit', (event) => event.preventDefault());
    document.addEventListener('keydown', (event) => {
      const typing = event.target instanceof Element && event.target.closest('input, select, textarea');
      if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey || this.#find.closest('[hidden]')) return;
      event.preventDefault();
      this.#find.select();
    });
  }

  /** Whether all runs are shown. */
  get isOpen() {
    return this.#pressed().length === 0 && this.#find.value.trim() === '' && !this.#apps.value && !this.#dialects.value;
  }

  /** Shows all runs. */
  clear() {
    for (const { button } of this.#states.values()) button.setAttribute('aria-pressed', 'false');
    this.#find.value = '';
    this.#apps.value = '';
    this.#dialects.value = '';
    this.#apply();
  }

  /** Updates the numbers and choices. @param {Run[]} runs all known runs */
  update(runs) {
    /** @type {Partial<Record<State, number>>} */
    const counts = {};
    for (const { state } of runs) counts[state] = (counts[state] ?? 0) + 1;
    for (const [state, { number }] of this.#states) setText(number, count(counts[state] ?? 0));
    this.#apps.offer(runs.map(({ app }) => app ?? ''));
    this.#dialects.offer(runs.map(({ dialect }) => dialect));
  }

  /** The runs that match the filters. @param {Run[]} runs */
  of(runs) {
    const states = this.#pressed();
    const words = this.#find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { value: app } = this.#apps;
    const { value: dialect } = this.#dialects;
    return runs.filter((run) => {
      if (states.length > 0 && !states.includes(run.state)) return false;
      if ((app && run.app !== app) || (dialect && run.dialect !== dialect)) return false;
      if (words.length === 0) return true;
      const text = textOf(run);
      return words.every((word) => text.includes(word));
    });
  }

  #pressed() {
    return [...this.#states].filter(([, { button }]) => button.getAttribute('aria-pressed') === 'true').map(([state]) => state);
  }

  #apply() {
    const address = new URLSearchParams();
    const states = this.#pressed();
    if (states.length > 0) address.set('state', states.join(','));
    if (this.#apps.value) address.set('app', this.#apps.value);
    if (this.#dialects.value) address.set('dialect', this.#dialects.value);
    if (this.#find.value.trim()) address.set('find', this.#find.value.trim());
    const query = address.toString().replaceAll('%2C', ',');
    history.replaceState(null, '', query ? `?${query}` : location.pathname);
    this.#changed();
  }
}

/** A select with the existing values. It also has the value from the address, even if no run has that value. */
class Choice {
  #select;
  #name;
  #offered = '';

  /**
   * @param {HTMLSelectElement} select
   * @param {string} all
   * @param {(value: string) => string} [name]
   */
  constructor(select, all, name = (value) => value) {
    this.#select = select;
    this.#name = name;
    select.append(element('option', { value: '' }, all));
  }

  /**
   * @param {string} value
   * @param {() => void} changed
   */
  want(value, changed) {
    this.offer(value ? [value] : []);
    this.value = value;
    this.#select.addEventListener('change', changed);
  }

  get value() {
    return this.#select.value;
  }

  set value(value) {
    this.#select.value = value;
  }

  /** @param {string[]} values */
  offer(values) {
    const { value } = this;
    const sorted = [...new Set([...values, value])].filter(Boolean).sort();
    // An open list must not be disturbed without need.
    if (sorted.join('\n') === this.#offered) return;
    this.#offered = sorted.join('\n');
    const [all] = this.#select.options;
    this.#select.replaceChildren(...(all ? [all] : []), ...sorted.map((one) => element('option', { value: one }, this.#name(one))));
    this.value = value;
  }
}

/** @type {WeakMap<Run, string>} */
const texts = new WeakMap();

/** @param {Run} run */
function textOf(run) {
  let text = texts.get(run);
  if (text === undefined) {
    const { capability, runId, callId, dialectId, owner, agent, thread, app, cancelReason, error, state, dialect } = run;
    text = [capability, runId, callId, dialectId, owner, agent, thread, app, cancelReason, error, state, dialectName(dialect)].join('\n').toLowerCase();
    texts.set(run, text);
  }
  return text;
}
