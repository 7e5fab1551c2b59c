import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mjs';

const lab = useLab();

test("another session's callId is not found, and the same callId serves in two sessions", async () => {
  const seen = await lab.run(async ({ newHost, connect, rawPort, inPage, running }) => {
    const host = await newHost();
    const sessions = [await inPage(host), await connect(host), await rawPort(host), await connect(host)];
    const runs = running(host, 'only');
    const only = sessions[0].call('test.hold', {}, { callId: 'only' });
    await runs;
    const probes = await Promise.all(sessions.slice(1).map((it) => it.cancel('only')));
    const same = sessions.map((it) => it.call('test.hold', {}, { callId: 'same' }));
    await Promise.all(sessions.map((it) => it.call('test.echo')));
    const first = await sessions[1].cancel('same');
    const left = host.stats().inFlight;
    const rest = await Promise.all([0, 2, 3].map((it) => sessions[it].cancel('same')));
    await sessions[0].cancel('only');
    return { probes, first, left, rest: rest.map((it) => it.cancelled), ends: (await Promise.all([only, ...same])).map((it) => it.cancelled) };
  });
  assert.deepEqual(seen, {
    probes: Array(3).fill({ callId: 'only', cancelled: false, reason: 'Operation not found' }),
    first: { callId: 'same', cancelled: true, metadata: { stop: 'returned' } },
    left: 4,
    rest: [true, true, true],
    ends: Array(5).fill(true),
  });
});

test('concurrency holds across sessions, and a cancelled or lost waiter gives its turn away', async () => {
  const seen = await lab.run(async ({ newHost, connect, event }) => {
    const host = await newHost();
    let most = 0;
    let now = 0;
    /** @type {(() => void)[]} */
    const release = [];
    /** @type {string[]} */
    const order = [];
    host.register('two', { concurrency: 2 }, (/** @type {any} */ _, /** @type {any} */ { callId }) => new Promise((resolve) => {
      order.push(callId);
      most = Math.max(most, (now += 1));
      release.push(() => {
        now -= 1;
        resolve(callId);
      });
    }));
    const agents = [await connect(host), await connect(host), await connect(host)];
    const calls = [];
    for (let number = 0; number < 9; number += 1) {
      calls.push(agents[number % 3].call('two', {}, { callId: `c${number}` }));
      await agents[number % 3].call('test.echo');
    }
    const skipped = await agents[2].cancel('c2');
    const closed = event(host, (/** @type {any} */ it) => it.type === 'session' && it.state === 'closed');
    await agents[1].shutdown();
    await closed;
    const drained = Promise.all(calls);
    for (let done = 0; done < order.length; done += 1) {
      release[done]?.();
      await agents[0].call('test.echo');
    }
    const ends = (await drained).map((it) => it.data ?? it.cancelled);
    return { skipped: skipped.cancelled, most, order, ends, held: host.stats().inFlight };
  });
  assert.equal(seen.skipped, true);
  // c1 was running when its agent left. Its handler ignores its signal, and its slot is free
  // nevertheless.
  assert.deepEqual(seen.order, ['c0', 'c1', 'c3', 'c5', 'c6', 'c8']);
  assert.deepEqual(seen.ends, ['c0', true, true, 'c3', true, 'c5', 'c6', true, 'c8']);
  assert.equal(seen.held, 0);
});

