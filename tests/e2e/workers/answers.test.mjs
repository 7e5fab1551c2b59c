import assert from 'node:assert/strict';
import { test } from 'node:test';
import { places, useWorkers } from '../support/workers-lab.mjs';

const workers = useWorkers();

/** @param {string} source of a module */
const moduleOf = (source) => `data:text/javascript,${encodeURIComponent(source)}`;

for (const place of places.filter(({ isolated }) => !isolated)) {
  test(`${place.name}: a capability that a worker calls keeps its own data, and gives away only data that must be moved`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const host = await lab.newHost();
      host.registerWorker('part', undefined, '/workers/parts.js');
      const bytes = new ArrayBuffer(64);
      host.register('cached', {}, () => ({ bytes }));
      host.register('port', {}, () => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => port1.postMessage(data + 1);
        return { port: port2 };
      });
      host.register('locked', {}, () => {
        const stream = new ReadableStream();
        stream.getReader();
        return { stream };
      });
      const abp = await lab.inPage(host);
      const sizes = [];
      for (let number = 0; number < 2; number += 1) {
        const { data } = await abp.call('part', { part: 'child', name: 'cached' }, { timeout: 2000 });
        sizes.push(data?.data?.bytes?.byteLength, bytes.byteLength);
      }
      const locked = await abp.call('part', { part: 'child', name: 'locked' }, { timeout: 2000 });
      const port = await abp.call('part', { part: 'childPort', name: 'port' }, { timeout: 2000 });
      return { sizes, locked: locked.data ?? locked.error, port: port.data ?? port.error };
    });
    if (!seen) return;
    assert.deepEqual(seen.sizes, [64, 64, 64, 64]);
    assert.deepEqual(seen.port, { said: 8 });
    assert.equal(seen.locked.error?.code, 'OPERATION_FAILED', JSON.stringify(seen.locked));
    assert.match(seen.locked.error.message, /cannot be sent to the worker/);
  });

  test(`${place.name}: parameters that cannot be sent to a worker fail their call, and the next goes on`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab) => {
      const host = await lab.newHost();
      host.registerWorker('part', undefined, '/workers/parts.js', { warm: false, pool: 1 });
      const abp = await lab.inPage(host);
      const codes = [];
      for (const f of [() => {}, () => {}, 0]) {
        const { data, error } = await abp.call('part', { part: 'echo', data: 1, f }, { timeout: 2000 });
        codes.push(error?.code ?? data);
      }
      return { codes, inFlight: host.stats().inFlight };
    });
    if (seen) assert.deepEqual(seen, { codes: ['INVALID_PARAMS', 'INVALID_PARAMS', 1], inFlight: 0 });
  });

  test(`${place.name}: every thrown value is answered, and its code is kept`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab, module) => {
      const host = await lab.newHost();
      host.registerWorker('throws', undefined, module);
      const agent = await lab.connect(host);
      const errors = [];
      for (const how of ['proxy', 'details', 'code', 'nothing']) errors.push((await agent.call('throws', { how }, { timeout: 2000 })).error);
      return errors.map(({ code, message }) => [code, message]);
    }, moduleOf(`export default ({ how }) => {
      if (how === 'proxy') throw new Proxy({}, { get() { throw 1; } });
      if (how === 'details') throw Object.assign(new Error('mine'), { code: 'MY_CODE', details: { run() {} } });
      if (how === 'code') throw Object.assign(new Error('odd'), { code: () => {} });
      throw undefined;
    };`));
    if (!seen) return;
    assert.deepEqual(seen, [['OPERATION_FAILED', 'The capability failed'], ['MY_CODE', 'mine'], ['OPERATION_FAILED', 'odd'], ['OPERATION_FAILED', 'The capability failed']]);
  });

  test(`${place.name}: in a worker, too, a view is sent alone, a proxy is copied, and the parts of a thrown value that can be sent are kept`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab, module) => {
      const host = await lab.newHost();
      host.registerWorker('part', undefined, module);
      const memory = new ArrayBuffer(4096);
      host.register('view', {}, () => ({ view: new Uint8Array(memory, 8, 4), proxy: new Proxy({ a: [1] }, {}) }));
      const agent = await lab.connect(host);
      const call = async (/** @type {any} */ params) => (await agent.call('part', params, { timeout: 5000 }));
      const errors = [];
      for (const fails of ['object', 'aggregate', 'response', 'map']) errors.push((await call({ fails })).error);
      const { data } = await call({ view: new Uint8Array(memory, 0, 4) });
      return { errors, sizes: [data.got, data.asked, data.view.buffer.byteLength, memory.byteLength], proxy: data.proxy, rows: data.rows[499] };
    }, moduleOf(`export default async ({ fails, view }, { call }) => {
      const http = (details) => Object.assign(new Error('No luck'), { code: 'HTTP_500', retryable: true, details });
      if (fails === 'object') throw { status: 404, run() {} };
      if (fails === 'aggregate') throw new AggregateError([new TypeError('one')], 'all');
      if (fails === 'response') throw http(new Response('no'));
      if (fails === 'map') throw http({ map: new Map([['a', new Response('no')]]) });
      const { data } = await call('view', { view: new Uint8Array(4096).subarray(1, 2), proxy: new Proxy({}, {}) });
      return {
        got: view.buffer.byteLength, asked: data.view.buffer.byteLength, view: new Uint8Array(4096).subarray(4, 8),
        proxy: new Proxy({ deep: data.proxy }, {}), rows: new Proxy(Array.from({ length: 500 }, (_, at) => new Proxy({ at }, {})), {}),
      };
    };`));
    const http = { code: 'HTTP_500', message: 'No luck', retryable: true };
    const failed = { code: 'OPERATION_FAILED', retryable: false };
    if (seen) assert.deepEqual(seen, {
      errors: [
        { ...failed, message: 'The capability failed', details: { status: 404 } },
        { ...failed, message: 'all', details: { name: 'AggregateError', errors: [{ name: 'TypeError', message: 'one' }] } },
        http, http,
      ],
      sizes: [4, 4, 4, 4096], proxy: { deep: { a: [1] } }, rows: { at: 499 },
    });
  });

  test(`${place.name}: calls and questions of a handler after its end are answered as in the page`, { timeout: 30_000 }, async (context) => {
    const source = `
      const late = (ask) => new Promise((resolve) => setTimeout(() => resolve(ask()), 30));
      export default (_, { call, elicit }) => {
        const channel = new BroadcastChannel('late');
        Promise.all([late(() => call('test.echo')), late(() => elicit({ method: 'elicitation/input' }))]).then((answers) => channel.postMessage(answers));
        return 1;
      };`;
    const seen = await workers.run(context, place, async (lab, module) => {
      const host = await lab.newHost();
      host.registerWorker('late', undefined, module, { warm: false, pool: 1 });
      const inPage = (await import(module)).default;
      host.register('page', {}, inPage);
      const agent = await lab.connect(host);
      const channel = await lab.openChannel('late');
      const seen = [];
      for (const name of ['late', 'page']) {
        const heard = new Promise((resolve) => {
          channel.onmessage = (/** @type {MessageEvent} */ { data }) => resolve(data);
          setTimeout(resolve, 10_000, 'never');
        });
        await agent.call(name);
        seen.push(await heard);
      }
      return seen;
    }, moduleOf(source));
    if (!seen) return;
    // A cancel of that call does not find it, so the answer must not say that it is cancelled.
    const refused = { success: false, error: { code: 'PRECONDITION_FAILED', message: 'The call that made this one has ended', retryable: false } };
    assert.deepEqual(seen[1], [refused, { success: false, cancelled: true, metadata: { stop: 'never-started' } }]);
    assert.deepEqual(seen[0], seen[1]);
  });

  test(`${place.name}: arguments of a handler's calls are checked as in the page`, { timeout: 30_000 }, async (context) => {
    const source = `
      const aborted = (reason) => AbortSignal.abort(reason);
      const later = (...reason) => {
        const controller = new AbortController();
        setTimeout(() => controller.abort(...reason), 30);
        return controller.signal;
      };
      const unreadable = { addEventListener() {}, removeEventListener() {}, get aborted() { return true; }, get reason() { throw 1; } };
      const ways = {
        badSignal: ({ call }) => call('test.echo', {}, { signal: {} }),
        falseSignal: ({ call }) => call('test.echo', {}, { signal: false }),
        nullSignal: ({ call }) => call('test.echo', { a: 1 }, { signal: null }),
        unreadable: ({ call }) => call('test.echo', {}, { signal: unreadable }),
        nullOptions: ({ call }) => call('test.echo', { a: 1 }, null),
        numberOptions: ({ call }) => call('test.echo', { a: 1 }, 5),
        more: ({ call }) => call('test.echo', { a: 1 }, { onProgress() {}, timeout: 1000 }),
        badTimeout: ({ call }) => call('test.echo', {}, { timeout: 'soon' }),
        badCallId: ({ call }) => call('test.echo', {}, { callId: 5 }),
        badName: ({ call }) => call(undefined),
        badParams: ({ call }) => call('test.echo', 5),
        noReason: async ({ call }) => [await call('reasons', { of: 1 }, { signal: later() }), await call('reason', { of: 1 })],
        ownReason: async ({ call }) => [await call('reasons', { of: 2 }, { signal: later(new Error('mine')) }), await call('reason', { of: 2 })],
        oddReason: async ({ call }) => [await call('reasons', { of: 3 }, { signal: later({ odd: 1 }) }), await call('reason', { of: 3 })],
        abortedBefore: ({ call }) => call('test.echo', {}, { signal: aborted() }),
        port: async ({ call }) => {
          const { port1, port2 } = new MessageChannel();
          const heard = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
          const { success } = await call('speaks', { port: port2 });
          return { success, heard: await heard };
        },
      };
      export default async ({ way }, context) => {
        try {
          return { answer: await ways[way](context) };
        } catch (error) {
          return { thrown: String(error) };
        }
      };`;
    const seen = await workers.run(context, place, async (lab, module) => {
      const host = await lab.newHost();
      host.registerWorker('worker', undefined, module, { warm: false });
      host.register('page', {}, (await import(module)).default);
      host.register('speaks', {}, (/** @type {any} */ { port }) => void port.postMessage('spoken'));
      /** @type {Record<number, string>} */
      const reasons = {};
      host.register('reasons', {}, (/** @type {any} */ { of }, /** @type {any} */ { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => {
        reasons[of] = signal.reason.message;
        reject(signal.reason);
      })));
      host.register('reason', {}, (/** @type {any} */ { of }) => ({ reason: reasons[of] }));
      const agent = await lab.connect(host);
      /** @type {Record<string, any[]>} */
      const answers = {};
      for (const way of ['badSignal', 'falseSignal', 'nullSignal', 'unreadable', 'nullOptions', 'numberOptions', 'more', 'badTimeout', 'badCallId', 'badName', 'badParams', 'noReason', 'ownReason', 'oddReason', 'abortedBefore', 'port']) {
        answers[way] = [];
        for (const name of ['page', 'worker']) {
          const { data, error } = await agent.call(name, { way }, { timeout: 2000 });
          answers[way].push(JSON.parse(JSON.stringify(data ?? error ?? 'neither', (key, value) => (key === 'duration' ? undefined : value))));
        }
      }
      return answers;
    }, moduleOf(source));
    if (!seen) return;
    for (const [way, [page, worker]] of Object.entries(seen)) assert.deepEqual(worker, page, way);
    assert.equal(seen.badSignal[1].answer.error.code, 'INVALID_PARAMS');
    assert.deepEqual(seen.port[1].answer, { success: true, heard: 'spoken' });
  });

  test(`${place.name}: a message that a handler posts by itself disturbs nothing`, { timeout: 30_000 }, async (context) => {
    const seen = await workers.run(context, place, async (lab, module) => {
      /** @type {string[]} */
      const errors = [];
      addEventListener('error', ({ message }) => errors.push(message));
      const host = await lab.newHost();
      host.registerWorker('posts', undefined, module);
      const { data } = await (await lab.connect(host)).call('posts');
      return { data, errors };
    }, moduleOf('export default () => { postMessage({ own: 1 }); return 1; };'));
    if (seen) assert.deepEqual(seen, { data: 1, errors: [] });
  });
}
