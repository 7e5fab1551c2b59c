/**
 * An agent that speaks JSON-RPC 2.0, in MCP, ACP or LSP style: its requests in flight, and our requests
 * to it. Its messages become ABP messages on the connection over which they came, so that every rule of
 * a call also applies to them.
 *
 * Loaded when the first such agent connects. Functions that the page has already loaded are passed in
 * as the `Kit`: if this module imported them, a bundler would split them off from the rest, at a cost
 * for every page.
 *
 * | module | what it knows |
 * |---|---|
 * | `policy` | how each dialect cancels, and whether the cancelled request is answered |
 * | `message` | messages, errors, ids |
 * | `framing` | objects, text, and the envelope of MCP-B |
 * | `own` | ACP and LSP style, and our own methods |
 * | `mcp`, `tools`, `result`, `content` | MCP |
 */
import { framing } from './framing.js';
import { CALL_ENDED, CAPABILITIES_CHANGED, ELICITATION_WITHDRAWN, HOST_CLOSED } from './events.js';
import { CANCELLED, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR } from './codes.js';
import { FAULTS, codeFor, read, rpcError } from './message.js';
import { EXIT } from './methods.js';
import { Mcp, isMcp } from './mcp.js';
import { Own } from './own.js';
import { keyOf, readCancel, writeCancel } from './policy.js';
import { MAX_BATCH } from './versions.js';

/**
 * @typedef {object} Kit
 * @property {(value: any) => string} toText JSON, with binary data in base64
 * @property {(value: unknown, depth: number, size: number) => string | undefined} inspect
 * @property {(code: string, message: string) => import('../errors.js').AbpError} problem
 */

/**
 * A request of the agent that has not been answered yet.
 *
 * @typedef {object} Entry
 * @property {string} key of its id, under which the host is asked
 * @property {any} id
 * @property {boolean} answered whether the agent waits for an answer
 * @property {string} [callId] of a call, which can be cancelled
 * @property {() => void} [stop] ends another request that can be
 * @property {string} capability
 * @property {(payload: any) => { result?: any, error?: any }} answer made of the host's
 * @property {((info: any) => { method: string, params: any } | undefined)} [progress]
 */

/** The limit for one agent, including requests that listen for changes. The host has its own limit for calls. */
const MAX_IN_FLIGHT = 16_384;

/** A peer that asks this is itself a host, and these are questions to its agent. */
const OURS = ['elicitation/create', '_elicitation/request'];

export class Peer {
  /** By the keys of their ids, which are also the ids of the messages to the host. @type {Map<unknown, Entry>} */
  #inFlight = new Map();
  /** @type {Map<unknown, Entry>} */
  #byCallId = new Map();
  /** The ids of requests whose calls were abandoned, by their callIds. @type {Map<unknown, any>} */
  #abandoned = new Map();
  #unheard = 0;
  /** The dialect of the agent, once it is known. @type {Mcp | Own | undefined} */
  #dialect;
  /** Whether the agent has a session with the host. */
  #session = false;
  /** The error with which the host refused the agent. @type {any} */
  #refused;
  #shutDown = false;

  /**
   * @param {import('../connection.js').Connection} connection
   * @param {unknown} first the agent's first message, which shows how its messages are wrapped
   * @param {Kit} kit
   */
  constructor(connection, first, kit) {
    this.connection = connection;
    this.shell = connection.shell;
    this.frames = framing(first, (message) => connection.messenger.post(message), kit.toText);
    this.kit = kit;
  }

  // The messages of the agent.

  /** @param {unknown} raw */
  receive(raw) {
    const { size } = this.shell;
    const text = typeof raw === 'string' ? raw : /** @type {any} */ (raw)?.payload;
    // Checked before parsing: the parsed text would be many times as large.
    if (typeof text === 'string' && text.length > size) return this.#refuseMessage(null, `The message is larger than ${size} characters`);
    const { message, unreadable } = this.frames.unwrap(raw);
    if (unreadable) return this.refuse(null, 'INVALID_PARAMS', unreadable, PARSE_ERROR);
    if (message === undefined) return undefined;
    if (!Array.isArray(message) || !this.#dialect?.batches) return this.#receiveOne(message);
    if (!message.length || message.length > MAX_BATCH) return this.#refuseMessage(null, `A batch has 1 to ${MAX_BATCH} messages`);
    // Each message is answered by itself.
    for (const one of message) this.#receiveOne(one);
    return undefined;
  }

  /** @param {any} message @returns {void} */
  #receiveOne(message) {
    const it = read(message);
    // The message and its parameters are also levels.
    const unfit = this.kit.inspect(message, this.shell.depth + 2, this.shell.size);
    if (unfit) return it.kind === 'request' || it.kind === 'invalid' ? this.#refuseMessage(it.id, `The message ${unfit}`) : undefined;
    if (it.kind === 'request') return this.#request(it);
    if (it.kind === 'notification') return this.#notified(it);
    if (it.kind === 'response') return this.#answered(it);
    return this.#refuseMessage(it.id, FAULTS[it.fault]);
  }

