import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { connectWebSocket } from 'caphost/agent';
import { useDemo } from '../support/demo.mjs';
import { becomes, reaches } from '../support/demo-page.mjs';
import { startGateway } from '../support/gateway.mjs';
import { click, textOf } from '../support/hands.mjs';

describe('the demo page on one gateway, which is the tool server of another one', () => {
  const demo = useDemo();

  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let runtime;
  before(async () => {
    runtime = await startGateway({ args: ['--tool-server', `${demo.gateway.url}/rap/caphost-demo/`] });
  });
  after(() => runtime?.stop());

  /** Connects an agent to the runtime as soon as the runtime knows the tool server. */
  async function connect() {
    const deadline = Date.now() + 15_000;
    for (;;) {
      try {
        return await connectWebSocket(`${runtime.wsUrl}/abp?app=caphost-demo`, { agent: { name: 'far away', version: '1' } });
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await pause(50);
      }
    }
  }

  /** The card of the call that `act` makes, once it is on the page. @param {() => unknown} act */
  async function newCard(act) {
    const ids = () => demo.page.$$eval('.call', (cards) => cards.map((card) => /** @type {HTMLElement} */ (card).dataset.callId));
    const known = await ids();
    act();
    const found = await demo.page.waitForFunction(
      (before) => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.call'))].find((it) => !before.includes(it.dataset.callId))?.dataset.callId,
      {},
      known,
    );
    return `.call[data-call-id="${await found.jsonValue()}"]`;
  }

  const cancelled = { success: false, cancelled: true, metadata: { stop: 'abandoned' } };
  const long = { megabytes: 500 };

  test('a tool of the page is called through two gateways', async () => {
    const agent = await connect();
    assert.ok(agent.capabilities.some(({ name }) => name === 'export_pdf'));
    const { success, data, error } = await agent.call('export_pdf', { markdown: '# From afar' });
    assert.ok(success, JSON.stringify(error));
    assert.equal(data.mimeType, 'application/pdf');
    assert.equal(Buffer.from(data.content, 'base64').subarray(0, 5).toString('latin1'), '%PDF-');
    const refused = await agent.call('export_pdf', { markdown: 7 });
    assert.equal(refused.error?.code, 'OPERATION_FAILED');
    assert.match(String(refused.error?.message), /INVALID_TYPE/);
    await agent.shutdown();
  });

  test('a cancel stops the work in the page', async () => {
    const agent = await connect();
    /** @type {Promise<any> | undefined} */
    let call;
    const card = await newCard(() => { call = agent.call('export_archive', long, { callId: 'long' }); });
    await reaches(demo.page, card, 1);
    assert.deepEqual(await agent.cancel('long', 'enough'), { callId: 'long', cancelled: true, metadata: { stop: 'abandoned' } });
    assert.deepEqual(await call, cancelled);
    await becomes(demo.page, card, 'cancelled');
    const shown = () => textOf(demo.page, card);
    const then = await shown();
    // A call that begins now gets further than the cancelled call had. If the cancelled call had
    // continued, that would be visible.
    const next = await newCard(() => { call = agent.call('export_archive', long, { callId: 'next' }); });
    await reaches(demo.page, next, 5);
    assert.equal(await shown(), then);
    assert.deepEqual(await agent.cancel('next'), { callId: 'next', cancelled: true, metadata: { stop: 'abandoned' } });
    assert.deepEqual(await call, cancelled);
    // The page accepts other calls again.
    assert.equal((await agent.call('export_pdf', { markdown: '# Next' })).success, true);
    await agent.shutdown();
  });

  test('a timeout, and an agent that leaves, stop the work in the page', async () => {
    const agent = await connect();
    /** @type {Promise<any> | undefined} */
    let call;
    const card = await newCard(() => { call = agent.call('export_archive', long, { timeout: 1_500 }); });
    assert.deepEqual(await call, cancelled);
    await becomes(demo.page, card, 'cancelled');
    const abandoned = await newCard(() => { void agent.call('export_archive', long); });
    await reaches(demo.page, abandoned, 1);
    await agent.shutdown();
    await becomes(demo.page, abandoned, 'cancelled');
  });

  test('a call that the page itself cancels is cancelled for the agent', async () => {
    const agent = await connect();
    /** @type {Promise<any> | undefined} */
    let call;
    const card = await newCard(() => { call = agent.call('export_archive', long); });
    await reaches(demo.page, card, 1);
    await click(demo.page, `${card} .cancel`);
    assert.deepEqual(await call, cancelled);
    await agent.shutdown();
  });
});
