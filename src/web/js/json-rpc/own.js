/**
 * ACP and LSP style, and our own methods. The gateway's `/jsonrpc` does the same.
 */
import { INVALID_REQUEST } from './codes.js';
import { answerCall, isObject, rpcError } from './message.js';
import { CALL, ENDED, INITIALIZE, LIST, PROGRESS, SHUTDOWN } from './methods.js';

/** The version of ACP that our messages belong to. There is no other. */
const ACP_VERSION = 1;

/** Sent whether or not the peer sends it: the final protocol takes it for granted. */
const CAPABILITIES = { cancellation: { request: true } };

const METHODS = [INITIALIZE, LIST, CALL, SHUTDOWN];

export class Own {
  #greeted = false;
  #acp = false;
  /** Whether the peer has declared that it accepts cancels. */
  #cancellable = false;

  /** @param {string} method */
  static has = (method) => METHODS.includes(method);

  /** Its clients send one message at a time. */
  batches = false;

  /** @param {import('./peer.js').Peer} peer */
  constructor(peer) {
    this.peer = peer;
  }

  /** @param {{ id: any, method: string, params: any }} request */
  request({ id, method, params }) {
    const { peer } = this;
    if (method === INITIALIZE) this.#initialize(id, params);
    else if (method === LIST) peer.succeed(id, { capabilities: peer.shell.capabilities.documents() });
    else if (method === CALL) this.#call(id, params);
    else if (method === SHUTDOWN) peer.shutDown(peer.begin(id, { answer: ({ error }) => (error ? { error: rpcError(error) } : { result: null }) }));
    else peer.refuseMethod(id, method);
  }

  /**
   * ACP's parameters have a numeric `protocolVersion` and `clientCapabilities`. LSP's have
   * `capabilities`. None of these is required.
   *
   * @param {any} id
   * @param {any} params
   */
  #initialize(id, params = {}) {
    const { peer } = this;
    if (!isObject(params)) return peer.refuse(id, 'INVALID_PARAMS', 'The parameters are an object');
    if (this.#greeted) return peer.refuse(id, 'ALREADY_INITIALIZED', 'initialize was answered before', INVALID_REQUEST);
    // Earlier calls did not say what the peer can do.
    if (peer.idle) peer.startAnew();
    this.#acp = typeof params.protocolVersion === 'number';
    const { cancellation, elicitation } = { ...params.capabilities, ...params.clientCapabilities };
    this.#cancellable = peer.shell.cancelUndeclared ? cancellation?.request !== false : cancellation?.request === true;
    const { id: name, version, name: title } = peer.shell.app;
    const info = { name, title, version };
    const result = this.#acp
      ? { protocolVersion: ACP_VERSION, agentCapabilities: CAPABILITIES, agentInfo: info, authMethods: [] }
      : { capabilities: CAPABILITIES, serverInfo: info };
    this.#greeted = true;
    const answer = (/** @type {any} */ { error }) => {
      // A refused `initialize` may be sent again.
      this.#greeted = !error;
      return error ? { error: rpcError(error) } : { result };
    };
    const entry = peer.begin(id, { answer });
    return peer.open(params.clientInfo, Boolean(elicitation), entry);
  }

  /**
   * @param {any} id
   * @param {any} params
   */
  #call(id, params) {
    const { peer } = this;
    if (!isObject(params)) return peer.refuse(id, 'INVALID_PARAMS', 'The parameters are an object {capability, params?, options?}');
    const { capability, params: given, options } = params;
    const { callId = params.callId === undefined ? peer.shell.ids.next() : params.callId, progressToken: token, ...rest } = isObject(options) ? options : {};
    const answer = (/** @type {any} */ payload) =>
      answerCall(id, capability, payload, (error) => ({ error: rpcError(error) }), (data = null, metadata) => ({ data, ...(metadata && { metadata }) }));
    // The host identifies each call by its callId.
    const canBeToken = ['undefined', 'string', 'number'].includes(typeof token);
    const progress = (/** @type {any} */ info) =>
      token === undefined ? undefined : { method: PROGRESS, params: { token, value: { ...info, operationId: token } } };
    const entry = peer.begin(id, { capability, callId, answer, progress });
    // The host itself reports other problems.
    return peer.call(entry, given, isObject(options) ? { ...rest, ...(!canBeToken && { progressToken: token }) } : options);
  }

  /** The way to cancel a question; none if the peer must not get a cancel. The draft forbids it unless the peer has declared it. */
  cancels() {
    return this.#cancellable ? (this.#acp ? 'ACP v1' : 'LSP 3.17') : undefined;
  }

  /** @param {any} request of the app's */
  question(request) {
    return { method: '_elicitation/request', params: request };
  }

  /** @param {any} result of a question */
  readAnswer(result) {
    return { success: true, data: result?.data };
  }

  /** @param {any} requestId @param {object} data of the notification that an abandoned call has ended */
  ended(requestId, data) {
    this.peer.notify(ENDED, { requestId, ...data });
  }

  /** There is no notification for this. */
  changed() {}
}