  /** @param {{ id: any, method: string, params: any }} request */
  #request(request) {
    const { id, method, params } = request;
    if (OURS.includes(method) && isQuestion(id)) return undefined;
    if (this.#inFlight.has(keyOf(id))) return this.#refuseMessage(id, 'A request with this id is in flight');
    if (this.#shutDown) return this.#refuseMessage(id, 'The session is shut down');
    if (this.#inFlight.size >= MAX_IN_FLIGHT) {
      const error = this.kit.problem('RATE_LIMITED', `${MAX_IN_FLIGHT} requests are in flight, and no more are accepted`);
      return this.fail(id, rpcError({ ...error, details: { limit: 'inFlight', max: MAX_IN_FLIGHT } }));
    }
    this.#dialect ??= isMcp(method, params) ? new Mcp(this) : Own.has(method) ? new Own(this) : undefined;
    if (this.#dialect) return this.#dialect.request(request);
    return this.refuseMethod(id, method);
  }

  /** @param {{ method: string, params: any }} notification */
  #notified({ method, params }) {
    if (method === EXIT) return this.shutDown();
    const cancel = readCancel(method, params);
    const entry = cancel && this.#inFlight.get(keyOf(cancel.id));
    // A request that has ended, or never began, is not in the map. A request that is answered at once
    // is not disturbed.
    if (entry?.stop) return entry.stop();
    if (!entry?.callId) return undefined;
    // Once an agent has given a request up, it cannot take that back.
    entry.answered &&= cancel?.answered === true;
    // The call's own end reports the outcome.
    return this.ask('capabilities/cancel', { callId: entry.callId, reason: cancel?.reason });
  }

  /** The host drops an answer that nobody waits for. @param {{ id: any, result?: any, error?: any }} response */
  #answered({ id, result, error }) {
    if (isQuestion(id)) this.connection.answer(id, error === undefined ? this.#dialect?.readAnswer(result) : this.#readRefusal(error));
  }

  // The actions of the dialects.

  /** @param {any} id @param {string} message */
  #refuseMessage(id, message) {
    this.refuse(id, 'INVALID_PARAMS', message, INVALID_REQUEST);
  }

  /** @param {any} id @param {string} method that there is not */
  refuseMethod(id, method) {
    this.refuse(id, 'NOT_IMPLEMENTED', `There is no method ${JSON.stringify(method.slice(0, 64))}`, METHOD_NOT_FOUND);
  }

  /** @param {any} id @param {string} code of ABP @param {string} message @param {number} [rpcCode] */
  refuse(id, code, message, rpcCode = codeFor(code)) {
    this.fail(id, rpcError(this.kit.problem(code, message), rpcCode));
  }

  /** @param {any} id @param {import('./message.js').RpcError} error */
  fail(id, error) {
    this.frames.send({ jsonrpc: '2.0', id, error });
  }

  /** @param {any} id @param {any} result */
  succeed(id, result) {
    this.frames.send({ jsonrpc: '2.0', id, result });
  }

