/**
 * How an agent over a window, a port or a worker gives its host signs of life, and reads the signs of
 * life of a host that gives them.
 */
import { LIFE_ASKED, LIFE_LOCK } from '../events.js';
import { ANSWER, holdLock, watchLock } from './signs.js';

/** @import { Messenger } from '../messenger.js' */

/** @type {{ event?: string, data?: any }} */
const NOTHING = {};

/**
 * @param {string} id a unique id
 * @returns {Promise<(make: () => Messenger) => Messenger>} makes a messenger that gives signs of life until it is closed
 */
export async function lifeOfAgent(id) {
  const held = await holdLock(id);
  // A page may close its port and live on. For a worker, the lock reports its end.
  const life = held ? { lock: held.name, worker: !globalThis.document } : {};
  return (make) => {
    const ends = [() => held?.release()];
    const end = () => ends.splice(0).forEach((it) => it());
    let inner;
    try {
      inner = make();
    } catch (error) {
      end();
      throw error;
    }
    const { close } = inner;
    ends.push(() => close.call(inner));

    /** @type {Messenger} */
    const messenger = {
      forgetful: inner.forgetful,
      hint: inner.hint,
      onmessage: undefined,
      onclose: undefined,
      post: (envelope, transfer) =>
        inner.post(envelope.type === 'initialize' ? { ...envelope, payload: { ...envelope.payload, life } } : envelope, transfer),
      get postCall() {
        return inner.postCall;
      },
      close: end,
    };
    const gone = () => messenger.onclose?.();
    inner.onmessage = (envelope) => {
      const { event, data } = envelope?.type === 'notification' ? (envelope.payload ?? {}) : NOTHING;
      if (event === LIFE_ASKED) inner.post({ type: ANSWER, timestamp: Date.now(), payload: {} });
      else if (event === LIFE_LOCK) ends.push(watchLock(data?.lock, gone));
      // Any message is a sign of life of the host.
      messenger.onmessage?.(envelope);
    };
    inner.onresult = (id, data, duration) => messenger.onresult?.(id, data, duration);
    inner.onclose = (error) => messenger.onclose?.(error);
    inner.onsuspect = (certain) => messenger.onsuspect?.(certain);
    return messenger;
  };
}
