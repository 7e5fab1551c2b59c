/** Functions in the parameters of a call: the agent lends them to the handler until the end of the call. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attach } from 'caphost/automation';
import { connectWebSocket } from 'caphost/agent';
import { inLab } from '../support/lab.mjs';
import { useLabWithGateway } from '../support/lab-gateway.mjs';

const lab = useLabWithGateway([], async () => ({
  pages: {
    '/functions.js': { contentType: 'text/javascript', body: `
      export function registerFunctions(host) {
        host.register('text.each', {}, async ({ words, onWord, steps }) => {
          const said = [];
          for (const word of words) said.push(await onWord(word, { length: word.length }));
          if (steps) said.push(await steps[1].done('nested'));
          return said;
        });
        host.register('text.careless', {}, async ({ onWord }) => { for (let i = 0; i < 100; i += 1) onWord(i); return 'done'; });
        host.register('text.catches', {}, async ({ onWord }) => {
          try { return await onWord(); } catch (error) { return [error instanceof Error, error.name, error.message, error.code]; }
        });
        host.register('text.passes', {}, async ({ onWord }) => onWord());
        host.register('text.waits', {}, async ({ onWord }, { signal }) => {
          const state = (globalThis.waited = { told: [] });
          state.keep = onWord;
          try { await onWord('first'); } catch (error) { state.told.push(error.code); throw error; }
          return signal.aborted;
        });
        host.register('text.keeps', {}, async ({ onWord }) => { globalThis.kept = onWord; return onWord('during'); });
        host.register('text.schema', { inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } }, async ({ n, onWord }) => onWord(n));
        if (globalThis.document) host.registerWorker('text.worker', {}, '/in-worker.js', { warm: false });
        host.register('text.bytes', {}, async ({ onWord }) => { const bytes = await onWord(new Uint8Array([1, 2, 3])); return bytes; });
      }` },
    '/framed/': `<!doctype html><script type="module">
      import { createHost } from '/caphost/index.js'; import { registerFunctions } from '/functions.js';
      const host = await createHost({ app: { id: 'framed', name: 'Framed', version: '1' } });
      registerFunctions(host); host.acceptMessages(); host.expose(); globalThis.host = host; document.documentElement.dataset.ready = 'yes';
    </script>`,
    '/in-worker.js': { contentType: 'text/javascript', body: `export default async ({ onWord }) => typeof onWord;` },
    '/functions-worker.js': { contentType: 'text/javascript', body: `
      import { createHost } from '/caphost/index.js'; import { registerFunctions } from '/functions.js';
      const host = await createHost({ app: { id: 'worker', name: 'Worker', version: '1' } });
      registerFunctions(host); host.acceptPort(self);` },
  },
}));

/** Connects an agent in that way. Runs in the page. */
const connectIn = `async ({ newHost, agents }, way) => {
  const { registerFunctions } = await import('/functions.js');
  if (way === 'window') {
    const frame = document.createElement('iframe');
    frame.src = '/framed/';
    document.body.append(frame);
    return agents.connectWindow(frame.contentWindow);
  }
  if (way === 'worker') return agents.connectPort(new Worker('/functions-worker.js', { type: 'module' }));
  const host = (globalThis.host = await newHost());
  registerFunctions(host);
  if (way === 'port') {
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    return agents.connectPort(port2);
  }
  const ours = { post: (it) => theirs.onmessage?.(it), close: () => theirs.onclose?.() };
  const theirs = { post: (it) => ours.onmessage?.(it), close: () => ours.onclose?.() };
  host.accept(theirs);
  return agents.connect(ours);
}`;

/** @param {string} way @param {(agent: any) => any} work */
const withAgent = (way, work) => lab.run(async (page, way, connectIn, work) => {
  const agent = await (0, eval)(`(${connectIn})`)(page, way);
  try {
    return await (0, eval)(`(${work})`)(agent);
  } finally {
    await agent.shutdown();
  }
}, way, connectIn, String(work));

