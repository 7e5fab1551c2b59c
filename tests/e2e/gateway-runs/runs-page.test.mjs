import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useDemo } from '../support/demo.mjs';
import { click, comesTo, focus, press, reads, textOf, type, until } from '../support/hands.mjs';
import { standInOrder } from '../support/reading-order.mjs';

const demo = useDemo();

/** @typedef {import('puppeteer-core').Page} Page */

/** The page of runs. @param {string} [query] @param {import('puppeteer-core').Viewport} [viewport] */
async function runsPage(query = '', viewport = { width: 1280, height: 900 }) {
  const page = await demo.page.browser().newPage();
  await page.setViewport(viewport);
  /** The warnings and errors in the page's console, its failed requests, and its exceptions. @type {string[]} */
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warn', 'issue'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText;
    // On a slow machine the page may give up a request for the list and send another one.
    if (why !== 'net::ERR_ABORTED' || !/\/api\/(runs|apps)$/.test(request.url())) complaints.push(`${request.url()}: ${why}`);
  });
  await page.goto(`${demo.gateway.url}/runs${query}`);
  await page.waitForSelector('#link[data-state=live]');
  return { page, complaints };
}

/** Starts a long call of the agent, and waits until it runs in the page. @param {string} callId */
async function longCall(callId) {
  /** @type {any} */
  let response;
  await new Promise((resolve) => {
    response = demo.agent.call('export.archive', { megabytes: 400 }, { callId, onProgress: resolve });
  });
  return { response, card: `.run[data-dialect-id="${callId}"]` };
}

const cancelledResponse = { success: false, cancelled: true };

/** @param {Promise<any>} response */
async function without(response) {
  const { metadata: _, ...answer } = await response;
  return answer;
}

test('a run is shown with its progress, and is cancelled by its button', { timeout: 60_000 }, async () => {
  const { page, complaints } = await runsPage();
  const { response, card } = await longCall('by-button');
  await page.waitForSelector(`${card}[data-state=running]`);
  await reads(page, card, /^export\.archive\s+Running\s+[\d.]+ m?s\s+Cancel\s+ABP · caphost-demo · by test · .* · by-button/);
  await page.waitForFunction((selector) => Number(document.querySelector(`${selector} [role=progressbar]`)?.getAttribute('aria-valuenow')) >= 1, {}, card);

  await click(page, `${card} .cancel`);
  await type(page, `${card} .cancel-form input`, 'The wrong <b>quarter</b>');
  await press(page, `${card} .cancel-form input`, 'Enter');
  assert.deepEqual(await without(response), cancelledResponse);
  await page.waitForSelector(`${card}[data-state=cancelled] .verdict[data-verdict=agree]`, { visible: true });
  await reads(page, `${card} .outcome`, /"cancelled": true[^]*Confirmed, and the run has ended as cancelled$/);
  await reads(page, card, /Cancelled [\d.]+ m?s after it was asked for: “The wrong <b>quarter<\/b>”/);
  await until(page, `${card} .cancel`, (it) => it.hidden);
  await reads(page, '#announcements', /^export\.archive: Confirmed/);
  await click(page, `${card} summary`);
  await page.waitForSelector(`${card} .facts dt`, { visible: true });
  await reads(page, `${card} .facts`, /Run\s+[0-9a-f-]{36}\s+Agent\s+anyone\s+App\s+caphost-demo\s+Dialect\s+ABP/);
  // A hidden page draws nothing.
  await demo.page.bringToFront();
  await demo.page.waitForSelector('.call[data-call-id="by-button"][data-state=cancelled]');
  assert.deepEqual(complaints, []);
  await page.close();
});

