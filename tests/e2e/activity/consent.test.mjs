/** `<cap-activity>` asks a person whether a call may start, as a user sees and answers it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { click } from '../support/hands.mjs';
import { serveFiles } from '../support/static-server.mjs';

/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;
/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;

before(async () => {
  const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; img-src data:; require-trusted-types-for 'script'";
  [server, browser] = await Promise.all([serveFiles({ headers: { 'content-security-policy': policy } }), launchPuppeteer()]);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** A selector by role and name, as a screen reader finds the element. @param {string} role @param {string} name */
const byRole = (role, name) => `::-p-aria([name="${name}"][role="${role}"])`;
const ALLOW = byRole('button', 'Allow Delete notes');
const DENY = byRole('button', 'Deny Delete notes');

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
  /** @param {string} id @param {object} [params] @param {string} [capability] */
  const call = (id, params = {}, capability = 'clear') => page.evaluate((callId, given, name) => {
    const { agent, answers } = /** @type {any} */ (window).activity;
    void agent.call(name, given, { callId }).then((/** @type {any} */ answer) => (answers[callId] = answer));
  }, id, params, capability);
  const answer = (/** @type {string} */ id) => page.waitForFunction((callId) => /** @type {any} */ (window).activity.answers[callId], {}, id).then((it) => it.jsonValue());
  const began = () => page.evaluate(() => /** @type {any} */ (window).activity.began);
  /** The text of the cards that is shown, and of the parameters. */
  const cards = () => page.evaluate(() => {
    const root = /** @type {any} */ (document.querySelector('cap-activity')).shadowRoot;
    const texts = (/** @type {any} */ it, /** @type {string} */ of) => [...it.querySelectorAll(of)].filter((part) => part.checkVisibility({ visibilityProperty: true })).map((part) => part.textContent);
    return [...root.querySelectorAll('.call')].map((it) => [...texts(it, '.state'), ...texts(it, 'dt, dd'), ...texts(it, 'button')]);
  });
  /** @param {string[][]} wanted */
  const shows = async (...wanted) => {
    for (let left = 200; left > 0 && JSON.stringify(await cards()) !== JSON.stringify(wanted); left -= 1) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(await cards(), wanted);
  };
  const isReady = () => page.waitForSelector(`pierce/.allow[aria-disabled="false"]`);
  return { page, complaints, call, answer, began, cards, shows, isReady };
}

const ASKS = 'Asks for your permission · may delete or overwrite';

test('Allow starts the call, and Deny ends it', { timeout: 60_000 }, async (t) => {
  const { page, complaints, call, answer, began, shows, isReady } = await opened(t);
  await call('one', { folder: 'Drafts', older: { than: 7 }, text: 'a\n"b"' });
  await shows([ASKS, 'folder', '"Drafts"', 'older', '{"than":7}', 'text', '"a\\n\\"b\\""', 'Deny', 'Allow']);
  assert.deepEqual(await began(), []);
  await isReady();
  await click(page, ALLOW);
  await shows(['Working · may delete or overwrite', 'Stop']);
  assert.deepEqual(await began(), ['one']);
  await page.evaluate(() => /** @type {any} */ (window).activity.ends.get('one')());
  assert.equal((/** @type {any} */ (await answer('one'))).data, 'one');
  await call('two');
  await shows([ASKS, 'Deny', 'Allow'], ['Done']);
  await click(page, DENY);
  const { success, error } = /** @type {any} */ (await answer('two'));
  assert.deepEqual([success, error.code, error.retryable], [false, 'PERMISSION_DENIED', false]);
  await shows(['Failed: A person has denied the call'], ['Done']);
  assert.deepEqual([await began(), complaints], [['one'], []]);
});

test('a click at once allows nothing: it was meant for what stood there before', { timeout: 60_000 }, async (t) => {
  const { page, call, began, shows, isReady } = await opened(t);
  await call('one');
  await shows([ASKS, 'Deny', 'Allow']);
  const isDisabled = await page.evaluate(() => new Promise((resolve) => {
    // The next question comes under the pointer, and is clicked in its first frame.
    const { agent } = /** @type {any} */ (window).activity;
    const { shadowRoot } = /** @type {any} */ (document.querySelector('cap-activity'));
    void agent.call('clear', {}, { callId: 'two' });
    const look = () => {
      const buttons = shadowRoot.querySelectorAll('.answers:not([hidden]) .allow');
      if (buttons.length < 2) return requestAnimationFrame(look);
      buttons[0].click();
      return resolve(buttons[0].ariaDisabled);
    };
    look();
  }));
  assert.equal(isDisabled, 'true');
  await shows([ASKS, 'Deny', 'Allow'], [ASKS, 'Deny', 'Allow']);
  assert.deepEqual(await began(), []);
  await isReady();
  await page.evaluate(() => /** @type {any} */ (document.querySelector('cap-activity')).shadowRoot.querySelectorAll('.allow')[1].click());
  await page.waitForFunction(() => /** @type {any} */ (window).activity.began.length === 1);
});

