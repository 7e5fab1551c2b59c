/** @import { Api } from './api.js' */
/** @import { Run } from './types.js' */
import { CancelForm } from './cancel-form.js';
import { element, icon, setIcon, setText } from './dom.js';
import { duration, isolated, timeOf } from './format.js';
import { STATE_NAMES, cancelText, dialectName, errorText, isOver, lasted, percentage, progressText, stepText, stopText } from './run-text.js';

/** One run in the list. */
export class RunCard {
  element;
  #run;
  #node = icon('queued');
  #state = element('span', { class: 'run-state' });
  #time = element('span', { class: 'run-time' });
  #cancel = element('button', { type: 'button', class: 'cancel' }, 'Cancel');
  #fill = element('div', { class: 'track-fill' });
  #bar = element('div', { class: 'track', role: 'progressbar', 'aria-label': 'Progress', 'aria-valuemin': 0, 'aria-valuemax': 100 }, this.#fill);
  #progress = element('p', { class: 'run-progress' });
  #cancelled = element('p', { class: 'run-cancelled' });
  #stop = element('p', { class: 'run-stop' });
  #error = element('p', { class: 'problem' });
  #facts = element('dl', { class: 'facts' });
  #details = element('details', { class: 'fold' }, element('summary', {}, element('span', { class: 'show' }, 'Show '), element('span', { class: 'hide' }, 'Hide '), 'details'), this.#facts);
  #form;

  /**
   * @param {Run} run
   * @param {{ api: Api, announce: (text: string) => void, asked: () => void }} options
   */
  constructor(run, options) {
    this.#run = run;
    this.#form = new CancelForm(run, { ...options, closed: () => this.element.focus() });
    const title = element('h3', { id: `run-${run.runId}` }, run.capability);
    const head = element('div', { class: 'run-head' }, title, this.#state, this.#time, this.#cancel);
    const main = element('div', { class: 'run-main' }, head, this.#origin(), this.#bar, this.#progress, this.#cancelled, this.#stop, this.#error, this.#form.element, this.#details);
    this.element = element(
      'li',
      { class: 'run', tabindex: -1, 'aria-labelledby': title.id, 'data-run-id': run.runId, 'data-dialect-id': run.dialectId ?? undefined, 'data-capability': run.capability },
      element('span', { class: 'run-node' }, this.#node),
      main,
    );
    this.#cancel.setAttribute('aria-label', `Cancel ${isolated(run.capability)}, ${isolated(run.dialectId ?? run.runId)}`);
    this.#cancel.addEventListener('click', () => (this.#form.isOpen ? this.#form.close() : this.askToCancel()));
    this.#details.addEventListener('toggle', () => this.#fillFacts());
  }

  get run() {
    return this.#run;
  }

  /** Whether a person uses something on the card that should not vanish. */
  get isBusy() {
    return this.#form.isBusy;
  }

  /** Opens the form that asks for a reason. */
  askToCancel() {
    if (!isOver(this.#run)) this.#form.open();
  }

  /**
   * @param {Run} run
   * @param {number} now on the gateway's clock
   */
  update(run, now) {
    this.#run = run;
    this.element.dataset.state = run.state;
    setIcon(this.#node, run.state);
    setText(this.#state, STATE_NAMES[run.state] ?? run.state);
    const over = isOver(run);
    this.#hideCancel(over);
    const percent = percentage(run.progress);
    this.#bar.hidden = run.state === 'completed' || run.state === 'queued' || (over && percent === undefined);
    this.#bar.classList.toggle('unknown', percent === undefined && !over);
    this.#fill.style.inlineSize = `${percent ?? 0}%`;
    if (percent === undefined) this.#bar.removeAttribute('aria-valuenow');
    else this.#bar.setAttribute('aria-valuenow', String(Math.round(percent)));
    setText(this.#progress, run.state === 'completed' ? '' : run.state === 'queued' ? 'Not sent to the app yet' : progressText(run));
    setText(this.#cancelled, cancelText(run));
    this.#stop.dataset.stop = run.ended ? 'ended' : (run.stop ?? '');
    setText(this.#stop, stopText(run));
    const error = errorText(run);
    this.#error.hidden = error === '';
    setText(this.#error, error);
    this.#form.update(run);
    this.#fillFacts();
    this.tick(now);
  }

  /** Updates the duration of a run in flight. @param {number} now on the gateway's clock */
  tick(now) {
    setText(this.#time, duration(lasted(this.#run, now)));
  }

  /** @param {boolean} over */
  #hideCancel(over) {
    if (over && this.#form.isOpen) this.#form.close();
    const focused = this.#cancel === document.activeElement;
    this.#cancel.hidden = over;
    if (over && focused) this.element.focus();
  }

  #origin() {
    const { agent, app, dialect, dialectId, owner, registeredAt } = this.#run;
    const at = element('time', { datetime: new Date(registeredAt).toISOString() }, timeOf(registeredAt));
    const from = owner === 'anyone' ? '' : ` from ${isolated(owner)}`;
    const line = element('p', { class: 'run-origin' }, `${dialectName(dialect)}${from}`);
    if (app !== null) line.append(' · ', isolated(app));
    if (agent !== null) line.append(' · ', `by ${isolated(agent)}`);
    line.append(' · ', at);
    if (dialectId !== null) line.append(' · ', element('code', {}, dialectId));
    return line;
  }

  #fillFacts() {
    if (!this.#details.open) return;
    const { agent, app, callId, cancelledAt, cancelReason, cancelRequestedAt, dialect, dialectId, ended, endedAt, error, lost, owner, registeredAt, runId, stop, thread } = this.#run;
    const time = (/** @type {number | null} */ at) => (at === null ? null : timeOf(at));
    /** @type {[string, string | null][]} */
    const facts = [
      ['Run', runId],
      ['Agent', owner],
      ['App', app],
      ['Dialect', dialectName(dialect)],
      ['Calls itself', agent],
      ['Its own id', dialectId],
      ['Thread', thread],
      ['Call in the app', callId],
      ['Registered', time(registeredAt)],
      ['Cancel asked for', time(cancelRequestedAt)],
      ['Cancel confirmed', time(cancelledAt)],
      ['Reason', cancelReason],
      ['Ended', time(endedAt)],
      ['Stop', stop],
      ['Stopped by', stepText(this.#run)],
      ['Work ended', ended && `${duration(ended.after)} later, ${ended.success ? 'complete' : 'with an error'}`],
      ['Error', error],
      ['Went away', lost],
    ];
    const shown = facts.filter(([, value]) => value !== null);
    const version = shown.join('\n');
    // A selection in the facts must not be disturbed without need.
    if (version === this.#factsShown) return;
    this.#factsShown = version;
    this.#facts.replaceChildren(...shown.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value ?? ''))));
  }

  #factsShown = '';
}
