import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attach } from 'caphost/automation';
import { automationClients } from '../support/browsers.mjs';
import { rustAppFolder } from '../support/rust-app.mjs';
import { serveFiles } from '../support/static-server.mjs';
import { confirmed } from './pages.mjs';

/** Milliseconds that a page has to answer a cancel. */
const AFTER = 100;
/** Extra milliseconds for a busy machine. On an idle machine, less than 100 ms are needed. */
const SLACK = Number(process.env.CAPHOST_SLACK_MS ?? 3000);

/** How often a test runs that fails only rarely: more often before a release. */
const rounds = process.env.CAPHOST_STORMS === 'full' ? 8 : 3;

/** The text that a handler writes to the console of its page before it blocks the thread. */
const HOLDS = 'holds the thread';

/**
 * How many handlers have blocked the thread of a page, and for how many the test has waited. A page
 * that does not answer may only be slow, before its handler has begun. The console message of the
 * handler is certain.
 *
 * @type {WeakMap<object, { begun: number, awaited: number, look: () => void }>}
 */
const holders = new WeakMap();

/** @param {any} page */
function watchHolders(page) {
  const seen = { begun: 0, awaited: 0, look: () => {} };
  holders.set(page, seen);
  page.on('console', (/** @type {any} */ message) => {
    if (message.text() !== HOLDS) return;
    seen.begun += 1;
    seen.look();
  });
}

/** Waits until one more handler blocks the thread of a page. @param {any} page */
async function isHeld(page) {
  const seen = holders.get(page);
  assert.ok(seen);
  seen.awaited += 1;
  const { awaited } = seen;
  await new Promise((/** @type {(value: void) => void} */ resolve) => {
    seen.look = () => seen.begun >= awaited && resolve();
    seen.look();
  });
}

const terminated = { success: false, cancelled: true, metadata: { stop: 'terminated' } };

/** Runs in the page, and registers handlers that block the thread, most of them forever. */
const registerHolders = (/** @type {string} */ HOLDS) => {
  const { host } = /** @type {any} */ (window);
  const loop = new WebAssembly.Module(Uint8Array.of(
    0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 8, 1, 4, 108, 111, 111, 112, 0, 0, 10, 9, 1, 7, 0, 3, 64, 12, 0, 11, 11,
  ));
  /** @param {() => unknown} work */
  const holds = (work) => {
    console.log(HOLDS);
    return work();
  };
  // V8 compiles frequently run code again. On a busy machine nothing can interrupt that for seconds,
  // not even DevTools. So each run uses a new function.
  let spins = 0;
  const spin = () => new Function(`/* ${(spins += 1)} */ for (let round = 0; ; round = (round + 1) | 0);`)();
  const forever = () => holds(spin);
  const busy = () => holds(() => {
    const end = performance.now() + 1500;
    while (performance.now() < end);
    return 'done';
  });
  host.register('hold.loop', { concurrency: 1 }, forever);
  host.register('hold.async', {}, async () => forever());
  host.register('hold.regex', {}, () => holds(() => /^(a+)+$/.test(`${'a'.repeat(50)}!`)));
  host.register('hold.wasm', {}, () => holds(/** @type {any} */ (new WebAssembly.Instance(loop)).exports.loop));
  host.register('hold.catch', {}, () => holds(() => {
    for (;;) {
      try {
        spin();
      } catch {
        // The handler continues.
      } finally {
        spin();
      }
    }
  }));
  host.register('hold.later', {}, async () => {
    await new Promise((resolve) => setTimeout(resolve));
    return busy();
  });
  // Each of these handlers spends most of the time in the host's own code.
  host.register('flood.progress', {}, (/** @type {any} */ _, /** @type {any} */ { progress }) => holds(() => {
    for (let done = 0; ; done += 1) progress({ progress: done });
  }));
  host.register('flood.call', {}, (/** @type {any} */ _, /** @type {any} */ { call }) => holds(() => {
    for (;;) void call('no.such');
  }));
  host.register('flood.notify', {}, () => holds(() => {
    for (;;) host.notify('flood');
  }));
  host.register('flood.stats', {}, () => holds(() => {
    for (;;) host.stats();
  }));
  host.register('parent', {}, async (/** @type {any} */ _, /** @type {any} */ { call }) => (await call('hold.loop')).cancelled);
  host.register('busy', {}, busy);
};

