/**
 * Passes the messages of agents from their connections to Rust.
 */
import { borrow, holdsFunctions } from './borrowed.js';
import { BAD_CALL_ID, Refusal, invalid, problem, text } from './errors.js';
import { failureOf } from './failure.js';
import { callOf, ensureId, questionOf, readCall, readCancel, readEnvelope, readInitialize, unknownType } from './from-agent.js';
import { ANSWER } from './life/signs.js';
import { get, isId } from './read.js';
import { longCall, tokenOf } from './short.js';
import { reasonOf } from './signal.js';
import { check as checkFor, copyOf } from './taken.js';
import { refusal } from './to-agent.js';

/** @import { Connection } from './connection.js' */

const NO_SESSION = problem('NOT_INITIALIZED', 'There is no session: call initialize first');

/**
 * @param {Connection} connection that is open
 * @param {unknown} envelope
 * @param {import('./signal.js').Aborted} [aborted] of a call
 */
export function receive(connection, envelope, aborted) {
  try {
    receiveMessage(connection, envelope, readEnvelope(envelope), aborted);
  } catch (error) {
    refuse(connection, envelope, reasonFor(error));
  }
}

/**
 * @param {Connection} connection that is open
 * @param {any[]} message a call in its short form
 */
export function receiveCall(connection, message) {
  try {
    const id = message[1];
    ensureId(id);
    const call = callOf(message[2], message[3], message[4], message[5] === undefined ? Infinity : message[5], tokenOf(message));
    // All else of the message has a known size, if its id is a number.
    const bytes = typeof id === 'number' ? checkFor(connection.shell, call.params, 0) : checkFor(connection.shell, message, 1);
    enter(connection, id, call, bytes);
  } catch (error) {
    refuse(connection, longCall(message), reasonFor(error));
  }
}

/** @param {unknown} error why a message is refused */
const reasonFor = (error) => (error instanceof Refusal ? error.error : invalid(`The message cannot be read: ${text(error)}`));

/**
 * @param {Connection} connection
 * @param {any} id
 * @param {import('./from-agent.js').Call} call
 * @param {number} bytes its approximate memory
 * @param {import('./signal.js').Aborted} [aborted]
 * @throws {Refusal}
 */
function enter(connection, id, call, bytes, aborted) {
  const { shell, number } = connection;
  const { rust } = shell;
  call.by = number;
  const given = call.callId ?? '';
  const place = shell.ids.name(call);
  if (holdsFunctions(call.params)) call.borrowed = borrow(call.params, shell);
  connection.expect(id, call);
  const unfit = rust.call(shell.number, number, id, given, place, call.capability, call, call.timeout, call.token, bytes, connection.alone, aborted !== undefined, aborted?.reason);
  // The callId is not valid.
  if (unfit) throw new Refusal(BAD_CALL_ID);
}

/**
 * @param {Connection} connection
 * @param {unknown} envelope
 * @param {{ type: string, id: any, payload: any }} message the message
 * @param {import('./signal.js').Aborted} [aborted] of a call
 * @throws {Refusal}
 */
function receiveMessage(connection, envelope, { type, id, payload }, aborted) {
  const { shell, number } = connection;
  const { rust } = shell;
  switch (type) {
    case 'capabilities/call': {
      const call = readCall(payload);
      // The handler gets exactly the copy that passed the limits and the schema.
      if (connection.local) call.params = copyOf(shell, call.params);
      enter(connection, id, call, check(connection, envelope, call), aborted);
      break;
    }
    case 'capabilities/cancel': {
      const cancel = readCancel(payload);
      const { callId, reason } = cancel;
      check(connection, envelope, cancel);
      connection.expect(id, { type, callId });
      if (rust.cancel(shell.number, number, id, callId, reason)) throw new Refusal(BAD_CALL_ID);
      break;
    }
    case 'initialize': {
      const params = readInitialize(payload);
      check(connection, envelope, params);
      connection.expect(id, { type });
      rust.initialize(shell.number, number, id, params);
      break;
    }
    case 'shutdown': {
      const reason = reasonOf(get(payload, 'reason'));
      check(connection, envelope, reason);
      connection.expect(id, { type });
      rust.shutdown(shell.number, number, id, reason);
      break;
    }
    case ANSWER:
      rust.heard(shell.number, number);
      break;
    case 'capabilities/list': {
      rust.heard(shell.number, number);
      if (!rust.sessionId(shell.number, number)) throw new Refusal(NO_SESSION);
      shell.post(number, 'capabilities/list-result', id, { capabilities: shell.capabilities.documents(number) });
      break;
    }
    case 'elicitation/response': {
      const said = connection.local ? copyOf(shell, payload) : payload;
      check(connection, envelope, said);
      answer(connection, questionOf(id), said);
      break;
    }
    default:
      throw unknownType(type);
  }
}

/**
 * @param {Connection} connection
 * @param {number} question
 * @param {any} payload
 */
function answer({ shell, number }, question, payload) {
  if (get(payload, 'success') === true) return shell.rust.answered(shell.number, number, question, get(payload, 'data'));
  const cancelled = get(payload, 'cancelled') === true && { code: 'CANCELLED' };
  const error = cancelled || (get(payload, 'error') ?? { message: 'The agent did not answer the question' });
  return shell.rust.unanswered(shell.number, number, question, failureOf(error));
}

/**
 * @param {Connection} connection
 * @param {unknown} envelope as it arrived
 * @param {unknown} payload the payload as it was read: for messages from the page itself, only this counts
 */
const check = ({ shell, local }, envelope, payload) => checkFor(shell, local ? { payload } : envelope);

/**
 * @param {Connection} connection
 * @param {unknown} envelope
 * @param {{ code: string, message: string }} error
 */
function refuse(connection, envelope, error) {
  const { shell, number } = connection;
  shell.rust.heard(shell.number, number);
  const type = get(envelope, 'type');
  // Errors are never answered: two hosts on one channel would answer each other forever.
  if (type === 'error') return;
  const needsSession = type === 'capabilities/call' || type === 'capabilities/cancel';
  // A missing session takes precedence over other errors.
  const first = needsSession && !shell.rust.sessionId(shell.number, number) ? NO_SESSION : error;
  const [id, callId] = [get(envelope, 'id'), get(get(envelope, 'payload'), 'callId')];
  const [kind, payload] = refusal(type, callId, first);
  shell.post(number, kind, isId(id) ? id : null, payload);
}
