import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { rustAppFolder } from '../support/rust-app.mjs';
import { serveFiles } from '../support/static-server.mjs';

/** @type {Awaited<ReturnType<typeof serveFiles>>} */
let server;
/** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
let browser;

before(async () => {
  server = await serveFiles({ folders: { '/rust-app-build/': rustAppFolder() } });
  browser = await launchPuppeteer();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/**
 * Opens a page of the app, whose uncaught errors do not fail the test.
 *
 * @param {import('node:test').TestContext} t
 */
async function appPage(t) {
  const page = await browser.newPage();
  t.after(() => page.close());
  await page.goto(server.url('/rust-app/'));
  await page.waitForSelector('html[data-ready]');
  await page.evaluate(async () => {
    addEventListener('error', (event) => event.preventDefault());
    /** @type {any} */ (window).said = [];
    console.error = (...what) => {
      /** @type {any} */ (window).said.push(what.map((it) => it.message ?? it).join(' '));
      throw new Error('the console of this page throws');
    };
    await /** @type {any} */ (window).abp.initialize({ agent: { name: 't', version: '1' }, protocolVersion: '0.1', features: {} });
  });
  return page;
}

for (const way of ['task', 'closure', 'timer']) {
  for (const hook of ['no hook of the app\'s', 'a hook that the app sets after its host was made']) {
    test(`a panic in a ${way} of the app's own settles every call with its message, with ${hook}`, { timeout: 30_000 }, async (t) => {
      const page = await appPage(t);
      const seen = await page.evaluate(async (way, sets) => {
        const { abp, host, said, seen: recorded, setPanicHook, createApp } = /** @type {any} */ (window);
        if (sets) setPanicHook();
        // Another host of the same module.
        const other = createApp();
        const target = /** @type {any} */ ({});
        other.expose(target);
        await target.abp.initialize({ agent: { name: 't', version: '1' }, protocolVersion: '0.1', features: {} });
        const held = [abp.call('rust.hold', {}, { callId: 'held' }), target.abp.call('rust.hold')];
        const led = await abp.call('rust.lead', { way });
        const all = [led, ...(await Promise.all(held)), await abp.call('rust.hold')];
        const cancel = await abp.cancel('held');
        await new Promise((resolve) => setTimeout(resolve, 20));
        let entered = 0;
        for (const shell of [host.shell, other.shell]) {
          for (const name of Object.getOwnPropertyNames(shell.handle)) {
            const method = shell.handle[name];
            if (typeof method === 'function') shell.handle[name] = (/** @type {any[]} */ ...given) => ((entered += 1), method(...given));
          }
        }
        await Promise.all([abp.call('rust.hold'), target.abp.call('rust.hold'), abp.cancel('held')]);
        host.close();
        return { errors: [...all, cancel].map((it) => it.error), said, entered, hooked: recorded.filter((/** @type {any} */ [what]) => what === 'hook').length };
      }, way, hook.startsWith('a '));
      const message = `the app's own ${way} has panicked`;
      for (const error of seen.errors) assert.deepEqual([error?.code, error?.message], ['INTERNAL_ERROR', `The host has failed and cannot go on: ${message}`]);
      assert.equal(seen.entered, 0);
      assert.equal(seen.said.length, 1);
      assert.match(seen.said[0], new RegExp(`^caphost: the wasm instance is lost, .* ${message} \\(tests/rust-app/src/panics\\.rs:\\d+:\\d+\\)$`));
      if (hook.startsWith('a ')) assert.equal(seen.hooked, 1);
    });
  }
}

test('a panic of the module ends the sessions of its agents, and says why', { timeout: 30_000 }, async (t) => {
  const page = await appPage(t);
  const seen = await page.evaluate(async () => {
    const { abp, agentHold, panicIn, seen: recorded } = /** @type {any} */ (window);
    const path = '/rust-app-build/caphost_test_app.js?another';
    // Another instance of the same module, whose host is not lost.
    const another = await import(path);
    await another.default({ module_or_path: '/rust-app-build/caphost_test_app_bg.wasm' });
    const host = another.createApp();
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    const held = agentHold(port2).catch((/** @type {any} */ error) => error.message);
    while (!recorded.some((/** @type {any} */ [what]) => what === 'started')) await new Promise((resolve) => setTimeout(resolve, 5));
    const own = abp.call('rust.hold');
    panicIn('task');
    const response = await own;
    while (host.stats().inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return { own: response.error.code, held: await held, sessions: host.stats().sessions };
  });
  assert.deepEqual(seen, { own: 'INTERNAL_ERROR', held: 'INTERNAL_ERROR: The agent has failed and cannot go on: the app\'s own task has panicked', sessions: 0 });
});

test('thousands of calls that an agent in Rust makes in one turn are all answered', { timeout: 60_000 }, async (t) => {
  const page = await appPage(t);
  const answered = await page.evaluate(async () => {
    const { host, agentBurst } = /** @type {any} */ (window);
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    return agentBurst(port2, 5_000);
  });
  assert.equal(answered, 5_000);
});
