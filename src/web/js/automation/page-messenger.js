/**
 * `window.abp` of a page or frame that Puppeteer or Playwright drives. Envelopes become evaluations,
 * and their results become envelopes. If there is no `window.abp`, the tools of the page serve instead.
 */
import { abpError, problem } from '../errors.js';
import { expressed, toBase64 } from '../json.js';
import { LIST } from '../listing.js';
import { exposeCallbacks } from './callbacks.js';
import { deskOver, openDevTools } from './dev-tools.js';
import { hasApp, loadingState, makeDesk, originHere, perform, sendAway, takesTurns, untilDeparture, waitFor } from './in-page.js';
import { PageTools } from './page-tools.js';
import { Thread } from './thread.js';

/** @import { Desk } from './dev-tools.js' */

/**
 * The common part of both libraries, as far as this package needs it.
 *
 * @typedef {object} Page
 * @property {(work: any, argument?: any) => Promise<any>} evaluate
 * @property {(work: any, argument?: any) => Promise<Desk>} evaluateHandle
 * @property {(name: string, callback: (...args: any[]) => any) => Promise<any>} exposeFunction
 * @property {(event: any, listener: (...args: any[]) => void) => any} on
 * @property {(event: any, listener: (...args: any[]) => void) => any} off
 * @property {() => boolean} [isClosed]
 * @property {() => Frame[]} [frames]
 * @property {() => Frame} [mainFrame]
 * @property {() => any} [browser]
 * @property {() => any} [context]
 */

/**
 * A frame of either library. What the frame lacks, its page has.
 *
 * @typedef {Pick<Page, 'evaluate' | 'evaluateHandle'> & { page: () => Page, url: () => string, detached?: boolean, isDetached?: () => boolean }} Frame
 */

/** Pause between attempts while the page is navigating. */
const RETRY = 50;
/** How long a document has to show that it is still there. */
const SIGN_OF_LIFE = 5000;
/** How long a page has to answer a cancel before a check whether its thread is held. */
const TERMINATE_AFTER = 100;
/** How long a page may take to answer an empty question before it counts as stuck. */
const STUCK = 100;
/** The longest time that the answer of a cancelled call waits for the answer of its cancel. */
const OVERTAKEN = 1000;

const HELD = 'The page answers nothing: something holds its thread, or a dialog is open in it. What computes for long belongs in a worker: host.registerWorker';

export class PageMessenger {
  /** @type {((envelope: any) => void) | undefined} */
  onmessage = undefined;
  /** @type {((error?: Error) => void) | undefined} */
  onclose = undefined;
  /** @type {Map<unknown, (response: any) => void>} */
  questions = new Map();
  /** The likely reason if nobody answers. */
  hint = '';
  /** Why the page does not answer; unset when it answers again. @type {string | undefined} */
  stuck;
  /** The dialog that was opened last since the last answer of the page. @type {string | undefined} */
  #dialog;
  #createHost;
  #page;
  /** The target of evaluations: the page, or a frame of it. @type {any} */
  #frame;
  /** @type {Desk | undefined} */
  #desk;
  /** When the page last answered, by `performance.now()`. */
  #heard = 0;
  /** The number of envelopes sent to each desk. @type {WeakMap<Desk, number>} */
  #sent = new WeakMap();
  /** @type {PageTools | undefined} instead of an app */
  #tools;
  #closed = false;
  /** @type {(() => void)[]} */
  #release = [];
  /** The callIds of the calls in flight. @type {Map<Promise<void>, string>} */
  #calls = new Map();
  /** The last unanswered cancel of each call. @type {Map<unknown, Promise<unknown>>} */
  #cancels = new Map();
  /** The time in milliseconds; infinity for never. */
  #terminateAfter;
  /** The DevTools of the page, if the browser has any. @type {Promise<import('./dev-tools.js').DevTools | undefined> | undefined} */
  #devTools;
  /** The debugger of the page, attached with the first call. @type {Promise<Thread | undefined> | undefined} */
  #thread;

  /** Where the app is, for an agent that reconnects. @type {{ origin?: string } | undefined} */
  #place;

