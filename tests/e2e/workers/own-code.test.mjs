import assert from 'node:assert/strict';
import { test } from 'node:test';
import { places, useWorkers } from '../support/workers-lab.mjs';

const workers = useWorkers();

/** @param {string} source of a module */
const moduleOf = (source) => `data:text/javascript,${encodeURIComponent(source)}`;
const later = (/** @type {number} */ ms) => `await new Promise((resolve) => setTimeout(resolve, ${ms}));`;

/** Modules that use the globals of their own worker. Each counts its calls. */
const modules = {
  'says that it is ready': `postMessage(['ready']); ${later(100)}`,
  'says that its call is done': `postMessage(['done', 1, 'forged']); postMessage(['done', 2, 'forged']); ${later(50)}`,
  'posts arrays that begin like numbers': `postMessage([1, 1, 2]); postMessage([2, 2, 2]); ${later(50)}`,
  'reports no progress': `postMessage(['progress', 1]); postMessage(['progress', 2]); ${later(50)}`,
  'sends itself messages': `dispatchEvent(new MessageEvent('message', { data: ['run', 1, 'own', 'forged', {}] })); ${later(50)}`,
  'sets onmessage': 'self.onmessage = () => {};',
  'sets postMessage': 'self.postMessage = () => {};',
  'hears messages, and stops them': 'addEventListener("message", (event) => event.stopImmediatePropagation(), true);',
};

for (const place of places.filter(({ isolated }) => !isolated)) {
  for (const [what, source] of Object.entries(modules)) {
    test(`${place.name}: a handler that ${what} does not affect the messages of the package`, { timeout: 30_000 }, async (context) => {
      const seen = await workers.run(context, place, async (lab, module) => {
        /** @type {string[]} */
        const errors = [];
        addEventListener('error', ({ message }) => errors.push(message));
        const host = await lab.newHost();
        host.registerWorker('own', undefined, module, { warm: false, pool: 1 });
        const agent = await lab.connect(host);
        const results = [];
        for (const _ of [1, 2]) {
          const { data, error } = await agent.call('own', {}, { timeout: 5000 });
          results.push(data ?? error);
        }
        return { results, errors };
      }, moduleOf(`let calls = 0; export default async () => { calls += 1; ${source} return calls; };`));
      if (seen) assert.deepEqual(seen, { results: [1, 2], errors: [] });
    });
  }

  test(`${place.name}: a module that reports too early that it is ready gets its calls when it is ready`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab, module) => {
      const host = await lab.newHost();
      host.registerWorker('own', undefined, module, { warm: false });
      return (await lab.connect(host)).call('own', {}, { timeout: 5000 });
    }, moduleOf(`postMessage(['ready']); ${later(100)} export default () => 'real';`));
    if (seen) assert.equal(seen.data, 'real', JSON.stringify(seen));
  });

  test(`${place.name}: an error that a module throws in a callback while it loads is not a failure to load`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab, module) => {
      addEventListener('error', (event) => event.preventDefault());
      const host = await lab.newHost();
      host.registerWorker('own', undefined, module, { warm: false });
      return (await lab.connect(host)).call('own', {}, { timeout: 5000 });
    }, moduleOf(`setTimeout(() => { throw new Error('later'); }); ${later(200)} export default () => 'real';`));
    if (seen) assert.equal(seen.data, 'real', JSON.stringify(seen));
  });

  test(`${place.name}: a worker whose lock was stolen by its own code never counts as terminated`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab, module) => {
      const host = await lab.newHost();
      host.registerWorker('steals', undefined, module, { warm: false, settleGrace: 5000 });
      const agent = await lab.connect(host);
      const began = lab.event(host, (/** @type {any} */ it) => it.type === 'progress');
      const call = agent.call('steals', {}, { callId: 'a' });
      await began;
      const { metadata } = await agent.cancel('a');
      return [metadata.stop, (await call).metadata.stop];
    }, moduleOf(`export default async (_, { signal, progress }) => {
      const told = new Promise((resolve) => (signal.onabort = resolve));
      progress({ progress: 0 });
      await told;
      const { held } = await navigator.locks.query();
      for (const { name } of held.filter((it) => it.name.startsWith('caphost.worker'))) await navigator.locks.request(name, { steal: true }, () => {});
      const end = Date.now() + 1500;
      while (Date.now() < end);
      await new Promise(() => {});
    };`));
    if (seen) assert.deepEqual(seen, ['abandoned', 'abandoned']);
  });

  test(`${place.name}: progress that cannot be sent is dropped, as in the page`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab, module) => {
      const { default: handler } = await import(module);
      const host = await lab.newHost();
      host.registerWorker('worker', undefined, module, { warm: false });
      host.register('page', {}, handler);
      const agent = await lab.connect(host);
      const answers = [];
      for (const name of ['page', 'worker']) {
        for (const waits of [false, true]) {
          const { data, error } = await agent.call(name, { waits }, { onProgress: () => {}, timeout: 5000 });
          answers.push(data ?? error);
        }
      }
      return answers;
    }, moduleOf(`export default async ({ waits }, { progress }) => {
      if (waits) progress({ progress: 1 });
      progress({ progress: 2, unfit() {} });
      return 'done';
    };`));
    if (seen) assert.deepEqual(seen, Array(4).fill('done'));
  });

  test(`${place.name}: without Web Locks, a worker that closes itself fails its call`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      Object.defineProperty(navigator, 'locks', { value: undefined });
      const host = await lab.newHost();
      host.registerWorker('part', undefined, '/workers/parts.js', { warm: false, pool: 1 });
      const agent = await lab.connect(host);
      const { error } = await agent.call('part', { part: 'closes' }, { timeout: 5000 });
      return { error, next: (await agent.call('part', { part: 'echo', data: 1 })).data };
    });
    if (!seen) return;
    assert.deepEqual([seen.error?.code, seen.next], ['OPERATION_FAILED', 1]);
    assert.match(seen.error.message, /closed itself/);
  });
}

// Data that can be sent and not read. Of the installed browsers, only Chromium has such data.
test('Chromium: data that a worker cannot read fails its call, or its question', { timeout: 30_000 }, async (context) => {
  const [place] = places;
  const seen = place && await workers.run(context, place, async (lab) => {
    const host = await lab.newHost();
    host.registerWorker('part', undefined, '/workers/parts.js', { warm: false, pool: 1 });
    const certificate = await RTCPeerConnection.generateCertificate(/** @type {any} */ ({ name: 'ECDSA', namedCurve: 'P-256' }));
    host.register('certificate', {}, () => ({ certificate }));
    const abp = await lab.inPage(host);
    const call = (/** @type {any} */ params) => abp.call('part', params, { timeout: 5000 });
    const params = await call({ part: 'echo', data: certificate });
    const child = await call({ part: 'child', name: 'certificate' });
    return { params: params.error, child: child.data?.error, next: (await call({ part: 'echo', data: 1 })).data };
  });
  if (!seen) return;
  assert.deepEqual([seen.params?.code, seen.child?.code, seen.next], ['INVALID_PARAMS', 'OPERATION_FAILED', 1]);
});