for (const way of ['port', 'window', 'worker', 'page']) {
  test(`${way}: a function gets its arguments, and the handler gets what the function returns`, { timeout: 30_000 }, async () => {
    const seen = await withAgent(way, async (agent) => {
      const api = agent.as();
      /** @type {unknown[]} */
      const heard = [];
      const words = ['a', 'bc'];
      const data = await api.text.each({
        words,
        onWord: async (/** @type {string} */ word, /** @type {object} */ info) => {
          heard.push([word, info]);
          return word.toUpperCase();
        },
        steps: [{}, { done: (/** @type {string} */ it) => `${it}!` }],
      });
      const invoked = await agent.invoke('text.each', { words, onWord: (/** @type {string} */ it) => it });
      const bytes = await api.text.bytes({ onWord: (/** @type {Uint8Array} */ it) => it.map((one) => one + 1) });
      return { data, heard, invoked, bytes: [...bytes], schema: await api.text.schema({ n: 7, onWord: (/** @type {number} */ it) => it + 1 }) };
    });
    assert.deepEqual(seen, { data: ['A', 'BC', 'nested!'], heard: [['a', { length: 1 }], ['bc', { length: 2 }]], invoked: ['a', 'bc'], bytes: [2, 3, 4], schema: 8 });
  });

  test(`${way}: what a function throws reaches the handler`, { timeout: 30_000 }, async () => {
    const seen = await withAgent(way, async (agent) => {
      const api = agent.as();
      const thrown = [
        () => { throw new RangeError('too far'); },
        async () => { throw Object.assign(new Error('no room'), { code: 'NO_ROOM' }); },
        () => { throw 'text'; },
        () => () => {},
      ];
      const caught = [];
      for (const onWord of thrown) caught.push(await api.text.catches({ onWord }));
      // A handler that does not catch the error passes it on to the agent.
      const passed = await api.text.passes({ onWord: thrown[1] }).catch((/** @type {any} */ error) => [error.code, error.message]);
      return { caught, passed };
    });
    assert.deepEqual(seen.caught.slice(0, 2), [[true, 'RangeError', 'too far', null], [true, 'Error', 'no room', 'NO_ROOM']]);
    assert.deepEqual(seen.caught[2].slice(1, 3), ['Error', 'text']);
    assert.equal(seen.caught[3][1], 'DataCloneError');
    assert.deepEqual(seen.passed, ['NO_ROOM', 'no room']);
  });

  test(`${way}: functions that the handler called without waiting are run before the call resolves`, { timeout: 30_000 }, async () => {
    const seen = await withAgent(way, async (agent) => {
      let runs = 0;
      const data = await agent.as().text.careless({ onWord: () => { runs += 1; } });
      return [data, runs];
    });
    assert.deepEqual(seen, ['done', 100]);
  });

  test(`${way}: a cancel ends the function's answer, and the handler with it`, { timeout: 30_000 }, async () => {
    const seen = await withAgent(way, async (agent) => {
      const stop = new AbortController();
      const begun = new Promise((resolve) => {
        const call = agent.as().text.waits({ onWord: (/** @type {string} */ it) => { resolve([it, call]); return new Promise(() => {}); } }, { signal: stop.signal });
        call.catch(() => {});
        Object.assign(globalThis, { call });
      });
      const [word] = /** @type {any} */ (await begun);
      stop.abort();
      const error = await /** @type {any} */ (globalThis).call.catch((/** @type {any} */ it) => it);
      return [word, error.name, error.stop];
    });
    assert.deepEqual(seen, ['first', 'AbortError', 'returned']);
  });
}

test('after the end of its call, a function is not run any more, and the handler is told', { timeout: 30_000 }, async () => {
  const seen = await withAgent('port', async (agent) => {
    /** @type {string[]} */
    const heard = [];
    const data = await agent.as().text.keeps({ onWord: (/** @type {string} */ it) => { heard.push(it); return it; } });
    const { kept } = /** @type {any} */ (globalThis);
    const late = await kept('after').catch((/** @type {any} */ error) => error.code);
    // Nobody waits for this one, and nothing is reported.
    /** @type {string[]} */
    const uncaught = [];
    addEventListener('unhandledrejection', () => uncaught.push('one'));
    kept('again');
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { data, heard, late, uncaught };
  });
  assert.deepEqual(seen, { data: 'during', heard: ['during'], late: 'CANCELLED', uncaught: [] });
});

test('a handler in a worker of the app gets no functions, and the call says so', { timeout: 30_000 }, async () => {
  const seen = await withAgent('port', async (agent) => {
    const error = await agent.as().text.worker({ onWord: () => 1 }).catch((/** @type {any} */ it) => it);
    return { code: error.code, message: error.message, plain: await agent.invoke('text.worker', {}) };
  });
  assert.deepEqual(seen, { code: 'NOT_SUPPORTED', message: 'The parameters hold a function, and the handler runs in a worker of the app, which gets no functions', plain: 'undefined' });
});

