/**
 * What an agent sends, from its connection to Rust.
 */
import { refusal } from './envelope.js';
import { BAD_CALL_ID, invalid, problem, text } from './errors.js';
import { readFromAgent } from './from-agent.js';
import { inspect } from './inspect.js';
import { get } from './read.js';
import { copied } from './snapshot.js';

/**
 * @param {import('./shell.js').Shell} host
 * @param {number} connection
 * @param {unknown} envelope
 * @param {boolean} local it comes from the page itself: nothing has copied it
 */
export function receive(host, connection, envelope, local) {
  /** @param {any} error */
  const refuse = (error) => {
    const type = get(envelope, 'type');
    const needsSession = ['capabilities/call', 'capabilities/cancel'].includes(type);
    // That there is no session comes before what else is wrong.
    const first = needsSession && !host.enter('sessionId', connection) ? NO_SESSION : error;
    const [kind, payload] = refusal(type, get(envelope, 'payload.callId') ?? null, first);
    host.post(connection, kind, get(envelope, 'id') ?? null, payload);
  };
  let message;
  try {
    message = readFromAgent(envelope);
  } catch (error) {
    return refuse(error);
  }
  const unfit = inspect(envelope, host.depth, host.size);
  if (unfit) return refuse(invalid(`The message ${unfit}`));
  if (local && message[0] === 'call') {
    try {
      message[PARAMS] = copied(/** @type {object} */ (message[PARAMS]));
    } catch (error) {
      return refuse(invalid(`The call cannot be made: ${text(error)}`));
    }
  }
  if (host.enter(message[0], connection, ...message.slice(1))) refuse(BAD_CALL_ID);
}

/** Where they stand in a call, as it is read. */
const PARAMS = 4;
const NO_SESSION = problem('NOT_INITIALIZED', 'There is no session: call initialize first');
