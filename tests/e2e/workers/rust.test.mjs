import assert from 'node:assert/strict';
import { test } from 'node:test';
import { places, useWorkers } from '../support/workers-lab.mjs';

const workers = useWorkers({ rust: true });

for (const place of places) {
  test(`${place.name}: a cancel drops the future of a Rust capability in a worker, and its guards have run`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const host = await lab.rustHost();
      const abp = await lab.inPage(host);
      const results = [];
      for (const way of ['computes', 'waits']) {
        const counter = globalThis.crossOriginIsolated && globalThis.SharedArrayBuffer ? new Int32Array(new SharedArrayBuffer(8)) : undefined;
        const running = lab.event(host, (/** @type {any} */ it) => it.type === 'progress');
        const call = abp.call('worker.pace', { way, counter }, { callId: way });
        await running;
        await new Promise((resolve) => setTimeout(resolve, 50));
        const cancel = await abp.cancel(way);
        const then = counter && [...counter];
        await new Promise((resolve) => setTimeout(resolve, 50));
        results.push({ cancel, call: await call, shares: counter !== undefined, drops: then?.[1] ?? 1, still: then?.[0] === counter?.[0] });
      }
      return results;
    });
    if (!seen) return;
    for (const [at, { cancel, call, shares, drops, still }] of seen.entries()) {
      assert.deepEqual([cancel.cancelled, cancel.metadata.stop], [true, 'dropped']);
      // A handler that waits learns of the cancel only by the message.
      assert.ok(shares && at === 0 ? ['flag', 'signal'].includes(cancel.metadata.step) : cancel.metadata.step === 'signal', cancel.metadata.step);
      assert.deepEqual(call.metadata, cancel.metadata);
      assert.deepEqual([drops, still], [1, true]);
      if (!place.name.startsWith('WebKit')) assert.equal(shares, place.isolated);
    }
  });

  test(`${place.name}: a Rust capability in a worker asks, calls, fails and panics, each in a separate call`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const host = await lab.rustHost();
      const agent = await lab.connect(host, { onElicitation: async () => ({ success: true, data: { value: 21 } }) });
      const asked = await agent.call('worker.ask');
      const summed = await agent.call('worker.sum', { below: 4 });
      const multiplied = await agent.call('worker.product', { below: 5 });
      const tooMuch = await agent.call('worker.product', { below: 50 });
      const inWorker = await agent.call('worker.host');
      const other = agent.call('worker.pace', { way: 'waits' }, { callId: 'other' });
      const panic = await agent.call('worker.run', { way: 'panic' });
      const next = await agent.call('worker.run', { way: 'return' });
      const missing = await agent.call('worker.missing');
      const params = await agent.call('worker.run', { way: 5 });
      const cancel = await agent.cancel('other');
      return { asked: asked.data, summed: summed.data, multiplied: multiplied.data, tooMuch: tooMuch.error.code, host: inWorker.error, panic: panic.error, next: next.data, missing: missing.error, params: params.error, other: (await other).metadata.stop, cancel: cancel.metadata.stop };
    });
    if (!seen) return;
    assert.equal(seen.panic.code, 'INTERNAL_ERROR');
    assert.equal(seen.host.code, 'NOT_SUPPORTED');
    assert.match(seen.host.message, /return before `Host::new` if `worker::is_worker\(\)`/);
    assert.equal(seen.missing.code, 'CAPABILITY_UNAVAILABLE');
    assert.match(seen.missing.message, /^The module serves no "worker.missing": .* worker::serve or worker::serve_sync /);
    assert.equal(seen.params.code, 'INVALID_PARAMS');
    assert.equal(seen.params.message, 'The parameters do not fit: invalid type: floating point `5.0`, expected a string');
    assert.deepEqual({ ...seen, panic: 0, host: 0, missing: 0, params: 0 }, { panic: 0, host: 0, missing: 0, params: 0, asked: { value: 42 }, summed: 6, multiplied: 24, tooMuch: 'TOO_MUCH', next: { done: true }, other: 'dropped', cancel: 'dropped' });
  });

  test(`${place.name}: a panic in a task or a closure of a worker fails its call, and the next call has a new worker`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const host = await lab.rustHost();
      const agent = await lab.connect(host);
      const panics = [];
      for (const way of ['panics in a task', 'panics in a closure', 'panics in a timer']) {
        panics.push((await agent.call('worker.pace', { way })).error);
        panics.push((await agent.call('worker.run', { way: 'return' })).data);
      }
      const early = (await agent.call('worker.pace', { way: 'ends before a panic in a timer' })).data;
      // The worker is idle by then, and is not used again.
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { panics, early, after: (await agent.call('worker.run', { way: 'return' })).data };
    });
    if (!seen) return;
    const fails = (/** @type {string} */ way) => ({ code: 'INTERNAL_ERROR', message: `The capability has failed: the app's own ${way} has panicked`, retryable: false });
    const done = { done: true };
    assert.deepEqual(seen, { panics: [fails('task'), done, fails('closure'), done, fails('timer'), done], early: done, after: done });
  });

  test(`${place.name}: a task that a Rust capability in a worker has spawned is told of the end of its call`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const agent = await lab.connect(await lab.rustHost());
      const first = await agent.call('worker.task', { way: 'return' });
      const call = agent.call('worker.task', { way: 'waits' }, { callId: 'waits' });
      await new Promise((resolve) => setTimeout(resolve, 50));
      const cancel = await agent.cancel('waits');
      const ends = await agent.call('worker.task', { way: 'return' });
      return [first.data, cancel.metadata?.stop, (await call).cancelled, ends.data];
    });
    if (seen) assert.deepEqual(seen, [[], 'dropped', true, [false, true]]);
  });
}