test('the connected apps and their tabs are shown, as they come and go', { timeout: 60_000 }, async () => {
  const { page, complaints } = await runsPage();
  await reads(page, '#connected-summary', /^Connected: 1 app, 1 tab$/);
  await click(page, '#connected-summary');
  await reads(page, '#connected-apps', /caphost-demo · version [\d.]+\s+caphost-demo#[\da-f]{8} “[^”]+” · \d+ agents? · since .* · new sessions go here$/);
  const second = await demo.open();
  await page.bringToFront();
  await reads(page, '#connected-summary', /^Connected: 1 app, 2 tabs$/);
  assert.equal(await page.$$eval('#connected-apps [data-latest]', ({ length }) => length), 1);
  await second.close();
  await reads(page, '#connected-summary', /^Connected: 1 app, 1 tab$/);
  await demo.page.bringToFront();
  assert.deepEqual(complaints, []);
  await page.close();
});

test('keys move between runs, open the field for a reason, and close it again', { timeout: 60_000 }, async () => {
  const { page } = await runsPage('?state=running');
  const first = await longCall('keys-1');
  const second = await longCall('keys-2');
  await page.waitForSelector(`${second.card} + ${first.card}`);
  await focus(page, second.card);
  await press(page, second.card, 'ArrowDown');
  await press(page, first.card, 'Delete');
  await press(page, `${first.card} .cancel-form input`, 'Escape');
  await page.waitForSelector(`${first.card} .cancel-form`, { hidden: true });
  // The focus has returned to the run.
  await press(page, first.card, 'Delete');
  await press(page, `${first.card} .cancel-form input`, 'Enter');
  assert.deepEqual(await without(first.response), cancelledResponse);
  // The run no longer matches the filter, but stays while the user reads its confirmation.
  await page.waitForSelector(`${first.card}[data-state=cancelled] .verdict[data-verdict=agree]`, { visible: true });
  await focus(page, second.card);
  await page.waitForSelector(first.card, { hidden: true });
  await press(page, second.card, 'Delete');
  await press(page, `${second.card} .cancel-form input`, 'Enter');
  assert.deepEqual(await without(second.response), cancelledResponse);
  await page.close();
});

test('the list is filtered by state, text, app and dialect, and the address says so', { timeout: 60_000 }, async () => {
  await demo.agent.call('convert.markdownToHtml', { markdown: 'x' }, { callId: 'filtered-done' });
  await demo.agent.call('convert.markdownToHtml', {}, { callId: 'filtered-failed' });
  const { page } = await runsPage();
  const shown = () => page.$$eval('.run', (runs) => runs.map((run) => /** @type {HTMLElement} */ (run).dataset.dialectId));
  await page.waitForSelector('.run[data-dialect-id="filtered-failed"]');
  await click(page, '.state[data-state=failed]');
  await comesTo(async () => (await shown()).includes('filtered-done'), false);
  assert.match(page.url(), /\?state=failed$/);
  await until(page, '.state[data-state=failed]', (it) => it.getAttribute('aria-pressed') === 'true');
  await click(page, '.state[data-state=completed]');
  await page.keyboard.press('/');
  await type(page, '#find', 'FILTERED done');
  await comesTo(shown, ['filtered-done']);
  await page.reload();
  // The filter is kept in the address.
  await comesTo(shown, ['filtered-done']);
  await page.select('#dialects', 'abp');
  await page.select('#apps', 'caphost-demo');
  await comesTo(shown, ['filtered-done']);
  assert.match(page.url(), /\?state=completed,failed&app=caphost-demo&dialect=abp&find=FILTERED\+done$/);
  await focus(page, '#find');
  await type(page, '#find', ' and more');
  await comesTo(shown, []);
  await reads(page, '#empty', /^None of \d+ runs is like that\.$/);
  await page.close();
});

test('it fits a narrow screen, and shows markup as text', { timeout: 60_000 }, async () => {
  const { page, complaints } = await runsPage('', { width: 360, height: 740 });
  const name = `<img src=x onerror="document.title='taken'">${'long'.repeat(30)}`;
  await demo.agent.call(name, {}, { callId: 'markup' });
  await page.waitForSelector('.run[data-dialect-id="markup"][data-state=failed]');
  await reads(page, '.run[data-dialect-id="markup"] h3', name);
  const { title, overflow } = await page.evaluate(() => ({ title: document.title, overflow: document.documentElement.scrollWidth - innerWidth }));
  assert.equal(title, 'Caphost runs');
  assert.ok(overflow <= 0, `${overflow} pixels too wide`);
  assert.deepEqual(complaints, []);
  await page.close();
});

test('of many runs the newest are shown, and more on request', { timeout: 60_000 }, async () => {
  await Promise.all(Array.from({ length: 150 }, (_, i) => demo.agent.call('not.there', {}, { callId: `many-${i}` })));
  const { page } = await runsPage('?find=many-');
  const shown = () => page.$$eval('.run', (runs) => runs.length);
  await page.waitForFunction(() => /^150 of \d+ runs, the first 100 shown\.$/.test(document.querySelector('#shown')?.textContent ?? ''));
  await comesTo(shown, 100);
  await click(page, '#more');
  await comesTo(shown, 150);
  await until(page, '#more', (it) => it.hidden);
  await comesTo(() => page.evaluate(() => [...document.querySelectorAll('.run')].indexOf(/** @type {Element} */ (document.activeElement))), 100);
  await page.close();
});

test("a direction mark in a name or a reason does not reorder the page's own words, here and in the demo", { timeout: 60_000 }, async () => {
  const { page } = await runsPage();
  const marked = await demo.connect('\u202Etnega\u2069\u202E');
  /** @type {any} */
  let response;
  await new Promise((resolve) => {
    response = marked.call('export.archive', { megabytes: 400 }, { callId: 'marked', onProgress: resolve });
  });
  const card = '.run[data-dialect-id="marked"]';
  await page.waitForSelector(card);
  // A hidden page draws nothing.
  await demo.page.bringToFront();
  const own = await demo.page.waitForSelector('::-p-xpath(//code[text()="marked"]/..)');
  const clock = String(await own?.evaluate((it) => it.querySelector('time')?.textContent));
  assert.deepEqual([await own?.evaluate(standInOrder, clock), await own?.evaluate(standInOrder, ' · ')], [true, true]);
  await page.bringToFront();
  const line = await page.waitForSelector(`${card} .run-origin`);
  const time = await line?.$('time');
  const begun = String(await time?.evaluate((it) => it.textContent)).slice(0, 8);
  assert.deepEqual([await time?.evaluate(standInOrder, begun), await line?.evaluate(standInOrder, 'by ')], [true, true]);
  assert.equal((await marked.cancel('marked', '\u202Ehguone "\u2069\u202E')).cancelled, true);
  await response;
  await page.waitForSelector(`${card}[data-state=cancelled]`);
  const whole = await page.$(card);
  assert.equal(await whole?.evaluate(standInOrder, 'after it was asked for: “'), true);
  await marked.shutdown();
  await page.close();
});

test('when the gateway goes away, the page says so and keeps showing the last list', { timeout: 60_000 }, async () => {
  const { card } = await longCall('left behind');
  const { page } = await runsPage();
  await page.waitForSelector(`${card}[data-state=running]`);
  await demo.gateway.stop('SIGKILL');
  await page.waitForSelector('#link[data-state=lost]');
  await reads(page, '#link', /^Gateway out of reach, trying again; this is from /);
  await until(page, '#runs', (it) => it.classList.contains('stale'));
  const age = await textOf(page, `${card} .run-time`);
  await click(page, `${card} .cancel`);
  await press(page, `${card} .cancel-form input`, 'Enter');
  await page.waitForSelector(`${card} .verdict[data-verdict=lost]`, { visible: true });
  await reads(page, `${card} .verdict`, 'The gateway did not answer: whether the run was cancelled is not known');
  assert.equal(await textOf(page, `${card} .run-time`), age, 'its clock stands still');
});
