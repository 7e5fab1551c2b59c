import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchPuppeteer } from '../support/browsers.mjs';
import { places, useWorkers } from '../support/workers-lab.mjs';

const workers = useWorkers();

/** Modules that cannot be loaded, and the errors of their calls. @type {[what: string, module: string, options: object, code: string, message: RegExp, retryable?: boolean][]} */
const unusable = [
  ['a module that is not there', '/workers/none.js', {}, 'CAPABILITY_UNAVAILABLE', /none\.js cannot be loaded/, true],
  ['a module with an error of syntax', 'data:text/javascript,this is none', {}, 'CAPABILITY_UNAVAILABLE', /cannot be loaded/],
  ['a module that throws', 'data:text/javascript,throw new Error("at once")', {}, 'CAPABILITY_UNAVAILABLE', /at once/],
  [
    'a TypeScript file that a bundler has inlined', `data:video/mp2t;base64,${'QUFB'.repeat(100)}`, {}, 'CAPABILITY_UNAVAILABLE',
    /^data:video\/mp2t;base64,(QUFB)+Q?U?F?… cannot be loaded: .{1,160}\. A bundler has inlined a TypeScript file: import it with \?worker&url$/,
  ],
  ['a module without a default export', 'data:text/javascript,export const a = 1', {}, 'CAPABILITY_UNAVAILABLE', /default export is not a function/],
  ['a classic script without a handler', '/workers/plain.js', { type: 'classic' }, 'CAPABILITY_UNAVAILABLE', /cannot be loaded/, true],
  ["a worker's script that is not there", '/workers/parts.js', { script: '/none/worker.js' }, 'BROWSER_ERROR', /worker\.js cannot be loaded/],
];

/** Opens a page of the lab in a separate browser. @param {Awaited<ReturnType<typeof launchPuppeteer>>} browser @param {boolean} [isolated] */
async function openedLab(browser, isolated = false) {
  const page = await browser.newPage();
  await page.goto(workers.server(isolated).url('/lab/'));
  await page.waitForSelector('html[data-ready]');
  return page;
}

