/** Agents with `reconnect: true`: over automation, windows, ports and WebSockets. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attach } from 'caphost/automation';
import { connect, connectPort, connectWebSocket } from 'caphost/agent';
import { automationClients, launchPuppeteer } from '../support/browsers.mjs';
import { freePort } from '../support/free-port.mjs';
import { startGateway } from '../support/gateway.mjs';
import { useLab } from '../support/lab.mjs';
import { serveFiles, serveTwoOrigins } from '../support/static-server.mjs';
import { neverStarted } from './pages.mjs';

const pages = { '/empty': '<!doctype html><title>empty</title>', '/other/': '<!doctype html><script type="module">import { createHost } from "/caphost/index.js"; const host = await createHost({ app: { id: "other", name: "Other", version: "1" } }); host.register("test.echo", {}, () => "other"); host.expose(); globalThis.host = host;</script>' };

/** @param {{ error?: { code: string } }} response */
const codeOf = ({ error }) => error?.code;

/** Collects the states of an agent. */
function watched() {
  /** @type {string[]} */
  const states = [];
  return { states, onConnection: (/** @type {string} */ state) => void states.push(state) };
}

/** @param {Promise<any>} held a call in flight, whose connection is lost */
async function isLost(held) {
  const response = await held;
  assert.deepEqual([codeOf(response), response.cancelled], ['DISCONNECTED', undefined]);
}

