/** @import { Call } from '../call-history.js' */
/** @import { Shown } from '../results/show.js' */
import { isFinal } from '../call-history.js';
import { STATE_NAMES, lasted, percentage, progressText } from '../call-text.js';
import { element, icon, setIcon, setText } from '../dom.js';
import { duration, timeOfDay } from '../format.js';
import { preview } from '../preview.js';
import { showResult } from '../results/show.js';
import { facts } from './facts.js';
import { Outcome } from './outcome.js';

/**
 * @typedef {object} CardOptions
 * @property {string} agent
 * @property {boolean} own made by this page
 * @property {(call: Call) => Promise<void>} cancel
 */

/** One call on the timeline. Everything below the fold is made when it is first opened. */
export class CallCard {
  element;
  #call;
  #options;
  #node = icon('queued');
  #state = element('span', { class: 'call-state' });
  #time = element('span', { class: 'call-time' });
  #cancel = element('button', { type: 'button', class: 'cancel' });
  #fill = element('div', { class: 'track-fill' });
  #track = element('div', { class: 'track', role: 'progressbar', 'aria-label': 'Progress', 'aria-valuemin': 0, 'aria-valuemax': 100 }, this.#fill);
  #progress = element('p', { class: 'call-progress' });
  #outcome = new Outcome();
  #summary = element('summary', {}, 'Details');
  #body = element('div', { class: 'call-body' });
  #more = element('details', { class: 'call-more' }, this.#summary, this.#body);
  #cancelling = false;
  /** @type {Shown | undefined} */
  #shown;
  #shownFor = '';

  /**
   * @param {Call} call
   * @param {CardOptions} options
   */
  constructor(call, options) {
    this.#call = call;
    this.#options = options;
    const title = element('h3', { id: `call-${call.key.split(' ').at(-1)}` }, call.capability);
    const by = element('span', { class: 'call-agent' }, call.parentCallId ? `called by ${call.parentCallId}` : options.own ? 'this page' : options.agent);
    const at = element('time', { datetime: new Date(call.queuedAt).toISOString() }, timeOfDay(call.queuedAt));
    this.#cancel.addEventListener('click', () => void this.cancel());
    this.#more.addEventListener('toggle', () => void this.#fillBody());
    const head = element('div', { class: 'call-head' }, title, this.#state, this.#time, this.#cancel);
    const origin = element('p', { class: 'call-origin' }, by, ' · ', at, ' · ', element('code', {}, call.callId));
    const main = element('div', { class: 'call-main' }, head, origin, this.#track, this.#progress, this.#outcome.element, this.#more);
    this.element = element(
      'li',
      { class: 'call', tabindex: -1, 'aria-labelledby': title.id, 'data-call-id': call.callId, 'data-capability': call.capability, 'data-own': options.own },
      element('span', { class: 'call-node' }, this.#node),
      main,
    );
    this.update();
  }

  get call() {
    return this.#call;
  }

  update() {
    const call = this.#call;
    const ended = isFinal(call.state);
    const before = this.element.dataset.state;
    this.element.dataset.state = call.state;
    setIcon(this.#node, call.state);
    setText(this.#state, STATE_NAMES[call.state]);
    this.#cancel.disabled = false;
    setText(this.#cancel, this.#cancelling ? 'Cancelling…' : ended ? 'Cancel anyway' : 'Cancel');
    this.#cancel.classList.toggle('late', ended);
    this.#cancel.title = ended ? 'The call has ended; the answer will say so' : 'Esc';
    this.#cancel.setAttribute('aria-label', `${this.#cancel.textContent}: ${call.capability} ${call.callId}`);
    this.#updateProgress();
    this.#outcome.update(call);
    setText(this.#summary, call.state === 'completed' ? 'Result and details' : 'Details');
    this.tick();
    if (call.state === 'completed' && before !== 'completed' && this.#options.own) this.#more.open = true;
    if (this.#more.open) void this.#fillBody();
  }

  /** Brings the running duration up to date. */
  tick() {
    const call = this.#call;
    const unstarted = call.startedAt === undefined;
    setText(this.#time, `${unstarted ? 'waited ' : ''}${duration(lasted(call))}`);
  }

  async cancel() {
    if (this.#cancelling) return;
    this.#cancelling = true;
    this.update();
    try {
      await this.#options.cancel(this.#call);
    } finally {
      this.#cancelling = false;
      this.update();
    }
  }

  open() {
    this.#more.open = true;
    this.element.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: 'start', behavior: 'instant' });
  }

  /** Lets go of what the result holds. */
  remove() {
    this.#shown?.release?.();
    this.element.remove();
  }

  #updateProgress() {
    const call = this.#call;
    const known = percentage(call.progress);
    const percent = call.state === 'completed' ? 100 : (known ?? (isFinal(call.state) ? 0 : undefined));
    this.#track.classList.toggle('unknown', percent === undefined && call.state === 'running');
    this.#fill.style.inlineSize = `${percent ?? 0}%`;
    if (percent === undefined) this.#track.removeAttribute('aria-valuenow');
    else this.#track.setAttribute('aria-valuenow', String(Math.round(percent)));
    const text = call.state === 'queued' ? 'Waiting for its turn: the capability is at its concurrency limit' : progressText(call);
    setText(this.#progress, call.state === 'completed' ? '' : isFinal(call.state) && text ? `Stopped at: ${text}` : text);
  }

  async #fillBody() {
    const call = this.#call;
    if (!this.#more.open) return;
    const version = `${call.state} ${call.released}`;
    if (this.#shownFor === version) return;
    this.#shownFor = version;
    const shown = call.state === 'completed' ? await showResult(call) : undefined;
    if (this.#shownFor !== version) {
      shown?.release?.();
      return;
    }
    this.#shown?.release?.();
    this.#shown = shown;
    const params = element('pre', { class: 'code', tabindex: 0, 'aria-label': 'Parameters' }, call.params);
    const response = call.response ? [heading('Response'), code(preview(call.response, '  '))] : [];
    this.#body.replaceChildren(
      ...(shown ? [shown.element] : []),
      facts(call, this.#options.agent),
      heading('Parameters'),
      params,
      ...response,
    );
  }
}

/** @param {string} text */
function heading(text) {
  return element('h4', {}, text);
}

/** @param {string} text */
function code(text) {
  return element('pre', { class: 'code', tabindex: 0, 'aria-label': 'Response' }, text);
}
