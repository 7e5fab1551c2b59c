import assert from 'node:assert/strict';
import { test } from 'node:test';
import { places, useWorkers } from '../support/workers-lab.mjs';

const workers = useWorkers();

/** @typedef {(typeof places)[number]} Place */

/** Runs a test with and without shared memory, in each installed browser. @param {string} name @param {(lab: any, ...args: any[]) => any} work @param {(seen: any, place: Place) => void} verify */
function everywhere(name, work, verify) {
  for (const place of places) {
    test(`${place.name}: ${name}`, { timeout: 30_000 }, async (context) => {
      const seen = await workers.run(context, place, work);
      if (seen !== undefined) verify(seen, place);
    });
  }
}

everywhere('a handler runs in a worker, and gets its data across', async (lab) => {
  const host = await lab.newHost();
  host.registerWorker('part', undefined, '/workers/parts.js');
  const agent = await lab.connect(host);
  const call = (/** @type {any} */ params, /** @type {any} */ options = {}) => agent.call('part', params, options);
  const where = await call({ part: 'where' });
  const data = { list: [1, { two: new Map([['three', new Date(3)]]) }], bytes: new Uint8Array([1, 2]) };
  const echo = await call({ part: 'echo', data });
  const error = await call({ part: 'fail', error: { code: 'MY_CODE', message: 'mine', retryable: true, retryAfter: 5, details: { a: 1 } } });
  const { error: plain } = await call({ part: 'fail', error: { message: 'plain' } });
  const unfit = await call({ part: 'unfit' });
  const cyclic = await call({ part: 'cyclic' });
  const again = await call({ part: 'echo', data: 1 });
  return { where: where.data, echo: echo.data.list[1].two.get('three').getTime() + echo.data.bytes[1], error: error.error, plain, unfit: unfit.error, cyclic: cyclic.error, again: again.data };
}, ({ where, echo, error, plain, unfit, cyclic, again }) => {
  assert.equal(where.worker, true);
  assert.match(where.name, /parts\.js/);
  assert.equal(echo, 5);
  assert.deepEqual(error, { code: 'MY_CODE', message: 'mine', retryable: true, retryAfter: 5, details: { a: 1 } });
  assert.deepEqual([plain.code, plain.message], ['OPERATION_FAILED', 'plain']);
  assert.equal(unfit.code, 'OPERATION_FAILED');
  assert.match(unfit.message, /cannot be sent/);
  assert.match(cyclic.message, /cyclic/);
  assert.equal(again, 1);
});

everywhere('what is moved is moved, and what is not is copied', async (lab) => {
  const host = await lab.newHost();
  host.registerWorker('part', undefined, '/workers/parts.js', { warm: false, pool: 1 });
  const agent = await lab.connect(host);
  const call = (/** @type {any} */ params, /** @type {any} */ options = {}) => agent.call('part', params, options);
  const bytes = new Uint8Array([1, 2, 3]).buffer;
  const { data: received } = await call({ part: 'received', bytes }, { transfer: [bytes] });
  const results = [];
  for (const move of [false, true]) {
    const { data } = await call({ part: 'buffer', move });
    await call({ part: 'wait', ms: 20 });
    results.push([data.own.byteLength, data.kept.byteLength, (await call({ part: 'left' })).data]);
  }
  return { received, moved: bytes.byteLength, results };
}, (seen) => {
  assert.deepEqual(seen, { received: { sum: 6 }, moved: 0, results: [[16, 8, { left: 16, kept: 8 }], [16, 8, { left: 0, kept: 8 }]] });
});

