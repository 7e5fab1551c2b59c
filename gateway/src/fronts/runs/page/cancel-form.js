/** @import { Api } from './api.js' */
/** @import { Confirmation, Run } from './types.js' */
import { Refusal } from './api.js';
import { element, icon, setText } from './dom.js';
import { isolated } from './format.js';

/** The limit of the runs API, in characters. */
const LONGEST_REASON = 4096;

/** Asks for a reason, sends the cancel, and shows the confirmation unchanged. */
export class CancelForm {
  #reason = element('input', { type: 'text', maxlength: LONGEST_REASON, autocomplete: 'off', placeholder: 'For the app and the list of runs; may stay empty' });
  #send = element('button', { class: 'danger' }, 'Cancel the run');
  #leave = element('button', { type: 'button' }, 'Let it run');
  #form;
  #waiting = element('p', { class: 'waiting', hidden: true }, 'Asking the app…');
  #answer = element('code', {});
  #verdictText = element('span', {});
  #verdict = element('p', { class: 'verdict' }, icon('agree'), this.#verdictText);
  #outcome;
  element;
  #run;
  #options;
  /** @type {Confirmation | undefined} */
  #confirmation;
  #sending = false;

  /**
   * @param {Run} run
   * @param {{ api: Api, announce: (text: string) => void, asked: () => void, closed: () => void }} options `closed` is called when the form has closed and had the focus
   */
  constructor(run, options) {
    this.#run = run;
    this.#options = options;
    const label = element('label', {}, element('span', {}, `Why cancel ${isolated(run.capability)}?`), this.#reason);
    this.#form = element('form', { class: 'cancel-form', hidden: true }, label, element('div', { class: 'buttons' }, this.#send, this.#leave));
    this.#outcome = element('div', { class: 'outcome', hidden: true }, element('div', { class: 'pane' }, element('h4', {}, 'Cancel confirmation'), this.#answer), this.#verdict);
    this.element = element('div', { class: 'cancelling' }, this.#form, this.#waiting, this.#outcome);
    this.#leave.addEventListener('click', () => this.close());
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#ask();
    });
    this.#form.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      this.close();
    });
  }

  get isOpen() {
    return !this.#form.hidden;
  }

  /** Whether the form shows something that a person may be reading or filling in. */
  get isBusy() {
    return this.isOpen || this.#sending || !this.#outcome.hidden;
  }

  open() {
    if (this.#sending) return;
    this.#form.hidden = false;
    this.#reason.focus();
  }

  close() {
    const focused = this.#form.contains(document.activeElement);
    this.#form.hidden = true;
    if (focused) this.#options.closed();
  }

  /** Shows the run's new state. @param {Run} run */
  update(run) {
    this.#run = run;
    this.#judge();
  }

  async #ask() {
    this.#sending = true;
    this.close();
    this.#outcome.hidden = true;
    this.#waiting.hidden = false;
    try {
      this.#confirmation = await this.#options.api.cancel(this.#run, this.#reason.value.trim());
      setText(this.#answer, preview(this.#confirmation));
      this.#judge();
    } catch (error) {
      this.#confirmation = undefined;
      setText(this.#answer, error instanceof Refusal ? `${error.status} ${error.code ?? ''}`.trim() : 'none');
      this.#say('lost', failure(error));
    } finally {
      this.#sending = false;
      this.#waiting.hidden = true;
      this.#outcome.hidden = false;
      this.#options.announce(`${isolated(this.#run.capability)}: ${this.#verdictText.textContent}`);
      this.#options.asked();
    }
  }

  /** Says what the confirmation means, and whether the run's current state agrees with it. */
  #judge() {
    if (!this.#confirmation) return;
    const { cancelled, reason, error } = this.#confirmation;
    const { state, stop, ended } = this.#run;
    if (cancelled && stop === 'abandoned' && !ended) this.#say('abandoned', 'Confirmed, but the work was not seen to stop');
    else if (cancelled && state === 'cancelled') this.#say('agree', 'Confirmed, and the run has ended as cancelled');
    else if (cancelled && (state === 'completed' || state === 'failed')) this.#say('disagree', `Confirmed, but the run ended as ${state}`);
    else if (cancelled) this.#say('agree', 'Confirmed');
    else if (state === 'cancelled') this.#say('late', 'Not confirmed then; the run has ended as cancelled since');
    else if (error?.code === 'TIMEOUT') this.#say('lost', 'Not confirmed: the app has not answered, and may still be at work');
    else this.#say('not', `Not cancelled: ${isolated(reason ?? error?.message ?? 'the app gave no reason')}`);
  }

  /**
   * @param {'agree' | 'abandoned' | 'disagree' | 'late' | 'lost' | 'not'} verdict
   * @param {string} text
   */
  #say(verdict, text) {
    this.#verdict.dataset.verdict = verdict;
    const shown = { agree: 'agree', abandoned: 'unknown', disagree: 'failed', late: 'cancelled', lost: 'unknown', not: 'failed' }[verdict];
    this.#verdict.querySelector('use')?.setAttribute('href', `#icon-${shown}`);
    setText(this.#verdictText, text);
  }
}

/** @param {unknown} error */
function failure(error) {
  if (error instanceof Refusal) return `Not cancelled: ${isolated(error.message)}`;
  return 'The gateway did not answer: whether the run was cancelled is not known';
}

/** @param {Confirmation} confirmation */
function preview({ runId, cancelled, reason, error, stop, ended }) {
  const fields = Object.entries({ runId, cancelled, reason, error, stop, ended }).filter(([, value]) => value !== undefined);
  return `{ ${fields.map(([name, value]) => `"${name}": ${isolated(JSON.stringify(value))}`).join(', ')} }`;
}