test('a cancel by the agent takes the question away, with the strongest grade', { timeout: 60_000 }, async (t) => {
  const { page, call, answer, began, shows } = await opened(t);
  await call('one', { folder: 'Drafts' });
  await shows([ASKS, 'folder', '"Drafts"', 'Deny', 'Allow']);
  const confirmed = await page.evaluate(() => /** @type {any} */ (window).activity.agent.cancel('one', 'enough'));
  assert.deepEqual([confirmed.cancelled, confirmed.metadata.stop], [true, 'never-started']);
  assert.deepEqual((/** @type {any} */ (await answer('one'))).metadata.stop, 'never-started');
  await shows(['Stopped before it began.']);
  assert.deepEqual(await began(), []);
});

test('texts of the agent stay texts, in their place and of the size that they have', { timeout: 60_000 }, async (t) => {
  const { page, call, shows, cards } = await opened(t);
  await call('one', { '<b>bold</b>': '<img src=x onerror="document.title=1">', 'a\u202eb': 'gpj.exe\u202e\u2066' });
  await shows([ASKS, '<b>bold</b>', '"<img src=x onerror=\\"document.title=1\\">"', 'a\\u{202e}b', '"gpj.exe\\u{202e}\\u{2066}"', 'Deny', 'Allow']);
  assert.equal(await page.title(), 'An app that shows what agents do');
  await page.evaluate(() => /** @type {any} */ (window).activity.agent.cancel('one'));
  await call('many', { ...Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`p${at}`, at])), p0: 'x'.repeat(2_000) });
  // The element draws in the next frame, and until then shows the call before.
  await page.waitForFunction(() => /** @type {any} */ (document.querySelector('cap-activity')).shadowRoot
    .querySelector('.params:not([hidden])')?.textContent.endsWith(' more'));
  const texts = (await cards())[0]?.slice(1, -2) ?? [];
  assert.deepEqual([texts.length, texts.slice(-2)], [102, ['…', '10 more']]);
  assert.match(texts[1] ?? '', /^"x{499}… \(1502 more characters\)$/);
  const { height, scrolls, answers } = await page.evaluate(() => {
    const root = /** @type {any} */ (document.querySelector('cap-activity')).shadowRoot;
    const box = root.querySelector('.params:not([hidden])');
    return { height: box.clientHeight, scrolls: box.scrollHeight > box.clientHeight, answers: root.querySelector('.answers:not([hidden])').getBoundingClientRect().bottom };
  });
  assert.ok(height < 300 && scrolls && answers < 600, `${height} ${answers}`);
});

test('a call that a handler makes is shown while it asks', { timeout: 60_000 }, async (t) => {
  const { page, call, answer, shows } = await opened(t);
  await call('tidied', {}, 'tidy');
  await shows([ASKS, 'folder', '"old"', 'Deny', 'Allow'], ['Working', 'Stop']);
  await click(page, DENY);
  assert.equal((/** @type {any} */ (await answer('tidied'))).data.error.code, 'PERMISSION_DENIED');
  await shows(['Done']);
});

test('the keyboard answers, and the focus stays with the call', { timeout: 60_000 }, async (t) => {
  const { page, call, began, isReady } = await opened(t);
  await call('one', { folder: 'Drafts' });
  await isReady();
  const focused = () => page.evaluate(() => /** @type {any} */ (document.querySelector('cap-activity')).shadowRoot.activeElement?.className);
  for (const wanted of ['params', 'deny', 'allow']) {
    await page.keyboard.press('Tab');
    assert.equal(await focused(), wanted);
  }
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /** @type {any} */ (window).activity.began.length === 1);
  await page.waitForFunction(() => /** @type {any} */ (document.querySelector('cap-activity')).shadowRoot.activeElement?.className === 'state');
  assert.deepEqual(await began(), ['one']);
});

test('an element that is moved still asks, and one that is removed leaves nobody to ask', { timeout: 60_000 }, async (t) => {
  const { page, call, answer, shows, isReady } = await opened(t);
  await call('one');
  await isReady();
  await page.evaluate(() => document.body.prepend(/** @type {any} */ (document.querySelector('cap-activity'))));
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
  await shows([ASKS, 'Deny', 'Allow']);
  await page.evaluate(() => document.querySelector('cap-activity')?.remove());
  assert.equal((/** @type {any} */ (await answer('one'))).error.code, 'PERMISSION_REQUIRED');
  await call('two');
  assert.equal((/** @type {any} */ (await answer('two'))).error.code, 'PERMISSION_REQUIRED');
});

test('a screen reader hears the question, and the words can be replaced', { timeout: 60_000 }, async (t) => {
  const { page, call, shows } = await opened(t);
  await page.evaluate(() => Object.assign(/** @type {any} */ (document.querySelector('cap-activity')), { texts: { asks: 'Darf es beginnen?', allow: 'Erlauben', deny: 'Ablehnen' } }));
  await call('one');
  await shows(['Darf es beginnen? · may delete or overwrite', 'Ablehnen', 'Erlauben']);
  await page.waitForFunction(() => /** @type {any} */ (document.querySelector('cap-activity')).shadowRoot.querySelector('.said').textContent === 'Delete notes: Darf es beginnen?.');
});
