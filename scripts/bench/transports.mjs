/* global window */
import { connectWebSocket } from 'caphost/agent';
import { attach } from 'caphost/automation';
import { WebSocket, WebSocketServer } from 'ws';
import { launchPuppeteer } from '../../tests/e2e/support/browsers.mjs';
import { startGateway } from '../../tests/e2e/support/gateway.mjs';
import { serveFiles } from '../../tests/e2e/support/static-server.mjs';
import { gatewayRelease } from '../paths.mjs';
import { echoSocket, setUpPage } from './transports-page.mjs';
import { perCall } from './rounds.mjs';

const params = { value: 1 };

/**
 * Calls and cancels on every transport, each next to the same without this package.
 *
 * @returns {Promise<{ rows: import('./rounds.mjs').Row[], version: string, close: () => Promise<void> }>}
 */
export async function transports() {
  const server = await serveFiles({ pages: { '/bench': '<!doctype html><title>Benchmark</title><link rel="icon" href="data:,">' } });
  const gateway = await startGateway({ binary: gatewayRelease, args: ['--allow-origin', server.origin] });
  const launched = await launchPuppeteer();
  const page = await launched.newPage();
  await page.goto(server.url('/bench'));
  await page.evaluate(setUpPage, `${gateway.wsUrl}/abp/app`);
  const sockets = await rawSockets(page);
  const remote = await connectWebSocket(`${gateway.wsUrl}/abp?app=bench`);
  const attached = await attach(page);

  const inPage = (/** @type {string} */ name) => () => page.evaluate((it) => /** @type {any} */ (globalThis).bench[it](), name);
  const calls = 'a call and its answer';
  const cancels = 'a cancel and its confirmation';
  /** @type {[group: string, name: string, measure: () => Promise<number>, base?: string][]} */
  const list = [
    [`${calls}: in the page`, 'a Map and an AbortController by hand', inPage('byHand')],
    [`${calls}: in the page`, 'await of an async function', inPage('plain'), 'a Map and an AbortController by hand'],
    [`${calls}: in the page`, '`window.abp.call`', inPage('abp'), 'a Map and an AbortController by hand'],
    [`${calls}: over a MessagePort, one thread`, 'raw echo', inPage('channel')],
    [`${calls}: over a MessagePort, one thread`, 'agent of `connectPort`', inPage('port'), 'raw echo'],
    [`${calls}: over WebSocket, Node to page and back`, 'raw echo through a relay', () => perCall(100, sockets.relayed)],
    [`${calls}: over WebSocket, Node to page and back`, 'raw echo, Node to Node, no page', () => perCall(100, sockets.direct), 'raw echo through a relay'],
    [`${calls}: over WebSocket, Node to page and back`, 'agent through the gateway', () => perCall(100, () => remote.call('echo', params)), 'raw echo through a relay'],
    [`${calls}: through Puppeteer`, '`page.evaluate`', () => perCall(60, () => page.evaluate((given) => /** @type {any} */ (window).echo(given), params))],
    [`${calls}: through Puppeteer`, 'agent of `attach`', () => perCall(60, () => attached.call('echo', params)), '`page.evaluate`'],
    [cancels, 'by hand', inPage('cancelByHand')],
    [cancels, '`window.abp.cancel`', inPage('cancelAbp'), 'by hand'],
    [cancels, 'over a MessagePort', inPage('cancelPort'), 'by hand'],
    [cancels, 'through the gateway', () => perCancel(remote), 'by hand'],
    [cancels, 'through Puppeteer', () => perCancel(attached), 'by hand'],
  ];
  return {
    rows: list.map(([group, name, measure, base]) => ({ group, name, measure, unit: /** @type {const} */ ('µs'), ...(base && { base }) })),
    version: launched.version,
    close: async () => {
      sockets.close();
      await launched.close();
      await gateway.stop();
      await server.close();
    },
  };
}

let serial = 0;

/** @param {import('caphost/agent').Agent} agent @returns {Promise<number>} microseconds per cancel of a call that waits for its cancel */
export async function perCancel(agent, count = 30) {
  const ids = Array.from({ length: count }, () => `hold-${(serial += 1)}`);
  const held = ids.map((callId) => agent.call('hold', {}, { callId }));
  await agent.call('echo', params);
  const next = ids.values();
  const time = await perCall(count, async () => {
    const { cancelled } = await agent.cancel(String(next.next().value));
    if (!cancelled) throw new Error('a cancel was not confirmed');
  });
  await Promise.all(held);
  return time;
}

/**
 * Two plain WebSocket servers: one echoes in this process. The other relays to an echo in the page,
 * so its messages take the same way as calls through the gateway.
 *
 * @param {import('puppeteer-core').Page} page
 */
export async function rawSockets(page) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  /** @type {WebSocket | undefined} */
  let echoing;
  server.on('connection', (socket, { url }) => {
    if (url === '/page') {
      echoing = socket;
      socket.on('message', (data) => relaying?.send(String(data)));
    } else if (url === '/relay') {
      relaying = socket;
      socket.on('message', (data) => echoing?.send(String(data)));
    } else socket.on('message', (data) => socket.send(String(data)));
  });
  /** @type {WebSocket | undefined} */
  let relaying;
  await page.evaluate(echoSocket, `ws://127.0.0.1:${port}/page`);
  const client = async (/** @type {string} */ path) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false });
    await new Promise((resolve) => socket.once('open', resolve));
    return () =>
      new Promise((resolve) => {
        socket.once('message', (data) => resolve(JSON.parse(String(data))));
        socket.send(JSON.stringify(params));
      });
  };
  const [relayed, direct] = await Promise.all([client('/relay'), client('/echo')]);
  return {
    relayed,
    direct,
    close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}
