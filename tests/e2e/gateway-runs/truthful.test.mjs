import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectWebSocket } from 'caphost/agent';
import { launchPuppeteer } from '../support/browsers.mjs';
import { startGateway } from '../support/gateway.mjs';
import { click, fill, focus, press, reads, type } from '../support/hands.mjs';
import { ask } from './asking.mjs';
import { silentApp } from './silent-app.mjs';

const secrets = { app: 'for-apps', one: 'for-one', two: 'for-two', admin: 'for-admins' };
const tokens = [`app=${secrets.app}`, `agent=${secrets.one}`, `agent=${secrets.two}`, `admin=${secrets.admin}`];

/** @type {Awaited<ReturnType<typeof startGateway>>} */
let gateway;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;
/** @type {Awaited<ReturnType<typeof silentApp>>} */
let app;
/** @type {import('caphost/agent').Agent[]} */
let agents;

before(async () => {
  const args = [...tokens.flatMap((token) => ['--token', token]), '--confirm-timeout', '300ms'];
  [gateway, browser] = await Promise.all([startGateway({ args }), launchPuppeteer()]);
  app = await silentApp(gateway, { token: secrets.app });
  const connect = (/** @type {string} */ token) => connectWebSocket(`${gateway.wsUrl}/abp`, { agent: { name: 'test', version: '1' }, token });
  agents = await Promise.all([connect(secrets.one), connect(secrets.two)]);
});
after(async () => {
  app?.close();
  await browser?.close();
  await gateway?.stop();
});

/** Starts a call, and waits until the app has it. @param {number} agent @param {string} callId */
async function hold(agent, callId) {
  const response = /** @type {import('caphost/agent').Agent} */ (agents[agent]).call('test.hold', {}, { callId });
  const call = await app.next('capabilities/call');
  return { response, call, card: `.run[data-dialect-id="${callId}"]` };
}

/** Opens the page of runs and signs in. @param {string} token */
async function runsPage(token) {
  const page = await browser.newPage();
  await page.goto(`${gateway.url}/runs`);
  await signIn(page, token);
  await page.waitForSelector('#link[data-state=live]');
  return page;
}

/** @param {import('puppeteer-core').Page} page @param {string} token */
async function signIn(page, token) {
  await fill(page, '#token', '');
  await focus(page, '#token');
  await type(page, '#token', token);
  await press(page, '#token', 'Enter');
}

test('a cancel that the app does not confirm is shown as unconfirmed, and updated when more is known', { timeout: 60_000 }, async () => {
  const page = await runsPage(secrets.admin);
  for (const [callId, verdict, said] of /** @type {const} */ ([
    ['confirmed-late', 'late', /Not confirmed then; the run has ended as cancelled since$/],
    ['completes', 'lost', /Not confirmed: the app has not answered, and may still be at work$/],
  ])) {
    const { response, call, card } = await hold(0, callId);
    await page.waitForSelector(`${card}[data-state=running]`);
    await click(page, `${card} .cancel`);
    await press(page, `${card} .cancel-form input`, 'Enter');
    await page.waitForSelector(`${card} .verdict[data-verdict=lost]`, { visible: true });
    await reads(page, `${card} .outcome`, /"cancelled": false, "reason": "No confirmation from the app", "error": \{"code":"TIMEOUT"/);
    await page.waitForSelector(`${card}[data-state=cancelling]`);
    const asked = await app.next('capabilities/cancel');
    if (verdict === 'late') {
      app.answer(asked, { callId, cancelled: true });
      app.answer(call, { success: false, cancelled: true });
      await page.waitForSelector(`${card}[data-state=cancelled] .verdict[data-verdict=late]`);
    } else {
      app.answer(call, { success: true, data: 'done' });
      await page.waitForSelector(`${card}[data-state=completed]`);
      await reads(page, `${card} .run-cancelled`, /^Asked to cancel, and not cancelled/);
    }
    await reads(page, `${card} .verdict`, said);
    assert.equal((await response).cancelled === true, verdict === 'late');
  }
  await page.close();
});

test('an app that goes away leaves a run with an unknown end', { timeout: 60_000 }, async () => {
  const page = await runsPage(secrets.admin);
  const other = await silentApp(gateway, { id: 'leaving', token: secrets.app });
  const agent = await connectWebSocket(`${gateway.wsUrl}/abp?app=leaving`, { agent: { name: 'test', version: '1' }, token: secrets.one });
  const response = agent.call('test.hold', {}, { callId: 'left' });
  await other.next('capabilities/call');
  other.close();
  await page.waitForSelector('.run[data-dialect-id="left"][data-state=unknown]');
  await reads(page, '.run[data-dialect-id="left"]', /Unknown[^]*The app went away before it answered: how this ended is not known\./);
  assert.equal((await response).error?.code, 'DISCONNECTED');
  await page.close();
});

test('a token decides which runs are shown', { timeout: 60_000 }, async () => {
  const one = await hold(0, 'of-one');
  const two = await hold(1, 'of-two');
  const page = await browser.newPage();
  await page.goto(`${gateway.url}/runs`);
  await signIn(page, 'wrong');
  await page.waitForSelector('#sign-in-problem', { visible: true });
  await reads(page, '#sign-in-problem', 'The gateway does not know this token.');
  await signIn(page, secrets.app);
  await page.waitForFunction(() => document.querySelector('#sign-in-problem')?.textContent?.startsWith('This token may not see runs'));
  assert.equal(await page.$('.run'), null);

  await signIn(page, secrets.one);
  await page.waitForSelector(one.card);
  assert.equal(await page.$(two.card), null);
  await reads(page, '#viewer', 'agent-1, who sees its own runs');
  await page.reload();
  await page.waitForSelector(one.card);
  await click(page, '#forget');
  await page.waitForSelector('#sign-in', { visible: true });
  assert.equal(await page.$('.run'), null, 'nothing of what it showed stays');
  await signIn(page, secrets.admin);
  await page.waitForSelector(one.card);
  await page.waitForSelector(two.card);
  await reads(page, '#viewer', 'admin-3, who sees all runs');
  await reads(page, two.card, /ABP from agent-2/);
  assert.equal(page.url(), `${gateway.url}/runs`, 'the token is not in the address');
  // A link may bring a token. The page removes the token from the address at once.
  await page.evaluate((token) => { location.hash = `token=${token}`; }, secrets.two);
  await page.waitForFunction(() => document.querySelector('#viewer')?.textContent?.startsWith('agent-2'));
  const linked = await browser.newPage();
  await linked.goto(`${gateway.url}/runs?state=running#token=${secrets.one}`);
  await linked.waitForSelector(one.card);
  await reads(linked, '#viewer', 'agent-1, who sees its own runs');
  assert.deepEqual([page, linked].map((it) => it.url()), [`${gateway.url}/runs`, `${gateway.url}/runs?state=running`]);
  await linked.close();

  // Each token can cancel only the runs that it may see.
  const id = (await ask(gateway, '/api/runs/of-two', { token: secrets.two })).json.runId;
  for (const [token, status] of /** @type {const} */ ([[undefined, 401], [secrets.app, 403], [secrets.one, 404]])) {
    assert.equal((await ask(gateway, `/api/runs/${id}/cancel`, { token, body: {} })).status, status);
  }
  assert.equal((await ask(gateway, '/cancellation/cancel', { token: secrets.two, body: { requestId: 'of-two' } })).status, 403);
  for (const { call } of [one, two]) app.answer(call, { success: true });
  await Promise.all([one.response, two.response]);
  await page.close();
});
