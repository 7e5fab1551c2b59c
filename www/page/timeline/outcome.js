/** @import { Call } from '../call-history.js' */
/** @import { ABPResponse } from '../types/protocol.js' */
import { element, icon, setText } from '../dom.js';
import { preview } from '../preview.js';
import { stopText } from '../call-text.js';

/** The text for a call that was cancelled without a cancel request. */
const UNASKED = 'No cancel was requested: a timeout, an abort in the page, or the end of the session.';

/**
 * Shows the cancel confirmation beside the call's response, and whether both agree: the first
 * confirmation of a call says `cancelled: true` exactly when its response does.
 */
export class Outcome {
  element = element('div', { class: 'outcome', hidden: true });
  #confirmation = element('code', {});
  #response = element('code', {});
  #verdictText = element('span', {});
  #stop = element('p', { class: 'stop' });
  #verdict = element('p', { class: 'verdict' }, icon('agree'), this.#verdictText);

  constructor() {
    this.element.append(
      element('div', { class: 'pane' }, element('h4', {}, 'Cancel confirmation'), this.#confirmation),
      element('div', { class: 'pane' }, element('h4', {}, 'Call response'), this.#response),
      this.#stop,
      this.#verdict,
    );
  }

  /** @param {Call} call */
  update(call) {
    const { confirmations, response } = call;
    this.element.hidden = confirmations.length === 0 && call.state !== 'cancelled';
    if (this.element.hidden) return;
    setText(this.#confirmation, confirmations.map((one) => preview(one)).join('\n') || UNASKED);
    setText(this.#response, response ? line(response) : 'not yet');
    const stop = stopText(call);
    this.#stop.hidden = stop === '';
    setText(this.#stop, stop);
    this.#verdict.hidden = confirmations.length === 0 || !response;
    if (!response) return;
    const agree = confirmations.every((one) => one.cancelled === (response.cancelled === true));
    this.#verdict.dataset.agree = String(agree);
    this.#verdict.querySelector('use')?.setAttribute('href', agree ? '#icon-agree' : '#icon-failed');
    setText(this.#verdictText, agree ? 'Confirmation and response agree' : 'Confirmation and response disagree');
  }
}

/**
 * Returns the response without its data, which is shown elsewhere.
 * @param {ABPResponse} response
 */
function line(response) {
  const fields = Object.entries(response).filter(([, value]) => value !== undefined);
  return `{ ${fields.map(([name, value]) => `"${name}": ${name === 'data' ? '{…}' : preview(value)}`).join(', ')} }`;
}