everywhere('the page makes the data of what comes from the worker: a URL that outlives it', async (lab) => {
  const host = await lab.newHost();
  const finish = (/** @type {any} */ { blob, ...data }) => {
    if (data.length === 0) throw Object.assign(new Error('it is empty'), { code: 'EMPTY' });
    return { ...data, url: URL.createObjectURL(blob) };
  };
  host.registerWorker('file', undefined, '/workers/parts.js', { finish, warm: false, pool: 1 });
  // This capability shares the worker, and has no schema.
  host.registerWorker('part', undefined, '/workers/parts.js', { warm: false, pool: 1 });
  const agent = await lab.connect(host);
  const { data } = await agent.call('file', { part: 'blob', text: 'kept' });
  const empty = await agent.call('file', { part: 'blob', text: '' });
  const other = await agent.call('part', { part: 'echo', data: { blob: 1 } });
  await agent.call('part', { part: 'closes' });
  const text = await (await fetch(data.url)).text();
  URL.revokeObjectURL(data.url);
  return { length: data.length, text, empty: [empty.success, empty.error?.code, empty.error?.message], other: other.data };
}, (seen) => {
  assert.deepEqual(seen, { length: 4, text: 'kept', empty: [false, 'EMPTY', 'it is empty'], other: { blob: 1 } });
});

everywhere('the page makes nothing of what a stopped call has returned, and what it still makes is not said to be ended', async (lab) => {
  const host = await lab.newHost();
  const source = `export default ({ ms }, context) => new Promise((resolve) => {
    if (ms) setTimeout(resolve, ms, {});
    else context.signal.addEventListener('abort', () => resolve({}));
    new BroadcastChannel('begun').postMessage(0);
  });`;
  const module = `data:text/javascript,${encodeURIComponent(source)}`;
  const options = { warm: false, pool: 1, settleGrace: 20_000 };
  let made = 0;
  let begin = () => {};
  let began = Promise.resolve();
  let release = () => {};
  const waits = () => {
    began = new Promise((resolve) => (begin = resolve));
    const released = new Promise((/** @type {(value?: unknown) => void} */ resolve) => (release = resolve));
    return released;
  };
  host.registerWorker('sync', undefined, module, { ...options, finish: () => (made += 1) });
  let released = waits();
  host.registerWorker('async', undefined, module, { ...options, settleGrace: 500, finish: async () => {
    begin();
    await released;
    return { finished: true };
  } });
  host.registerWorker('heeds', undefined, module, { ...options, finish: (/** @type {any} */ _, /** @type {any} */ { signal }) => new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    begin();
  }) });
  const agent = await lab.connect(host);
  const stopped = async (/** @type {string} */ name, /** @type {string} */ callId, /** @type {object} */ params, /** @type {() => Promise<unknown>} */ ready, after = () => {}) => {
    const call = agent.call(name, params, { callId });
    await ready();
    const cancel = agent.cancel(callId);
    after();
    return [await cancel, await call];
  };
  // A call would never have started while its worker still loads.
  const begun = () => lab.begins('begun');
  const told = await stopped('sync', 'told', {}, begun);
  const unaware = await stopped('sync', 'unaware', { ms: 600 }, begun);
  const kept = await stopped('async', 'kept', { ms: 1 }, () => began, () => release());
  released = waits();
  const left = await stopped('async', 'left', { ms: 1 }, () => began);
  release();
  released = waits();
  const heeded = await stopped('heeds', 'heeded', { ms: 1 }, () => began);
  return { told, unaware: [unaware[0].cancelled, unaware[1].data], kept: [kept[0].cancelled, kept[1].data], left, heeded, made, inFlight: host.stats().inFlight };
}, ({ told, unaware, kept, left, heeded, made, inFlight }) => {
  assert.deepEqual([told[0].metadata.stop, told[0].metadata.step, told[1].cancelled], ['returned', 'signal', true]);
  // These handlers never noticed the cancel, and did all their work.
  assert.deepEqual(unaware, [false, 1]);
  assert.equal(made, 1);
  assert.deepEqual(kept, [false, { finished: true }]);
  assert.deepEqual([left[0].metadata, left[1].metadata], [{ stop: 'abandoned' }, { stop: 'abandoned' }]);
  assert.deepEqual([heeded[0].metadata, heeded[1].metadata], [{ stop: 'returned' }, { stop: 'returned' }]);
  assert.equal(inFlight, 0);
});

