import assert from 'node:assert/strict';
import { test } from 'node:test';
import { places, useWorkers } from '../support/workers-lab.mjs';

const workers = useWorkers();

for (const place of places.filter(({ isolated }) => !isolated)) {
  test(`${place.name}: a page that is left or frozen starts no worker before it is shown again`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const started = [];
      const { Worker: Native } = window;
      window.Worker = class extends Native {
        /** @param {ConstructorParameters<typeof Native>} given */
        constructor(...given) {
          super(...given);
          started.push(given);
        }
      };
      const host = await lab.newHost();
      host.registerWorker('part', { concurrency: 1 }, '/workers/parts.js', { pool: 1 });
      const abp = await lab.inPage(host);
      const results = [];
      // As in Chromium: `freeze` and `resume` do not bubble.
      for (const [leaves, comes, target] of /** @type {[string, string, EventTarget][]} */ ([['pagehide', 'pageshow', window], ['freeze', 'resume', document]])) {
        await abp.call('part', { part: 'echo' });
        const began = lab.begins('spinning');
        const calls = ['', ' waits', ' waits too'].map((more) => abp.call('part', { part: 'spin' }, { callId: leaves + more, timeout: 5000 }));
        await began;
        const before = started.length;
        target.dispatchEvent(new Event(leaves));
        const answers = await Promise.all(calls);
        // Leaving a page ends its session.
        if (!abp.initialized) await abp.initialize(lab.INITIALIZE);
        const later = await abp.call('part', { part: 'echo' });
        const more = started.length - before;
        target.dispatchEvent(new Event(comes));
        const { data } = await abp.call('part', { part: 'echo', data: 1 });
        results.push({ ends: [...answers, later].map(({ error, metadata }) => error?.code ?? metadata.stop), more, data });
      }
      return results;
    });
    if (!seen) return;
    assert.deepEqual(seen, [
      { ends: ['abandoned', 'never-started', 'never-started', 'BROWSER_ERROR'], more: 0, data: 1 },
      { ends: Array(4).fill('BROWSER_ERROR'), more: 0, data: 1 },
    ]);
  });

  test(`${place.name}: a hidden page keeps no worker idle, also of calls that are made meanwhile`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const until = (/** @type {number} */ wanted) => lab.untilWorkers(wanted, 3000);
      let hidden = false;
      Object.defineProperty(document, 'hidden', { get: () => hidden });
      const host = await lab.newHost();
      host.registerWorker('part', undefined, '/workers/parts.js', { pool: 2 });
      const abp = await lab.inPage(host);
      await abp.call('part', { part: 'echo' });
      const shown = await until(2);
      hidden = true;
      document.dispatchEvent(new Event('visibilitychange'));
      const left = await until(0);
      const answers = await Promise.all([1, 2].map((data) => abp.call('part', { part: 'echo', data })));
      const after = await until(0);
      hidden = false;
      document.dispatchEvent(new Event('visibilitychange'));
      return { shown, left, data: answers.map((it) => it.data), after, again: await until(1) };
    });
    if (seen) assert.deepEqual(seen, { shown: 2, left: 0, data: [1, 2], after: 0, again: 1 });
  });

  test(`${place.name}: workers of a module end with the last capability that uses it`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const host = await lab.newHost();
      const abp = await lab.inPage(host);
      const kept = [];
      for (const number of [1, 2, 3]) {
        host.registerWorker('part', { replace: true }, `/workers/parts.js?${number}`, { pool: 1 });
        await abp.call('part', { part: 'echo' });
        kept.push(await lab.untilWorkers(2));
      }
      // Another capability that uses the module, and a call that is not done.
      host.registerWorker('other', undefined, '/workers/parts.js?3', { pool: 1 });
      const began = lab.running(host, 'other');
      const running = abp.call('other', { part: 'wait', ms: 2000 }, { callId: 'other' });
      await began;
      host.unregister('part');
      const shared = await lab.untilWorkers(2);
      host.unregister('other');
      const busy = await lab.untilWorkers(1);
      const { data } = await running;
      return { kept, shared, busy, data, left: await lab.untilWorkers(0) };
    });
    if (seen) assert.deepEqual(seen, { kept: [2, 2, 2], shared: 2, busy: 1, data: { waited: 2000 }, left: 0 });
  });

  test(`${place.name}: an option that is undefined has its default`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const host = await lab.newHost();
      const options = { concurrency: undefined, settleGrace: undefined };
      host.registerWorker('part', options, '/workers/parts.js', { warm: false, pool: 1, settleGrace: 60_000 });
      const agent = await lab.connect(host);
      const calls = [1, 2, 3].map(() => agent.call('part', { part: 'wait', ms: 300 }));
      let over = false;
      void Promise.all(calls).then(() => (over = true));
      let atOnce = 0;
      while (!over) {
        atOnce = Math.max(atOnce, await lab.heldWorkers());
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const held = lab.running(host, 'a');
      const call = agent.call('part', { part: 'wait', ms: 500 }, { callId: 'a' });
      await held;
      // The handler was not told of the cancel, so it completes within its grace.
      const { cancelled } = await agent.cancel('a');
      return { atOnce, cancelled, data: (await call).data };
    });
    if (seen) assert.deepEqual(seen, { atOnce: 1, cancelled: false, data: { waited: 500 } });
  });

  test(`${place.name}: the options of a later registration of a module count for its workers`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const host = await lab.newHost();
      const abp = await lab.inPage(host);
      host.registerWorker('part', undefined, '/workers/parts.js', { pool: 1, warm: false });
      await abp.call('part', { part: 'echo' });
      host.registerWorker('more', undefined, '/workers/parts.js', { pool: 3 });
      await Promise.all(Array.from({ length: 3 }, () => abp.call('more', { part: 'wait', ms: 100 })));
      return lab.untilWorkers(4);
    });
    if (seen !== undefined) assert.equal(seen, 4);
  });
}
