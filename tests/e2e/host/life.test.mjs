import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mjs';

const lab = useLab();

test('an agent whose worker is terminated is noticed by its lock, and its calls are cancelled', async () => {
  const seen = await lab.run(async ({ newHost, running, event }) => {
    // With this liveness the host asks nothing.
    const host = await newHost({ liveness: Infinity });
    const runs = running(host, 'held');
    const worker = new Worker('/worker/agent.js', { type: 'module' });
    host.acceptPort(worker);
    await runs;
    while (!(await navigator.locks.query()).pending?.length);
    const cancelled = event(host, (/** @type {any} */ it) => it.state === 'cancelled');
    worker.terminate();
    const { callId, reason } = await cancelled;
    const { inFlight, sessions } = host.stats();
    return { callId, reason, inFlight, sessions, connections: host.shell.connections.size };
  });
  assert.deepEqual(seen, { callId: 'held', reason: 'The agent disconnected', inFlight: 0, sessions: 0, connections: 0 });
});

test('a worker that computes for a long time keeps its calls, because its lock shows that it lives', async () => {
  const seen = await lab.run(async ({ newHost, running, event }) => {
    const liveness = 200;
    const host = await newHost({ liveness });
    const runs = running(host, 'held');
    const worker = new Worker('/worker/agent.js', { type: 'module' });
    host.acceptPort(worker);
    await runs;
    while (!(await navigator.locks.query()).pending?.length);
    let lost = false;
    const cancelled = event(host, (/** @type {any} */ it) => it.state === 'cancelled').then(() => (lost = true));
    worker.postMessage({ compute: 5 * liveness });
    // The worker answers the next message when its computation is over.
    await new Promise((resolve) => {
      worker.addEventListener('message', resolve, { once: true });
      worker.postMessage({ type: 'notification', payload: { event: 'notifications/life/asked' } });
    });
    const kept = !lost;
    worker.terminate();
    await cancelled;
    return { kept, inFlight: host.stats().inFlight };
  });
  assert.deepEqual(seen, { kept: true, inFlight: 0 });
});

test('a host whose worker is terminated is noticed by its lock, and its calls settle', async () => {
  const seen = await lab.run(async ({ agents }) => {
    const worker = new Worker('/worker/worker.js', { type: 'module' });
    const agent = await agents.connectPort(worker, { liveness: Infinity });
    const held = agent.call('test.hold', {}, { callId: 'held' });
    await agent.call('test.started', { callId: 'held' });
    while (!(await navigator.locks.query()).pending?.length);
    worker.terminate();
    return { held: (await held).error.code, ended: await agent.closed };
  });
  assert.deepEqual(seen, { held: 'DISCONNECTED', ended: 'disconnected' });
});

test('an agent that closes its port silently is asked for a sign of life, and is gone when it does not answer', async () => {
  const seen = await lab.run(async ({ newHost, agents, event }) => {
    const host = await newHost({ liveness: 300 });
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    const agent = await agents.connectPort(port2, { liveness: Infinity });
    void agent.call('test.hold', {}, { callId: 'held' });
    await agent.call('test.started', { callId: 'held' });
    const cancelled = event(host, (/** @type {any} */ it) => it.state === 'cancelled');
    port2.close();
    await cancelled;
    return { ...host.stats(), connections: host.shell.connections.size };
  });
  const { inFlight, sessions, contexts, connections } = seen;
  assert.deepEqual({ inFlight, sessions, contexts, connections }, { inFlight: 0, sessions: 0, contexts: 0, connections: 0 });
});

test('agents that answer, and agents that have announced nothing, keep their calls', async () => {
  const seen = await lab.run(async ({ newHost, agents, rawPort, event, INITIALIZE }) => {
    const host = await newHost({ liveness: 200 });
    // An agent of this package that is asked for a sign of life. The agent's user is not told of these
    // questions.
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    /** @type {string[]} */
    const told = [];
    const agent = await agents.connectPort(port2, { liveness: Infinity, onNotification: (/** @type {string} */ event) => told.push(event) });
    void agent.call('test.hold', {}, { callId: 'ours' });
    await agent.call('test.started', { callId: 'ours' });
    let asked = 0;
    port2.addEventListener('message', ({ data }) => {
      if (data.payload?.event === 'notifications/life/asked') asked += 1;
    });
    // An agent that speaks plain ABP and sends nothing more.
    const plain = await rawPort(host);
    void plain.call('test.hold', {}, { callId: 'plain' });
    // Agents that have announced signs of life and stay silent are given up one after the other.
    const gone = [];
    for (const callId of ['first', 'second', 'third']) {
      const silent = await rawPort(host, false);
      await silent.request('initialize', { ...INITIALIZE, life: {} });
      const cancelled = event(host, (/** @type {any} */ it) => it.state === 'cancelled');
      void silent.call('test.hold', {}, { callId });
      gone.push((await cancelled).callId);
      await silent.hear((/** @type {any} */ it) => it.payload.event === 'notifications/host/closed');
    }
    const left = [await agent.cancel('ours'), await plain.cancel('plain')];
    return { gone, left: left.map(({ cancelled }) => cancelled), asked: asked >= 3, told, plain: plain.heard.map((/** @type {any} */ { type }) => type) };
  });
  assert.deepEqual(seen.gone, ['first', 'second', 'third']);
  assert.deepEqual(seen.left, [true, true]);
  assert.deepEqual(seen.told, []);
  assert.equal(seen.asked, true);
  assert.deepEqual(seen.plain.filter((/** @type {string} */ type) => type === 'notification'), []);
});

