/** @import { Call } from '../call-history.js' */
/** @import { OwnCalls } from '../own-calls.js' */
/** @import { Capability } from '../types/protocol.js' */
/** @import { Bench, Preset } from './workbench.js' */
import { element, icon, setText } from '../dom.js';
import { alternativesOf, chooseOne } from './alternatives.js';
import { fieldsOf, readAll, setAt } from './field.js';
import { LatestCall } from './latest-call.js';
import { pictureSource } from './picture-source.js';
import { textSource } from './text-source.js';
import { PLAIN, WORKBENCH } from './workbench.js';

/** A capability as an entry of the exclusive accordion: its description, its form, and its latest call. */
export class CapabilityForm {
  /** @type {HTMLDetailsElement} */
  element;
  /** The capability that this form was built from, to detect a change. @type {string} */
  source;
  #capability;
  #ownCalls;
  #latest;
  #fields;
  #badge = element('span', { class: 'badge' });
  #problem = element('p', { class: 'problem', role: 'alert', hidden: true });
  /** @type {() => Promise<Record<string, unknown>>} */
  #params;

  /**
   * @param {Capability} capability
   * @param {OwnCalls} ownCalls
   * @param {(call: Call) => void} reveal brings a call into view
   */
  constructor(capability, ownCalls, reveal) {
    const schema = capability.inputSchema ?? {};
    const bench = WORKBENCH[capability.name] ?? PLAIN;
    this.source = JSON.stringify(capability);
    this.#capability = capability;
    this.#ownCalls = ownCalls;
    this.#latest = new LatestCall(ownCalls, reveal);
    this.#fields = fieldsOf(schema, (name, property) => {
      const source = bench.sources[name];
      if (source?.kind === 'text') return textSource(name, property, source.make);
      return source?.kind === 'picture' ? pictureSource(name, property) : undefined;
    });
    const form = this.#form(bench, alternativesOf(schema));
    this.element = element(
      'details',
      { class: 'capability', name: 'capability', 'data-capability': capability.name },
      element('summary', {}, icon('chevron'), this.#summary(bench), this.#badge),
      ...(capability.description ? [element('p', { class: 'description' }, capability.description)] : []),
      form,
    );
    this.#params = async () => readAll(this.#fields);
    const alternatives = alternativesOf(schema);
    if (alternatives.length > 0) this.#chooseOne(form, alternatives);
  }

  /** @param {Call} call one of this page's own */
  show(call) {
    this.#latest.show(call);
  }

  /** @param {number} active calls of this capability that are queued or running, from all callers */
  setActive(active) {
    setText(this.#badge, active > 0 ? `${active} in flight` : '');
  }

  /** Cancels the latest call of this form. */
  cancelLatest() {
    return this.#latest.cancel();
  }

  /** @param {Bench} bench */
  #summary(bench) {
    const name = element('code', {}, this.#capability.name);
    return element('span', { class: 'capability-name' }, ...(bench.title ? [element('span', {}, bench.title)] : []), name);
  }

  /**
   * @param {Bench} bench
   * @param {string[]} alternatives
   */
  #form(bench, alternatives) {
    const call = element('button', { class: 'primary' }, icon('play'), 'Call');
    const halfway = element('button', { value: 'halfway', title: 'Aborts the call at 50 % of its progress' }, 'Call, cancel halfway');
    const form = element('form', { 'aria-label': this.#capability.name });
    if (bench.presets.length > 0) form.append(this.#presets(bench.presets));
    for (const [name, field] of this.#fields) if (!alternatives.includes(name)) form.append(field.element);
    form.append(element('div', { class: 'foot' }, this.#problem, element('div', { class: 'actions' }, call, halfway), this.#latest.element));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#submit(form, event.submitter === halfway);
    });
    return form;
  }

  /**
   * @param {HTMLFormElement} form
   * @param {string[]} names
   */
  #chooseOne(form, names) {
    // The alternative with sample data comes first.
    const { presets } = WORKBENCH[this.#capability.name] ?? PLAIN;
    const sample = presets[0]?.values ?? {};
    names.sort((a, b) => Number(b in sample) - Number(a in sample));
    const choice = chooseOne(names, this.#fields);
    const after = form.querySelector(':scope > .presets');
    const elements = names.flatMap((name) => this.#fields.get(name)?.element ?? []);
    if (after) after.after(choice.element, ...elements);
    else form.prepend(choice.element, ...elements);
    this.#params = () => readAll(new Map([...this.#fields].filter(([name]) => !names.includes(name) || name === choice.chosen())));
  }

  /** @param {Preset[]} presets */
  #presets(presets) {
    const box = element('fieldset', { class: 'segments presets' }, element('legend', {}, 'Size'));
    const group = `preset-${this.#capability.name}`;
    for (const [index, preset] of presets.entries()) {
      const radio = element('input', { type: 'radio', name: group, value: preset.label });
      radio.checked = index === 0;
      // A click on the chosen preset applies too: it undoes later edits.
      radio.addEventListener('click', () => this.#apply(preset));
      box.append(element('label', {}, radio, element('span', {}, preset.label)));
    }
    if (presets[0]) this.#apply(presets[0]);
    return box;
  }

  /** @param {Preset} preset */
  #apply(preset) {
    for (const [path, value] of Object.entries(preset.values)) setAt(this.#fields, path, value);
  }

  /**
   * @param {HTMLFormElement} form
   * @param {boolean} halfway
   */
  async #submit(form, halfway) {
    const buttons = form.querySelectorAll('button');
    this.#problem.hidden = true;
    for (const button of buttons) button.setAttribute('aria-busy', 'true');
    try {
      const params = await this.#params();
      void this.#ownCalls.start(this.#capability.name, params, { cancelHalfway: halfway });
    } catch (error) {
      this.#problem.hidden = false;
      setText(this.#problem, `Not called: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      for (const button of buttons) button.removeAttribute('aria-busy');
    }
  }
}