test('an agent that is gone ends the answers of its functions', { timeout: 30_000 }, async () => {
  const seen = await withAgent('port', async (agent) => {
    const { host } = /** @type {any} */ (globalThis);
    const call = agent.as().text.waits({ onWord: () => new Promise(() => {}) }).catch((/** @type {any} */ error) => error.name);
    while (host.stats().inFlight === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await agent.shutdown();
    return { call: await call, told: /** @type {any} */ (globalThis).waited.told, inFlight: host.stats().inFlight };
  });
  assert.deepEqual(seen, { call: 'AbortError', told: ['CANCELLED'], inFlight: 0 });
});

test('10 000 calls with functions leave nothing behind', { timeout: 120_000 }, async (t) => {
  const page = await lab.page();
  t.after(() => page.close());
  await inLab(page, async (given, connectIn) => {
    const agent = await (0, eval)(`(${connectIn})`)(given, 'port');
    Object.assign(globalThis, { api: agent.as() });
  }, connectIn);
  const devTools = await page.createCDPSession();
  const measure = async () => {
    for (let round = 0; round < 3; round += 1) {
      await devTools.send('HeapProfiler.collectGarbage');
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
    }
    const { JSHeapUsedSize = 0, JSEventListeners = 0 } = await page.metrics();
    const { prototype } = await page.evaluateHandle(() => MessagePort).then(async (type) => ({ prototype: await type.getProperty('prototype') }));
    const ports = await page.queryObjects(prototype);
    const count = await ports.evaluate((all) => /** @type {any} */ (all).length);
    await ports.dispose();
    return { heap: JSHeapUsedSize, listeners: JSEventListeners, ports: count };
  };
  const calls = (/** @type {number} */ count) => page.evaluate(async (wanted) => {
    const { api } = /** @type {any} */ (globalThis);
    let runs = 0;
    for (let done = 0; done < wanted; done += 50) {
      await Promise.all(Array.from({ length: 50 }, () => api.text.each({ words: ['a'], onWord: () => { runs += 1; } })));
    }
    return runs;
  }, count);
  assert.equal(await calls(2_000), 2_000);
  const before = await measure();
  assert.equal(await calls(10_000), 10_000);
  const after = await measure();
  assert.equal(after.ports, before.ports);
  assert.ok(after.listeners <= before.listeners + 5, `${before.listeners} then ${after.listeners} listeners`);
  assert.ok(after.heap - before.heap < 2_000_000, `the heap grew by ${after.heap - before.heap} bytes`);
});

test('over a way that carries JSON, the error names the parameter and the reason', { timeout: 60_000 }, async (t) => {
  const page = await lab.page(lab.server.url('/framed/'));
  t.after(() => page.close());
  const agents = [await attach(page), await (async () => {
    await page.evaluate((url) => /** @type {any} */ (window).host.connectGateway(url), lab.urls.app);
    for (;;) {
      try {
        return await connectWebSocket(`${lab.urls.agent.split('?')[0]}?app=framed`);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  })()];
  for (const agent of agents) {
    t.after(() => agent.shutdown());
    await assert.rejects(agent.as().text.each({ words: [], steps: [{ done: () => 1 }] }), (/** @type {any} */ error) => {
      assert.equal(error.code, 'NOT_SUPPORTED');
      assert.match(error.message, /^Bad params\.steps\.0\.done: it is a function, and this connection carries only data/);
      return true;
    });
    assert.deepEqual(await agent.as().text.each({ words: [] }), []);
  }
});

test('parameters that only look like lent functions are refused', { timeout: 30_000 }, async () => {
  const seen = await withAgent('port', async (agent) => {
    const member = 'caphost/callbacks';
    const codes = [];
    for (const it of [7, null, {}, { port: {}, paths: [['a']] }]) codes.push((await agent.call('test.echo', { a: 1, [member]: it })).error?.code);
    for (const paths of ['a', [[]], [['b']], [['a', 'length']], [['__proto__', 'x']], [['constructor', 'prototype', 'x']], [[7]], [[{}]]]) {
      const { port2 } = new MessageChannel();
      codes.push((await agent.call('test.echo', { a: 1, [member]: { port: port2, paths } }, { transfer: [port2] })).error?.code);
    }
    return { codes, x: 'x' in {}, echo: (await agent.call('test.echo', { a: 1 })).data };
  });
  assert.deepEqual(seen, { codes: Array(12).fill('INVALID_PARAMS'), x: false, echo: { a: 1 } });
});
