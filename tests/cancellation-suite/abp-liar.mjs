/**
 * An ABP app on a WebSocket that keeps the rules, or breaks one: `startAbpLiar(way)`.
 *
 * | Way | What the app does |
 * |---|---|
 * | `honest` | keeps the rules |
 * | `counts-on` | confirms a cancel, and goes on with the work |
 * | `completes` | confirms a cancel, and answers the call with the result of its work |
 * | `answers-twice` | answers every call twice |
 * | `never-answers` | answers no count |
 * | `keeps-data` | answers a cancelled call with data |
 * | `confirms-anything` | confirms every cancel |
 */
import { once } from 'node:events';
import { WebSocketServer } from 'ws';

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {string} way */
export async function startAbpLiar(way) {
  /** @type {Map<string, number>} */
  const counted = new Map();
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => {
    /** The calls of the session, by callId. @type {Map<string, { cancelled: boolean, ended: boolean, id: string }>} */
    const calls = new Map();
    let isInitialized = false;
    const send = (/** @type {string} */ type, /** @type {string | undefined} */ id, /** @type {object} */ payload) => socket.send(JSON.stringify({ type, id, timestamp: Date.now(), payload }));
    const cancelled = () => ({ success: false, cancelled: true, ...(way === 'keeps-data' && { data: { count: 1 } }) });

    /** @param {string} id @param {any} params @param {any} options */
    async function count(id, { key, steps, ms }, { callId, timeout }) {
      if (calls.has(callId)) {
        send('capabilities/call-result', id, { success: false, error: { code: 'INVALID_PARAMS', message: 'used', retryable: false } });
        return;
      }
      const call = { cancelled: false, ended: false, id };
      calls.set(callId, call);
      const timer = timeout && setTimeout(() => {
        call.cancelled = true;
        send('capabilities/call-result', id, cancelled());
      }, timeout);
      for (let step = 1; step <= steps; step += 1) {
        await pause(ms);
        if (socket.readyState !== 1 || (call.cancelled && way !== 'counts-on' && way !== 'completes')) return;
        counted.set(key, step);
        if (!call.cancelled) send('progress', undefined, { operationId: callId, progress: step });
      }
      clearTimeout(timer);
      if (call.cancelled && way !== 'completes') return;
      call.ended = true;
      if (way === 'never-answers') return;
      send('capabilities/call-result', id, { success: true, data: { key, count: steps } });
      if (way === 'answers-twice') send('capabilities/call-result', id, { success: true, data: { key, count: steps } });
    }

    /** @param {string} id @param {string} callId */
    function cancel(id, callId) {
      const call = calls.get(callId);
      if (way === 'confirms-anything' || call?.cancelled) send('capabilities/cancel-result', id, { callId, cancelled: true });
      else if (!call || call.ended) send('capabilities/cancel-result', id, { callId, cancelled: false, reason: call ? 'Operation already completed' : 'Operation not found' });
      else send('capabilities/cancel-result', id, { callId, cancelled: true });
      if (!call || call.ended || call.cancelled) return;
      call.cancelled = true;
      if (way !== 'completes') send('capabilities/call-result', call.id, cancelled());
    }

    socket.on('message', (text) => {
      const { type, id, payload } = JSON.parse(String(text));
      if (type === 'initialize') {
        isInitialized = true;
        send('initialize-result', id, {
          sessionId: 's', protocolVersion: '0.1', app: { id: 'liar', name: `liar-${way}`, version: '1' },
          capabilities: ['conformance.count', 'conformance.read'].map((name) => ({ name, available: true })),
          features: { notifications: true, progress: true, elicitation: false, dynamicCapabilities: false },
        });
      } else if (!isInitialized) {
        const error = { code: 'NOT_INITIALIZED', message: 'no session', retryable: true };
        if (type === 'capabilities/cancel') send('capabilities/cancel-result', id, { callId: payload.callId, cancelled: false, error });
        else send('capabilities/call-result', id, { success: false, error });
      } else if (type === 'capabilities/cancel') {
        cancel(id, payload.callId);
      } else if (type === 'capabilities/call' && payload.capability === 'conformance.count') {
        void count(id, payload.params, payload.options);
      } else if (type === 'capabilities/call') {
        send('capabilities/call-result', id, { success: true, data: { key: payload.params.key, steps: counted.get(payload.params.key) ?? 0 } });
      } else if (type === 'shutdown') {
        for (const call of calls.values()) call.cancelled = true;
        send('shutdown-result', id, {});
      }
    });
  });
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `ws://127.0.0.1:${address.port}/`,
    stop() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}
