/**
 * One call as it is shown: its name, its agent, its progress, and a button that stops it.
 */
import { Icon, signOf } from './icon.js';
import { element, write } from './parts.js';
import { Question } from './question.js';
import { elapsedText, isRunning, isolated, mayDestroy, percentage, stageText, stateText } from './words.js';

/** @import { ActivityCall, ActivityTexts } from '../../../../npm/activity.js' */

export class Row {
  /** @type {ActivityCall | undefined} */
  #call;
  item = element('li', 'call');
  #icon = new Icon();
  #name = element('span', 'name');
  #agent = element('span', 'agent');
  #state = element('span', 'state');
  #elapsed = element('span', 'elapsed');
  #progress = element('progress', 'progress');
  #stop = element('button', 'stop');
  #question;

  /**
   * @param {(call: ActivityCall) => void} stop
   * @param {(call: ActivityCall, allow: boolean) => void} answer
   */
  constructor(stop, answer) {
    this.#question = new Question((allow) => void (this.#call && answer(this.#call, allow)));
    const head = element('span', 'head');
    head.append(this.#name, ' ', this.#agent);
    this.#progress.max = 100;
    this.#stop.type = 'button';
    // The button stays focused while it waits, so it is not disabled.
    this.#stop.onclick = () => void (this.#call && !this.#call.stopping && stop(this.#call));
    this.item.append(this.#icon.element, head, this.#stop, this.#state, this.#elapsed, this.#question.params, this.#question.answers, this.#progress);
  }

  /**
   * @param {ActivityCall} call
   * @param {ActivityTexts} texts
   * @param {number} now
   */
  show(call, texts, now) {
    this.#call = call;
    const running = isRunning(call);
    const { capability, stopping } = call;
    const title = call.title ?? capability;
    const percent = percentage(call);
    const stage = running && !stopping ? stageText(call) : '';
    const sign = signOf(call);
    this.item.className = `call ${sign}${running ? '' : ' over'}`;
    this.item.part.value = [...new Set(['call', call.state, sign, ...(mayDestroy(call) ? ['destructive'] : [])])].join(' ');
    this.#icon.show(sign);
    write(this.#name, title);
    this.#name.title = title === capability ? '' : capability;
    write(this.#agent, texts.by(isolated(call.agent?.name ?? texts.someAgent)));
    write(this.#state, [stateText(call, texts), running && mayDestroy(call) && texts.destructive, stage].filter(Boolean).join(' · '));
    this.tick(texts, now);
    write(this.#stop, texts.stop);
    this.#stop.ariaLabel = `${texts.stop} ${isolated(title)}`;
    this.#stop.ariaDisabled = String(stopping);
    this.#progress.ariaLabel = texts.progress(isolated(title));
    if (percent === undefined) this.#progress.removeAttribute('value');
    else this.#progress.value = percent;
    // The buttons of a question that is answered take no place.
    if (call.asks !== 'app' && this.#question.answers.contains(this.#focused())) this.#focusState();
    this.#question.show(call, texts);
    // A hidden part keeps its space, so that nothing moves under the pointer when a call ends.
    this.#hide(this.#progress, !running || call.state === 'queued');
    // A part that has the focus must not take the focus away with it.
    const stoppable = running && call.asks !== 'app';
    if (!stoppable && this.#focused() === this.#stop) this.#focusState();
    this.#hide(this.#stop, !stoppable);
  }

  /** @param {HTMLElement} it @param {boolean} hidden */
  #hide(it, hidden) {
    it.classList.toggle('unseen', hidden);
  }

  /** @param {ActivityTexts} texts @param {number} now */
  tick(texts, now) {
    if (this.#call) write(this.#elapsed, elapsedText(this.#call, now, texts));
  }

  #focused() {
    return /** @type {ShadowRoot} */ (this.item.getRootNode()).activeElement;
  }

  #focusState() {
    this.#state.tabIndex = -1;
    this.#state.focus();
  }
}
