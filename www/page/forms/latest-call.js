/** @import { Call } from '../call-history.js' */
/** @import { OwnCalls } from '../own-calls.js' */
import { element, icon, setIcon, setText } from '../dom.js';
import { isFinal, shownState } from '../call-history.js';
import { progressText, stateText } from '../call-text.js';

/** The state of the latest call below its form, with a Cancel button, so that nobody has to scroll to see either. */
export class LatestCall {
  element = element('div', { class: 'latest', hidden: true });
  #icon = icon('queued');
  #text = element('span', { class: 'latest-text' });
  #cancel = element('button', { type: 'button', class: 'quiet' }, 'Cancel');
  #view = element('button', { type: 'button', class: 'quiet' }, 'View');
  /** @type {Call | undefined} */
  #call;
  #ownCalls;

  /**
   * @param {OwnCalls} ownCalls
   * @param {(call: Call) => void} reveal
   */
  constructor(ownCalls, reveal) {
    this.#ownCalls = ownCalls;
    this.element.append(this.#icon, this.#text, this.#cancel, this.#view);
    this.#cancel.addEventListener('click', () => void this.cancel());
    this.#view.addEventListener('click', () => this.#call && reveal(this.#call));
  }

  /** @param {Call} call */
  show(call) {
    if (this.#call && call.queuedAt < this.#call.queuedAt) return;
    this.#call = call;
    this.element.hidden = false;
    this.element.dataset.state = shownState(call);
    setIcon(this.#icon, shownState(call));
    const progress = call.state === 'running' && !call.cancelling ? progressText(call) : '';
    setText(this.#text, [stateText(call), progress].filter(Boolean).join(', '));
    // If a focused button is hidden, the focus falls back to the page.
    if (isFinal(call.state) && document.activeElement === this.#cancel) this.#view.focus();
    this.#cancel.hidden = isFinal(call.state);
    // The button keeps the focus while the cancel is pending, so it is not disabled.
    setText(this.#cancel, call.cancelling ? 'Cancelling…' : 'Cancel');
    this.#cancel.setAttribute('aria-disabled', String(call.cancelling));
  }

  /** @returns {boolean} whether there was a call to cancel */
  cancel() {
    const call = this.#call;
    if (!call || isFinal(call.state) || call.cancelling) return false;
    void this.#ownCalls.cancel(call.callId);
    return true;
  }
}
