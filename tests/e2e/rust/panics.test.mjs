import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launchFirefox, launchPuppeteer } from '../support/browsers.mjs';
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
 * @param {typeof browser} [of]
 */
async function appPage(t, of = browser) {
  const page = await of.newPage();
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

for (const hook of ['handler', 'failing code']) {
  test(`a panic in a task of the app's own settles every call, even if the ${hook} has replaced the panic hook just before`, { timeout: 30_000 }, async (t) => {
    const page = await appPage(t);
    const seen = await page.evaluate(async (hook) => {
      const { abp, seen: recorded } = /** @type {any} */ (window);
      const held = abp.call('rust.hold');
      const all = [await abp.call('rust.lead', { way: 'task', hook }), await held, await abp.call('rust.hold')];
      return { errors: all.map(({ error }) => [error?.code, error?.message]), hooked: recorded.filter((/** @type {any} */ [what]) => what === 'hook').length };
    }, hook);
    // The message of a panic is only known to a panic hook.
    const message = hook === 'handler' ? "the app's own task has panicked" : 'unreachable';
    for (const [code, text] of seen.errors) {
      assert.equal(code, 'INTERNAL_ERROR');
      assert.match(text, new RegExp(`^The host has failed and cannot go on: .*${message}`));
    }
    assert.equal(seen.hooked, 1);
  });
}

for (const [name, launch] of /** @type {const} */ ([['Chromium', launchPuppeteer], ['Firefox', launchFirefox]])) {
  test(`${name}: a trap in code of the app's own settles every call, and the module is not entered again`, { timeout: 120_000 }, async (t) => {
    const own = await launch();
    if (!own) return t.skip('no Firefox is installed');
    t.after(() => own.close());
    for (const trap of ['an exhausted stack', 'an access out of bounds', 'unreachable code']) {
      for (const way of ['task', 'closure', 'timer']) {
        await t.test(`${trap}, in a ${way}`, async (t) => {
          const page = await appPage(t, own);
          const seen = await page.evaluate(async (given) => {
            const { abp, host } = /** @type {any} */ (window);
            const held = abp.call('rust.hold', {}, { callId: 'held' });
            const answers = [await abp.call('rust.lead', given), await held];
            let entered = 0;
            for (const name of Object.getOwnPropertyNames(host.shell.handle)) {
              const method = host.shell.handle[name];
              if (typeof method === 'function') host.shell.handle[name] = (/** @type {any[]} */ ...args) => ((entered += 1), method(...args));
            }
            answers.push(await abp.call('rust.hold'), await abp.cancel('held'));
            return { codes: answers.map(({ error }) => error?.code), entered };
          }, { way, trap });
          assert.deepEqual(seen, { codes: Array(4).fill('INTERNAL_ERROR'), entered: 0 });
        });
      }
    }
  });
}

test('uncaught errors of the page and of other modules do not end the host', { timeout: 30_000 }, async (t) => {
  const page = await appPage(t);
  const data = await page.evaluate(async () => {
    const { abp } = /** @type {any} */ (window);
    // (module (func (export "f") unreachable))
    const bytes = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 5, 1, 3, 0, 0, 11]);
    const { instance } = await WebAssembly.instantiate(bytes);
    queueMicrotask(/** @type {any} */ (instance.exports).f);
    void Promise.resolve().then(/** @type {any} */ (instance.exports).f);
    const deep = () => void deep();
    setTimeout(deep);
    queueMicrotask(() => {
      throw new WebAssembly.RuntimeError('made by the page');
    });
    void Promise.reject(new RangeError('Invalid array length'));
    void Promise.reject();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return (await abp.call('rust.loop', { rounds: 0 })).success;
  });
  assert.equal(data, true);
});

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
