/**
 * Opens a session: `initialize`, and its answer.
 */
import { abpError, text, thrown } from './errors.js';
import { errorOf } from './from-app.js';
import { guarded } from './guard.js';
import { idsOf } from './ids.js';
import { get, isAmount, warnOfUnknown } from './read.js';
import { NO_SIGNAL } from './signal.js';

/** How long a refusal is held back if it may belong to a repeated `initialize`. */
const DOUBT = 500;

/** @typedef {import('../../../npm/agent.js').ConnectOptions & import('../../../npm/agent.js').LivenessOptions} OpenOptions */

const TIMES = /** @type {const} */ (['connectTimeout', 'grace', 'liveness']);

const CALLED = /** @type {const} */ (['onNotification', 'onElicitation', 'onConnection']);

/** The options of all ways to connect. */
export const KNOWN = [...TIMES, ...CALLED, 'signal', 'reconnect', 'agent', 'requestedCapabilities', 'allowedRequests', 'origin', 'token', 'WebSocket', 'transport', 'terminate'];

/** @param {OpenOptions} options @returns {string | undefined} the problem with them, if there is a problem */
export function problemWithOptions(options) {
  warnOfUnknown('connect', options, KNOWN);
  const bad = TIMES.find((name) => options[name] !== undefined && !isAmount(options[name]));
  const idle = CALLED.find((name) => options[name] !== undefined && typeof options[name] !== 'function');
  if (bad) return `${bad} must be a number of milliseconds, not negative`;
  if (options.signal != null && typeof options.signal.addEventListener !== 'function') return NO_SIGNAL;
  return idle && `${idle} must be a function`;
}

/**
 * @template T
 * @param {any} handle the functions of the wasm half
 * @param {import('./messenger.js').Messenger} messenger
 * @param {OpenOptions} options
 * @param {(session: any) => T} begin uses the session, before another message comes
 * @returns {Promise<T>} what it returns
 */
export function open(handle, messenger, options, begin) {
  const { agent = { name: 'caphost', version: '0.1' }, requestedCapabilities, allowedRequests, onElicitation } = options;
  const { connectTimeout = 10_000, signal } = options;
  const id = idsOf(guarded(handle)).next();
  const features = { notifications: true, progress: true, elicitation: onElicitation !== undefined };
  /** @type {object} */
  const payload = {
    agent, protocolVersion: '0.1', features,
    ...(requestedCapabilities !== undefined && { requestedCapabilities }),
    ...(allowedRequests !== undefined && { agentCapabilities: { allowedRequests } }),
    ...(messenger.life && { life: messenger.life.announced }),
  };

  return new Promise((resolve, reject) => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let again;
    let asked = 0;
    /** @param {number} pause milliseconds until the next attempt, under the same id */
    const ask = (pause) => {
      asked += 1;
      try {
        messenger.post({ type: 'initialize', id, timestamp: Date.now(), payload });
        if (messenger.forgetful) again = setTimeout(() => ask(Math.min(1.5 * pause, 1000)), pause);
      } catch (error) {
        fail(abpError('INVALID_PARAMS', `initialize cannot be sent: ${error}`));
      }
    };
    const settle = () => {
      clearTimeout(timer);
      clearTimeout(again);
      signal?.removeEventListener('abort', callOff);
    };
    /** @param {Error} error */
    const fail = (error) => {
      settle();
      messenger.close();
      reject(error);
    };
    /** @param {Error} error @param {string} reason */
    const giveUp = (error, reason) => {
      // If the app answers after all, it must not keep an unused session.
      try {
        if (asked) messenger.post({ type: 'shutdown', timestamp: Date.now(), payload: { reason } });
      } catch {
        // There was no such session.
      }
      fail(error);
    };
    const callOff = () => giveUp(signal?.reason, 'Called off');
    const timer = setTimeout(
      () => giveUp(abpError('TIMEOUT', `No app answered within ${connectTimeout} ms${messenger.hint ?? ''}`), 'Not answered in time'),
      Math.min(connectTimeout, 0x7fffffff), // The longest time of a timer.
    );
    if (signal?.aborted) return callOff();
    signal?.addEventListener('abort', callOff);
    messenger.onmessage = (envelope) => {
      if (get(envelope, 'id') !== id) return;
      clearTimeout(again);
      const [type, payload] = [get(envelope, 'type'), get(envelope, 'payload')];
      const [error, sessionId] = [get(payload, 'error'), get(payload, 'sessionId')];
      if (error) {
        const why = thrown(errorOf(error));
        // A plain app that is slow to answer the first request may refuse the others before it answers.
        if (asked > 1 && why.code === 'ALREADY_INITIALIZED') again = setTimeout(fail, DOUBT, why);
        else fail(why);
      } else if (type !== 'initialize-result' || typeof sessionId !== 'string') {
        fail(abpError('TRANSPORT_ERROR', 'The app did not answer with an initialize-result'));
      } else {
        settle();
        try {
          resolve(begin(payload));
        } catch (error) {
          fail(abpError('TRANSPORT_ERROR', `The initialize-result of the app cannot be read: ${text(error)}`));
        }
      }
    };
    messenger.onclose = (error) => fail(error ?? abpError('DISCONNECTED', 'The app disconnected'));
    ask(25);
  });
}
