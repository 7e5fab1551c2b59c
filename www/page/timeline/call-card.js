/** @import { Call } from '../call-history.js' */
import { isFinal, shownState } from '../call-history.js';
import { STATE_NAMES, lasted } from '../call-text.js';
import { element, icon, setIcon, setText } from '../dom.js';
import { duration, isolated, timeOfDay } from '../format.js';
import { showResult } from '../results/show.js';
import { details } from './details.js';
import { Fold } from './fold.js';
import { Outcome } from './outcome.js';
import { Track } from './track.js';

/**
 * @typedef {object} CardOptions
 * @property {string} agent
 * @property {boolean} own whether this page made the call
 * @property {(call: Call) => Promise<void>} cancel
 */

/** One call on the timeline. */
export class CallCard {
  element;
  #call;
  #options;
  #node = icon('queued');
  #state = element('span', { class: 'call-state' });
  #time = element('span', { class: 'call-time' });
  #cancel = element('button', { type: 'button', class: 'cancel' });
  #track = new Track();
  #error = element('p', { class: 'problem', hidden: true });
  #outcome = new Outcome();
  #result;
  #details;
  #cancelling = false;
  #opened = false;

  /**
   * @param {Call} call
   * @param {CardOptions} options
   */
  constructor(call, options) {
    this.#call = call;
    this.#options = options;
    this.#result = new Fold('result', () => showResult(call));
    this.#details = new Fold('details', async () => ({ element: details(call, options.agent) }));
    this.#cancel.addEventListener('click', () => void this.cancel());
    const title = element('h3', { id: `call-${call.key.split(' ').at(-1)}` }, call.capability);
    const head = element('div', { class: 'call-head' }, title, this.#state, this.#time, this.#cancel);
    const body = [this.#track.element, this.#error, this.#outcome.element];
    const folds = element('div', { class: 'folds' }, this.#result.element, this.#details.element);
    this.element = element(
      'li',
      { class: 'call', tabindex: -1, 'aria-labelledby': title.id, 'data-call-id': call.callId, 'data-capability': call.capability, 'data-own': options.own },
      element('span', { class: 'call-node' }, this.#node),
      element('div', { class: 'call-main' }, head, this.#origin(), ...body, folds),
    );
    this.update();
  }

  get call() {
    return this.#call;
  }

  update() {
    const call = this.#call;
    const state = shownState(call);
    this.element.dataset.state = state;
    setIcon(this.#node, state);
    setText(this.#state, state === 'cancelling' ? 'Cancelling' : STATE_NAMES[state]);
    this.#updateCancel();
    this.#track.update(call);
    this.#outcome.update(call);
    const { error } = call.response ?? {};
    this.#error.hidden = !error;
    if (error) this.#error.replaceChildren(element('code', {}, String(error.code)), ` ${isolated(String(error.message).slice(0, 2000))}`);
    const completed = call.state === 'completed';
    this.#result.element.hidden = !completed;
    const version = `${call.state} ${call.received} ${call.released}`;
    if (completed) this.#result.update(version);
    if (completed && call.received && !this.#opened) {
      this.#opened = true;
      this.#result.open();
    }
    this.#details.update(version);
    this.tick();
  }

  /** Updates the running duration. */
  tick() {
    const waited = this.#call.startedAt === undefined ? 'waited ' : '';
    setText(this.#time, waited + duration(lasted(this.#call)));
  }

  async cancel() {
    if (this.#cancelling || this.#call.cancelling) return;
    this.#cancelling = true;
    this.#updateCancel();
    try {
      await this.#options.cancel(this.#call);
    } finally {
      this.#cancelling = false;
      this.#updateCancel();
    }
  }

  /** Brings the call and its result into view. */
  open() {
    if (this.#call.state === 'completed') this.#result.open();
    this.element.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: 'start', behavior: 'instant' });
  }

  remove() {
    this.#result.release();
    this.element.remove();
  }

  #origin() {
    const { callId, parentCallId, queuedAt } = this.#call;
    const by = parentCallId ? `called by ${isolated(parentCallId)}` : this.#options.own ? 'this page' : isolated(this.#options.agent);
    const at = element('time', { datetime: new Date(queuedAt).toISOString() }, timeOfDay(queuedAt));
    return element('p', { class: 'call-origin' }, by, ' · ', at, ' · ', element('code', {}, callId));
  }

  #updateCancel() {
    const { callId, capability, state, cancelling } = this.#call;
    const ended = isFinal(state);
    const text = cancelling || this.#cancelling ? 'Cancelling…' : ended ? 'Cancel anyway' : 'Cancel';
    setText(this.#cancel, text);
    this.#cancel.classList.toggle('late', ended);
    this.#cancel.title = ended ? 'The call has ended; the answer will say so' : 'Esc';
    this.#cancel.setAttribute('aria-label', `${text}: ${capability} ${callId}`);
  }
}
