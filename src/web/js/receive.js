/**
 * What an agent sends, from its connection to Rust.
 */
import { refusal } from './envelope.js';
import { BAD_CALL_ID, invalid, problem } from './errors.js';
import { readFromAgent } from './from-agent.js';
import { inspect } from './inspect.js';
import { get } from './read.js';

/**
 * @param {import('./shell.js').Shell} host
 * @param {number} connection
 * @param {unknown} envelope
 */
export function receive(host, connection, envelope) {
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
  if (unfit) refuse(invalid(`The message ${unfit}`));
  else if (host.enter(message[0], connection, ...message.slice(1))) refuse(BAD_CALL_ID);
}

const NO_SESSION = problem('NOT_INITIALIZED', 'There is no session: call initialize first');