test('cancelling a parent cancels its children, leaves first, and waits for none of them', async () => {
  const seen = await lab.run(async ({ newHost, inPage, running }) => {
    const host = await newHost();
    /** @type {string[]} */
    const order = [];
    /** @type {Record<string, any>} */
    const answers = {};
    host.register('tree', {}, async (/** @type {any} */ { path, depth }, /** @type {any} */ context) => {
      context.signal.addEventListener('abort', () => order.push(`${path} ${context.signal.reason.message}`));
      if (depth === 0) return new Promise(() => {});
      const children = ['a', 'b'].map((name) => context.call('tree', { path: path + name, depth: depth - 1 }, { callId: `call ${path + name}` }));
      answers[path] = (await Promise.all(children)).map((it) => it.cancelled);
      return 'late';
    });
    const abp = await inPage(host);
    const leaf = running(host, 'call rbb');
    const root = abp.call('tree', { path: 'r', depth: 2 }, { callId: 'call r' });
    await leaf;
    const inFlight = host.stats().inFlight;
    const answer = await abp.cancel('call r', 'enough');
    const atOnce = [...order];
    const response = await root;
    const child = await abp.cancel('call rab');
    return { inFlight, answer, atOnce, response: response.cancelled, child, left: host.stats().inFlight, answers };
  });
  assert.equal(seen.inFlight, 7);
  assert.deepEqual(seen.atOnce.map((/** @type {string} */ it) => it.split(' ')[1]), Array(7).fill('enough'));
  const position = (/** @type {string} */ path) => seen.atOnce.findIndex((/** @type {string} */ it) => it.startsWith(`${path} `));
  for (const path of ['ra', 'rb', 'raa', 'rab', 'rba', 'rbb']) assert.ok(position(path) < position(path.slice(0, -1)), seen.atOnce.join());
  const { answer, response, child, left, answers } = seen;
  assert.deepEqual([answer.cancelled, response, child.cancelled, left], [true, true, true, 0]);
  assert.deepEqual(answers, { r: [true, true], ra: [true, true], rb: [true, true] });
});

test("a cancel of a child does not affect its parent; a parent that ends cancels the children that it did not await", async () => {
  const seen = await lab.run(async ({ newHost, inPage, running, turn }) => {
    const host = await newHost();
    /** @type {any} */
    const outcomes = {};
    const bare = ({ metadata: _, ...rest } = /** @type {any} */ ({})) => rest;
    host.register('parent', {}, async (/** @type {any} */ _, /** @type {any} */ { call }) => {
      const stop = new AbortController();
      const signalled = call('test.hold', {}, { callId: 'signalled', signal: stop.signal });
      const cancelled = call('test.hold', {}, { callId: 'child' });
      await call('test.started', { callId: 'signalled' });
      stop.abort('changed my mind');
      outcomes.signalled = bare(await signalled);
      outcomes.reason = (await call('test.report', { callId: 'signalled' })).data.reason;
      outcomes.never = bare(await call('test.hold', {}, { signal: AbortSignal.abort() }));
      outcomes.timeout = bare(await call('test.hold', {}, { timeout: 5 }));
      outcomes.odd = [];
      for (const given of [[undefined], ['nothing'], ['test.echo', null], ['test.echo', 7], ['test.echo', {}, { callId: '' }], ['test.echo', {}, { timeout: NaN }],
        ['test.echo', {}, { signal: 'x' }], ['test.echo', {}, { callId: 'signalled' }]]) outcomes.odd.push((await call(...given)).error?.code);
      outcomes.fine = (await call('test.echo', { a: 1 }, null)).data;
      outcomes.child = bare(await cancelled);
      void call('test.hold', {}, { callId: 'orphan' });
      await call('test.started', { callId: 'orphan' });
      return 'parent is well';
    });
    const abp = await inPage(host);
    const runs = running(host, 'child');
    const parent = abp.call('parent', {}, { callId: 'parent' });
    await runs;
    const answer = await abp.cancel('child');
    const response = await parent;
    await turn();
    return { answer: answer.cancelled, response: response.data, outcomes, orphan: await abp.cancel('orphan'), held: host.stats() };
  });
  const cancelled = { success: false, cancelled: true };
  assert.equal(seen.answer, true);
  assert.equal(seen.response, 'parent is well');
  const { odd, ...outcomes } = seen.outcomes;
  assert.deepEqual(outcomes, { signalled: cancelled, reason: 'changed my mind', never: cancelled, timeout: cancelled, fine: { a: 1 }, child: cancelled });
  assert.deepEqual(odd, ['INVALID_PARAMS', 'UNKNOWN_CAPABILITY', ...Array(6).fill('INVALID_PARAMS')]);
  assert.equal(seen.orphan.cancelled, true);
  assert.deepEqual([seen.held.inFlight, seen.held.contexts], [0, 0]);
});
