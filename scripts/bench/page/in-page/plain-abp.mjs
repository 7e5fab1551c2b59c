import { publishedSample } from './sample.mjs';

/**
 * An agent of a few lines that posts the protocol's envelopes and nothing else.
 *
 * @param {MessagePort} port
 */
export async function plainAgent(port) {
  /** @type {Map<string, (payload: any) => void>} */
  const pending = new Map();
  port.onmessage = ({ data }) => {
    const resolve = pending.get(data.id);
    if (resolve === undefined) return;
    pending.delete(data.id);
    resolve(data.payload);
  };
  /** @param {string} type @param {any} payload @param {string} [id] @returns {Promise<any>} */
  const request = (type, payload, id = crypto.randomUUID()) =>
    new Promise((resolve) => {
      pending.set(id, resolve);
      port.postMessage({ type, id, timestamp: Date.now(), payload });
    });

  const features = { notifications: false, progress: false, elicitation: false };
  const { sessionId, error } = await request('initialize', { agent: { name: 'plain', version: '1' }, protocolVersion: '0.1', features });
  if (!sessionId) throw new Error(`no session: ${error?.message}`);
  return {
    /** @param {string} capability @param {any} [params] @param {{ callId?: string }} [options] */
    call(capability, params, { callId = crypto.randomUUID() } = {}) {
      return request('capabilities/call', { capability, params, options: { callId } }, callId);
    },
    /** @param {string} callId */
    cancel: (callId) => request('capabilities/cancel', { callId }),
  };
}

/**
 * The sample at the other end of a port.
 *
 * @param {MessagePort} port
 * @param {Record<string, import('./handlers.mjs').Handler>} handlers
 */
export function plainHost(port, handlers) {
  const abp = publishedSample(handlers);
  /** @type {Record<string, (payload: any) => Promise<any>>} */
  const requests = {
    'initialize': () => abp.initialize(),
    'capabilities/call': ({ capability, params, options }) => abp.call(capability, params, options),
    'capabilities/cancel': ({ callId }) => abp.cancel(callId),
  };
  port.onmessage = async ({ data: { type, id, payload } }) => {
    const answer = await requests[type]?.(payload);
    port.postMessage({ type: `${type}-result`, id, timestamp: Date.now(), payload: answer });
  };
}
