/** @import { Call } from '../call-history.js' */
/** @import { CancelResponse } from '../types/protocol.js' */
import { element, icon, setText } from '../dom.js';
import { preview } from '../preview.js';

/**
 * The cancel confirmation beside the call's response, and whether the two agree: a call's first
 * confirmation says `cancelled: true` exactly when its response does.
 */
export class Outcome {
  element = element('div', { class: 'outcome', hidden: true });
  #confirmation = element('code', {});
  #response = element('code', {});
  #verdictText = element('span', {});
  #verdict = element('p', { class: 'verdict' }, icon('agree'), this.#verdictText);

  constructor() {
    this.element.append(
      element('div', { class: 'pane' }, element('h4', {}, 'Cancel confirmation'), this.#confirmation),
      element('div', { class: 'pane' }, element('h4', {}, 'Call response'), this.#response),
      this.#verdict,
    );
  }

  /** @param {Call} call */
  update(call) {
    const { confirmations, response } = call;
    const failed = call.state === 'failed';
    this.element.hidden = confirmations.length === 0 && call.state !== 'cancelled' && !failed;
    if (this.element.hidden) return;
    setText(this.#confirmation, confirmations.map((one) => line(one)).join('\n') || noConfirmation(call));
    setText(this.#response, response ? preview(response) : 'not yet');
    this.#verdict.hidden = confirmations.length === 0 || !response;
    if (!response) return;
    const agree = confirmations.every((one) => one.cancelled === (response.cancelled === true));
    this.#verdict.dataset.agree = String(agree);
    this.#verdict.querySelector('use')?.setAttribute('href', agree ? '#icon-agree' : '#icon-failed');
    setText(this.#verdictText, agree ? 'Confirmation and response agree' : 'Confirmation and response disagree');
  }
}

/** @param {CancelResponse} confirmation */
function line(confirmation) {
  return preview(confirmation);
}

/** @param {Call} call */
function noConfirmation(call) {
  if (call.state === 'failed') return 'none: nobody asked for a cancel';
  return 'none asked for: a timeout, an abort in the page, or the end of the session';
}