for (const { name, launch } of automationClients) {
  describe(`an agent that reconnects to a page that ${name} drives`, () => {
    /** @type {any} */
    let browser;
    /** @type {Awaited<ReturnType<typeof serveTwoOrigins>>} */
    let servers;
    before(async () => {
      [browser, servers] = await Promise.all([launch(), serveTwoOrigins({ pages })]);
    });
    after(async () => {
      await browser?.close();
      await servers?.close();
    });

    /** @param {import('node:test').TestContext} t @param {object} [options] */
    async function attached(t, options) {
      const page = await browser.newPage();
      t.after(() => page.close().catch(() => {}));
      await page.goto(servers.first.url('/host/'));
      const { states, onConnection } = watched();
      const agent = await attach(page, { reconnect: true, onConnection, ...options });
      t.after(() => agent.shutdown());
      return { page, agent, states };
    }

    test('a reload leaves calls in flight unknown, and the calls after that wait for the app', { timeout: 60_000 }, async (t) => {
      const { page, agent, states } = await attached(t);
      assert.equal(await agent.ready, true);
      const first = agent.sessionId;
      const held = agent.call('test.hold', {}, { callId: 'held' });
      await agent.call('test.started', { callId: 'held' });
      const reloading = page.reload();
      await isLost(held);
      const waiting = agent.call('test.echo', { a: 1 });
      const listing = agent.listCapabilities();
      await reloading;
      assert.deepEqual((await waiting).data, { a: 1 });
      assert.ok((await listing).some((/** @type {any} */ it) => it.name === 'test.echo'));
      assert.equal(await agent.ready, true);
      assert.notEqual(agent.sessionId, first);
      assert.deepEqual(states, ['connecting', 'connected']);
      // Nothing was made again.
      assert.equal(await page.evaluate(() => /** @type {any} */ (window).host.stats().inFlight), 0);
      // Once more: the page's functions and the debugger are taken over each time.
      const again = agent.call('test.hold', {}, { callId: 'once more' });
      await agent.call('test.started', { callId: 'once more' });
      const second = page.reload();
      await isLost(again);
      await second;
      assert.equal(await agent.ready, true);
      const cancelled = agent.call('test.hold', {}, { callId: 'third' });
      await agent.call('test.started', { callId: 'third' });
      assert.equal((await agent.cancel('third')).cancelled, true);
      assert.equal((await cancelled).cancelled, true);
    });

    test('the list of capabilities is that of the new session', { timeout: 60_000 }, async (t) => {
      const { page, agent } = await attached(t);
      await page.evaluate(() => {
        /** @type {any} */ (window).host.register('test.added', {}, () => 1);
      });
      while (!agent.capabilities.some(({ name: it }) => it === 'test.added')) await new Promise((resolve) => setTimeout(resolve, 10));
      await page.reload();
      while (agent.sessionId === null || agent.capabilities.some(({ name: it }) => it === 'test.added')) await new Promise((resolve) => setTimeout(resolve, 10));
      assert.ok(agent.capabilities.length > 0);
    });

    test('while the page is elsewhere, calls wait until their timeout or signal, and another app gets none of them', { timeout: 60_000 }, async (t) => {
      const { page, agent, states } = await attached(t);
      await page.goto(servers.second.url('/host/'));
      while (states.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      const waiting = agent.call('test.echo', { a: 1 });
      assert.deepEqual(await agent.call('test.echo', {}, { timeout: 300 }), neverStarted);
      const stop = new AbortController();
      const aborted = agent.call('test.echo', {}, { signal: stop.signal });
      const mine = agent.call('test.echo', {}, { callId: 'mine' });
      setTimeout(() => stop.abort('enough'), 300);
      assert.deepEqual(await aborted, neverStarted);
      assert.deepEqual(await agent.cancel('mine'), { callId: 'mine', cancelled: true, metadata: { stop: 'never-started' } });
      assert.deepEqual(await mine, neverStarted);
      // The other origin has a host, too.
      assert.equal(await page.evaluate(() => /** @type {any} */ (window).host.stats().sessions), 0);
      // The same origin, but another app.
      await page.goto(servers.first.url('/other/'));
      await page.waitForFunction(() => /** @type {any} */ (window).host);
      await new Promise((resolve) => setTimeout(resolve, 500));
      assert.equal(agent.sessionId, null);
      await page.goto(servers.first.url('/host/'));
      assert.deepEqual((await waiting).data, { a: 1 });
      assert.deepEqual(states, ['connecting', 'connected']);
    });

    test('shutdown, the signal, and the end of the page end the trying', { timeout: 60_000 }, async (t) => {
      for (const [end, closed, how] of /** @type {const} */ ([['shutdown', 'shutdown', 'cancelled'], ['signal', 'disconnected', 'DISCONNECTED'], ['close', 'disconnected', 'DISCONNECTED']])) {
        const stop = new AbortController();
        const { page, agent, states } = await attached(t, { signal: stop.signal });
        await page.goto(servers.first.url('/empty'));
        while (states.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
        const { ready } = agent;
        const waiting = agent.call('test.echo', {});
        if (end === 'shutdown') await agent.shutdown();
        else if (end === 'signal') stop.abort('enough');
        else await page.close();
        const response = await waiting;
        assert.equal(response.cancelled ? 'cancelled' : codeOf(response), how, end);
        assert.equal(await agent.closed, closed, end);
        assert.equal(await ready, false, end);
        assert.equal(await agent.ready, false, end);
        assert.ok(['DISCONNECTED', 'NOT_INITIALIZED'].includes(String(codeOf(await agent.call('test.echo', {})))), end);
        if (end === 'close') continue;
        await page.goto(servers.first.url('/host/'));
        await page.waitForSelector('html[data-ready]');
        await new Promise((resolve) => setTimeout(resolve, 500));
        assert.equal(await page.evaluate(() => /** @type {any} */ (window).host.stats().sessions), 0, end);
      }
    });

    test('a session that somebody else has ended is opened again', { timeout: 60_000 }, async (t) => {
      const { page, agent, states } = await attached(t);
      await page.evaluate(() => /** @type {any} */ (window).abp.shutdown());
      let response = await agent.call('test.echo', { a: 1 });
      if (!response.success) response = await agent.call('test.echo', { a: 1 });
      assert.deepEqual(response.data, { a: 1 });
      assert.deepEqual(states, ['connecting', 'connected']);
    });

    test('an error of a handler that looks like a loss only delays the next calls a little', { timeout: 60_000 }, async (t) => {
      const { agent, states } = await attached(t);
      for (const code of ['NOT_INITIALIZED', 'DISCONNECTED']) {
        assert.equal(codeOf(await agent.call('test.fail', { code, message: 'The handler says so' })), code);
        assert.deepEqual((await agent.call('test.echo', { a: 1 })).data, { a: 1 });
      }
      assert.deepEqual(states, []);
    });

    test('a signal that fires while the agent is connected ends only the trying', { timeout: 60_000 }, async (t) => {
      const stop = new AbortController();
      const { page, agent } = await attached(t, { signal: stop.signal });
      stop.abort();
      assert.deepEqual((await agent.call('test.echo', { a: 1 })).data, { a: 1 });
      await page.reload();
      assert.equal(await agent.closed, 'disconnected');
      assert.equal(await agent.ready, false);
    });
  });
}

describe('an agent in a page that reconnects', () => {
  const lab = useLab(async () => ({ pages: { ...pages, '/kept/': '<!doctype html><script type="module" src="/host/host.js"></script>' } }));

  for (const app of ['/host/', '/plain-app/?messages=only']) {
    test(`to a frame with ${app}`, { timeout: 60_000 }, async () => {
      const seen = await lab.run(async ({ agents }, app) => {
        const plain = app.startsWith('/plain');
        const [echo, hold] = plain ? ['echo', 'hold'] : ['test.echo', 'test.hold'];
        const frame = document.createElement('iframe');
        frame.src = app;
        document.body.append(frame);
        /** @type {string[]} */
        const states = [];
        const agent = await agents.connectWindow(frame.contentWindow, { reconnect: true, onConnection: (/** @type {string} */ it) => states.push(it) });
        const held = agent.call(hold, {}, { callId: 'held' });
        await agent.call(echo, {});
        frame.contentWindow?.location.reload();
        const lost = await held;
        const waiting = agent.call(echo, { a: 1 });
        const { data } = await waiting;
        const ready = await agent.ready;
        // The frame shows nothing for a moment, and the app comes back.
        const gone = new Promise((resolve) => { frame.onload = resolve; });
        frame.src = '/empty';
        await gone;
        const second = await agent.call(echo, {}, { timeout: 400 });
        frame.src = app;
        const third = await agent.call(echo, { b: 1 });
        const { closed } = agent;
        frame.remove();
        const how = await Promise.race([closed, new Promise((resolve) => setTimeout(() => resolve('still trying'), 8000))]);
        const last = await agent.call(echo, {});
        return { lost: [lost.error?.code, lost.cancelled === undefined], data, ready, second, third: third.data, states, how, last: last.error?.code };
      }, app);
      assert.deepEqual(seen, {
        lost: ['DISCONNECTED', true],
        data: { a: 1 },
        ready: true,
        second: neverStarted,
        third: { b: 1 },
        states: ['connecting', 'connected', 'connecting', 'connected', 'connecting'],
        how: 'disconnected',
        last: 'DISCONNECTED',
      });
    });
  }

  test('over ports that a function makes, and never over one that was given', { timeout: 60_000 }, async () => {
    const seen = await lab.run(async ({ newHost, agents }) => {
      let host = await newHost();
      let made = 0;
      const port = () => {
        made += 1;
        const { port1, port2 } = new MessageChannel();
        host.acceptPort(port1);
        return port2;
      };
      const refused = await agents.connectPort(port(), { reconnect: true }).catch((/** @type {any} */ error) => [error.code, error.message]);
      made = 0;
      const agent = await agents.connectPort(port, { reconnect: true });
      const held = agent.call('test.hold', {}, { callId: 'held' });
      await agent.call('test.started', { callId: 'held' });
      const before = host;
      host = await newHost();
      before.close();
      const ended = (await held).cancelled;
      // The host is closed, and refuses this call, if the agent does not know that yet.
      await agent.call('test.echo', {});
      const { data } = await agent.call('test.echo', { a: 1 });
      const progress = await new Promise((resolve) => {
        void agent.call('test.progress', {}, { onProgress: resolve }).then(resolve);
      });
      // 500 calls of one turn, of which some are called off while they wait.
      const last = host;
      host = await newHost();
      last.close();
      await new Promise((resolve) => { const look = () => (agent.sessionId === null ? resolve(undefined) : setTimeout(look)); look(); });
      const stop = new AbortController();
      const calls = Array.from({ length: 500 }, (_, i) => agent.call('test.echo', { i }, i % 2 ? { signal: stop.signal } : {}));
      stop.abort();
      const responses = await Promise.all(calls);
      const answers = responses.map(({ success, cancelled, data: its }, i) => (i % 2 ? cancelled === true : success && its.i === i));
      await agent.shutdown();
      return { refused, ended, data, made, progress: typeof progress, right: answers.every(Boolean), sessions: host.stats().sessions, how: await agent.closed };
    });
    assert.match(seen.refused[1], /reconnect needs a function/);
    assert.deepEqual({ ...seen, refused: seen.refused[0] }, { refused: 'INVALID_PARAMS', ended: true, data: { a: 1 }, made: 3, progress: 'object', right: true, sessions: 0, how: 'shutdown' });
  });

  test('while the page of the agent is kept for the back button, and after it', { timeout: 60_000 }, async (t) => {
    const page = await lab.browser.newPage();
    t.after(() => page.close());
    await page.goto(lab.server.url('/kept/'));
    await page.waitForSelector('html[data-ready]');
    await page.evaluate(async () => {
      const module = '/caphost/agent.js';
      const { connectPort: toPort } = await import(module);
      const { host } = /** @type {any} */ (window);
      const agent = await toPort(() => {
        const { port1, port2 } = new MessageChannel();
        host.acceptPort(port1);
        return port2;
      }, { reconnect: true });
      Object.assign(window, { agent, kept: false });
      addEventListener('pageshow', ({ persisted }) => Object.assign(window, { kept: persisted }));
    });
    await page.goto(lab.server.url('/empty'));
    await page.goBack();
    const seen = await page.evaluate(async () => {
      const { agent, kept } = /** @type {any} */ (window);
      return { kept, data: (await agent.call('test.echo', { a: 1 })).data };
    });
    assert.deepEqual(seen, { kept: true, data: { a: 1 } });
  });
});

describe('an agent that reconnects to a gateway', () => {
  /** @type {Awaited<ReturnType<typeof launchPuppeteer>>} */
  let browser;
  before(async () => {
    browser = await launchPuppeteer();
  });
  after(() => browser?.close());

  test('after a restart of the gateway, and after a reload of the app', { timeout: 90_000 }, async (t) => {
    const server = await serveFiles();
    t.after(() => server.close());
    const port = await freePort();
    const start = () => startGateway({ port, args: ['--allow-origin', server.origin, '--app-grace', '0'] });
    let gateway = await start();
    t.after(() => gateway.stop());
    const page = await browser.newPage();
    t.after(() => page.close());
    const connected = () => page.waitForFunction(() => /** @type {any} */ (window).gatewayConnected, { polling: 50 });
    await page.goto(server.url(`/host/?gateway=ws://127.0.0.1:${port}/abp/app`));
    await connected();
    const { states, onConnection } = watched();
    const agent = await connectWebSocket(`ws://127.0.0.1:${port}/abp?app=test-host`, { reconnect: true, onConnection });
    t.after(() => agent.shutdown());
    const held = agent.call('test.hold', {}, { callId: 'held' });
    await agent.call('test.started', { callId: 'held' });
    await gateway.stop('SIGKILL');
    await isLost(held);
    const waiting = agent.call('test.echo', { a: 1 });
    const timed = agent.call('test.hold', {}, { timeout: 500 });
    assert.deepEqual(await timed, neverStarted);
    gateway = await start();
    assert.deepEqual((await waiting).data, { a: 1 });

    const again = agent.call('test.hold', {}, { callId: 'again' });
    await agent.call('test.started', { callId: 'again' });
    const reloading = page.reload();
    await isLost(again);
    const later = agent.call('test.echo', { b: 1 });
    await reloading;
    assert.deepEqual((await later).data, { b: 1 });
    assert.deepEqual(states, ['connecting', 'connected', 'connecting', 'connected']);
  });

  test('a refusal of the token ends the trying', { timeout: 60_000 }, async (t) => {
    const port = await freePort();
    let gateway = await startGateway({ port });
    t.after(() => gateway.stop());
    const server = await serveFiles();
    t.after(() => server.close());
    await gateway.stop();
    gateway = await startGateway({ port, args: ['--allow-origin', server.origin] });
    const page = await browser.newPage();
    t.after(() => page.close());
    await page.goto(server.url(`/host/?gateway=ws://127.0.0.1:${port}/abp/app`));
    await page.waitForFunction(() => /** @type {any} */ (window).gatewayConnected, { polling: 50 });
    const agent = await connectWebSocket(`ws://127.0.0.1:${port}/abp?app=test-host`, { reconnect: true });
    await gateway.stop();
    gateway = await startGateway({ port, args: ['--token', 'agent=secret', '--token', 'app=other'] });
    const waiting = agent.call('test.echo', {});
    assert.equal(codeOf(await waiting), 'DISCONNECTED');
    assert.equal(await agent.closed, 'disconnected');
  });
});

test('a messenger of one\'s own is made again, and one that fails to be made is tried again', async () => {
  const { createHost } = await import('caphost');
  const host = await createHost({ app: { id: 'own', name: 'Own', version: '1' } });
  host.register('echo', {}, (params) => params);
  let attempts = 0;
  /** @type {any} */
  let theirs;
  const make = async () => {
    attempts += 1;
    if (attempts === 2) throw new Error('The server is away');
    /** @type {any} */
    const ours = { post: (/** @type {any} */ it) => theirs.onmessage?.(structuredClone(it)), close: () => {} };
    theirs = { post: (/** @type {any} */ it) => ours.onmessage?.(structuredClone(it)), close: () => {}, drop: () => ours.onclose?.() };
    host.accept(theirs);
    return ours;
  };
  await assert.rejects(connect(await make(), { reconnect: true }), { code: 'INVALID_PARAMS' });
  attempts = 0;
  const agent = await connect(make, { reconnect: true });
  theirs.drop();
  assert.equal(agent.sessionId, null);
  assert.deepEqual((await agent.call('echo', { a: 1 })).data, { a: 1 });
  assert.equal(attempts, 3);
  await agent.shutdown();
  await assert.rejects(connectPort(/** @type {any} */ (new MessageChannel().port1), { reconnect: true, connectTimeout: 100 }), { code: 'INVALID_PARAMS' });
  host.close();
});
