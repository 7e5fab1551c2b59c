import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { launchPuppeteer } from '../support/browsers.mjs';
import { reads } from '../support/hands.mjs';
import { startGateway } from '../support/gateway.mjs';
import { silentApp } from './silent-app.mjs';

/** @type {Awaited<ReturnType<typeof startGateway>>} */
let gateway;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;
/** @type {Awaited<ReturnType<typeof silentApp>>} */
let app;

before(async () => {
  [gateway, browser] = await Promise.all([startGateway({ args: ['--confirm-timeout', '300ms'] }), launchPuppeteer()]);
  app = await silentApp(gateway);
});
after(async () => {
  app?.close();
  await browser?.close();
  await gateway?.stop();
});

/** An agent that calls, and is killed once the app has the call. @param {string} callId */
async function callAndVanish(callId) {
  const socket = new WebSocket(`${gateway.wsUrl}/abp`);
  const send = (/** @type {string} */ type, /** @type {object} */ payload) => socket.send(JSON.stringify({ type, id: type, timestamp: Date.now(), payload }));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const ready = new Promise((resolve) => socket.once('message', resolve));
  send('initialize', { agent: { name: 'test', version: '1' }, protocolVersion: '0.1', features: {} });
  await ready;
  send('capabilities/call', { capability: 'test.hold', options: { callId } });
  const call = await app.next('capabilities/call');
  socket.terminate();
  return call;
}

test('the run of an agent that vanishes shows how the app has ended the call, or that the agent is gone', { timeout: 60_000 }, async () => {
  const page = await browser.newPage();
  await page.goto(`${gateway.url}/runs`);
  for (const [callId, state, said] of /** @type {const} */ ([
    ['ended', 'cancelled', /Cancelled[^]*The caller has gone away[^]*Its work has ended/],
    ['open', 'unknown', /Unknown[^]*Its agent left; the app was told to cancel it\. How this ended is not known\./],
  ])) {
    const call = await callAndVanish(callId);
    const cancel = await app.next('capabilities/cancel');
    if (state === 'cancelled') {
      const metadata = { stop: 'returned' };
      app.answer(cancel, { callId, cancelled: true, metadata });
      app.answer(call, { success: false, cancelled: true, metadata });
    }
    await app.next('agent/closed');
    const card = `.run[data-dialect-id="${callId}"][data-state=${state}]`;
    await page.waitForSelector(card);
    await reads(page, card, said);
  }
  await page.close();
});
