/**
 * A plain ABP agent, which only sends and receives envelopes over any transport.
 */
import { endsTold } from '../fixtures/conformance/ends.js';

/**
 * @param {(envelope: any) => void} post
 * @returns {import('./conformance.mjs').Driver & { receive: (envelope: any) => void, request: (type: string, payload: any) => Promise<any>, unasked: any[] }}
 */
export function wireDriver(post) {
  /** @type {Map<string, (payload: any) => void>} */
  const waiting = new Map();
  /** @type {any[]} */
  const unasked = [];
  const { hear, ended } = endsTold();
  let next = 0;
  /**
   * @param {string} type
   * @param {any} payload
   */
  const request = (type, payload) =>
    new Promise((resolve) => {
      const id = `raw-${(next += 1)}`;
      waiting.set(id, resolve);
      post({ type, id, timestamp: Date.now(), payload });
    });
  return {
    unasked,
    request,
    receive(envelope) {
      const resolve = waiting.get(envelope.id);
      waiting.delete(envelope.id);
      if (resolve) resolve(envelope.payload);
      else {
        unasked.push(envelope);
        if (envelope.type === 'notification') hear(envelope.payload.event, envelope.payload.data);
      }
    },
    call: (capability, params, options) => request('capabilities/call', { capability, params, options }),
    cancel: (callId, reason) => request('capabilities/cancel', { callId, reason }),
    shutdown: () => request('shutdown', {}),
    ended,
  };
}

export const INITIALIZE = {
  agent: { name: 'plain agent', version: '1' },
  protocolVersion: '0.1',
  features: { notifications: true, progress: true, elicitation: true },
};
