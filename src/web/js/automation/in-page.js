/**
 * What runs in the page. Each function is sent there as text, so none may name anything outside of
 * itself.
 */

/** Waits for a moment, and returns what the page has: an app, or else tools of the browser. */
export const waitFor = () =>
  new Promise((resolve) => {
    let looks = 10;
    const look = async () => {
      const found = typeof (/** @type {any} */ (window).abp?.initialize) === 'function';
      looks -= 1;
      if (found) resolve('app');
      else if (looks > 0) setTimeout(look, 25);
      else {
        const context = /** @type {any} */ (document).modelContext;
        const tools = await Promise.resolve(context?.getTools?.()).catch(() => []);
        resolve(tools?.length > 0 ? 'tools' : 'nothing');
      }
    };
    look();
  });

export const hasApp = () => typeof (/** @type {any} */ (window).abp?.initialize) === 'function';

/** Answers when a job of its own can run. A debugger that pauses another job does not answer. */
export const takesTurns = () =>
  new Promise((/** @type {(value: void) => void} */ resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });

export const loadingState = () => document.readyState;

export const originHere = () => location.origin;

/**
 * The objects of one connection in one document. They are sent to the page once. Each call then sends
 * only its own request.
 */
export const makeDesk = () => {
  const channel = new MessageChannel();
  /**
   * The envelopes that were sent and not begun, by the position in which they were sent.
   *
   * @type {Map<number, () => void>}
   */
  const turns = new Map();
  let begun = 0;
  channel.port1.onmessage = () => {
    const begin = turns.get(begun);
    if (!begin) return;
    turns.delete(begun);
    begun += 1;
    // One after the other: between two tasks there is time for the consequences of the first.
    if (turns.has(begun)) channel.port2.postMessage(0);
    begin();
  };
  /**
   * A debugger may have paused the page anywhere, even where another task was about to begin, and it
   * evaluates this function there. Nothing may happen in the middle of another job, or before its turn.
   *
   * @param {number} place
   */
  const jobOfItsOwn = (place) => new Promise((/** @type {(value: void) => void} */ resolve) => {
    turns.set(place, resolve);
    channel.port2.postMessage(0);
  });
  /** If the code of a call seems to have the thread, its job was ended. The host must know that before anything else. */
  const settle = () => {
    const thread = /** @type {any} */ (window).abp?.[Symbol.for('caphost.thread')];
    return thread?.held ? thread.settled() : undefined;
  };
  /** @type {unknown} */
  let session;
  /** The agent that opened the session is gone without a word, and the page still exists. */
  const orphaned = async () => {
    const { abp } = /** @type {any} */ (window);
    if (session !== undefined && abp?.sessionId === session) await abp.shutdown({ reason: 'The agent is gone' });
  };
  const answerTo = async (/** @type {string} */ text, /** @type {number} */ place) => {
    const { token, binaries, message, ...plain } = JSON.parse(text);
    const fromBase64 = (/** @type {string} */ base64) => {
      const Bytes = /** @type {any} */ (Uint8Array);
      return Bytes.fromBase64?.(base64) ?? Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    };
    const revive = (/** @type {string} */ _, /** @type {any} */ value) => {
      if (typeof value !== 'string' || !value.startsWith(token)) return value;
      const { content, view } = binaries[Number(value.slice(token.length))];
      const bytes = fromBase64(content);
      return view ? bytes : bytes.buffer;
    };
    const { type, payload } = binaries ? JSON.parse(message, revive) : plain;
    await jobOfItsOwn(place);
    const settling = settle();
    if (settling) {
      await settling;
      // Cancels come first: a call that starts now may hold the thread as well.
      if (plain.type === 'capabilities/call' || message) await new Promise((resolve) => setTimeout(resolve, 250));
    }
    const { abp } = /** @type {any} */ (window);
    if (!abp) return undefined;
    try {
      if (type === 'initialize') {
        const opened = await abp.initialize(payload);
        session = opened?.sessionId;
        return opened;
      }
      if (type === 'capabilities/call') return await abp.call(payload.capability, payload.params, payload.options);
      if (type === 'capabilities/list') {
        if (typeof abp.listCapabilities === 'function') return { capabilities: await abp.listCapabilities() };
        throw Object.assign(new Error('The app does not list its capabilities'), { code: 'NOT_SUPPORTED' });
      }
      if (type === 'shutdown') return (await abp.shutdown(payload)) ?? {};
      const { callId, reason } = /** @type {any} */ ({ __proto__: null, ...payload });
      if (typeof abp.cancel !== 'function') {
        throw Object.assign(new Error('The app cannot cancel calls'), { code: 'NOT_SUPPORTED' });
      }
      const answer = await Promise.resolve(abp.cancel(callId, reason)).catch((error) => error);
      // Some apps take an object as the argument.
      const misunderstood = answer?.cancelled !== true && answer?.callId !== callId && !answer?.error;
      return misunderstood ? await abp.cancel({ callId, reason }) : answer;
    } catch (/** @type {any} */ thrown) {
      const { code, details, retryable } = Object(thrown);
      const message = String(thrown?.message ?? thrown);
      const error = { code: typeof code === 'string' ? code : 'OPERATION_FAILED', message, details, retryable: typeof retryable === 'boolean' ? retryable : undefined };
      if (type === 'capabilities/call') return { success: false, error };
      return type === 'initialize' || type === 'capabilities/list' ? { error } : { callId: payload.callId, cancelled: false, reason: message, error };
    }
  };

  /** @type {(answer: any) => string} */
  const asText = (answer) => {
    const toBase64 = (/** @type {Uint8Array} */ bytes) => {
      const native = /** @type {any} */ (bytes).toBase64?.();
      if (native !== undefined) return native;
      const pieces = [];
      for (let at = 0; at < bytes.length; at += 0x8000) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
      return btoa(pieces.join(''));
    };
    const expressed = ['Object', 'Array', 'Number', 'String', 'Boolean'];
    // The page may have added a `toJSON` to any prototype.
    const common = /** @type {any[]} */ ([Date, Array, Object, String, Number, Boolean]);
    const unpatched = (/** @type {any} */ value, /** @type {any} */ written) => {
      if (typeof value !== 'object' || value === null) return written;
      // A clock of a test may have replaced `Date`, and an old library its `toJSON`.
      const isDate = Object.prototype.toString.call(value) === '[object Date]';
      if (value === written && !isDate) return written;
      const { toJSON } = value;
      if (toJSON && !common.some((it) => it.prototype.toJSON === toJSON)) return written;
      if (!isDate) return value;
      return isNaN(value) ? null : value.toISOString();
    };
    /** @this {any} @param {string} key @param {any} written */
    const encode = function (key, written) {
      const value = unpatched(this[key], written);
      if (typeof value !== 'object' || value === null) return value;
      if (!(value instanceof ArrayBuffer || ArrayBuffer.isView(value))) {
        const kind = Object.prototype.toString.call(value).slice(8, -1);
        // JSON would write an empty object without an error.
        if (!expressed.includes(kind)) throw new TypeError(`JSON has nothing for a ${kind}`);
        return value;
      }
      const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      return { content: toBase64(bytes), mimeType: 'application/octet-stream', encoding: 'base64', size: bytes.length };
    };
    try {
      // Distinguishes an app without an answer from a page without an app.
      return JSON.stringify(answer, encode) ?? 'null';
    } catch (error) {
      // In an error, the details may be the part that cannot be sent.
      const { details, ...failed } = Object(answer?.error);
      if (details !== undefined) return asText({ ...answer, error: failed });
      const message = `The app answered with what cannot be sent: ${error}`;
      return JSON.stringify({ success: false, error: { code: 'OPERATION_FAILED', message, retryable: false } });
    }
  };

  /**
   * Performs the request of an envelope.
   *
   * @param {{ text: string, place: number } | number} task an encoded envelope and its position in all that
   *   was sent, from 0; or the number of a task that was not done in time
   * @returns {Promise<string | number | undefined>} the answer's payload as JSON; a number to ask
   *   again with; undefined if there is no app
   */
  const perform = (task) =>
    new Promise((resolve, reject) => {
      const answered = typeof task === 'object' ? answerTo(task.text, task.place) : desk.slow.get(task);
      const late = () => {
        desk.next += 1;
        desk.slow.set(desk.next, answered);
        resolve(desk.next);
      };
      waiting.add(late);
      // One timer for all tasks. It may fire too early for some tasks, which then simply ask again.
      timer ??= setTimeout(() => {
        timer = undefined;
        for (const giveUp of waiting) giveUp();
        waiting.clear();
      }, 20_000);
      answered.then((/** @type {any} */ answer) => {
        if (!waiting.delete(late)) return;
        resolve(answer === undefined && !(/** @type {any} */ (window).abp) ? undefined : asText(answer));
      }).catch((/** @type {unknown} */ error) => {
        waiting.delete(late);
        reject(error);
      });
      if (typeof task === 'number') desk.slow.delete(task);
    });
  /** Functions that make the tasks without an answer ask again. @type {Set<() => void>} */
  const waiting = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** Microtasks that waited were lost with the job that was ended: their answers are requested again. */
  const recover = async () => {
    await settle();
    for (const giveUp of waiting) giveUp();
    waiting.clear();
  };

  const desk = { slow: new Map(), next: 0, orphaned, leave: () => {}, close: () => channel.port1.close(), perform, recover };
  return desk;
};

