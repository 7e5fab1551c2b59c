import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mjs';

const lab = useLab();

test('progress carries the token, fills in the percentage, and is dropped after the end', async () => {
  const seen = await lab.run(async ({ newHost, inPage, rawPort, connect, turn }) => {
    const host = await newHost();
    /** @type {any} */
    let kept;
    host.register('work', {}, async (/** @type {any} */ _, /** @type {any} */ context) => {
      kept = context;
      context.progress({ progress: 1, total: 4, stage: 'first', estimatedRemaining: 30 });
      context.progress({ progress: 9, total: 4 });
      context.progress({ progress: 7, total: 100 });
      context.progress({ progress: 2, total: 0 });
      context.progress({ progress: 3, total: 4, percentage: 10, operationId: 'forged' });
      return 'done';
    });
    const heard = (/** @type {any} */ raw) => raw.heard.filter((/** @type {any} */ it) => it.type === 'progress').map((/** @type {any} */ it) => it.payload);
    const raw = await rawPort(host);
    await raw.call('work', {}, { callId: 'c', progressToken: 'token' });
    kept.progress({ progress: 4 });
    await raw.call('work', {}, { callId: 'd', progressToken: 7 });
    const untold = await rawPort(host, false);
    await untold.request('initialize', { agent: { name: 'x', version: '1' }, protocolVersion: '0.1', features: { progress: false } });
    await untold.call('work', {}, { progressToken: 'x' });
    const agent = await connect(host);
    /** @type {any[]} */
    const infos = [];
    await agent.call('work', {}, { callId: 'e', onProgress: (/** @type {any} */ info) => infos.push(info) });
    await agent.call('work', {}, { callId: 'f', onProgress() { throw new Error('a listener of the caller'); } });
    const target = { calls: /** @type {any[]} */ ([]), __abp_progress: (/** @type {any} */ info) => target.calls.push(info) };
    const abp = await inPage(host, target);
    await abp.call('work', {}, { callId: 'g' });
    await turn();
    return { raw: heard(raw), untold: heard(untold), infos, page: target.calls, late: host.stats().lateProgress };
  });
  const infos = (/** @type {unknown} */ operationId) => [
    { operationId, progress: 1, total: 4, percentage: 25, stage: 'first', estimatedRemaining: 30 },
    { operationId, progress: 9, total: 4, percentage: 100 },
    { operationId, progress: 7, total: 100, percentage: 7 },
    { operationId, progress: 2, total: 0 },
    { operationId, progress: 3, total: 4, percentage: 10 },
  ];
  assert.deepEqual(seen.raw, [...infos('token'), ...infos(7)]);
  assert.deepEqual(seen.untold, []);
  assert.deepEqual(seen.infos, infos('e'));
  assert.deepEqual(seen.page, infos('g'));
  assert.equal(seen.late, 1);
});