for (const { name, launch } of automationClients) {
  describe(`a page whose thread is held, over ${name}`, () => {
    /** @type {Awaited<ReturnType<typeof launch>>} */
    let browser;
    /** @type {Awaited<ReturnType<typeof serveFiles>>} */
    let server;
    before(async () => {
      [browser, server] = await Promise.all([launch(), serveFiles({ folders: { '/rust-app-build/': rustAppFolder() } })]);
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    /** @param {import('node:test').TestContext} t @param {import('caphost/automation').AttachOptions} [options] */
    async function attached(t, options, path = '/host/') {
      const page = /** @type {any} */ (await browser.newPage());
      watchHolders(page);
      t.after(() => Promise.race([page.close().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 3000))]));
      await page.goto(server.url(path));
      await page.waitForSelector('html[data-ready]');
      if (path === '/host/') await page.evaluate(registerHolders, HOLDS);
      return { page, agent: await attach(page, { ...options }) };
    }

    const stats = (/** @type {any} */ page) => page.evaluate(() => {
      const { inFlight, contexts, tasks } = /** @type {any} */ (window).host.stats();
      return { inFlight, contexts, tasks };
    });

    for (const capability of ['hold.loop', 'hold.async', 'hold.regex', 'hold.wasm', 'hold.catch']) {
      test(`${capability}: the job of a cancelled call is ended, its call says so, and the page continues`, async (t) => {
        const { page, agent } = await attached(t);
        // A handler that waits, and continues after that.
        const other = agent.call('test.hold', {}, { callId: 'other' });
        await agent.call('test.echo');
        for (const callId of ['first', 'second']) {
          const held = agent.call(capability, {}, { callId });
          await isHeld(page);
          const began = performance.now();
          const [confirmation, response] = await Promise.all([agent.cancel(callId, 'enough'), held]);
          const took = performance.now() - began;
          assert.deepEqual(confirmation, confirmed(callId, 'terminated'));
          assert.deepEqual(response, terminated);
          assert.ok(took < AFTER + SLACK, `it took ${took} ms`);
          t.diagnostic(`freed after ${Math.round(took)} ms`);
          assert.deepEqual((await agent.call('test.echo', { a: 1 })).data, { a: 1 });
          assert.deepEqual(await agent.cancel(callId), confirmed(callId, 'terminated'), 'the same for good');
        }
        assert.deepEqual(await agent.cancel('other'), confirmed('other', 'returned'));
        assert.equal((await other).cancelled, true);
        assert.deepEqual(await stats(page), { inFlight: 0, contexts: 0, tasks: 0 });
        await agent.shutdown();
        assert.equal(await agent.closed, 'shutdown');
      });
    }

    for (const capability of ['flood.progress', 'flood.call', 'flood.notify', 'flood.stats']) {
      test(`${capability}: a job that uses its host all the time is ended outside the host, and the host survives`, async (t) => {
        const { page, agent } = await attached(t);
        await agent.call('test.echo');
        for (let round = 0; round < rounds; round += 1) {
          const callId = `flood ${round}`;
          const held = agent.call(capability, {}, { callId });
          await isHeld(page);
          assert.deepEqual(await agent.cancel(callId), confirmed(callId, 'terminated'));
          assert.deepEqual(await held, terminated);
          assert.deepEqual((await agent.call('test.echo', { a: round })).data, { a: round });
        }
        assert.deepEqual(await stats(page), { inFlight: 0, contexts: 0, tasks: 0 });
      });
    }

    test('if two agents wait for one call, only the job of this call is ended', async (t) => {
      const { page, agent } = await attached(t);
      await agent.call('test.echo');
      for (let round = 0; round < rounds; round += 1) {
        // The page's own work, for 60 of every 100 ms.
        await page.evaluate(() => {
          const chain = { turns: 0, over: false };
          const turn = () => {
            if (chain.over) return;
            const end = performance.now() + 60;
            while (performance.now() < end);
            chain.turns += 1;
            setTimeout(turn, 40);
          };
          Object.assign(window, { chain });
          setTimeout(turn, 40);
        });
        const callId = `twice ${round}`;
        const held = agent.call('hold.loop', {}, { callId });
        await isHeld(page);
        const cancels = await Promise.all([agent.cancel(callId), agent.cancel(callId)]);
        assert.deepEqual(cancels, Array(2).fill(confirmed(callId, 'terminated')));
        assert.deepEqual(await held, terminated);
        const before = await page.evaluate(() => /** @type {any} */ (window).chain.turns);
        await new Promise((resolve) => setTimeout(resolve, 600));
        const after = await page.evaluate(() => Object.assign(/** @type {any} */ (window).chain, { over: true }).turns);
        assert.ok(after > before, `the app's own jobs have stopped in round ${round}`);
      }
    });

    test('its slot is free for the next call in the queue', async (t) => {
      const { page, agent } = await attached(t);
      const calls = ['a', 'b', 'c'].map((callId) => agent.call('hold.loop', {}, { callId }));
      for (const callId of ['a', 'b', 'c']) {
        await isHeld(page);
        assert.deepEqual(await agent.cancel(callId), confirmed(callId, 'terminated'));
      }
      assert.deepEqual(await Promise.all(calls), Array(3).fill(terminated));
    });

    test('by a signal, and by a timeout', async (t) => {
      const { page, agent } = await attached(t);
      const controller = new AbortController();
      const bySignal = agent.call('hold.loop', {}, { signal: controller.signal });
      await isHeld(page);
      controller.abort();
      assert.deepEqual(await bySignal, terminated);
      assert.deepEqual(await agent.call('hold.loop', {}, { timeout: 200 }), terminated);
      assert.deepEqual((await agent.call('test.echo', { a: 1 })).data, { a: 1 });
    });

    test('by a shutdown, which answers all calls in flight', async (t) => {
      const { page, agent } = await attached(t);
      const other = agent.call('test.hold', {}, { callId: 'other' });
      await agent.call('test.echo');
      const held = agent.call('hold.loop', {}, { callId: 'held' });
      await isHeld(page);
      await agent.shutdown();
      assert.equal(await agent.closed, 'shutdown');
      assert.deepEqual(await held, terminated);
      assert.deepEqual(await other, { ...terminated, metadata: { stop: 'returned' } });
      assert.deepEqual(await stats(page), { inFlight: 0, contexts: 0, tasks: 0 });
    });

    test('a child call that holds the thread is ended with its parent', async (t) => {
      const { page, agent } = await attached(t);
      const held = agent.call('parent', {}, { callId: 'parent' });
      await isHeld(page);
      assert.deepEqual(await agent.cancel('parent'), confirmed('parent', 'terminated'));
      assert.deepEqual(await held, terminated);
      assert.deepEqual(await stats(page), { inFlight: 0, contexts: 0, tasks: 0 });
    });

    test('a call that waits for a child call learns that the child was ended', async (t) => {
      const { page, agent } = await attached(t);
      await page.evaluate(() => /** @type {any} */ (window).host.register('waits', {}, async (/** @type {any} */ _, /** @type {any} */ { call }) => (
        (await call('hold.loop', {}, { callId: 'child' })).metadata
      )));
      await agent.call('test.echo');
      const parent = agent.call('waits', {}, { callId: 'parent' });
      await isHeld(page);
      assert.deepEqual(await agent.cancel('child'), confirmed('child', 'terminated'));
      const response = await parent;
      assert.deepEqual([response.success, response.data], [true, { stop: 'terminated' }]);
      assert.deepEqual(await stats(page), { inFlight: 0, contexts: 0, tasks: 0 });
    });

    test("neither another call's job nor an unmarked job is ended", async (t) => {
      const { page, agent } = await attached(t);
      const other = agent.call('test.hold', {}, { callId: 'other' });
      await agent.call('test.echo');
      const busy = agent.call('busy', {}, { callId: 'busy' });
      await isHeld(page);
      const cancel = agent.cancel('other');
      assert.deepEqual((await busy).data, 'done');
      assert.deepEqual(await cancel, confirmed('other', 'returned'));
      assert.equal((await other).cancelled, true);
      // After an await, nobody can tell a handler's work from the page's own work.
      const later = agent.call('hold.later', {}, { callId: 'later' });
      await isHeld(page);
      const late = await agent.cancel('later');
      const { data } = await later;
      assert.deepEqual([late.cancelled, data], [false, 'done']);
      // The page's own work must not be ended.
      const own = page.evaluate(() => {
        const end = performance.now() + 1500;
        while (performance.now() < end);
        return 'own';
      });
      const held = agent.call('test.hold', {}, { callId: 'held' });
      assert.deepEqual(await agent.cancel('held'), confirmed('held', 'never-started'));
      assert.equal((await held).cancelled, true);
      assert.equal(await own, 'own');
    });

    test('a page that stops at a debugger statement continues', async (t) => {
      const { page, agent } = await attached(t);
      await agent.call('test.echo');
      assert.equal(await page.evaluate('(() => { debugger; return 7; })()'), 7);
    });

    test('a person who debugs the page can stop it for any time', async (t) => {
      const { page, agent } = await attached(t);
      await agent.call('test.echo');
      const developer = await (page.createCDPSession ? page.createCDPSession() : page.context().newCDPSession(page));
      await developer.send('Debugger.enable');
      let resumed = false;
      const paused = new Promise((resolve) => developer.on('Debugger.paused', () => resolve(undefined)));
      developer.on('Debugger.resumed', () => (resumed = true));
      const seven = page.evaluate('(() => { debugger; return 7; })()');
      await paused;
      await new Promise((resolve) => setTimeout(resolve, 300));
      assert.equal(resumed, false);
      await developer.send('Debugger.resume');
      assert.equal(await seven, 7);
      await developer.detach();
    });

    test('with terminate: false nothing is ended, and the outcome is unknown', async (t) => {
      const { page, agent } = await attached(t, { terminate: false, grace: 500 });
      const held = agent.call('busy', {}, { callId: 'busy' });
      await isHeld(page);
      const { cancelled, error } = await agent.cancel('busy');
      assert.deepEqual([cancelled, error?.code], [false, 'TIMEOUT']);
      assert.equal((await held).error?.code ?? 'done', 'TIMEOUT');
      await assert.rejects(attach(/** @type {any} */ ({ evaluate() {}, evaluateHandle() {} }), { terminate: /** @type {any} */ ({ after: 'soon' }) }), { code: 'INVALID_PARAMS' });
    });

    test('a synchronous loop in Rust', async (t) => {
      const { page, agent } = await attached(t, {}, '/rust-app/');
      const other = agent.call('rust.hold', {}, { callId: 'other' });
      await agent.call('rust.loop', { rounds: 1 });
      for (const [callId, capability] of [['first', 'rust.spin'], ['second', 'rust.spin.later'], ['third', 'rust.spin']]) {
        const held = agent.call(String(capability), {}, { callId });
        await isHeld(page);
        const began = performance.now();
        const [confirmation, response] = await Promise.all([agent.cancel(String(callId)), held]);
        assert.deepEqual([confirmation, response], [confirmed(String(callId), 'terminated'), terminated]);
        t.diagnostic(`freed after ${Math.round(performance.now() - began)} ms`);
        assert.deepEqual((await agent.call('rust.loop', { rounds: 1 })).data, { sum: 0 });
      }
      assert.deepEqual(await agent.cancel('other'), confirmed('other', 'dropped'));
      assert.equal((await other).cancelled, true);
      const { inFlight, tasks } = await page.evaluate(() => /** @type {any} */ (window).host.stats());
      assert.deepEqual([inFlight, tasks], [0, 0]);
    });
  });
}
