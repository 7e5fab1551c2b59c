/**
 * One agent of a host, with its unanswered requests, so that they can be answered even when the wasm
 * instance is lost.
 *
 * @typedef {{ type?: unknown, id?: unknown, payload?: any, timestamp?: number }} Envelope
 *
 * @typedef {Pick<import('./from-agent.js').Call, 'borrowed'> & { type?: string, callId?: string, capability?: string }} Request
 *   a call, which needs no type, or another request
 */
import { failure, log, problem, text } from './errors.js';
import { HOST_CLOSED } from './events.js';
import { cancelsFirst } from './guard.js';
import { JsonRpc, isJsonRpc } from './json-rpc.js';
import { soon } from './platform.js';
import { get, getA, isId } from './read.js';
import { receive, receiveCall } from './receive.js';
import { longCall, longResult } from './short.js';
import { refusal } from './to-agent.js';

const LOST = 'The host has failed and cannot go on';
const CLOSED = problem('NOT_INITIALIZED', 'The host is closed');

/** Why a session ends when the user leaves the page, whether or not the page comes back. */
export const LEFT = 'The page was left';

/** Why a session is given up when a message could not be deserialised. */
export const UNREADABLE = 'A message of the agent could not be read';

/** The types that are answered under the id of the request. */
const REQUESTS = ['initialize', 'shutdown', 'capabilities/call', 'capabilities/cancel'];

export class Connection {
  /** @type {Map<unknown, Request>} */
  #pending = new Map();
  #open;
  /** @type {unknown} */
  #opener;
  /** Whether each message comes in a job of its own, in which no code of the app runs. */
  alone;
  /** Called when the session was shut down. @type {(() => void) | undefined} */
  onover;
  /** Called when the agent is gone without a word. @type {(() => void) | undefined} */
  onlost;
  /** The agent's announcement of how it gives signs of life. @type {any} */
  life;
  /** Stops waiting for the end of the agent's lock. @type {(() => void) | undefined} */
  unwatch;
  /** Undefined until the first message, and null for an agent that speaks ABP. @type {JsonRpc | null | undefined} */
  #dialect;