  /** @param {string} method @param {any} [params] */
  notify(method, params) {
    this.frames.send({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  /**
   * A request that waits for the host.
   *
   * @param {any} id
   * @param {Omit<Entry, 'id' | 'key' | 'answered' | 'capability'> & { capability?: string }} more
   * @returns {Entry}
   */
  begin(id, more) {
    const entry = { capability: '', ...more, id, answered: true, key: /** @type {string} */ (keyOf(id)) };
    this.#inFlight.set(entry.key, entry);
    // If a callId is refused because it is in flight, it belongs to another request.
    if (entry.callId !== undefined && !this.#byCallId.has(entry.callId)) this.#byCallId.set(entry.callId, entry);
    return entry;
  }

  /** @param {Entry} entry */
  end(entry) {
    this.#inFlight.delete(entry.key);
    if (this.#byCallId.get(entry.callId) === entry) this.#byCallId.delete(entry.callId);
  }

  /**
   * Passes an ABP message on to the host.
   *
   * @param {string} type
   * @param {any} payload
   * @param {string} [key] of the request that waits for the answer
   */
  ask(type, payload, key = `unheard ${(this.#unheard += 1)}`) {
    this.connection.receiveEnvelope({ type, id: key, timestamp: Date.now(), payload });
  }

  /**
   * Opens the agent's session with the host.
   *
   * @param {{ name?: unknown, version?: unknown } | undefined} info
   * @param {boolean} elicitation whether it answers questions
   * @param {Entry} [entry] the request that waits for it
   */
  open(info, elicitation, entry) {
    if (this.#session) {
      // The session may already exist because of an earlier call.
      if (entry) this.#settle(entry, {});
      return;
    }
    this.#session = true;
    this.#refused = undefined;
    const text = (/** @type {unknown} */ it, /** @type {string} */ other) => (typeof it === 'string' && it ? it.slice(0, 128) : other);
    this.ask('initialize', {
      agent: { name: text(info?.name, 'JSON-RPC peer'), version: text(info?.version, 'unknown') },
      protocolVersion: '0.1',
      features: { notifications: true, progress: true, elicitation },
    }, entry?.key ?? 'open');
  }

  /**
   * Calls a capability.
   *
   * @param {Entry} entry
   * @param {unknown} params
   * @param {any} [options]
   */
  call({ key, callId, capability }, params, options) {
    this.open(undefined, false);
    this.ask('capabilities/call', { capability, params, options, callId }, key);
  }

  /** Whether nothing is in flight. */
  get idle() {
    return this.#inFlight.size === 0;
  }

  /** Forgets the previous agent: nobody waits for the answers to its requests. */
  startAnew() {
    for (const entry of this.#inFlight.values()) {
      entry.answered = false;
      entry.stop?.();
    }
    if (this.#session) this.ask('shutdown', { reason: 'The client has begun anew' });
    this.#session = false;
  }

  /** Ends the session: no further requests are allowed. @param {Entry} [entry] the request that waits for it */
  shutDown(entry) {
    this.#shutDown = true;
    if (this.#session) this.ask('shutdown', { reason: 'The session is shut down' }, entry?.key);
    else if (entry) this.#settle(entry, {});
    this.#session = false;
  }

  // The messages of the host.

  /** @param {import('../connection.js').Envelope} envelope */
  post({ type, id, payload }) {
    const entry = this.#inFlight.get(id);
    if (type === 'initialize-result' && payload.error) {
      this.#session = false;
      this.#refused = payload.error;
    }
    if (entry) this.#settle(entry, payload);
    else if (type === 'progress') this.#progress(payload);
    else if (type === 'elicitation/request') this.#question(id, payload);
    else if (type === 'notification') this.#receiveEvent(payload.event, payload.data);
  }

  /**
   * @param {Entry} entry
   * @param {any} payload
   */
  #settle(entry, payload) {
    const error = payload.error?.code === 'NOT_INITIALIZED' && this.#refused;
    if (payload.metadata?.stop === 'abandoned') this.#abandon(entry);
    // Sent first: an answer that cannot be sent is replaced by an error under the same id.
    if (entry.answered) this.frames.send({ jsonrpc: '2.0', id: entry.id, ...entry.answer(error ? { ...payload, error } : payload) });
    this.end(entry);
  }

  /** The end of its handler will be reported later. @param {Entry} entry */
  #abandon({ callId, id }) {
    this.#abandoned.set(callId, id);
    const [oldest] = this.#abandoned.keys();
    if (this.#abandoned.size > MAX_IN_FLIGHT) this.#abandoned.delete(oldest);
  }

  /** @param {any} data */
  #ended(data) {
    const id = this.#abandoned.get(data.callId);
    if (this.#abandoned.delete(data.callId)) this.#dialect?.ended(id, data);
  }

  /** @param {any} info a ProgressInfo */
  #progress(info) {
    const entry = this.#byCallId.get(info.operationId);
    const said = entry?.answered ? entry.progress?.(info) : undefined;
    if (said) this.notify(said.method, said.params);
  }

  /** @param {unknown} id @param {any} request */
  #question(id, request) {
    const { method, params } = /** @type {Mcp | Own} */ (this.#dialect).question(request);
    this.frames.send({ jsonrpc: '2.0', id, method, params });
  }

  /** @param {string} event @param {any} data */
  #receiveEvent(event, data) {
    if (event === ELICITATION_WITHDRAWN) {
      const way = this.#dialect?.cancels();
      if (!way) return;
      const { method, params } = writeCancel(way, data.id, 'The question needs no answer any more');
      this.notify(method, params);
    } else if (event === CALL_ENDED) this.#ended(data);
    else if (event === CAPABILITIES_CHANGED) this.#dialect?.changed();
    else if (event === HOST_CLOSED) this.#hostGone();
  }

  /** Nobody answers any more. */
  #hostGone() {
    for (const entry of [...this.#inFlight.values()]) {
      this.#settle(entry, { error: this.kit.problem('DISCONNECTED', 'The host is going away') });
    }
    this.frames.stop();
  }

  /** An error as an answer: the agent has cancelled the question, or cannot answer it. @param {any} error */
  #readRefusal(error) {
    if (error?.code === CANCELLED) return { success: false, cancelled: true, metadata: { stop: 'abandoned' } };
    const code = error?.data?.code ?? (error?.code === METHOD_NOT_FOUND ? 'NOT_SUPPORTED' : 'OPERATION_FAILED');
    const message = typeof error?.message === 'string' ? error.message : 'The agent did not answer the question';
    return { success: false, error: this.kit.problem(code, message) };
  }
}

/** @param {unknown} id */
const isQuestion = (id) => typeof id === 'string' && /^elicitation-\d+$/.test(id);