test('Chromium: a file for the workers that could not be loaded is loaded for the next call', { timeout: 30_000 }, async () => {
  const browser = await launchPuppeteer();
  try {
    const page = await openedLab(browser);
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

test('Chromium: an error that a handler in a worker throws is written to the console once, with its stack', { timeout: 30_000 }, async () => {
  const browser = await launchPuppeteer();
  try {
    const page = await openedLab(browser, true);
    /** @type {string[]} */
    const written = [];
    page.on('console', async (message) => {
      if (message.type() !== 'error') return;
      const shown = await Promise.all(message.args().map((it) => it.evaluate((value) => String(/** @type {any} */ (value)?.stack ?? value)).catch(() => '')));
      written.push(shown.join(' '));
    });
    const lab = await page.evaluateHandle('lab');
    const seen = await page.evaluate(async (/** @type {any} */ lab) => {
      const host = await lab.newHost();
      const handler = 'export default function breaks({ code }) { throw code ? Object.assign(new Error("known"), { code }) : new Error("broken"); }';
      host.registerWorker('breaks', undefined, `data:text/javascript,${handler}`);
      const abp = await lab.inPage(host);
      // A handler that has seen that it must stop has not failed. It learned that without a message.
      const stopped = `export default (_params, { cancelled, progress }) => {
        progress({ progress: 1 });
        while (!cancelled());
        throw new Error('stopped');
      }`;
      host.registerWorker('stopped', undefined, `data:text/javascript,${encodeURIComponent(stopped)}`, { settleGrace: 20_000 });
      const began = lab.event(host, (/** @type {any} */ it) => it.type === 'progress');
      const call = abp.call('stopped', {}, { callId: 'stopped' });
      await began;
      const { metadata } = await abp.cancel('stopped');
      const answers = [await abp.call('breaks', { code: 'NO_PAPER' }), await abp.call('breaks', {}, { callId: 'mine' })];
      return [(await call).cancelled, metadata.stop, ...answers.map(({ error }) => error.message)];
    }, lab);
    assert.deepEqual(seen, [true, 'returned', 'known', 'broken']);
    while (written.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(written.length, 1);
    assert.match(written[0] ?? '', /caphost: breaks \(call mine\) has failed:/);
    assert.match(written[0] ?? '', /broken[^]*at breaks/);
  } finally {
    await browser.close();
  }
});

test('Chromium: a result of a handler in a worker that cannot be cloned is reported once in the console', { timeout: 30_000 }, async () => {
  const browser = await launchPuppeteer();
  try {
    const page = await openedLab(browser, true);
    /** @type {string[]} */
    const written = [];
    page.on('console', (message) => void (message.type() === 'error' && written.push(message.text())));
    const lab = await page.evaluateHandle('lab');
    const messages = await page.evaluate(async (/** @type {any} */ lab) => {
      const host = await lab.newHost();
      const serve = (/** @type {string} */ name, /** @type {string} */ data) => host.registerWorker(name, undefined, `data:text/javascript,${encodeURIComponent(`export default () => (${data})`)}`);
      serve('gives.function', '{ f() {} }');
      serve('gives.promise', '[Promise.resolve()]');
      serve('gives.symbol', '({ deep: [Symbol()] })');
      const abp = await lab.inPage(host);
      const said = [];
      for (const name of ['gives.function', 'gives.promise', 'gives.symbol']) said.push((await abp.call(name, {}, { callId: name })).error?.message);
      return said;
    }, lab);
    for (const message of messages) assert.match(message, /^The capability returned data that cannot be sent: /);
    while (written.length < messages.length) await new Promise((resolve) => setTimeout(resolve, 20));
    const expected = messages.map((/** @type {string} */ message, /** @type {number} */ at) => {
      const name = ['gives.function', 'gives.promise', 'gives.symbol'][at];
      return `caphost: ${name} (call ${name}) has failed: ${message}`;
    });
    // The browser does not keep the order of lines of several workers.
    assert.deepEqual(written.sort(), expected.sort());
  } finally {
    await browser.close();
  }
});

test('Chromium: a call that is cancelled while the files for workers still load never starts', { timeout: 30_000 }, async () => {
  const browser = await launchPuppeteer();
  try {
    const page = await openedLab(browser);
    await page.setRequestInterception(true);
    page.on('request', (request) => void (/workers|chunk-/.test(request.url()) ? undefined : request.continue()));
    const lab = await page.evaluateHandle('lab');
    const seen = await page.evaluate(async (/** @type {any} */ lab) => {
      const host = await lab.newHost();
      host.registerWorker('part', undefined, '/workers/parts.js');
      const abp = await lab.inPage(host);
      const began = lab.running(host, 'a');
      const call = abp.call('part', { part: 'echo' }, { callId: 'a' });
      await began;
      return { cancel: (await abp.cancel('a')).metadata, call: (await call).metadata, inFlight: host.stats().inFlight };
    }, lab);
    assert.deepEqual([seen.cancel.stop, seen.call.stop, seen.inFlight], ['never-started', 'never-started', 0]);
  } finally {
    await browser.close();
  }
});

for (const place of places.filter(({ isolated }) => !isolated)) {
  for (const [what, module, options, code, message, retryable = false] of unusable) {
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
      assert.equal(seen.first.retryable, retryable, seen.first.message);
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

  test(`${place.name}: a worker that ends while its call is being stopped counts as terminated`, { timeout: 30_000 }, async (context) => {
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
    // Nobody had to terminate the worker.
    assert.deepEqual(seen, { callId: 'a', cancelled: true, metadata: { stop: 'terminated' } });
  });

  test(`${place.name}: an unproven end is never called an end`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      // As in an insecure context.
      Object.defineProperty(navigator, 'locks', { value: undefined });
      const host = await lab.newHost();
      host.registerWorker('part', undefined, '/workers/parts.js');
      const agent = await lab.connect(host);
      await agent.call('part', { part: 'echo' });
      const spins = lab.begins('spinning');
      const call = agent.call('part', { part: 'spin' }, { callId: 'a' });
      await spins;
      return { cancel: await agent.cancel('a'), call: await call, next: (await agent.call('part', { part: 'echo', data: 1 })).data };
    });
    if (!seen) return;
    const { stop, step, took } = seen.cancel.metadata;
    assert.deepEqual([stop, step, seen.next], ['abandoned', 'terminate', 1]);
    // Nothing waits for the proof of the end.
    assert.ok(took >= 50 && took < 2500, `${took}`);
    assert.deepEqual(seen.call.metadata, seen.cancel.metadata);
  });

  test(`${place.name}: an invalid registration is refused at once`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const host = await lab.newHost();
      host.registerWorker('part', undefined, '/workers/parts.js', { warm: false });
      /** @type {string[]} */
      const said = [];
      for (const args of /** @type {any[][]} */ ([
        ['part', {}, '/a.js'],
        ['', {}, '/a.js'],
        ['a', 'described', '/a.js'],
        ['a', { concurrency: 0 }, '/a.js'],
        ['a', {}, 'http://'],
        ['a', {}],
        ['a', {}, () => 1],
        ['a', {}, '/a.js', 'module'],
        ['a', {}, '/a.js', { script: 'http://' }],
        ['a', {}, '/a.js', { script: 5 }],
        ['a', {}, '/a.js', { type: 'shared' }],
        ['a', {}, '/a.js', { type: 'constructor' }],
        ['a', {}, '/a.js', { pool: 0 }],
        ['a', {}, '/a.js', { pool: 1.5 }],
        ['a', {}, '/a.js', { pool: '2' }],
        ['a', {}, '/a.js', { pool: 65 }],
        ['a', {}, '/a.js', { warm: 'no' }],
        ['a', {}, '/a.js', { finish: 'data' }],
        ['a', {}, '/a.js', { settleGrace: -1 }],
        ['a', {}, '/a.js', { settleGrace: Infinity }],
        ['a', {}, '/a.js', { settleGrace: '50' }],
      ])) {
        try {
          host.registerWorker(...args);
          said.push('none');
        } catch (/** @type {any} */ error) {
          said.push(`${error.code} ${error.message}`);
        }
      }
      // As `register` accepts them.
      host.registerWorker('defaults', null, '/workers/parts.js', null);
      host.registerWorker('unset', undefined, '/workers/parts.js', { pool: 64, type: undefined, warm: undefined, finish: undefined, script: undefined, settleGrace: undefined });
      host.unregister('unset');
      const { data } = await (await lab.connect(host)).call('defaults', { part: 'echo', data: 1 });
      return { said, data, names: host.documents().filter((/** @type {any} */ it) => !it.name.startsWith('test.')).map((/** @type {any} */ it) => it.name) };
    });
    if (!seen) return;
    const words = [
      /registered already/, /name must have/, /options must be an object/, /concurrency/, /http:\/\/ is not a valid URL/, /undefined is not a valid URL/, /=> 1 is not a valid URL/,
      /the options of its workers must be an object/, /http:\/\/ is not a valid URL/, /5 is not a valid URL/, /type/, /type/, /pool/, /pool/, /pool/, /pool.*64/, /warm/, /finish/, /settleGrace/, /settleGrace/, /settleGrace/,
    ];
    assert.equal(seen.said.length, words.length);
    for (const [at, word] of words.entries()) {
      assert.match(seen.said[at], /^INVALID_PARAMS /, `${at}`);
      assert.match(seen.said[at], word);
    }
    assert.deepEqual([seen.data, seen.names], [1, ['defaults', 'part']]);
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

test('Chromium: a page that requires Trusted Types gives a worker a URL that it trusts', { timeout: 30_000 }, async (context) => {
  const [place] = places;
  const seen = await workers.run(context, /** @type {any} */ (place), async (lab) => {
    const policy = document.createElement('meta');
    policy.httpEquiv = 'content-security-policy';
    policy.content = "require-trusted-types-for 'script'; trusted-types app";
    document.head.append(policy);
    const { trustedTypes } = /** @type {any} */ (globalThis);
    const app = trustedTypes.createPolicy('app', { createScriptURL: (/** @type {string} */ url) => url });
    const trusted = (/** @type {string} */ url) => app.createScriptURL(url);
    const host = await lab.newHost();
    const options = { warm: false, pool: 1 };
    host.registerWorker('plain', undefined, '/workers/parts.js', options);
    host.registerWorker('trusted', undefined, trusted('/workers/parts.js'), { ...options, script: trusted('/caphost/worker.js') });
    host.registerWorker('classic', undefined, '/workers/classic.js', { ...options, type: 'classic', script: trusted('/caphost/worker.js') });
    const agent = await lab.connect(host);
    const plain = await agent.call('plain', { part: 'echo', data: 1 });
    const { data } = await agent.call('trusted', { part: 'echo', data: 1 });
    return { code: plain.error?.code, message: plain.error?.message, data, classic: (await agent.call('classic', { text: 'old' })).data?.text };
  });
  if (!seen) return;
  assert.equal(seen.code, 'BROWSER_ERROR');
  assert.match(seen.message, /TrustedScriptURL/);
  assert.deepEqual([seen.data, seen.classic], [1, 'OLD']);
});
