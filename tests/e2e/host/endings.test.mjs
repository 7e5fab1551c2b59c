import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mjs';

const lab = useLab();

/** How the window of a host ends. @type {Record<string, string>} */
const hostEnds = {
  'is removed': 'element.remove()',
  'is reloaded': 'element.contentWindow.location.reload()',
  'is navigated': `element.src = '/plain-app/'`,
  'is blanked': `element.src = 'about:blank'`,
  'closes its host': 'element.contentWindow.host.close()',
};

for (const [what, source] of Object.entries(hostEnds)) {
  test(`a frame that ${what} settles its agent's calls with an unknown outcome, at once`, async () => {
    const seen = await lab.run(async ({ frame, agents, turn }, source, closes) => {
      const element = await frame('/host/');
      while (!element.contentDocument.documentElement.dataset.ready) await turn();
      const agent = await agents.connectWindow(element.contentWindow, { origin: location.origin });
      const held = agent.call('test.hold', {}, { callId: 'held' });
      await agent.call('test.started', { callId: 'held' });
      const began = performance.now();
      new Function('element', source)(element);
      const response = await held;
      const took = performance.now() - began;
      const later = await agent.call('test.echo');
      const cancel = await agent.cancel('held');
      return { response: closes ? response.cancelled : response.error.code, ended: await agent.closed, later: later.error.code, cancel: closes ? false : cancel.cancelled, quick: took < 3000 };
    }, source, what === 'closes its host');
    const response = what === 'closes its host' ? true : 'DISCONNECTED';
    assert.deepEqual(seen, { response, ended: 'disconnected', later: 'DISCONNECTED', cancel: false, quick: true });
  });
}

/** How the window of an agent ends. @type {Record<string, string>} */
const agentEnds = {
  'is removed': 'element.remove()',
  'is reloaded': 'element.contentWindow.location.reload()',
  'is navigated': `element.src = '/plain-app/'`,
  'is blanked': `element.src = 'about:blank'`,
  'shuts its agent down': 'element.contentWindow.agent.shutdown()',
};

for (const [what, source] of Object.entries(agentEnds)) {
  for (const origin of ['the same origin', 'another origin']) {
    if (origin === 'another origin' && /reload|shut/.test(what)) continue;
    test(`an agent in a frame of ${origin} that ${what} has its calls cancelled in the host`, async () => {
      const page = await lab.page();
      const other = origin === 'another origin' ? lab.server.origin.replace('127.0.0.1', 'localhost') : lab.server.origin;
      try {
        const hostReady = page.evaluate(async (other) => {
          const it = /** @type {any} */ (window);
          it.host = await it.lab.newHost();
          it.host.acceptMessages({ allowedOrigins: [other] });
          it.element = await it.lab.frame(`${other}/lab/`);
        }, other);
        await hostReady;
        const frame = page.frames().find((it) => it !== page.mainFrame());
        await frame?.waitForSelector('html[data-ready]');
        await frame?.evaluate(async (origin) => {
          const it = /** @type {any} */ (window);
          it.agent = await it.lab.agents.connectWindow(parent, { origin });
          void it.agent.call('test.hold', {}, { callId: 'held' });
          await it.agent.call('test.started', { callId: 'held' });
        }, lab.server.origin);
        const seen = await page.evaluate(async (source) => {
          const { host, element, lab } = /** @type {any} */ (window);
          const before = host.stats().inFlight;
          const cancelled = lab.event(host, (/** @type {any} */ it) => it.type === 'call' && it.state === 'cancelled');
          const closed = lab.event(host, (/** @type {any} */ it) => it.type === 'session' && it.state === 'closed');
          new Function('element', source)(element);
          const { reason } = await cancelled;
          await closed;
          const { inFlight, sessions } = host.stats();
          return { before, inFlight, sessions, reason, connections: host.shell.connections.size };
        }, source);
        const { reason, ...rest } = seen;
        assert.deepEqual(rest, { before: 1, inFlight: 0, sessions: 0, connections: 0 });
        if (what !== 'shuts its agent down') assert.match(reason, /left|disconnected/);
      } finally {
        await page.close();
      }
    });
  }
}

