/** @import { Call } from '../call-history.js' */
import { isFinal } from '../call-history.js';
import { percentage, progressText } from '../call-text.js';
import { element, setText } from '../dom.js';

/** The progress bar of a call, and the text that its capability reports. */
export class Track {
  #fill = element('div', { class: 'track-fill' });
  #bar = element('div', { class: 'track', role: 'progressbar', 'aria-label': 'Progress', 'aria-valuemin': 0, 'aria-valuemax': 100 }, this.#fill);
  #text = element('p', { class: 'call-progress' });
  element = element('div', {}, this.#bar, this.#text);

  /** @param {Call} call */
  update(call) {
    const percent = percentage(call.progress);
    const stopped = isFinal(call.state);
    this.element.hidden = call.state === 'completed' || (stopped && percent === undefined);
    this.#bar.classList.toggle('unknown', percent === undefined && call.state === 'running');
    this.#fill.style.inlineSize = `${percent ?? 0}%`;
    if (percent === undefined) this.#bar.removeAttribute('aria-valuenow');
    else this.#bar.setAttribute('aria-valuenow', String(Math.round(percent)));
    const text = call.state === 'queued' ? 'Waiting for its turn: the capability is at its concurrency limit' : progressText(call);
    setText(this.#text, stopped && text ? `Stopped at: ${text}` : text);
  }
}
