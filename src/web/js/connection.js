/**
 * One agent on a host: what it has asked and not been answered, so that a lost instance can still
 * answer it.
 *
 * @typedef {{ type?: unknown, id?: unknown, payload?: any, timestamp?: number }} Envelope
 */

/** @param {string} message */
export const internalError = (message) => ({ code: 'INTERNAL_ERROR', message, retryable: false });

const LOST = internalError('The host has failed and cannot go on');
const CLOSED = { code: 'NOT_INITIALIZED', message: 'The host is closed', retryable: true };

/** What is answered under the id it came with. */
const REQUESTS = ['initialize', 'shutdown', 'capabilities/call', 'capabilities/cancel'];

export class Connection {
  /** @type {Map<unknown, { type: string, callId: unknown, transfer: boolean }>} */
  #pending = new Map();
  #open = true;
  /** @type {unknown} */
  #opener;

  /**
   * @param {import('./host.js').Host} host
   * @param {(envelope: Envelope) => void} send hands an envelope to the transport; throws for what
   *   that cannot carry
   */
  constructor(host, send) {
    this.host = host;
    this.send = send;
    this.number = host.guard.enter(() => host.handle.connect()) ?? 0;
    host.connections.set(this.number, this);
  }

  /** @param {any} envelope an agent's message, whatever it is */
  receive(envelope) {
    const type = envelope?.type;
    if (type === 'initialize' && isUuid(envelope.id)) {
      // Asked again because the host was slow to start; the answer to the first is on its way.
      if (envelope.id === this.#opener) return;
      this.#opener = envelope.id;
    }
    if (REQUESTS.includes(type) && ['string', 'number'].includes(typeof envelope.id)) {
      this.#pending.set(envelope.id, {
        type,
        callId: envelope.payload?.callId,
        transfer: envelope.payload?.options?.transfer === true,
      });
    }
    if (this.#open) this.host.guard.enter(() => this.host.handle.receive(this.number, envelope));
    if (this.host.guard.trap !== undefined) this.#answerAll(LOST);
    else if (!this.#open) this.#answerAll(CLOSED);
  }

  /** @param {Envelope} envelope the host's message */
  deliver(envelope) {
    try {
      this.send(envelope);
    } catch (error) {
      this.#sendInstead(envelope, text(error));
    }
    if (envelope.id !== undefined) this.#pending.delete(envelope.id);
    // An answer that was refused is one all the same: the capability does not wait for a better one.
    if (envelope.type === 'error' && isQuestion(envelope.id)) this.#answerQuestion(envelope.id, envelope.payload);
  }

  /**
   * @param {unknown} id
   * @param {unknown} payload
   */
  #answerQuestion(id, payload) {
    this.receive({ type: 'elicitation/response', id, timestamp: Date.now(), payload });
  }

  /**
   * Whoever waits for an envelope that cannot be sent is told so.
   *
   * @param {Envelope} envelope
   * @param {string} problem
   */
  #sendInstead(envelope, problem) {
    const { type, id } = envelope;
    const what = type === 'capabilities/call-result' ? 'The capability returned data that' : `The ${type}`;
    const error = { code: 'OPERATION_FAILED', message: `${what} cannot be sent: ${problem}`, retryable: false };
    const failure = { success: false, error };
    if (type === 'elicitation/request') {
      this.#answerQuestion(id, failure);
      return;
    }
    if (id === undefined) console.warn('caphost:', error.message);
    else this.#trySend({ ...envelope, payload: type === 'capabilities/call-result' ? failure : { error } });
  }

  /** @param {Envelope} envelope */
  #trySend(envelope) {
    try {
      this.send(envelope);
    } catch {
      // The transport is gone, and its end will be noticed.
    }
  }

  /**
   * Whether the caller asked for the data in this answer to be moved rather than copied.
   *
   * @param {Envelope} envelope
   */
  wantsTransfer(envelope) {
    return this.#pending.get(envelope.id)?.transfer ?? false;
  }

  /** Answers everything that a lost instance will not answer any more. */
  answerLost() {
    this.#answerAll(LOST);
  }

  /** @param {typeof LOST} error */
  #answerAll(error) {
    const pending = [...this.#pending].sort(([, a], [, b]) => rank(a.type) - rank(b.type));
    this.#pending.clear();
    for (const [id, { type, callId }] of pending) {
      const payload =
        type === 'capabilities/cancel'
          ? { callId, cancelled: false, reason: error.message, error }
          : type === 'initialize' || type === 'shutdown'
            ? { error }
            : { success: false, error };
      this.#trySend({ type: `${type}-result`, id, timestamp: Date.now(), payload });
    }
  }

  /** The transport is gone. */
  close() {
    if (!this.#open) return;
    this.#open = false;
    this.#pending.clear();
    this.host.guard.enter(() => this.host.handle.disconnect(this.number));
    this.host.connections.delete(this.number);
  }
}

/**
 * An id that nobody uses twice for two requests.
 *
 * @param {unknown} id
 */
const isUuid = (id) => typeof id === 'string' && /^[0-9a-f-]{36}$/i.test(id);

/** @param {unknown} id */
const isQuestion = (id) => typeof id === 'string' && id.startsWith('elicitation-');

/**
 * What somebody threw, which may be anything.
 *
 * @param {any} thrown
 * @returns {string}
 */
export function text(thrown) {
  try {
    return String(thrown?.message ?? thrown);
  } catch {
    return 'it cannot be read';
  }
}

/**
 * Cancel results go before call results.
 *
 * @param {string} type
 */
const rank = (type) => (type === 'capabilities/cancel' ? 0 : 1);
