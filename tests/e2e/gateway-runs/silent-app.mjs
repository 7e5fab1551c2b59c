import { WebSocket } from 'ws';

/**
 * An app on a gateway's wire. It accepts sessions and calls, and never answers a call or a cancel by
 * itself.
 *
 * @param {{ wsUrl: string }} gateway
 * @param {object} [options]
 * @param {string} [options.id]
 * @param {string} [options.token]
 * @param {any[]} [options.capabilities]
 */
export async function silentApp(gateway, { id = 'silent', token, capabilities = [{ name: 'test.hold' }] } = {}) {
  const socket = new WebSocket(`${gateway.wsUrl}/abp/app${token === undefined ? '' : `?token=${token}`}`);
  /** @type {any[]} */
  const got = [];
  /** @type {(() => void)[]} */
  const waiting = [];
  const send = (/** @type {object} */ message) => socket.send(JSON.stringify({ timestamp: Date.now(), ...message }));
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.type === 'initialize') {
      const app = { id, name: id, version: '1' };
      const features = { notifications: true, progress: true, elicitation: false, dynamicCapabilities: false };
      const payload = { sessionId: message.agent, protocolVersion: '0.1', app, capabilities: [{ name: 'test.hold', available: true }], features };
      send({ type: 'initialize-result', id: message.id, agent: message.agent, payload });
      return;
    }
    got.push(message);
    for (const look of waiting.splice(0)) look();
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  send({ type: 'app/register', id: 'r', payload: { app: { id, name: id, version: '1' }, capabilities } });
  /** Returns the next message of a type. @param {string} type */
  const next = async (type) => {
    for (;;) {
      const at = got.findIndex((message) => message.type === type);
      if (at >= 0) return got.splice(at, 1)[0];
      await new Promise((/** @type {(value: void) => void} */ resolve) => waiting.push(resolve));
    }
  };
  await next('app/registered');
  return {
    next,
    /** Answers a request. @param {any} request @param {object} payload */
    answer: (request, payload) => send({ type: `${request.type}-result`, id: request.id, agent: request.agent, payload }),
    /** Reports the progress of a call. @param {any} call @param {object} info */
    progress: (call, info) => send({ type: 'progress', agent: call.agent, payload: { operationId: call.payload.options.callId, ...info } }),
    close: () => socket.close(),
  };
}
