/**
 * One agent on a host: what it has asked and not been answered, so that a lost instance can still
 * answer it.
 *
 * @typedef {{ type?: unknown, id?: unknown, payload?: any, timestamp?: number }} Envelope
 */

/** @param {string} message */
export const internalError = (message) => ({ code: 'INTERNAL_ERROR', message, retryable: false });

const LOST = 'The host has failed and cannot go on';

export class Connection {
  /** @type {Map<unknown, { type: string, callId: unknown, transfer: boolean }>} */
  #pending = new Map();
  #open = true;
  /** @type {unknown} */
  #opener;

  /**
   * @param {import('./host.js').Host} host
   * @param {(envelope: Envelope) => void} send hands an envelope to the transport
   */
  constructor(host, send) {
    this.host = host;
    this.send = send;
    this.number = host.guard.enter(() => host.handle.connect()) ?? 0;
    host.connections.set(this.number, this);
  }

  /** @param {any} envelope an agent's message, whatever it is */
  receive(envelope) {
    if (!this.#open) return;
    const type = envelope?.type;
    if (type === 'initialize' && isUuid(envelope.id)) {
      // Asked again because the host was slow to start; the answer to the first is on its way.
      if (envelope.id === this.#opener) return;
      this.#opener = envelope.id;
    }
    if (typeof type === 'string' && envelope.id !== undefined) {
      this.#pending.set(envelope.id, {
        type,
        callId: envelope.payload?.callId,
        transfer: envelope.payload?.options?.transfer === true,
      });
    }
    this.host.guard.enter(() => this.host.handle.receive(this.number, envelope));
    if (this.host.guard.trap !== undefined) this.answerLost();
  }

  /** @param {Envelope} envelope the host's message */
  deliver(envelope) {
    this.send(envelope);
    if (envelope.id !== undefined) this.#pending.delete(envelope.id);
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
    const pending = [...this.#pending].sort(([, a], [, b]) => rank(a.type) - rank(b.type));
    this.#pending.clear();
    for (const [id, { type, callId }] of pending) {
      const error = internalError(LOST);
      const payload =
        type === 'capabilities/cancel'
          ? { callId, cancelled: false, reason: LOST, error }
          : type === 'initialize' || type === 'shutdown'
            ? { error }
            : { success: false, error };
      this.send({ type: `${type}-result`, id, timestamp: Date.now(), payload });
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

/**
 * Cancel results go before call results.
 *
 * @param {string} type
 */
const rank = (type) => (type === 'capabilities/cancel' ? 0 : 1);
