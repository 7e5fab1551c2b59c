/** @import { CallHistory } from './call-history.js' */
/** @import { Host } from './types/protocol.js' */
/** @import { Agent } from '/caphost/agent.js' */
import { connectPort } from '/caphost/agent.js';
import { percentage } from './call-text.js';

const CANCEL_REASON = 'Cancelled by the reader of the page';

/** The page's own agent. Its session works like every other, over a MessagePort. */
export class OwnCalls {
  #agent;
  #history;

  /**
   * @param {Agent} agent
   * @param {CallHistory} history
   */
  constructor(agent, history) {
    this.#agent = agent;
    this.#history = history;
  }

  get sessionId() {
    return this.#agent.sessionId;
  }

  /**
   * @param {string} capability
   * @param {Record<string, unknown>} params
   * @param {{ cancelHalfway: boolean }} options
   * @returns {Promise<void>} fulfilled when the call is over
   */
  async start(capability, params, { cancelHalfway }) {
    const callId = newCallId();
    const controller = new AbortController();
    const transfer = Object.values(params).filter((value) => value instanceof ArrayBuffer);
    const response = await this.#agent.call(capability, params, {
      callId,
      ...(transfer.length > 0 ? { transfer } : {}),
      signal: controller.signal,
      onProgress: (info) => {
        if (cancelHalfway && (percentage(info) ?? 0) >= 50) controller.abort('Cancelled by the page halfway');
      },
    });
    if (this.sessionId !== null) this.#history.receive(this.sessionId, callId, response);
  }

  /**
   * Cancels a call of this page and shows the confirmation.
   * @param {string} callId may be the id of an ended call: the answer says so
   */
  async cancel(callId) {
    const { sessionId } = this;
    if (sessionId === null) return;
    const before = this.#confirmed(sessionId, callId);
    const response = await this.#agent.cancel(callId, CANCEL_REASON);
    // The host has reported the confirmation to the history already, unless the request did not
    // reach the host.
    if (this.#confirmed(sessionId, callId) === before) this.#history.confirm({ sessionId, callId, response });
  }

  /**
   * @param {string} sessionId
   * @param {string} callId
   */
  #confirmed(sessionId, callId) {
    return this.#history.find(sessionId, callId)?.confirmations;
  }
}

/**
 * @param {Host} host
 * @param {CallHistory} history
 * @param {string} version
 */
export async function connectOwnCalls(host, history, version) {
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2, { agent: { name: 'demo page', version } });
  return new OwnCalls(agent, history);
}

/** A random id; crypto.randomUUID exists in secure contexts only. */
function newCallId() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `page-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
