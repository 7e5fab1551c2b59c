import assert from 'node:assert/strict';
import { test } from 'node:test';
import { places, useWorkers } from '../support/workers-lab.mjs';

const workers = useWorkers();

/** @param {string} source of a module */
const moduleOf = (source) => `data:text/javascript,${encodeURIComponent(source)}`;

for (const place of places.filter(({ isolated }) => !isolated)) {
  test(`${place.name}: a worker that has started workers never counts as terminated`, { timeout: 60_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab, module, firefox) => {
      const host = await lab.newHost();
      host.registerWorker('nests', undefined, module);
      const agent = await lab.connect(host);
      const stops = [];
      for (const nests of [false, true]) {
        // On a busy machine, `new Worker` in a worker of Firefox sometimes never returns.
        const most = firefox && nests ? 8 : 1;
        for (let begins = false, tries = 0; !begins && tries < most; tries += 1) {
          const callId = `nests ${nests} ${tries}`;
          const began = lab.event(host, (/** @type {any} */ it) => it.type === 'progress').then(() => true);
          const call = agent.call('nests', { nests }, { callId });
          begins = await Promise.race([began, new Promise((resolve) => setTimeout(resolve, most === 1 ? 20_000 : 3000, false))]);
          const { metadata } = await agent.cancel(callId);
          if (begins) stops.push([metadata.stop, metadata.step, (await call).metadata.stop]);
        }
      }
      return { stops, again: (await agent.call('nests', { echo: 1 })).data };
    }, moduleOf(`export default ({ nests, echo }, { progress }) => {
      if (echo) return echo;
      if (nests) new Worker(URL.createObjectURL(new Blob(['setInterval(() => {}, 10)'])));
      progress({ progress: 1 });
      for (;;);
    };`), place.name === 'Firefox');
    if (!seen) return;
    assert.deepEqual(seen, { stops: [['terminated', 'terminate', 'terminated'], ['abandoned', 'terminate', 'abandoned']], again: 1 });
  });
}
