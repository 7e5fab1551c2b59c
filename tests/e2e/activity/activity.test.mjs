/** `<cap-activity>` as a user sees it, with a Content-Security-Policy that forbids inline styles. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { click, comesTo, focus, look, until } from '../support/hands.mjs';
import { standInOrder } from '../support/reading-order.mjs';
import { serveFiles } from '../support/static-server.mjs';

const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; img-src data:; require-trusted-types-for 'script'";

/** @typedef {{ host: any, agent: any, activityOf: any, ends: Map<string, (how?: any) => void>, answers: Record<string, any> }} Fixture */

/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;
/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;

before(async () => {
  [server, browser] = await Promise.all([serveFiles({ headers: { 'content-security-policy': policy } }), launchPuppeteer()]);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** @param {import('node:test').TestContext} t */
async function opened(t) {
  const page = await browser.newPage();
  t.after(() => page.close());
  /** @type {string[]} */
  const complaints = [];
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(server.url('/activity/'));
  await page.waitForSelector('html[data-ready]');
  /** @param {string} id @param {string} capability @param {object} [params] */
  const call = (id, capability = 'work', params = {}) => page.evaluate((callId, name, given) => {
    const { agent, answers } = /** @type {{ activity: Fixture }} */ (/** @type {any} */ (window)).activity;
    void agent.call(name, given, { callId, onProgress() {} }).then((/** @type {any} */ answer) => (answers[callId] = answer));
  }, id, capability, params);
  /** @param {string} id @param {string} [error] */
  const end = (id, error) => page.evaluate((callId, message) => /** @type {any} */ (window).activity.ends.get(callId)(message && new Error(message)), id, error);
  /** @param {string} id */
  const answer = (id) => page.waitForFunction((callId) => /** @type {any} */ (window).activity.answers[callId], {}, id).then((it) => it.jsonValue());
  /** The text that a user reads, line by line. */
  const lines = () => page.evaluate(() => {
    const root = /** @type {any} */ (document.querySelector('cap-activity')).shadowRoot;
    return [...root.querySelectorAll('.none, .call, .more')].filter((/** @type {any} */ it) => !it.hidden)
      .map((/** @type {any} */ it) => [...it.querySelectorAll('.head, .state')].map((part) => part.textContent.trim()).join(' | ') || it.textContent.trim());
  });
  /** @param {string[]} wanted */
  const shows = async (...wanted) => {
    for (let left = 200; left > 0 && JSON.stringify(await lines()) !== JSON.stringify(wanted); left -= 1) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(await lines(), wanted);
  };
  return { page, complaints, call, end, answer, lines, shows };
}

/** A selector by role and name, as a screen reader finds the element. @param {string} role @param {string} name */
const byRole = (role, name) => `::-p-aria([name="${name}"][role="${role}"])`;

test('a call is shown with its progress, and how it has ended', { timeout: 60_000 }, async (t) => {
  const { page, call, end, shows, complaints } = await opened(t);
  await shows('No agent is working.');
  await call('first', 'work', { stage: 'Reading' });
  await shows('work for tester | Working · Reading');
  await until(page, byRole('progressbar', 'Progress of work'), (it) => it.value === 25);
  await call('second');
  await shows('work for tester | Working', 'work for tester | Working · Reading');
  await end('first');
  await end('second', 'The disk is full');
  await shows('work for tester | Failed: The disk is full', 'work for tester | Done');
  assert.deepEqual(complaints.filter((it) => !it.includes('The disk is full')), []);
});

test('a host that was not awaited is refused each time the element gets it, and the element keeps its previous host', { timeout: 60_000 }, async (t) => {
  const { page, call, shows, complaints } = await opened(t);
  const said = await page.evaluate(async () => {
    const shown = /** @type {any} */ (document.querySelector('cap-activity'));
    const { createHost } = await import(/** @type {any} */ ('/caphost/index.js'));
    const promise = createHost({ app: { id: 'late', name: 'Late', version: '1.0.0' } });
    const before = shown.host;
    const said = [];
    for (const host of [promise, promise, {}, await promise.then(() => promise, null)]) {
      try {
        shown.host = host;
        said.push(shown.host === host);
      } catch (/** @type {any} */ error) {
        said.push(`${error.name}: ${error.message}`, shown.host === before);
      }
    }
    shown.host = before;
    return said;
  });
  const refused = ['TypeError: This is no host. A host is what createHost() gives once it is awaited', true];
  assert.deepEqual(said, [...refused, ...refused, ...refused, true]);
  await call('first');
  await shows('work for tester | Working');
  assert.deepEqual(complaints, []);
});

test('its button stops a call, and the text says how the call ended', { timeout: 60_000 }, async (t) => {
  const { page, call, end, answer, shows } = await opened(t);
  await call('mine');
  await click(page, byRole('button', 'Stop work'));
  const { cancelled, metadata } = await answer('mine');
  assert.deepEqual([cancelled, metadata.stop], [true, 'returned']);
  await shows('work for tester | Stopped: the work has ended.');

  await call('second', 'deaf');
  await click(page, byRole('button', 'Stop deaf'));
  assert.equal((await answer('second')).metadata.stop, 'abandoned');
  await shows('deaf for tester | Told to stop. The work was not seen to end, and may go on.', 'work for tester | Stopped: the work has ended.');
  await end('second');
  await shows('deaf for tester | Told to stop. The work has ended since.', 'work for tester | Stopped: the work has ended.');
});

test('a call that is asked to stop, by a person or by its agent, says so until its end is known', { timeout: 60_000 }, async (t) => {
  const { page, call, end, answer, shows } = await opened(t);
  const disabled = () => look(page, byRole('button', 'Stop slow'), (it) => it.getAttribute('aria-disabled'));
  await call('mine', 'slow');
  await click(page, byRole('button', 'Stop slow'));
  await shows('slow for tester | Stopping…');
  assert.equal(await disabled(), 'true');
  await end('mine');
  assert.equal((await answer('mine')).cancelled, true);
  await shows('slow for tester | Stopped: the work has ended.');

  await call('second', 'slow');
  await page.waitForSelector(byRole('button', 'Stop slow'));
  await page.evaluate(() => void /** @type {any} */ (window).activity.agent.cancel('second'));
  await shows('slow for tester | Stopping…', 'slow for tester | Stopped: the work has ended.');
  assert.equal(await disabled(), 'true');
  await end('second');
  await shows(...Array(2).fill('slow for tester | Stopped: the work has ended.'));
});

test('a card keeps its size and place from its beginning to its end', { timeout: 60_000 }, async (t) => {
  for (const width of [380, 1280]) {
    const { page, call, end, answer } = await opened(t);
    await page.setViewport({ width, height: 800 });
    await call('below', 'work', { stage: 'Reading' });
    await call('deaf', 'deaf');
    await call('above', 'slow');
    await page.waitForFunction(() => document.querySelector('cap-activity')?.shadowRoot?.querySelectorAll('.call .stop').length === 3);
    const places = () => page.evaluate(() => [.../** @type {any} */ (document.querySelector('cap-activity')).shadowRoot.querySelectorAll('.call')].map((it) => {
      const { top, height } = it.getBoundingClientRect();
      return [Math.round(top), Math.round(height)];
    }));
    await end('below');
    await answer('below');
    const one = await places();
    await page.evaluate(() => /** @type {any} */ (window).activity.agent.cancel('deaf'));
    await page.waitForFunction(() => document.querySelector('cap-activity')?.shadowRoot?.textContent?.includes('may go on'));
    assert.deepEqual(await places(), one);
    await end('above');
    await page.waitForFunction(() => document.querySelector('cap-activity')?.shadowRoot?.querySelectorAll('.over').length === 3);
    assert.deepEqual((await places()).map(([, height]) => height), one.map(([, height]) => height));
  }
});

test('each state has a sign of its own', { timeout: 60_000 }, async (t) => {
  const { page, call, end, answer } = await opened(t);
  await page.evaluate(() => document.querySelector('cap-activity')?.setAttribute('keep', '9'));
  for (const [id, name] of [['done', 'work'], ['failed', 'work'], ['stopped', 'work'], ['unsure', 'deaf'], ['stopping', 'slow'], ['running', 'work']]) await call(id ?? '', name);
  await page.waitForFunction(() => document.querySelector('cap-activity')?.shadowRoot?.querySelectorAll('.call').length === 6);
  await end('done');
  await end('failed', 'The disk is full');
  for (const id of ['stopped', 'unsure']) {
    await page.evaluate((callId) => void /** @type {any} */ (window).activity.agent.cancel(callId), id);
    await answer(id);
  }
  await page.evaluate(() => void /** @type {any} */ (window).activity.agent.cancel('stopping'));
  await page.waitForFunction(() => document.querySelector('cap-activity')?.shadowRoot?.querySelectorAll('.over').length === 4 && document.querySelector('cap-activity')?.shadowRoot?.querySelector('.cancelling'));
  const seen = await page.evaluate(() => [.../** @type {any} */ (document.querySelector('cap-activity')).shadowRoot.querySelectorAll('.call')].map((it) => ({
    shape: it.querySelector('path')?.getAttribute('d'),
    color: getComputedStyle(/** @type {Element} */ (it.querySelector('.state'))).color,
  })));
  assert.equal(new Set(seen.map(({ shape }) => shape)).size, 6);
  // The signs of "stopping" and "stopped" have the same colour.
  assert.equal(new Set(seen.map(({ color }) => color)).size, 5);
});

test('the handler learns who has stopped it', { timeout: 60_000 }, async (t) => {
  const { page, call, answer } = await opened(t);
  await page.evaluate(() => {
    const { host, answers } = /** @type {{ activity: Fixture }} */ (/** @type {any} */ (window)).activity;
    host.register('why', {}, (/** @type {any} */ _, /** @type {any} */ { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => {
      answers.reason = signal.reason.message;
      reject(signal.reason);
    })));
  });
  await call('mine', 'why');
  await click(page, byRole('button', 'Stop why'));
  await answer('mine');
  assert.equal(await answer('reason'), 'Stopped by the user');
});

test('the keyboard alone stops a call, and stays where it was', { timeout: 60_000 }, async (t) => {
  const { page, call, answer, shows } = await opened(t);
  await call('below');
  await call('mine');
  await shows('work for tester | Working', 'work for tester | Working');
  const focused = () => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.className);
  await page.waitForSelector(byRole('button', 'Stop all'));
  const order = [];
  for (let n = 0; n < 3; n += 1) {
    await page.keyboard.press('Tab');
    order.push(await focused());
  }
  assert.deepEqual(order, ['stop-all', 'stop', 'stop']);
  await page.keyboard.press('Enter');
  assert.equal((await answer('below')).cancelled, true);
  await shows('work for tester | Working', 'work for tester | Stopped: the work has ended.');
  await comesTo(focused, 'state');
  await page.keyboard.down('Shift');
  await page.keyboard.press('Tab');
  await page.keyboard.up('Shift');
  await comesTo(focused, 'stop');
  await page.keyboard.press('Space');
  assert.equal((await answer('mine')).cancelled, true);
});

test('"Stop all" stops all calls, and passes the focus on when it disappears', { timeout: 60_000 }, async (t) => {
  const { page, call, answer } = await opened(t);
  for (const id of ['a', 'b', 'c']) await call(id);
  await focus(page, byRole('button', 'Stop all'));
  await page.keyboard.press('Enter');
  for (const id of ['a', 'b', 'c']) assert.equal((await answer(id)).cancelled, true);
  await page.waitForFunction(() => document.activeElement?.shadowRoot?.activeElement?.className === 'activity');
});

test('a live region tells what happens, and a rush of calls as a number', { timeout: 60_000 }, async (t) => {
  const { page, call, end } = await opened(t);
  const says = (/** @type {RegExp} */ text) => page.waitForFunction((source) => {
    const said = document.querySelector('cap-activity')?.shadowRoot?.querySelector('[role=status]')?.textContent;
    return new RegExp(source).test(said ?? '');
  }, {}, text.source);
  await call('one');
  await says(/^work: Working\.$/);
  await end('one');
  await says(/^work: Done\.$/);
  await page.evaluate(() => {
    const { agent } = /** @type {{ activity: Fixture }} */ (/** @type {any} */ (window)).activity;
    for (let n = 0; n < 30; n += 1) void agent.call('work', {}, { callId: `rush ${n}` });
  });
  await says(/^work: Working\. work: Working\. work: Working\. 27 more\.$/);
});

test('of many calls some are shown; `keep` limits the ended calls, and child calls are hidden', { timeout: 60_000 }, async (t) => {
  const { page, call, lines, shows } = await opened(t);
  await call('parent', 'parent');
  await shows('parent for tester | Working');
  await page.evaluate(() => {
    const { agent } = /** @type {{ activity: Fixture }} */ (/** @type {any} */ (window)).activity;
    for (let n = 0; n < 30; n += 1) void agent.call('work', {}, { callId: `many ${n}` });
  });
  await page.waitForFunction(() => document.querySelector('cap-activity')?.shadowRoot?.querySelectorAll('.call').length === 20);
  assert.equal((await lines()).at(-1), '11 more');
  await click(page, byRole('button', 'Stop all'));
  await shows(...Array(3).fill('work for tester | Stopped: the work has ended.'));
  await page.evaluate(() => document.querySelector('cap-activity')?.setAttribute('keep', '1'));
  await shows('work for tester | Stopped: the work has ended.');
  await page.evaluate(() => document.querySelector('cap-activity')?.setAttribute('keep', '0'));
  await shows('No agent is working.');
});

test('no card leaves while the pointer is on the list, and surplus cards leave when the pointer does', { timeout: 60_000 }, async (t) => {
  const { page, call, end, shows } = await opened(t);
  await page.evaluate(() => document.querySelector('cap-activity')?.setAttribute('keep', '1'));
  await call('oldest', 'work', { stage: 'Reading' });
  await call('older');
  await call('newer');
  await shows('work for tester | Working', 'work for tester | Working', 'work for tester | Working · Reading');
  await end('older');
  await shows('work for tester | Working', 'work for tester | Done', 'work for tester | Working · Reading');
  const stop = await page.waitForSelector('cap-activity >>> .call:last-child .stop');
  const place = async () => (await stop?.boundingBox())?.y;
  const before = await place();
  await stop?.hover();
  await end('newer');
  await shows('work for tester | Done', 'work for tester | Done', 'work for tester | Working · Reading');
  assert.equal(await place(), before);
  await page.mouse.move(0, 0);
  await shows('work for tester | Done', 'work for tester | Working · Reading');
});

test('it takes the colours and the words that the app gives it', { timeout: 60_000 }, async (t) => {
  const { page, call, shows } = await opened(t);
  await page.evaluate(() => {
    const shown = /** @type {any} */ (document.querySelector('cap-activity'));
    shown.classList.add('themed');
    shown.texts = { running: 'Arbeitet', stop: 'Anhalten', by: (/** @type {string} */ agent) => `für ${agent}`, cancelled: { returned: 'Angehalten.' } };
  });
  await call('mine');
  await shows('work für tester | Arbeitet');
  const stop = byRole('button', 'Anhalten work');
  assert.deepEqual(await look(page, stop, (it) => [getComputedStyle(it).color, getComputedStyle(it.parentElement ?? it).borderRadius]), ['rgb(0, 0, 255)', '3px']);
  assert.equal(await page.evaluate(() => getComputedStyle(/** @type {any} */ (document.querySelector('cap-activity')?.shadowRoot?.querySelector('.name'))).textTransform), 'uppercase');
  await click(page, stop);
  await shows('work für tester | Angehalten.');
});

test('an element that comes later, moves or changes its host shows the same calls', { timeout: 60_000 }, async (t) => {
  const { page, call, shows, end } = await opened(t);
  await call('mine');
  await shows('work for tester | Working');
  await page.evaluate(() => {
    const { host } = /** @type {{ activity: Fixture }} */ (/** @type {any} */ (window)).activity;
    document.querySelector('cap-activity')?.remove();
    const later = document.createElement('cap-activity');
    document.body.append(later);
    /** @type {any} */ (later).host = host;
    document.body.prepend(later);
  });
  await shows('work for tester | Working');
  await end('mine');
  await shows('work for tester | Done');
  await page.evaluate(() => void (/** @type {any} */ (document.querySelector('cap-activity')).host = undefined));
  await shows('No agent is working.');
});

test('host.cancel finds the session, or uses the named session', { timeout: 60_000 }, async (t) => {
  const { page, call, answer } = await opened(t);
  await call('mine');
  const cancelled = await page.evaluate(async () => {
    const { host, activityOf } = /** @type {{ activity: Fixture }} */ (/** @type {any} */ (window)).activity;
    while (activityOf(host).calls().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const [{ sessionId }] = activityOf(host).calls();
    return [
      await host.cancel('nobody'),
      await host.cancel('mine', { by: 'user' }),
      await host.cancel('mine', { sessionId }),
      (await host.cancel('mine', { sessionId: 'no session' })).error.code,
    ];
  });
  const confirmed = { callId: 'mine', cancelled: true, metadata: { stop: 'returned' } };
  assert.deepEqual(cancelled, [{ callId: 'nobody', cancelled: false, reason: 'Operation not found' }, confirmed, confirmed, 'SESSION_INVALID']);
  assert.equal((await answer('mine')).cancelled, true);
});

test("a direction mark in a name, a stage or an error does not reorder the page's own words", { timeout: 60_000 }, async (t) => {
  const { page, call, end } = await opened(t);
  await page.evaluate(() => {
    const { host, ends } = /** @type {{ activity: Fixture }} */ (/** @type {any} */ (window)).activity;
    host.register('\u202Edaolnwod\u2069\u202E', {}, (/** @type {any} */ _, /** @type {any} */ { callId, progress }) => new Promise((resolve, reject) => {
      progress({ progress: 1, stage: '\u202Ednoces', status: 'first' });
      ends.set(callId, (/** @type {any} */ error) => (error ? reject(error) : resolve(1)));
    }));
  });
  await call('marked', '\u202Edaolnwod\u2069\u202E');
  const row = await page.waitForSelector('cap-activity >>> .call');
  const order = (/** @type {string} */ words) => row?.evaluate(standInOrder, words);
  await page.waitForFunction(() => /** @type {any} */ (document.querySelector('cap-activity')).shadowRoot.querySelector('.state').textContent.includes('first'));
  assert.deepEqual([await order('for tester'), await order(' · first'), await order('Stop')], [true, true, true]);
  await end('marked', '\u202Erorre na');
  await page.waitForFunction(() => /** @type {any} */ (document.querySelector('cap-activity')).shadowRoot.querySelector('.state').textContent.startsWith('Failed'));
  assert.deepEqual([await order('Failed: '), await order('for tester')], [true, true]);
});
