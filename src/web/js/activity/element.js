/**
 * `<cap-activity>`: shows people what agents do on a host, and lets them stop it.
 */
import { activityOf, keyOf } from './activity.js';
import { Announcer } from './announcer.js';
import { element, write } from './parts.js';
import { Row } from './row.js';
import { STYLE } from './style.js';
import { ENGLISH, isRunning } from './words.js';

/** @import { ActivityCall, ActivityTexts } from '../../../../npm/activity.js' */
/** @import { Host } from '../../../../npm/index.js' */

/** Ended calls that stay, unless the attribute `keep` says otherwise. */
const KEPT = 3;

/** The number of calls that are shown. For the rest, a number is shown. */
const SHOWN = 20;

/** A server that renders pages has no elements, but may still import this module. */
const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

/** @type {CSSStyleSheet | undefined} */
let sheet;

/** One style sheet for all elements. For a Content-Security-Policy, an adopted style sheet is not an inline style. */
function styled() {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
  }
  return sheet;
}

export class CapActivityElement extends Base {
  static observedAttributes = ['keep'];

  /** @type {Host | undefined} */
  #host;
  /** @type {import('./activity.js').Activity | undefined} */
  #activity;
  /** @type {ActivityTexts} */
  #texts = ENGLISH;
  /** @type {Map<string, Row>} */
  #rows = new Map();
  /** @type {(() => void) | undefined} */
  #unsubscribe;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #clock;
  /** @type {ReturnType<typeof build> | undefined} */
  #parts;
  /** Whether the pointer is on the list. */
  #pointed = false;
  /** Tells the host that nobody is asked here any more. @type {(() => void) | undefined} */
  #endAsking;

  /** The host whose calls are shown. */
  get host() {
    return this.#host;
  }

  set host(host) {
    if (host === this.#host) return;
    // What is no host is refused each time.
    this.#activity = host && activityOf(host);
    this.#host = host;
    this.#disconnect();
    this.#askNoMore();
    if (this.isConnected) this.#connect();
  }

  /** The texts of the element. */
  get texts() {
    return this.#texts;
  }

  /** @param {Partial<ActivityTexts>} texts */
  set texts(texts) {
    this.#texts = { ...ENGLISH, ...texts, cancelled: { ...ENGLISH.cancelled, ...texts?.cancelled } };
    this.#render();
  }

  connectedCallback() {
    // A property that was set before the element was defined hides the accessor.
    for (const name of /** @type {const} */ (['host', 'texts'])) {
      if (!Object.hasOwn(this, name)) continue;
      const value = /** @type {any} */ (this[name]);
      delete (/** @type {any} */ (this)[name]);
      this[name] = value;
    }
    this.#connect();
  }

  disconnectedCallback() {
    this.#disconnect();
    // An element that is moved to another place still asks.
    setTimeout(() => void (this.isConnected || this.#askNoMore()));
  }

  attributeChangedCallback() {
    this.#render();
  }

  #connect() {
    this.#parts ??= build(this, () => this.#own().filter((it) => isRunning(it) && !it.stopping).forEach((it) => this.#stop(it)), (pointed) => {
      this.#pointed = pointed;
      this.#render();
    });
    this.#unsubscribe ??= this.#activity?.subscribe(() => this.#render());
    this.#endAsking ??= this.#host?.confirmHere();
    this.#render();
  }

