/**
 * The question whether a call may start: what the agent gives, and the two answers.
 */
import { shown, visible } from '../consent/visible.js';
import { element, write } from './parts.js';
import { isolated } from './words.js';

/** @import { ActivityCall, ActivityTexts } from '../../../../npm/activity.js' */

/** The number of parameters that are shown, and the most characters of a name and of a value. */
const SHOWN = 50;
const NAME = 100;
const VALUE = 500;

/**
 * Milliseconds for which a new question takes no yes: a click that was meant for what stood in its place
 * allows nothing.
 */
const UNREADY = 500;

export class Question {
  params = element('dl', 'params');
  answers = element('div', 'answers');
  #allow = element('button', 'allow');
  #deny = element('button', 'deny');
  /** The question that is shown. @type {number | undefined} */
  #shown;
  #ready = false;

  /** @param {(allow: boolean) => void} answer */
  constructor(answer) {
    this.#allow.type = 'button';
    this.#deny.type = 'button';
    this.#allow.onclick = () => void (this.#ready && answer(true));
    this.#deny.onclick = () => answer(false);
    this.answers.append(this.#deny, this.#allow);
    // The parameters scroll, and so must take the focus.
    this.params.tabIndex = 0;
    this.params.role = 'group';
    this.#hide(true);
  }

  /** @param {ActivityCall} call @param {ActivityTexts} texts */
  show(call, texts) {
    const { question } = call;
    if (question !== this.#shown) {
      this.#shown = question;
      this.#ready = false;
      this.#list(call, texts);
      this.#hide(question === undefined);
      setTimeout(() => {
        if (this.#shown !== question) return;
        this.#ready = true;
        this.#allow.ariaDisabled = 'false';
      }, UNREADY);
    }
    if (question === undefined) return;
    const title = isolated(call.title ?? call.capability);
    this.params.ariaLabel = texts.params;
    for (const [button, text] of /** @type {const} */ ([[this.#allow, texts.allow], [this.#deny, texts.deny]])) {
      write(button, text);
      button.ariaLabel = `${text} ${title}`;
    }
    this.#allow.ariaDisabled = String(!this.#ready);
  }

  /** @param {boolean} hidden */
  #hide(hidden) {
    this.params.hidden = hidden || !this.params.firstChild;
    this.answers.hidden = hidden;
  }

  /** @param {ActivityCall} call @param {ActivityTexts} texts */
  #list({ params }, texts) {
    const all = Object.entries(params ?? {});
    const rows = all.slice(0, SHOWN).flatMap(([name, value]) => [textOf('dt', shortened(name)), textOf('dd', shown(value, VALUE))]);
    const rest = all.length - SHOWN;
    this.params.replaceChildren(...rows, ...(rest > 0 ? [textOf('dt', '…'), textOf('dd', texts.more(rest))] : []));
  }
}

/** @param {string} name */
const shortened = (name) => visible(name.length > NAME ? `${name.slice(0, NAME)}…` : name);

/** @param {'dt' | 'dd'} tag @param {string} text */
function textOf(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}