test('the reports of a flooding handler are sent once in a frame, and the last report comes before the answer', async () => {
  const seen = await lab.run(async ({ newHost, rawPort, connect }) => {
    const host = await newHost();
    const flood = (/** @type {any} */ { count }, /** @type {any} */ { progress }) => {
      for (let n = 1; n <= count; n += 1) progress({ progress: n, total: count });
    };
    host.register('flood', {}, flood);
    // Gives the thread back from time to time.
    host.register('pauses', {}, async (/** @type {any} */ given, /** @type {any} */ context) => {
      for (let round = 0; round < 5; round += 1) {
        flood(given, context);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error('It broke');
    });
    let observed = 0;
    host.observe((/** @type {any} */ { type }) => (observed += Number(type === 'progress')));
    const agent = await connect(host);
    const told = async (/** @type {string} */ name, /** @type {number} */ count) => {
      /** @type {number[]} */
      const heard = [];
      const { success } = await agent.call(name, { count }, { onProgress: (/** @type {any} */ { progress }) => heard.push(progress) });
      return { success, heard };
    };
    const few = await told('flood', 200);
    const began = performance.now();
    const many = await told('flood', 100_000);
    const frames = (performance.now() - began) / 16;
    const pauses = await told('pauses', 1_000);
    const raw = await rawPort(host);
    await raw.call('flood', { count: 20_000 });
    return { few, many, frames, pauses, observed, last: raw.heard.slice(-2).map((/** @type {any} */ { type, payload }) => [type, payload.progress]) };
  });
  const { few, many, frames, pauses, observed, last } = seen;
  assert.deepEqual(few, { success: true, heard: Array.from({ length: 200 }, (_, n) => n + 1) });
  assert.deepEqual([many.success, many.heard[0], many.heard.at(-1)], [true, 1, 100_000]);
  assert.ok(many.heard.length <= 258 + frames, `${many.heard.length} in ${frames} frames`);
  assert.ok(many.heard.every((/** @type {number} */ it, /** @type {number} */ at) => at === 0 || it > many.heard[at - 1]), 'in order');
  // Progress from before a pause is delivered in the pause.
  assert.deepEqual([pauses.success, pauses.heard.filter((/** @type {number} */ it) => it === 1_000).length], [false, 5]);
  assert.ok(pauses.heard.length < 400, `${pauses.heard.length}`);
  assert.ok(observed < 1_500, `${observed} events for the observer`);
  assert.deepEqual(last, [['progress', 20_000], ['capabilities/call-result', null]]);
});

test('notifyProgress finds its call by token or callId, and drops what it cannot place', async () => {
  const seen = await lab.run(async ({ newHost, inPage, rawPort, turn }) => {
    const host = await newHost();
    const abp = await inPage(host);
    const raw = await rawPort(host);
    const held = [raw.call('test.hold', {}, { callId: 'a', progressToken: 'token' }), raw.call('test.hold', {}, { callId: 'b' })];
    await raw.call('test.started', { callId: 'b' });
    abp.notifyProgress({ operationId: 'token', progress: 1, total: 2 });
    abp.notifyProgress({ operationId: 'b', progress: 2 });
    for (const odd of [{ operationId: 'nothing', progress: 3 }, { progress: 4 }, null, undefined, 7, 'x', { operationId: {} }]) abp.notifyProgress(odd);
    await raw.cancel('a');
    await raw.cancel('b');
    abp.notifyProgress({ operationId: 'token', progress: 5 });
    await Promise.all(held);
    await turn();
    return raw.heard.filter((/** @type {any} */ it) => it.type === 'progress').map((/** @type {any} */ it) => it.payload);
  });
  assert.deepEqual(seen, [{ operationId: 'token', progress: 1, total: 2, percentage: 50 }, { operationId: 'b', progress: 2 }]);
});

test('notifications and capability changes reach every agent that accepts them, over its own transport', async () => {
  const seen = await lab.run(async ({ newHost, inPage, rawPort, connect, turn }) => {
    const host = await newHost();
    const raw = await rawPort(host);
    const deaf = await rawPort(host, false);
    await deaf.request('initialize', { agent: { name: 'x', version: '1' }, protocolVersion: '0.1', features: { notifications: false } });
    const none = await rawPort(host, false);
    /** @type {any[]} */
    const events = [];
    const agent = await connect(host, { onNotification: (/** @type {any} */ event, /** @type {any} */ data) => events.push([event, data]) });
    /** @type {any[]} */
    const page = [];
    const target = { __abp_notification: (/** @type {any} */ it) => page.push(['notification', it]), __abp_capabilities_changed: (/** @type {any} */ it) => page.push(['changed', it]) };
    const abp = await inPage(host, target);
    const told = () => page.length;
    abp.notify('app/saved', { file: 'a' });
    host.notify('app/idle');
    host.register('new', {}, async () => 'new');
    const called = (await agent.call('new')).data;
    const known = agent.capabilities.some((/** @type {any} */ it) => it.name === 'new');
    host.unregister('new');
    const refused = (await agent.call('new')).error.code;
    await turn();
    const count = told();
    await abp.shutdown();
    host.notify('app/later');
    await turn();
    return {
      raw: raw.heard.slice(1).map((/** @type {any} */ it) => [it.type, it.payload.event, it.payload.data]), deaf: deaf.heard.length - 1, none: none.heard.length,
      events, page, silent: told() === count, called, known, refused, left: agent.capabilities.length, timestamps: raw.heard.every((/** @type {any} */ it) => it.timestamp > 1e12),
    };
  });
  const changed = 'notifications/capabilities/list_changed';
  const added = { added: ['new'], removed: [], changed: [] };
  const removed = { added: [], removed: ['new'], changed: [] };
  const all = [['app/saved', { file: 'a' }], ['app/idle', undefined], [changed, added], [changed, removed]];
  const trim = (/** @type {any[][]} */ list) => list.map((it) => it.filter((part) => part !== null && part !== undefined));
  assert.deepEqual(trim(seen.raw), trim([...all, ['app/later']].map((it) => ['notification', ...it])));
  assert.deepEqual([seen.deaf, seen.none], [0, 0]);
  assert.deepEqual(trim(seen.events).slice(0, 2), trim(all.slice(0, 2)));
  assert.deepEqual(seen.page, [
    ['notification', { event: 'app/saved', data: { file: 'a' } }], ['notification', { event: 'app/idle' }], ['changed', added], ['changed', removed],
  ]);
  const { silent, called, known, refused, left, timestamps } = seen;
  assert.deepEqual({ silent, called, known, refused, left, timestamps }, { silent: true, called: 'new', known: true, refused: 'UNKNOWN_CAPABILITY', left: 14, timestamps: true });
});

test('a report that is too large, cyclic or cannot be cloned is dropped, and the call continues', async () => {
  const seen = await lab.run(async ({ newHost, inPage, connect, turn }) => {
    const host = await newHost({ maxMessageBytes: 1000, maxDepth: 8 });
    host.register('work', {}, (/** @type {any} */ _, /** @type {any} */ { progress }) => {
      /** @type {any} */
      const cyclic = { progress: 1 };
      cyclic.cyclic = cyclic;
      for (const info of [cyclic, { progress: 2, text: 'x'.repeat(1000) }, { progress: 3, it: () => {} }, { progress: 4 }]) progress(info);
      return 'done';
    });
    /** @type {any[]} */
    const told = [];
    const agent = await connect(host);
    const { data } = await agent.call('work', {}, { onProgress: (/** @type {any} */ { progress }) => told.push(progress) });
    const target = { told: /** @type {any[]} */ ([]), __abp_progress: (/** @type {any} */ { progress }) => target.told.push(progress) };
    const abp = await inPage(host, target);
    await abp.call('work');
    await turn();
    return { data, told, page: target.told };
  });
  assert.deepEqual(seen, { data: 'done', told: [4], page: [4] });
});