everywhere('progress is told once in a frame, and the last of it always', async (lab) => {
  const host = await lab.newHost();
  host.registerWorker('part', undefined, '/workers/parts.js');
  const agent = await lab.connect(host);
  /** @type {number[]} */
  const told = [];
  const { data } = await agent.call('part', { part: 'progress', count: 20_000 }, { onProgress: (/** @type {any} */ info) => told.push(info.progress) });
  return { data, told: told.length, rises: told.every((it, at) => at === 0 || it > Number(told[at - 1])), last: told.at(-1), first: told[0] };
}, ({ data, told, rises, first, last }) => {
  assert.deepEqual(data, { count: 20_000 });
  assert.deepEqual([rises, first, last], [true, 1, 20_000]);
  assert.ok(told < 200, `${told}`);
});

everywhere('a handler calls and asks, and its own signal stops what it has called', async (lab) => {
  const host = await lab.newHost();
  host.registerWorker('part', undefined, '/workers/parts.js');
  const agent = await lab.connect(host, { onElicitation: async () => ({ success: true, data: { yes: 1 } }) });
  const call = (/** @type {any} */ params, /** @type {any} */ options = {}) => agent.call('part', params, options);
  const child = await call({ part: 'child', name: 'test.echo', params: { a: 1 } });
  const unknown = await call({ part: 'child', name: 'no.such' });
  const before = await call({ part: 'child', name: 'test.hold', abort: 'before' });
  const nested = await call({ part: 'child', name: 'part', params: { part: 'echo', data: 7 } });
  const later = await lab.connect(host).then((/** @type {any} */ other) => other.call('part', { part: 'child', name: 'test.hold', abort: 'later' }));
  const asked = await call({ part: 'ask' });
  return { child: child.data.data, unknown: unknown.data.error.code, before: before.data.metadata.stop, nested: nested.data.success ? nested.data.data : nested.data.error.code, later: later.data.metadata.stop, asked: asked.data.data };
}, (seen) => {
  assert.deepEqual(seen, { child: { a: 1 }, unknown: 'UNKNOWN_CAPABILITY', before: 'never-started', nested: 7, later: 'returned', asked: { yes: 1 } });
});

everywhere('a capability in a worker that calls itself gets a worker of its own', async (lab) => {
  const host = await lab.newHost();
  host.registerWorker('part', undefined, '/workers/parts.js', { pool: 1, warm: false });
  const agent = await lab.connect(host);
  const { data } = await agent.call('part', { part: 'child', name: 'part', params: { part: 'echo', data: 7 } });
  return data.data;
}, (seen) => assert.equal(seen, 7));

everywhere('a module without exports, as bundlers leave it, has its handler on its global object', async (lab) => {
  const host = await lab.newHost();
  host.registerWorker('twice', undefined, '/workers/global.js');
  const agent = await lab.connect(host);
  return (await agent.call('twice', { number: 21 })).data;
}, (data) => assert.deepEqual(data, { twice: 42 }));

everywhere('a classic script has its handler on its global object', async (lab) => {
  const host = await lab.newHost();
  host.registerWorker('classic', undefined, '/workers/classic.js', { type: 'classic' });
  return (await (await lab.connect(host)).call('classic', { text: 'old' })).data;
}, (seen) => assert.deepEqual(seen, { text: 'OLD', classic: 'function' }));

