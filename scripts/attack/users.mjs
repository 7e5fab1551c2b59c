import { again, envelope, hold, open, request } from './sockets.mjs';

/** @typedef {import('./sockets.mjs').Target} Target */

const initialize = envelope('initialize', { agent: { name: 'm'.repeat(10_000), version: '1' }, protocolVersion: '0.1' });

/** @param {string} capability @param {unknown} params @param {string} id */
const call = (capability, params, id) => envelope('capabilities/call', { capability, params, options: { callId: id } }, id);

/** A session of the attackers with the honest app. @param {Target} target */
async function session(target) {
  const socket = await open(target, '/abp?app=shop', { secret: target.secrets.agent });
  socket?.send(initialize);
  return socket;
}

/**
 * A URL of 47 characters. A pattern that tries every way to match has to try all of them here.
 */
const hardUrl = `http://${'a.'.repeat(20)}`;

/** Parameters that take a validator a long time if its running time is not linear. @type {unknown[]} */
const hardParams = [
  { url: hardUrl },
  { items: Array.from({ length: 6000 }, (_, index) => ({ n: index })) },
  { wrong: Array(40_000).fill('no number') },
  { careless: `${'a'.repeat(32)}!` },
];

/** Attacks by an agent that has a token. @type {Record<string, (target: Target) => Promise<void>>} */
export const agents = {
  'sessions of MCP': (target) => again(target, 5, (round) => request(target, 'POST /mcp', {
    Authorization: `Bearer ${target.secrets.agent}`,
    Accept: 'application/json, text/event-stream',
  }, JSON.stringify({
    jsonrpc: '2.0',
    id: round,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'm'.repeat(10_000), version: '1' } },
  }))),

  'invocations of RAP that are never done': (target) => again(target, 5, (round) => request(target, 'POST /rap/shop/invoke', {
    Authorization: `Bearer ${target.secrets.agent}`,
  }, JSON.stringify({
    // The name stands for an internal address. The gateway finds that out when it calls the URL.
    callback_url: round % 2 ? `http://localhost:${target.port}/` : `http://2130706433:${target.port}/`,
    operation: 'wait',
    arguments: {},
    id: `i${round}`,
    group_id: `t${round}`,
  }))),

  'sockets of one agent': (target) => hold(target, { most: 600, pause: 5 }, () => open(target, '/abp?app=shop', { secret: target.secrets.agent })),

  // Half of the sessions are ABP and half are JSON-RPC, so that a separate bound for each is not
  // enough.
  'the sessions of an app': (target) => {
    let next = 0;
    return hold(target, { most: 1000, pause: 2 }, async () => {
      const isRpc = next++ % 2 > 0;
      const socket = isRpc ? await open(target, '/jsonrpc?app=shop', { secret: target.secrets.agent }) : await session(target);
      if (isRpc) socket?.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: '_capabilities/call', params: { capability: 'echo', params: {} } }));
      socket?.on('message', (text) => {
        if (String(text).includes('RATE_LIMITED')) target.count('refused');
      });
      return socket;
    });
  },

  'results that nobody reads': (target) => hold(target, { most: 4, pause: 200 }, async () => {
    const socket = await session(target);
    if (!socket) return socket;
    /** @type {any} */ (socket)._socket.pause();
    void again(target, 100, (round) => {
      if (socket.readyState !== socket.OPEN || socket.bufferedAmount > 0) return;
      target.count('tried');
      socket.send(call('echo', { text: 'x'.repeat(200_000) }, `unread ${round}`));
    });
    return socket;
  }),

  'a flood of calls': async (target) => {
    const socket = await session(target);
    if (!socket) return;
    const send = (/** @type {number} */ round) => socket.send(call('echo', {}, `flood ${round}`));
    let round = 0;
    socket.on('message', () => {
      target.count('tried');
      if (!target.signal.aborted) setTimeout(send, 5, round++);
    });
    for (; round < 8; round += 1) send(round);
    await again(target, 100, () => {});
  },

  'parameters that are hard to check': async (target) => {
    const socket = await session(target);
    if (!socket) return;
    socket.on('message', (text) => {
      if (String(text).includes('INVALID_PARAMS')) target.count('refused');
    });
    await again(target, 250, (round) => {
      target.count('tried');
      socket.send(call('strict', hardParams[round % hardParams.length], `hard ${round}`));
    });
  },

  'garbage and pings': async (target) => {
    const sockets = await Promise.all([session(target), session(target)]);
    await again(target, 5, () => {
      for (const [index, socket] of sockets.entries()) {
        if (socket?.readyState !== socket?.OPEN || (socket?.bufferedAmount ?? 1) > 100_000) continue;
        for (let count = 0; count < 50; count += 1) {
          target.count('tried');
          if (index) socket?.ping();
          else socket?.send('garbage');
        }
      }
    });
  },

  'cancels of the runs of others': async (target) => {
    const socket = await session(target);
    await again(target, 10, async (round) => {
      socket?.send(envelope('capabilities/cancel', { callId: `honest ${round}` }, `cancel ${round}`));
      const secret = { Authorization: `Bearer ${target.secrets.agent}` };
      await request(target, 'POST /cancellation/cancel', secret, JSON.stringify({ requestId: `honest ${round}` }));
    });
  },
};

/** @param {string} id @param {object} [more] */
const register = (id, more) => envelope('app/register', {
  app: { id, name: 'Mallory', version: '1' },
  capabilities: [{ name: 'a.b', description: 'd' }],
  ...more,
});

/** @param {Target} target @param {(round: number) => string} message */
const refusedApps = (target, message) => again(target, 20, async (round) => {
  const socket = await open(target, '/abp/app', { secret: target.secrets.app });
  if (!socket) return;
  socket.send(message(round));
  const closed = new Promise((resolve) => { socket.once('close', resolve); });
  const said = await new Promise((resolve) => {
    socket.once('message', (text) => resolve(String(text)));
    void closed.then(resolve);
  });
  if (!String(said).includes('app/registered') && socket.readyState === socket.OPEN) target.count('refused');
  socket.terminate();
});

/** Attacks by an app that has a token. @type {Record<string, (target: Target) => Promise<void>>} */
export const apps = {
  'the id of another app': (target) => refusedApps(target, () => register('shop')),

  'sessions of other apps, replaced': (target) => refusedApps(target, (round) => register(`mallory ${round}`, { resume: true, replaces: `guess-${round}` })),

  'large registrations': (target) => refusedApps(target, (round) => register(`large ${round}`, {
    capabilities: [{ name: 'a.b', description: 'd'.repeat(2_000_000) }],
  })),

  'many large apps': (target) => {
    let next = 0;
    return hold(target, { most: 600, pause: 20 }, async () => {
      const socket = await open(target, '/abp/app', { secret: target.secrets.app });
      socket?.send(register(`many ${next++}`, { capabilities: [{ name: 'a.b', description: 'd'.repeat(900_000) }] }));
      return socket;
    });
  },
};