test('any message of an agent is a sign of life, and the host does not reply to an answer', async () => {
  const seen = await lab.run(async ({ newHost, rawPort, INITIALIZE }) => {
    const host = await newHost({ liveness: 200 });
    const answers = [{ type: 'life/answer', payload: {} }, { type: 'capabilities/list', id: 'l', payload: {} }, { type: 'unknown', id: 'u' }, { type: 7 }];
    const agents = [];
    for (const answer of answers) {
      const agent = await rawPort(host, false);
      await agent.request('initialize', { ...INITIALIZE, life: {} });
      void agent.call('test.hold', {}, { callId: 'held' });
      agent.port.addEventListener('message', (/** @type {any} */ { data }) => {
        if (data.payload?.event === 'notifications/life/asked') agent.port.postMessage(answer);
      });
      agents.push(agent);
    }
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const types = agents.map(({ heard }) => [...new Set(heard.map((/** @type {any} */ { type }) => type))]);
    const kept = [];
    for (const agent of agents) kept.push((await agent.cancel('held')).cancelled);
    return { kept, types };
  });
  assert.deepEqual(seen.kept, [true, true, true, true]);
  assert.deepEqual(seen.types[0], ['initialize-result', 'notification']);
});

test('neither an invisible lock, such as one of another origin, nor a lock of the app counts as a sign of life', async () => {
  const seen = await lab.run(async ({ newHost, rawPort, INITIALIZE }) => {
    const host = await newHost({ liveness: Infinity });
    /** @type {(value?: unknown) => void} */
    let release = () => {};
    void navigator.locks.request('of the app', () => new Promise((resolve) => (release = resolve)));
    const raws = [];
    for (const lock of ['caphost.life.elsewhere', 'of the app', 7, '']) {
      const raw = await rawPort(host, false);
      await raw.request('initialize', { ...INITIALIZE, life: { lock } });
      raws.push(raw);
    }
    // An agent of this package comes after them and is watched.
    const worker = new Worker('/worker/agent.js', { type: 'module' });
    host.acceptPort(worker);
    let locks = await navigator.locks.query();
    while (!locks.pending?.length) locks = await navigator.locks.query();
    worker.terminate();
    release();
    const answers = await Promise.all(raws.map((raw) => raw.call('test.echo', { a: 1 })));
    return { answers: answers.map(({ success }) => success), pending: locks.pending.length };
  });
  assert.deepEqual(seen, { answers: [true, true, true, true], pending: 1 });
});

test('a host in a worker that dies before its first answer to a call is noticed in the liveness time', async () => {
  const seen = await lab.run(async ({ agents }) => {
    // As in an insecure context.
    Object.defineProperty(navigator, 'locks', { value: undefined });
    const worker = new Worker('/worker/worker.js', { type: 'module' });
    const agent = await agents.connectPort(worker, { liveness: 1_000 });
    const held = agent.call('test.hold');
    worker.terminate();
    const began = performance.now();
    return { held: (await held).error.code, took: performance.now() - began };
  });
  assert.equal(seen.held, 'DISCONNECTED');
  assert.ok(seen.took < 5_000, `${seen.took} ms`);
});

test('an agent whose module cannot be started holds no lock', async () => {
  const seen = await lab.run(async ({ agents, rejection }) => {
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = async () => {
      // If an agent requested its lock before it had the module, it would hold the lock by now.
      await navigator.locks.request('of the app', () => {});
      throw new TypeError('No such module');
    };
    const messages = [];
    // In the second round, everything else that the agent needs is loaded already.
    for (let round = 0; round < 2; round += 1) {
      messages.push((await rejection(agents.connectPort(new MessageChannel().port1))).message);
    }
    WebAssembly.instantiate = instantiate;
    await navigator.locks.request('of the app', () => {});
    return { messages, held: (await navigator.locks.query()).held?.length };
  });
  assert.deepEqual(seen, { messages: ['No such module', 'No such module'], held: 0 });
});

test('the locks that watch a session are released when it ends', async () => {
  const seen = await lab.run(async ({ newHost, connect }) => {
    const host = await newHost({ liveness: 100 });
    for (let round = 0; round < 5; round += 1) {
      const agent = await connect(host);
      await agent.call('test.echo');
      await agent.shutdown();
    }
    let locks = await navigator.locks.query();
    while (locks.held?.length) locks = await navigator.locks.query();
    return locks.pending?.length;
  });
  assert.equal(seen, 0);
});