test('when the frame of a plain agent is removed, its calls are cancelled, and the host continues', async () => {
  const seen = await lab.run(async ({ newHost, frame, turn, event, connect }) => {
    const host = await newHost();
    host.acceptMessages();
    const element = await frame('/lab/');
    while (!element.contentWindow.lab) await turn();
    const raw = element.contentWindow.lab.rawWindow(window, location.origin);
    await raw.initialize();
    void raw.call('test.hold', {}, { callId: 'held' });
    await raw.call('test.started', { callId: 'held' });
    const closed = event(host, (/** @type {any} */ it) => it.type === 'session' && it.state === 'closed');
    element.remove();
    await closed;
    const { inFlight, sessions } = host.stats();
    return { inFlight, sessions, echo: (await (await connect(host)).call('test.echo', { a: 1 })).data };
  });
  assert.deepEqual(seen, { inFlight: 0, sessions: 0, echo: { a: 1 } });
});

test('a popup with a host that closes, and a popup with an agent that closes', async () => {
  const seen = await lab.run(async ({ newHost, agents, turn, event }) => {
    const popup = /** @type {any} */ (window.open('/host/'));
    const agent = await agents.connectWindow(popup, { origin: location.origin });
    const held = agent.call('test.hold', {}, { callId: 'held' });
    await agent.call('test.started', { callId: 'held' });
    popup.close();
    const lost = (await held).error.code;

    const host = await newHost();
    host.acceptMessages();
    const caller = /** @type {any} */ (window.open('/lab/'));
    while (!caller.lab) await turn();
    caller.agent = await caller.lab.agents.connectWindow(window, { origin: location.origin });
    const runs = event(host, (/** @type {any} */ it) => it.state === 'running' && it.callId === 'left');
    caller.agent.call('test.hold', {}, { callId: 'left' });
    await runs;
    const cancelled = event(host, (/** @type {any} */ it) => it.state === 'cancelled');
    caller.close();
    await cancelled;
    return { lost, inFlight: host.stats().inFlight };
  });
  assert.deepEqual(seen, { lost: 'DISCONNECTED', inFlight: 0 });
});

test('a Worker with a host that is terminated, noticed by its silence', async () => {
  const seen = await lab.run(async ({ agents }) => {
    const worker = new Worker('/worker/worker.js', { type: 'module' });
    const agent = await agents.connectPort(worker, { liveness: 300 });
    const held = agent.call('test.hold', {}, { callId: 'held' });
    await agent.call('test.started', { callId: 'held' });
    worker.terminate();
    return { held: (await held).error.code, ended: await agent.closed };
  });
  assert.deepEqual(seen, { held: 'DISCONNECTED', ended: 'disconnected' });
});

test('agents that come and go leave nothing behind in a host', async () => {
  const seen = await lab.run(async ({ newHost, frame, turn, event }) => {
    const host = await newHost();
    host.acceptMessages();
    const { contentWindow } = await frame('/lab/');
    while (!contentWindow.lab) await turn();
    for (let round = 0; round < 20; round += 1) {
      const agent = await contentWindow.lab.agents.connectWindow(window, { origin: location.origin });
      void agent.call('test.hold');
      await agent.call('test.echo');
      const closed = event(host, (/** @type {any} */ it) => it.type === 'session' && it.state === 'closed');
      await agent.shutdown();
      await closed;
    }
    await turn();
    const { inFlight, sessions, contexts } = host.stats();
    return { inFlight, sessions, contexts, connections: host.shell.connections.size };
  });
  assert.deepEqual(seen, { inFlight: 0, sessions: 0, contexts: 0, connections: 0 });
});