  /**
   * @param {import('./shell.js').Shell} shell
   * @param {import('./messenger.js').Messenger} messenger
   */
  constructor(shell, messenger) {
    this.shell = shell;
    this.messenger = messenger;
    this.local = messenger.local === true;
    this.alone = messenger.alone === true;
    if (messenger.abp) this.#dialect = null;
    const [origin = 0, window = 0] = messenger.from ?? [];
    this.number = shell.rust.connect(shell.number, origin, window) ?? 0;
    // A closed host gives out no numbers.
    this.#open = this.number > 0;
    if (this.#open) shell.connections.set(this.number, this);
  }

  /**
   * @param {any} message an agent's, in the dialect of its first
   * @param {import('./signal.js').Aborted} [aborted] of a call made in the page
   */
  receive(message, aborted) {
    if (this.#dialect === undefined) this.#choose(message);
    if (this.#dialect) this.#dialect.receive(message);
    else this.receiveEnvelope(message, aborted);
  }

  /** @param {any} message the first that shows the dialect */
  #choose(message) {
    if (isJsonRpc(message)) {
      this.#dialect = new JsonRpc(this, message);
      // Its messages wait for code to be loaded.
      this.alone = false;
    } else if (getA('string', message, 'type') !== undefined) this.#dialect = null;
  }

  /**
   * @param {any} envelope any ABP message of an agent
   * @param {import('./signal.js').Aborted} [aborted] of a call made in the page
   */
  receiveEnvelope(envelope, aborted) {
    if (this.shell.guard.trap) return this.#answerAtOnce(envelope, this.shell.guard.lost(LOST));
    if (!this.#open) return this.#answerAtOnce(envelope, CLOSED);
    if (get(envelope, 'type') === 'initialize') {
      this.life = get(get(envelope, 'payload'), 'life');
      const id = get(envelope, 'id');
      // The agent asked again because the host was slow to start. The answer to the first request is on
      // its way.
      if (isUuid(id) && id === this.#opener) return undefined;
      this.#opener = id;
    }
    return receive(this, envelope, aborted);
  }

  /** @param {any[]} message a call of the agent in its short form */
  receiveCall(message) {
    if (this.shell.guard.trap || !this.#open) this.receiveEnvelope(longCall(message));
    else receiveCall(this, message);
  }

  /** Whether the agent accepts short messages. */
  get short() {
    return this.messenger.short === true && !this.#dialect;
  }

  /** @param {any} envelope the host's, in ABP */
  #post(envelope) {
    (this.#dialect ?? this.messenger).post(envelope);
  }

  /**
   * Passes a request on to Rust, which answers it unless the instance is lost.
   *
   * @param {string | number | undefined} id
   * @param {Request} request
   */
  expect(id, request) {
    if (id !== undefined) this.#pending.set(id, request);
  }

  /** A request is answered. @param {unknown} id */
  #settle(id) {
    this.#pending.get(id)?.borrowed?.end();
    this.#pending.delete(id);
  }

  /** No request will be answered. */
  #settleAll() {
    for (const id of [...this.#pending.keys()]) this.#settle(id);
  }

  /** @param {Envelope} envelope the host's message */
  deliver(envelope) {
    try {
      this.#post(envelope);
    } catch (error) {
      this.#sendInstead(envelope, text(error));
    }
    if (envelope.id !== undefined) this.#settle(envelope.id);
    // A refused answer is still an answer: the capability does not wait for a better one.
    if (envelope.type === 'error' && isQuestion(envelope.id)) this.answer(envelope.id, envelope.payload);
  }

  /**
   * Does the same for the response of a call that has completed.
   *
   * @param {any} id
   * @param {unknown} data
   * @param {number} duration
   */
  deliverResult(id, data, duration) {
    try {
      this.messenger.postResult?.(id, data, duration);
    } catch (error) {
      this.#sendInstead(longResult([0, id, data, duration]), text(error));
    }
    this.#settle(id);
  }

  /**
   * The answer to a question.
   *
   * @param {unknown} id
   * @param {unknown} payload
   */
  answer(id, payload) {
    this.receiveEnvelope({ type: 'elicitation/response', id, timestamp: Date.now(), payload });
  }

  /**
   * Tells the waiting party about an envelope that cannot be sent. An error is sent without its
   * details.
   *
   * @param {Envelope} envelope
   * @param {string} why
   */
  #sendInstead(envelope, why) {
    const { type, id, payload } = envelope;
    const { details, ...error } = Object(payload?.error);
    if (details !== undefined) return this.deliver({ ...envelope, payload: { ...payload, error } });
    const data = type === 'capabilities/call-result';
    const failed = failure('OPERATION_FAILED', `${data ? 'The capability returned data that' : `The ${type}`} cannot be sent: ${why}`);
    if (data) {
      const { capability, callId } = Object(this.#pending.get(id));
      log('error', `${capability} (call ${callId}) has failed:`, failed.error.message);
    }
    if (type === 'elicitation/request') this.answer(id, failed);
    else if (id === undefined) log('warn', failed.error.message);
    else this.#trySend({ ...envelope, payload: data ? failed : { error: failed.error } });
  }

  /** The session was shut down. An agent that speaks JSON-RPC may open another session at once. */
  over() {
    if (!this.#dialect) this.onover?.();
  }

  /** The host ends the session: the calls in flight are cancelled and answered. @param {string} reason */
  giveUp(reason) {
    // The agent must still be told that the session is over.
    this.onover = undefined;
    this.receiveEnvelope({ type: 'shutdown', payload: { reason } });
  }

  /** The host goes away. Not every transport can report that by itself. @param {string} [reason] the reason that handlers get */
  leave(reason = 'The host has let go of the agent') {
    this.shell.rust.giveUp(this.shell.number, this.number);
    this.#trySend({ type: 'notification', timestamp: Date.now(), payload: { event: HOST_CLOSED } });
    this.close(reason);
  }

  /** @param {Envelope} envelope */
  #trySend(envelope) {
    try {
      this.#post(envelope);
    } catch {
      // The transport is gone, and its end will be noticed.
    }
  }

  /** Answers every request that a lost instance can no longer answer. */
  answerLost() {
    const pending = cancelsFirst(this.#pending, ([, { type }]) => type === 'capabilities/cancel');
    this.#settleAll();
    for (const [id, { type = 'capabilities/call', callId }] of pending) this.#refuse(type, id, callId, this.shell.guard.lost(LOST));
  }

  /**
   * @param {any} envelope
   * @param {typeof CLOSED} error
   */
  #answerAtOnce(envelope, error) {
    const [type, id, payload] = ['type', 'id', 'payload'].map((name) => get(envelope, name));
    if (isId(id) && REQUESTS.includes(type)) this.#refuse(type, id, get(payload, 'callId'), error);
  }

  /**
   * @param {string} type
   * @param {unknown} id
   * @param {unknown} callId
   * @param {typeof CLOSED} error
   */
  #refuse(type, id, callId, error) {
    const [kind, payload] = type === 'shutdown' ? [`${type}-result`, { error }] : refusal(type, callId, error);
    this.#trySend({ type: kind, id, timestamp: Date.now(), payload });
  }

  /** The transport is gone. @param {string} [reason] the reason that handlers get */
  close(reason = 'The agent disconnected') {
    if (!this.#open) return;
    this.#open = false;
    this.unwatch?.();
    this.#settleAll();
    const { connections, rust, number } = this.shell;
    rust.disconnect(number, this.number, reason);
    const forget = () => void connections.delete(this.number);
    // The rest of this turn's messages still belongs to the promises of the agent.
    if (this.local) soon(forget);
    else forget();
  }
}

/**
 * An id that nobody uses for two different requests.
 *
 * @param {unknown} id
 */
const isUuid = (id) => typeof id === 'string' && /^[0-9a-f-]{36}$/i.test(id);

/** @param {unknown} id */
const isQuestion = (id) => typeof id === 'string' && id.startsWith('elicitation-');
