import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { places, useWorkers } from '../support/workers-lab.mjs';

const workers = useWorkers();

/** What cannot be loaded, and the error of its call. @type {[what: string, module: string, options: object, code: string, message: RegExp][]} */
const unusable = [
  ['a module that is not there', '/workers/none.js', {}, 'CAPABILITY_UNAVAILABLE', /none\.js cannot be loaded/],
  ['a module with an error of syntax', 'data:text/javascript,this is none', {}, 'CAPABILITY_UNAVAILABLE', /cannot be loaded/],
  ['a module that throws', 'data:text/javascript,throw new Error("at once")', {}, 'CAPABILITY_UNAVAILABLE', /at once/],
  ['a module without a default export', 'data:text/javascript,export const a = 1', {}, 'CAPABILITY_UNAVAILABLE', /default export is no function/],
  ['a classic script without a handler', '/workers/plain.js', { type: 'classic' }, 'CAPABILITY_UNAVAILABLE', /cannot be loaded/],
  ["a worker's script that is not there", '/workers/parts.js', { script: '/none/worker.js' }, 'BROWSER_ERROR', /worker\.js cannot be loaded/],
];

test('Chromium: what could not be loaded for the workers is loaded for the next call', { timeout: 30_000 }, async () => {
  const browser = await launchPuppeteer();
  try {
    const page = await browser.newPage();
    await page.goto(workers.server(false).url('/lab/'));
    await page.waitForSelector('html[data-ready]');
    await page.setRequestInterception(true);
    let offline = true;
    page.on('request', (request) => void (offline && /workers|chunk-/.test(request.url()) ? request.abort() : request.continue()));
    const lab = await page.evaluateHandle('lab');
    const host = await page.evaluateHandle(async (/** @type {any} */ lab) => {
      const host = await lab.newHost();
      host.registerWorker('part', undefined, '/workers/parts.js');
      return { host, abp: await lab.inPage(host) };
    }, lab);
    const call = () => host.evaluate((/** @type {any} */ { abp }) => abp.call('part', { part: 'echo', data: 1 }));
    const first = await call();
    offline = false;
    assert.deepEqual([first.success, (await call()).data], [false, 1]);
  } finally {
    await browser.close();
  }
});

for (const place of places.filter(({ isolated }) => !isolated)) {
  for (const [what, module, options, code, message] of unusable) {
    test(`${place.name}: ${what} fails its call, and disturbs nothing else`, { timeout: 30_000 }, async (context) => {
      const seen = await workers.run(context, place, async (lab, module, options) => {
        const host = await lab.newHost();
        host.registerWorker('bad', undefined, module, options);
        host.registerWorker('good', undefined, '/workers/parts.js');
        const agent = await lab.connect(host);
        const [first, second, good] = await Promise.all([agent.call('bad'), agent.call('bad'), agent.call('good', { part: 'echo', data: 1 })]);
        return { first: first.error, second: second.error, good: good.data, inFlight: host.stats().inFlight };
      }, module, options);
      if (!seen) return;
      assert.equal(seen.first.code, code, seen.first.message);
      assert.match(seen.first.message, message);
      assert.deepEqual(seen.second, seen.first);
      assert.deepEqual([seen.good, seen.inFlight], [1, 0]);
    });
  }

  test(`${place.name}: a worker that closes itself fails its call, and the next has another`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const host = await lab.newHost();
      host.registerWorker('part', undefined, '/workers/parts.js', { warm: false });
      const agent = await lab.connect(host);
      const { error } = await agent.call('part', { part: 'closes' });
      return { error, next: (await agent.call('part', { part: 'echo', data: 1 })).data };
    });
    if (!seen) return;
    assert.deepEqual([seen.error.code, seen.next], ['OPERATION_FAILED', 1]);
    assert.match(seen.error.message, /closed itself/);
  });

  test(`${place.name}: one that ends while its call is to stop was terminated`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const host = await lab.newHost();
      const source = 'export default (_, { signal, progress }) => { progress({ progress: 0 }); signal.onabort = () => close(); return new Promise(() => {}); }';
      host.registerWorker('closes', undefined, `data:text/javascript,${encodeURIComponent(source)}`, { settleGrace: 60_000 });
      const agent = await lab.connect(host);
      const began = lab.event(host, (/** @type {any} */ it) => it.type === 'progress');
      void agent.call('closes', {}, { callId: 'a' });
      await began;
      return agent.cancel('a');
    });
    if (!seen) return;
    // Nobody had to end it.
    assert.deepEqual(seen, { callId: 'a', cancelled: true, metadata: { stop: 'terminated' } });
  });

  test(`${place.name}: what cannot be told from an end is never called one`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      // As in an insecure page.
      Object.defineProperty(navigator, 'locks', { value: undefined });
      const host = await lab.newHost();
      host.registerWorker('part', undefined, '/workers/parts.js');
      const agent = await lab.connect(host);
      await agent.call('part', { part: 'echo' });
      const call = agent.call('part', { part: 'spin' }, { callId: 'a' });
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { cancel: await agent.cancel('a'), call: await call, next: (await agent.call('part', { part: 'echo', data: 1 })).data };
    });
    if (!seen) return;
    const { stop, step, took } = seen.cancel.metadata;
    assert.deepEqual([stop, step, seen.next], ['abandoned', 'terminate', 1]);
    assert.ok(took >= 50 && took < 1000, `${took}`);
    assert.deepEqual(seen.call.metadata, seen.cancel.metadata);
  });

  test(`${place.name}: a registration that makes no sense is refused at once`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const host = await lab.newHost();
      host.registerWorker('part', undefined, '/workers/parts.js', { warm: false });
      const codes = [];
      for (const args of [['part', {}, '/a.js'], ['', {}, '/a.js'], ['a', {}, 'http://'], ['a', {}, '/a.js', { pool: 0 }], ['a', {}, '/a.js', { pool: 1.5 }], ['a', {}, '/a.js', { settleGrace: -1 }], ['a', { concurrency: 0 }, '/a.js']]) {
        try {
          host.registerWorker(...args);
          codes.push('none');
        } catch (/** @type {any} */ error) {
          codes.push(error.code);
        }
      }
      return { codes, names: host.documents().filter((/** @type {any} */ it) => !it.name.startsWith('test.')).map((/** @type {any} */ it) => it.name) };
    });
    if (!seen) return;
    assert.deepEqual(seen, { codes: Array(7).fill('INVALID_PARAMS'), names: ['part'] });
  });

  test(`${place.name}: a page whose policy forbids workers says so`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const policy = document.createElement('meta');
      policy.httpEquiv = 'content-security-policy';
      policy.content = "worker-src 'none'";
      document.head.append(policy);
      const host = await lab.newHost();
      host.registerWorker('part', undefined, '/workers/parts.js');
      return (await (await lab.connect(host)).call('part', { part: 'echo' })).error;
    });
    if (!seen) return;
    assert.equal(seen.code, 'BROWSER_ERROR', seen.message);
  });
}