everywhere('a cancelled call that waits for its worker never starts, and other calls go on', async (lab) => {
  const host = await lab.newHost();
  host.registerWorker('part', undefined, '/workers/parts.js', { warm: false, pool: 3, settleGrace: 300 });
  host.registerWorker('patient', undefined, '/workers/parts.js', { warm: false, settleGrace: 20_000 });
  const agent = await lab.connect(host);
  const call = (/** @type {any} */ params, /** @type {any} */ options = {}) => agent.call('part', params, options);
  const started = lab.running(host, 'early');
  const early = call({ part: 'hold' }, { callId: 'early' });
  await started;
  const never = await agent.cancel('early');
  const other = call({ part: 'wait', ms: 600 });
  const both = Promise.all([lab.begins('spinning'), lab.begins('holding')]);
  const spins = call({ part: 'spin' }, { callId: 'spin' });
  const holds = agent.call('patient', { part: 'hold' }, { callId: 'hold' });
  await both;
  const [ended, returned] = await Promise.all([agent.cancel('spin'), agent.cancel('hold')]);
  return { early: await early, never, ended: ended.metadata.stop, returned: returned.metadata, other: (await other).data, spins: (await spins).cancelled, holds: (await holds).metadata };
}, ({ early, never, ended, returned, other, spins, holds }) => {
  assert.deepEqual(early, { success: false, cancelled: true, metadata: { stop: 'never-started' } });
  assert.deepEqual(never, { callId: 'early', cancelled: true, metadata: { stop: 'never-started' } });
  assert.deepEqual([ended, spins, other], ['terminated', true, { waited: 600 }]);
  assert.deepEqual([returned.stop, returned.step], ['returned', 'signal']);
  assert.deepEqual(holds, returned);
});

everywhere('no more workers are kept than the pool and one in reserve, and none of a closed host', async (lab) => {
  const host = await lab.newHost();
  host.registerWorker('part', { concurrency: 8 }, '/workers/parts.js', { pool: 2 });
  const agent = await lab.connect(host);
  const reserve = await lab.untilWorkers(1);
  await Promise.all(Array.from({ length: 8 }, () => agent.call('part', { part: 'wait', ms: 30 })));
  const kept = await lab.untilWorkers(3);
  dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
  return { reserve, kept, left: await lab.untilWorkers(0) };
}, (seen) => assert.deepEqual(seen, { reserve: 1, kept: 3, left: 0 }));

everywhere('a page that is left or frozen ends its workers, and with them their calls', async (lab) => {
  const host = await lab.newHost();
  host.registerWorker('part', undefined, '/workers/parts.js');
  const abp = await lab.inPage(host);
  const seen = [];
  // As in Chromium: `freeze` and `resume` do not bubble.
  for (const [type, comes, target] of /** @type {[string, string, EventTarget][]} */ ([['pagehide', 'pageshow', window], ['freeze', 'resume', document]])) {
    await abp.call('part', { part: 'echo' });
    // The call has its worker from here on.
    const started = lab.begins('spinning');
    const call = abp.call('part', { part: 'spin' }, { callId: type });
    await started;
    target.dispatchEvent(new Event(type));
    const { error, metadata } = await call;
    target.dispatchEvent(new Event(comes));
    // Leaving a page ends its session.
    const { initialized } = abp;
    if (!initialized) await abp.initialize(lab.INITIALIZE);
    seen.push([error?.code ?? metadata.stop, initialized, (await abp.call('part', { part: 'echo', data: 1 })).data]);
  }
  return { seen, inFlight: host.stats().inFlight };
}, ({ seen, inFlight }) => {
  assert.deepEqual(seen, [['abandoned', false, 1], ['BROWSER_ERROR', true, 1]]);
  assert.equal(inFlight, 0);
});

everywhere('a host that is closed waits for no proof', async (lab) => {
  const host = await lab.newHost();
  host.registerWorker('part', undefined, '/workers/parts.js');
  const abp = await lab.inPage(host);
  await abp.call('part', { part: 'echo' });
  const spins = lab.begins('spinning');
  const call = abp.call('part', { part: 'spin' }, { callId: 'spin' });
  await spins;
  const cancel = abp.cancel('spin');
  host.close();
  return { cancel: (await cancel).metadata.stop, call: (await call).metadata.stop };
}, (seen) => assert.deepEqual(seen, { cancel: 'abandoned', call: 'abandoned' }));