  /**
   * @param {Page | Frame} frame
   * @param {(options: object) => Promise<import('../host.js').Host>} createHost
   * @param {boolean | { after?: number }} [terminate] whether the job of a call that holds the thread may be ended
   * @param {{ origin?: string }} [place] holds the only origin at which the app may be, once an app has been found
   */
  constructor(frame, createHost, terminate = true, place = undefined) {
    this.#place = place;
    this.#createHost = createHost;
    this.#terminateAfter = terminate === false ? Infinity : (Object(terminate).after ?? TERMINATE_AFTER);
    if (typeof frame?.evaluate !== 'function' || typeof frame.evaluateHandle !== 'function') {
      throw abpError('INVALID_PARAMS', 'attach(page): page must be a page or a frame of Puppeteer or Playwright');
    }
    const page = (this.#page = 'page' in frame && typeof frame.page === 'function' ? frame.page() : /** @type {Page} */ (frame));
    // The main frame counts as the page.
    this.#frame = frame === page.mainFrame?.() ? page : frame;
    this.#listen(page, 'framedetached', (it) => it === this.#frame && this.#gone());
    this.#listen(page, 'close', this.#gone);
    // A crash, by the names of Playwright and of Puppeteer.
    this.#listen(page, 'crash', this.#gone);
    this.#listen(page, 'error', this.#gone);
    // Playwright dismisses dialogs by itself as long as nobody listens for them.
    if (page.browser) this.#listen(page, 'dialog', (it) => (this.#dialog = `The page waits for the answer to its dialog ${it.type()}(${JSON.stringify(it.message().slice(0, 200))})`));
    this.#listen(page.browser?.() ?? page.context?.()?.browser?.(), 'disconnected', this.#gone);
  }

  /** @param {import('../messenger.js').Envelope} envelope */
  post(envelope) {
    if (this.#tools) return this.#tools.post(envelope);
    const { type, id, payload } = envelope;
    if (type === 'elicitation/response') {
      this.questions.get(id)?.(payload);
      this.questions.delete(id);
      return undefined;
    }
    const text = encode(envelope);
    if (type === 'initialize') void this.#connect(envelope, text);
    else if (type === 'shutdown') void this.#shutDown(id, text);
    else if (type === 'capabilities/cancel') this.#cancel(id, payload, text);
    else if (type === LIST) void this.#request(`${LIST}-result`, id, text);
    else this.#call(id, payload, text);
    return undefined;
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.onmessage = this.onclose = undefined;
    for (const release of this.#release) release();
    for (const answer of this.questions.values()) answer(undefined);
    this.questions.clear();
    this.#tools?.close();
    void this.#thread?.then((thread) => thread?.close());
    void this.#leave(this.#desk).then(() => this.#detach());
  }

  async #detach() {
    const opening = this.#devTools;
    this.#devTools = undefined;
    await opening?.then((devTools) => devTools?.detach()).catch(() => {});
  }

  /**
   * Waits for an app, and opens the session. After a navigation, it starts again.
   *
   * @param {import('../messenger.js').Envelope} envelope
   * @param {string} text the same
   */
  async #connect(envelope, text) {
    const { id } = envelope;
    while (!this.#closed) {
      if (isGone(this.#frame)) return this.#gone();
      try {
        const found = await this.#frame.evaluate(waitFor);
        // The tools of all frames belong to the page.
        if (found === 'tools' && this.#isPage && (await this.#isInPlace(this.#frame)) && (await this.#useTools(envelope))) return;
        if (found !== 'app') {
          this.#explain().catch(() => {}); // The frame may disappear meanwhile.
          continue;
        }
        this.hint = '';
        const activate = await exposeCallbacks(this.#page, this.#frame, this);
        const loading = (await this.#frame.evaluate(loadingState)) === 'loading';
        const devTools = this.#isPage ? await (this.#devTools ??= openDevTools(this.#page)) : undefined;
        const desk = devTools ? await deskOver(devTools, makeDesk) : await this.#frame.evaluateHandle(makeDesk);
        if (!(await this.#isInPlace(desk))) {
          this.hint = `: the ${this.#isPage ? 'page' : 'frame'} is at another origin than ${this.#place?.origin}`;
          void this.#leave(desk);
          await new Promise((resolve) => setTimeout(resolve, RETRY));
          continue;
        }
        this.#desk = desk;
        const departed = this.#untilDeparted(desk);
        const payload = await this.#perform(desk, text);
        if (payload === undefined) {
          void this.#leave(desk);
          continue;
        }
        if (this.#closed) {
          // It is too late: the opened session is not left behind.
          if (payload?.sessionId) await this.#perform(desk, encode({ type: 'shutdown', timestamp: Date.now(), payload: {} }));
          void this.#leave(desk);
          return;
        }
        if (!payload?.error) {
          activate();
          this.#release.push(activate.undo);
          this.#watchLoads(desk, loading);
          void departed.then(this.#gone);
        } else if (payload.error.code === 'ALREADY_INITIALIZED') {
          payload.error.message += `. If nobody uses it any more: ${this.#isPage ? 'page' : 'frame'}.evaluate(() => abp.shutdown())`;
        }
        this.onmessage?.({ type: 'initialize-result', id, payload });
        return;
      } catch {
        // The DevTools may belong to a page that another has replaced.
        void this.#detach();
        await new Promise((resolve) => setTimeout(resolve, RETRY));
      }
    }
  }

  /** @param {{ evaluate: (work: any) => Promise<any> }} document */
  async #isInPlace(document) {
    if (!this.#place) return true;
    const origin = await document.evaluate(originHere);
    this.#place.origin ??= origin;
    return origin === this.#place.origin;
  }

  get #isPage() {
    return this.#frame === this.#page;
  }

  /** There is no app, or not yet. The previous explanation holds until more is known. */
  async #explain() {
    let hint = `: the ${this.#isPage ? 'page' : 'frame'} has no window.abp; its app must call host.expose()`;
    this.hint ||= hint;
    for (const frame of (this.#isPage && this.#page.frames?.()) || []) {
      // Puppeteer throws at once for a frame that is gone.
      const has = async () => frame.evaluate(hasApp);
      if (await has().catch(() => false)) hint = `: the page has no window.abp, but its frame ${frame.url()} has: attach to that frame`;
    }
    this.hint = hint;
  }

  /**
   * Uses the tools of a page that has no app, if the browser knows such tools.
   *
   * @param {import('../messenger.js').Envelope} envelope
   * @returns {Promise<boolean>} whether the tools serve
   */
  async #useTools(envelope) {
    const tools = await PageTools.open(this.#page, this.#createHost);
    if (!tools) return false;
    if (this.#closed) {
      tools.close();
      return true;
    }
    this.#tools = tools;
    tools.onmessage = (message) => this.onmessage?.(message);
    tools.onclose = this.#gone;
    tools.onrefusal = (why) => (this.stuck = why);
    tools.post(envelope);
    return true;
  }

  /**
   * @param {string | undefined} id
   * @param {any} payload
   * @param {string} text
   */
  #call(id, { options }, text) {
    if (this.#terminateAfter < Infinity) this.#thread ??= Thread.open((this.#devTools ??= openDevTools(this.#page)), this.#frame);
    const answered = this.#request('capabilities/call-result', id, text, async ({ cancelled }) => {
      // Each evaluation has its own answer. The answer of the call may overtake the answer of the
      // cancel.
      const cancel = cancelled === true ? this.#cancels.get(options?.callId) : undefined;
      if (!cancel) return;
      /** @type {ReturnType<typeof setTimeout> | undefined} */
      let timer;
      await Promise.race([cancel, new Promise((resolve) => (timer = setTimeout(resolve, OVERTAKEN)))]);
      clearTimeout(timer);
    });
    this.#calls.set(answered, options?.callId);
    // The host cancels the call by itself, if its thread is free.
    if (options?.timeout < Infinity) this.#free(options.callId, answered, options.timeout);
    void answered.then(() => this.#calls.delete(answered));
  }

  /**
   * @param {string | undefined} id
   * @param {any} payload
   * @param {string} text
   */
  #cancel(id, { callId }, text) {
    const answered = this.#request('capabilities/cancel-result', id, text);
    this.#cancels.set(callId, answered);
    this.#free(callId, answered, 0);
    void answered.then(() => {
      if (this.#cancels.get(callId) === answered) this.#cancels.delete(callId);
    });
  }

  /**
   * Makes sure that the page can answer.
   *
   * @param {string} callId
   * @param {Promise<void>} answered
   * @param {number} later milliseconds until the page should answer
   */
  #free(callId, answered, later) {
    const desk = this.#desk;
    if (!desk) return;
    const timer = setTimeout(async () => {
      void this.#look(desk);
      const thread = await this.#thread;
      await thread?.free(callId, answered, desk, () => this.#heard, this.#terminateAfter);
    }, Math.min(later, 0x7fffffff));
    void answered.then(() => clearTimeout(timer));
  }

  /** Checks whether the page answers at all. @param {Desk} desk */
  async #look(desk) {
    const timer = setTimeout(() => (this.stuck = this.#dialog ?? HELD), STUCK);
    await desk.evaluate(takesTurns).catch(() => {});
    clearTimeout(timer);
    this.stuck = this.#dialog = undefined;
  }

  /**
   * @param {string} type of the answer
   * @param {string | undefined} id
   * @param {string} text
   * @param {(answer: any) => Promise<void> | void} [itsTurn] called when the answer may be passed on
   * @returns {Promise<void>} settles when the answer has been passed on
   */
  async #request(type, id, text, itsTurn) {
    const desk = this.#desk;
    if (!desk) return;
    try {
      // A debugger can be attached only while the page's thread is free.
      if (this.#thread) await this.#thread;
      const payload = await this.#perform(desk, text);
      // Without `window.abp`, the app is gone.
      if (payload === undefined) return this.#gone();
      if (itsTurn) await itsTurn(Object(payload));
      this.onmessage?.({ type, id, payload });
    } catch {
      this.#gone();
    }
  }

  /**
   * @param {string | undefined} id
   * @param {string} text
   */
  async #shutDown(id, text) {
    const desk = this.#desk;
    // Not connected yet: a session that opens after this is closed again.
    if (!desk) return;
    for (const [answered, callId] of this.#calls) this.#free(callId, answered, 0);
    try {
      await this.#perform(desk, text);
    } catch {
      return this.#gone();
    }
    await Promise.all(this.#calls.keys());
    this.onmessage?.({ type: 'shutdown-result', id, payload: {} });
  }

  /**
   * Evaluates in slices: no single evaluation takes long enough for Puppeteer's protocol timeout.
   *
   * @param {Desk} desk
   * @param {string} text
   * @returns {Promise<any>} a payload, or undefined if there is no `window.abp`
   */
  async #perform(desk, text) {
    const place = this.#sent.get(desk) ?? 0;
    this.#sent.set(desk, place + 1);
    let answer = await desk.evaluate(perform, { text, place });
    this.#heard = performance.now();
    this.stuck = this.#dialog = undefined;
    while (typeof answer === 'number') answer = await desk.evaluate(perform, answer);
    const payload = answer === undefined ? undefined : JSON.parse(answer);
    // An app may throw any value.
    if (typeof payload?.error?.code === 'string') payload.error.retryable ??= problem(payload.error.code, '').retryable;
    return payload;
  }

  /** Settles when the document is left or lost. @param {Desk} desk */
  async #untilDeparted(desk) {
    try {
      while (!(await desk.evaluate(untilDeparture)));
    } catch {
      // Lost.
    }
  }

  /**
   * A page that has loaded another document has lost ours, even if no event says so.
   *
   * @param {Desk} desk
   * @param {boolean} loading ours has not been loaded completely
   */
  #watchLoads(desk, loading) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    let first = loading;
    this.#listen(this.#page, 'domcontentloaded', () => {
      if (!first) {
        timer ??= setTimeout(this.#gone, SIGN_OF_LIFE);
        desk.evaluate(loadingState).then(() => {
          clearTimeout(timer);
          timer = undefined;
        }, this.#gone);
      }
      first = false;
    });
    this.#release.push(() => clearTimeout(timer));
  }

  /** @param {Desk | undefined} desk */
  async #leave(desk) {
    try {
      await desk?.evaluate(sendAway);
      await desk?.dispose();
    } catch {
      // The page is gone.
    }
  }

  #gone = () => this.onclose?.(abpError('DISCONNECTED', 'The page is gone'));

  /** @param {any} target @param {string} event @param {(given: any) => void} listener */
  #listen(target, event, listener) {
    if (typeof target?.on !== 'function') return;
    target.on(event, listener);
    this.#release.push(() => target.off(event, listener));
  }
}

/** @param {any} frame the page, or one of it @returns {boolean} whether nothing can be loaded there any more */
export function isGone(frame) {
  const page = typeof frame.page === 'function' ? frame.page() : frame;
  const browser = page.browser?.() ?? page.context?.()?.browser?.();
  return page.isClosed?.() || frame.isDetached?.() || frame.detached || (browser?.connected ?? browser?.isConnected?.()) === false;
}

/**
 * An envelope as text for the page. Binary data is passed separately, under names that cannot occur in
 * the text. The page restores the same kinds of objects.
 *
 * @param {unknown} envelope
 * @returns {string}
 * @throws {TypeError} for values that JSON cannot express
 */
function encode(envelope) {
  let token = '';
  /** @type {{ content: string, view: boolean }[]} */
  const binaries = [];
  const message = JSON.stringify(envelope, (_, value) => {
    const view = ArrayBuffer.isView(value);
    if (!view && !(value instanceof ArrayBuffer)) return expressed(value);
    const bytes = view ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : new Uint8Array(value);
    token ||= `binary ${crypto.randomUUID()} `;
    binaries.push({ content: toBase64(bytes), view });
    return `${token}${binaries.length - 1}`;
  });
  return binaries.length > 0 ? JSON.stringify({ token, binaries, message }) : message;
}