  #disconnect() {
    this.#pointed = false;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    clearInterval(this.#clock);
    this.#clock = undefined;
    this.#parts?.announcer.silence();
  }

  #askNoMore() {
    this.#endAsking?.();
    this.#endAsking = undefined;
  }

  /** The calls that agents have made. Calls made by a handler are a part of the handler's call, unless they ask. */
  #own() {
    return (this.#activity?.calls() ?? []).filter(({ parentCallId, question }) => parentCallId === undefined || question !== undefined);
  }

  /** @param {ActivityCall} call @param {boolean} allow */
  #answer(call, allow) {
    if (allow) this.#activity?.allow(call);
    else this.#activity?.deny(call);
  }

  /** @param {ActivityCall} call */
  #stop(call) {
    void this.#activity?.stop(call);
  }

  #kept() {
    const keep = this.getAttribute('keep');
    return keep === null || !(Number(keep) >= 0) ? KEPT : Number(keep);
  }

  #render() {
    const parts = this.#parts;
    if (!parts) return;
    const { section, none, list, more, stopAll, announcer } = parts;
    const [texts, now] = [this.#texts, Date.now()];
    const calls = this.#own();
    const running = calls.filter(isRunning);
    const kept = this.#kept();
    const over = calls.filter((it) => !isRunning(it)).reverse().slice(0, Math.max(0, SHOWN - running.length));
    // No card leaves the list while the pointer is on the list: the buttons below the card would move.
    const ended = new Set(over.filter((it, at) => at < kept || (this.#pointed && this.#rows.has(keyOf(it.sessionId, it.callId)))));
    // The newest call is on top, and keeps its place when it ends.
    const visible = calls.filter((it) => isRunning(it) || ended.has(it)).reverse();
    // A call that asks is always shown: nobody else answers it.
    const asks = (/** @type {ActivityCall} */ { question }) => question !== undefined;
    const first = new Set([...visible.filter(asks), ...visible.filter((it) => !asks(it))].slice(0, SHOWN));
    const shown = visible.filter((it) => first.has(it));
    section.ariaLabel = texts.label;
    write(none, texts.none);
    none.hidden = shown.length > 0;
    write(more, texts.more(visible.length - shown.length));
    more.hidden = visible.length === shown.length;
    write(stopAll, texts.stopAll);
    const few = running.length < 2;
    if (few) this.#takeFocus(stopAll);
    // Once shown, the button keeps its place until nothing is shown, so that the content below does not
    // jump.
    stopAll.hidden = shown.length === 0 || (few && stopAll.hidden);
    stopAll.classList.toggle('unseen', few);
    this.#showRows(list, shown, now);
    announcer.tell(calls, texts);
    if (running.length > 0 && this.isConnected) this.#clock ??= setInterval(() => this.#tick(), 1000);
    else {
      clearInterval(this.#clock);
      this.#clock = undefined;
    }
  }

  /** @param {HTMLElement} list @param {ActivityCall[]} shown @param {number} now */
  #showRows(list, shown, now) {
    const before = this.#rows;
    this.#rows = new Map(shown.map((call) => {
      const key = keyOf(call.sessionId, call.callId);
      const row = before.get(key) ?? new Row((it) => this.#stop(it), (it, allow) => this.#answer(it, allow));
      before.delete(key);
      return [key, row];
    }));
    for (const { item } of before.values()) {
      this.#takeFocus(item);
      item.remove();
    }
    let at = list.firstChild;
    let index = 0;
    for (const row of this.#rows.values()) {
      // A row in the right place is not moved: a move would take the focus from it.
      if (row.item === at) at = at.nextSibling;
      else list.insertBefore(row.item, at);
      row.show(/** @type {ActivityCall} */ (shown[index]), this.#texts, now);
      index += 1;
    }
  }

  /** Moves the keyboard focus away from an element that is about to disappear. @param {HTMLElement} it */
  #takeFocus(it) {
    if (it.contains(this.shadowRoot?.activeElement ?? null)) this.#parts?.section.focus();
  }

  #tick() {
    const now = Date.now();
    for (const row of this.#rows.values()) row.tick(this.#texts, now);
  }
}

/**
 * @param {CapActivityElement} host
 * @param {() => void} stop all calls
 * @param {(pointed: boolean) => void} point the pointer comes to the list, or leaves the list
 */
function build(host, stop, point) {
  const root = host.attachShadow({ mode: 'open' });
  root.adoptedStyleSheets = [styled()];
  const section = element('section', 'activity');
  const none = element('p', 'none');
  const list = element('ul', 'list');
  const more = element('p', 'more');
  const stopAll = element('button', 'stop-all');
  const said = element('div', 'said');
  section.tabIndex = -1;
  // Safari does not treat a list without bullets as a list.
  list.role = 'list';
  list.onpointerenter = () => point(true);
  list.onpointerleave = () => point(false);
  said.role = 'status';
  stopAll.type = 'button';
  stopAll.onclick = stop;
  stopAll.hidden = true;
  section.append(stopAll, none, list, more, said);
  root.append(section);
  return { section, none, list, more, stopAll, announcer: new Announcer(said) };
}
