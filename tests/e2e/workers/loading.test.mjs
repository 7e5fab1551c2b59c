import assert from 'node:assert/strict';
import { test } from 'node:test';
import { places, useWorkers } from '../support/workers-lab.mjs';

const workers = useWorkers();

/** @param {string} source of a module */
const moduleOf = (source) => `data:text/javascript,${encodeURIComponent(source)}`;

/** Modules that do not load until the page has a lock `go`. */
const stuck = {
  'waits forever': 'await new Promise(() => {})',
  'computes forever': 'const channel = new BroadcastChannel("burns"); for (;;) { const end = Date.now() + 20; while (Date.now() < end); channel.postMessage(Date.now()); }',
};

for (const place of places.filter(({ isolated }) => !isolated)) {
  test(`${place.name}: a worker that ends while its module loads fails its call, and the next has another`, { timeout: 30_000 }, async (context) => {
    const source = 'if (!(await navigator.locks.query()).held.some((it) => it.name === "go")) { close(); await new Promise(() => {}); } export default (params) => params;';
    const seen = await workers.run(context, place, async (lab, module) => {
      const host = await lab.newHost();
      host.registerWorker('part', undefined, module);
      const agent = await lab.connect(host);
      const { error } = await agent.call('part', {}, { timeout: 5000 });
      await new Promise((resolve) => void navigator.locks.request('go', () => new Promise(() => resolve(true))));
      // The workers in reserve have ended meanwhile, or are ending.
      const end = performance.now() + 5000;
      let next;
      do next = await agent.call('part', { a: 1 }, { timeout: 5000 });
      while (!next.success && performance.now() < end);
      return { code: error?.code, next: next.data };
    }, moduleOf(source));
    if (seen) assert.deepEqual(seen, { code: 'OPERATION_FAILED', next: { a: 1 } });
  });

  for (const [how, work] of Object.entries(stuck)) {
    test(`${place.name}: a call cancelled while its module ${how} never starts, and its worker is gone`, { timeout: 30_000 }, async (context) => {
      const source = `const channel = new BroadcastChannel("loads"); channel.postMessage(0); if (!(await navigator.locks.query()).held.some((it) => it.name === "go")) { ${work} } export default (params) => params;`;
      const seen = await workers.run(context, place, async (lab, module) => {
        const host = await lab.newHost();
        host.registerWorker('part', undefined, module, { warm: false, pool: 1 });
        const agent = await lab.connect(host);
        let last = 0;
        const [burning, loading] = await Promise.all([lab.openChannel('burns'), lab.openChannel('loads')]);
        burning.onmessage = (/** @type {MessageEvent} */ { data }) => (last = data);
        const loads = new Promise((resolve) => (loading.onmessage = resolve));
        const call = agent.call('part', {}, { callId: 'a' });
        await loads;
        await new Promise((resolve) => setTimeout(resolve, 200));
        const cancel = await agent.cancel('a');
        const at = Date.now();
        const left = await lab.heldWorkers();
        await new Promise((resolve) => void navigator.locks.request('go', () => new Promise(() => resolve(true))));
        const next = [];
        for (const number of [1, 2]) next.push((await agent.call('part', { number }, { timeout: 5000 })).data);
        return { cancel, call: await call, next, left, late: last > at };
      }, moduleOf(source));
      if (!seen) return;
      const metadata = { stop: 'never-started' };
      assert.deepEqual(seen, {
        cancel: { callId: 'a', cancelled: true, metadata },
        call: { success: false, cancelled: true, metadata },
        next: [{ number: 1 }, { number: 2 }],
        left: 0,
        late: false,
      });
    });
  }
}