/**
 * All frames of the page share the functions that an app calls back. Here, each call of such a function
 * is marked with its frame.
 *
 * @param {{ names: string[], frame: number }} given
 */
export const nameFrame = ({ names, frame }) => {
  const scope = /** @type {any} */ (window);
  for (const name of names) {
    const exposed = scope[name]?.exposed ?? scope[name];
    if (!exposed) continue;
    scope[name] = Object.assign((/** @type {any} */ first, /** @type {any} */ second) => exposed(first, second, frame), { exposed });
  }
};

/** Whether the app says whose code has the thread, and whether that thread is the page's. A frame of another origin may have its own thread. */
export const hasMarks = () => {
  try {
    return Boolean(window.top?.document && /** @type {any} */ (window).abp?.[Symbol.for('caphost.thread')]);
  } catch {
    return false;
  }
};

/**
 * Whether the code of a call, or of a call made by it, has the thread; for how long it has been known
 * to have the thread; and whether it may be ended at its current position.
 *
 * @param {string} callId
 * @param {number} held milliseconds that it must have been known to have the thread
 */
export const mayEnd = (callId, held) => {
  for (const it of /** @type {any[]} */ ([globalThis, globalThis.parent, globalThis.top])) {
    try {
      const thread = it.abp?.[Symbol.for('caphost.thread')];
      if (!thread) continue;
      const { calls, heldFor } = thread;
      const isIts = calls.includes(callId);
      return { isIts, heldFor, ends: isIts && heldFor >= held && thread.end(callId) };
    } catch {
      // This is a window of another origin.
    }
  }
  return undefined;
};

/** @param {any} desk */
export const recover = (desk) => desk.recover();

/**
 * Resolves with true when the document is left, and with false when the caller should ask again. A
 * caller that does not ask again counts as gone.
 *
 * @param {any} desk
 */
export const untilDeparture = (desk) =>
  new Promise((resolve) => {
    clearTimeout(desk.patience);
    const left = () => done(true);
    const timer = setTimeout(() => done(false), 20_000);
    const done = (/** @type {boolean} */ over) => {
      clearTimeout(timer);
      clearTimeout(desk.patience);
      removeEventListener('pagehide', left, true);
      if (!over) desk.patience = setTimeout(() => desk.orphaned().catch(() => {}), 30_000);
      resolve(over);
    };
    // Runs before the host's own listener, which answers the calls in flight.
    addEventListener('pagehide', left, true);
    desk.leave = left;
  });

/** @param {any} desk */
export const sendAway = (desk) => {
  desk.leave();
  desk.close();
};

/**
 * @param {any} desk
 * @param {{ text: string, place: number } | number} task
 * @returns {Promise<string | number | undefined>} the desk's answer
 */
export const perform = (desk, task) => desk.perform(task);
