/**
 * How an agent reads the Agentic Browser Protocol: what an app says of calls.
 */
import { CALL_ENDED } from './envelope.js';
import { get, getA, isObject } from './read.js';

/** Of these nobody knows what became of the call. */
const UNDECIDED = ['DISCONNECTED', 'TIMEOUT'];
const NO_SESSION = ['NOT_INITIALIZED', 'SESSION_EXPIRED', 'SESSION_INVALID'];

/**
 * @param {unknown} envelope
 * @returns {[method: string, ...args: any[]] | undefined} as Rust takes it; none for what has
 *   nothing to do with calls
 */
export function readFromApp(envelope) {
  const payload = get(envelope, 'payload');
  const key = keyOf(get(envelope, 'id'));
  const cancelled = get(payload, 'cancelled') === true;
  const success = getA('boolean', payload, 'success');
  const response = success === undefined ? undefined : payload;
  switch (get(envelope, 'type')) {
    case 'capabilities/call-result':
      // One that succeeded was not cancelled, whatever else it says.
      if (cancelled && success) return ['called', key, { ...payload, cancelled: false }];
      if (cancelled) return ['stopped', key, response, get(payload, 'metadata.stop')];
      return [success === false && UNDECIDED.includes(get(payload, 'error.code')) ? 'undecided' : 'called', key, response];
    case 'capabilities/cancel-result': {
      if (cancelled) return ['confirmed', key, get(payload, 'metadata.stop'), ...readEnd(get(payload, 'metadata.ended'))];
      const error = get(payload, 'error');
      const lost = NO_SESSION.includes(get(error, 'code'));
      return ['refusedCancel', key, getA('string', payload, 'reason')?.slice(0, 4096), isObject(error) ? error : undefined, lost];
    }
    case 'error':
      return ['refused', key, response];
    case 'shutdown-result':
      return ['shutDown'];
    case 'progress': {
      // An app may turn a token of digits into a number.
      const operation = get(payload, 'operationId');
      return ['string', 'number'].includes(typeof operation) ? ['progress', String(operation).slice(0, 257), payload] : undefined;
    }
    case 'notification': {
      const callId = getA('string', payload, 'data.callId');
      const [success, after] = readEnd(get(payload, 'data'));
      const ended = get(payload, 'event') === CALL_ENDED && callId !== undefined && after >= 0;
      return ended ? ['ended', callId, success, after] : undefined;
    }
    default:
      return undefined;
  }
}

/** @param {unknown} end @returns {[success: boolean, after: number]} NaN for what is none */
function readEnd(end) {
  return [get(end, 'success') === true, getA('number', end, 'after') ?? NaN];
}

/** @param {unknown} id @returns {number} the key of the request it names; 0 for one that is not ours */
function keyOf(id) {
  const key = typeof id === 'string' && /^\d{1,10}$/.test(id) ? Number(id) : 0;
  return key < 2 ** 32 ? key : 0;
}
