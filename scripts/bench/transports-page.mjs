/* global window */

/**
 * Runs in the page. Sets up a host with an echo and a `hold` capability, an agent on a port of its
 * own, and handwritten code to compare with. Leaves everything in `globalThis.bench`.
 *
 * @param {string} gatewayUrl
 */
export async function setUpPage(gatewayUrl) {
  const { createHost } = await import(/** @type {any} */ ('/caphost/index.js'));
  const { connectPort } = await import(/** @type {any} */ ('/caphost/agent.js'));
  const echo = async (/** @type {any} */ params) => params;
  /** Settles when its signal fires. @param {any} _ @param {{ signal: AbortSignal }} context */
  const hold = (_, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

  const host = await createHost({ app: { id: 'bench', name: 'Benchmark', version: '1' } });
  host.register('echo', {}, echo);
  host.register('hold', {}, hold);
  host.expose(window);
  host.connectGateway(gatewayUrl);
  await new Promise((resolve) => {
    // Stops observing once the host is connected: observing events costs time.
    const stop = host.observe((/** @type {any} */ { type, state }) => {
      if (type !== 'gateway' || state !== 'connected') return;
      stop();
      resolve(undefined);
    });
  });
  /** @type {any} */
  const inPage = {};
  host.expose(inPage);
  await inPage.abp.initialize({ agent: { name: 'bench', version: '1' }, protocolVersion: '0.1', features: {} });
  const channel = new MessageChannel();
  host.acceptPort(channel.port1);
  const agent = await connectPort(channel.port2);

  // By hand: a Map with an AbortController per call, without sessions, limits or a record of ended calls.
  /** @type {Map<string, AbortController>} */
  const calls = new Map();
  let serial = 0;
  /** @param {any} params @param {(params: any, context: { signal: AbortSignal }) => Promise<any>} handler */
  const callByHand = async (params, handler, callId = String((serial += 1))) => {
    const controller = new AbortController();
    calls.set(callId, controller);
    try {
      return { success: true, data: await handler(params, { signal: controller.signal }) };
    } catch {
      return { success: false, cancelled: true };
    } finally {
      calls.delete(callId);
    }
  };
  const cancelByHand = async (/** @type {string} */ callId) => {
    const controller = calls.get(callId);
    controller?.abort();
    return { callId, cancelled: controller !== undefined };
  };

  const raw = new MessageChannel();
  raw.port1.onmessage = ({ data }) => raw.port1.postMessage(data);
  const rawEcho = (/** @type {any} */ params) =>
    new Promise((resolve) => {
      raw.port2.onmessage = ({ data }) => resolve(data);
      raw.port2.postMessage(params);
    });

  const params = { value: 1 };
  /** @param {number} count @param {() => Promise<any>} work */
  const perCall = async (count, work) => {
    const start = performance.now();
    for (let i = 0; i < count; i += 1) await work();
    return ((performance.now() - start) * 1000) / count;
  };
  /** @param {any} caller @param {number} count */
  const perCancel = async (caller, count) => {
    const ids = Array.from({ length: count }, () => `hold-${(serial += 1)}`);
    const held = ids.map((callId) => caller.call('hold', {}, { callId }));
    // The echo is answered after all calls have started.
    await caller.call('echo', params);
    const next = ids.values();
    const time = await perCall(count, async () => {
      const { cancelled } = await caller.cancel(next.next().value);
      if (!cancelled) throw new Error('a cancel was not confirmed');
    });
    await Promise.all(held);
    return time;
  };
  const byHand = {
    call: (/** @type {string} */ name, /** @type {any} */ given, /** @type {any} */ options) => callByHand(given, name === 'hold' ? hold : echo, options?.callId),
    cancel: cancelByHand,
  };
  Object.assign(globalThis, {
    echo,
    bench: {
      plain: () => perCall(20_000, () => echo(params)),
      byHand: () => perCall(10_000, () => callByHand(params, echo)),
      abp: () => perCall(3_000, () => inPage.abp.call('echo', params)),
      channel: () => perCall(1_000, () => rawEcho(params)),
      port: () => perCall(500, () => agent.call('echo', params)),
      cancelByHand: () => perCancel(byHand, 50),
      cancelAbp: () => perCancel(inPage.abp, 50),
      cancelPort: () => perCancel(agent, 50),
    },
  });
}

/** Runs in the page. Echoes the messages of a WebSocket. @param {string} url */
export async function echoSocket(url) {
  const socket = new WebSocket(url);
  socket.onmessage = ({ data }) => socket.send(data);
  await new Promise((resolve) => { socket.onopen = resolve; });
}
