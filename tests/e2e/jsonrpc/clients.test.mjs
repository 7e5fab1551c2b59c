import assert from 'node:assert/strict';
import { after, before, beforeEach, afterEach, describe, test } from 'node:test';
import { useLabWithGateway } from '../support/lab-gateway.mjs';
import { appPage, untilWorking, working } from './app-page.mjs';
import { kinds, startStdio } from './clients.mjs';

const lab = useLabWithGateway();

/** @param {Promise<any>} promise a request; its rejection has the error from the wire */
const failure = (promise) => promise.then(
  (result) => assert.fail(`it has a result: ${JSON.stringify(result)}`),
  ({ code, message, data }) => ({ code, message, data }),
);

/** @param {string} capability @param {string} requestId */
const cancelled = (capability, requestId, stop = 'returned') => ({
  code: -32800,
  message: `Tool execution cancelled: ${capability}`,
  data: { code: 'CANCELLED', retryable: false, requestId, partial: false, stop },
});

for (const { name, connect } of kinds) {
  describe(name, () => {
    /** @type {import('puppeteer-core').Page} */
    let page;
    /** @type {import('./clients.mjs').Client} */
    let client;
    before(async () => { page = await appPage(lab); });
    after(() => page?.close());
    beforeEach(async () => { client = await connect(lab.gateway); });
    afterEach(() => client?.leave());

    /** @param {string} capability @param {any} [params] @param {any} [options] @param {AbortSignal} [signal] */
    const call = (capability, params = {}, options = {}, signal = undefined) =>
      client.request('_capabilities/call', { capability, params, options }, signal);

    test('opens a session, lists and calls', async () => {
      const hello = await client.request('initialize', client.greeting);
      assert.deepEqual((hello.capabilities ?? hello.agentCapabilities).cancellation, { request: true });
      const { capabilities } = await client.request('_capabilities/list', {});
      const work = capabilities.find((/** @type {any} */ it) => it.name === 'test.work');
      assert.deepEqual(work, {
        name: 'test.work', description: 'Works until it is told to stop', inputSchema: { type: 'object' },
        outputSchema: {}, available: true, requirements: [], features: {},
      });
      const { data, metadata } = await call('test.echo', { text: 'ü\n', list: [null, 1.5] });
      assert.deepEqual(data, { text: 'ü\n', list: [null, 1.5] });
      assert.equal(typeof metadata.duration, 'number');
    });

    test('gets progress until the call is cancelled', async () => {
      const stop = new AbortController();
      const first = new Promise((resolve) => client.onProgress('t', resolve));
      const held = failure(call('test.work', {}, { progressToken: 't' }, stop.signal));
      const info = /** @type {any} */ (await first);
      assert.deepEqual([info.operationId, info.total, typeof info.progress], ['t', 1_000, 'number']);
      assert.equal(await working(page), 1);
      stop.abort();
      // Request 0: the id is in the error, and the handler has stopped before the error arrives.
      assert.deepEqual(await held, cancelled('test.work', '0'));
      assert.equal(await working(page), 0);
    });

    test('a call that is cancelled at once does not continue', async () => {
      const stop = new AbortController();
      stop.abort();
      const got = await failure(call('test.work', {}, {}, stop.signal));
      // The cancel follows the call. Whether the call has started by then depends on time.
      assert.ok(['never-started', 'returned'].includes(got.data.stop), got.data.stop);
      assert.deepEqual(got, cancelled('test.work', '0', got.data.stop));
      assert.equal(await working(page), 0);
      assert.deepEqual((await call('test.echo', { a: 1 })).data, { a: 1 });
    });

    test('a repeated cancel, a late cancel and a cancel of an unknown request are ignored', async () => {
      const stop = new AbortController();
      const held = failure(call('test.work', {}, {}, stop.signal));
      await untilWorking(page, 1);
      stop.abort();
      await client.cancel(0);
      assert.deepEqual(await held, cancelled('test.work', '0'));
      await client.cancel(0);
      for (const id of ['0', '', 77, null, undefined, [0]]) await client.cancel(id);
      // If one of these had been answered, the client would have closed or complained.
      assert.deepEqual((await call('test.echo', { n: 1 })).data, { n: 1 });
      await client.cancel(1);
      assert.deepEqual((await call('test.echo', { n: 2 })).data, { n: 2 });
    });

    test('of two calls only the cancelled one stops', async () => {
      const [one, two] = [new AbortController(), new AbortController()];
      const calls = [one, two].map(({ signal }) => failure(call('test.work', {}, {}, signal)));
      await untilWorking(page, 2);
      two.abort();
      assert.deepEqual(await calls[1], cancelled('test.work', '1'));
      assert.equal(await working(page), 1);
      one.abort();
      assert.deepEqual(await calls[0], cancelled('test.work', '0'));
    });

    test('a timeout and an operator cancel alike, and an abort of the app\'s own is a failure', async () => {
      assert.deepEqual(await failure(call('test.work', {}, { timeout: 50 })), cancelled('test.work', '0'));
      const { code, data } = await failure(call('test.selfAbort'));
      assert.deepEqual([code, data.code], [-32000, 'OPERATION_FAILED']);
      const held = failure(call('test.work'));
      await untilWorking(page, 1);
      const { runs } = await (await fetch(`${lab.gateway.url}/api/runs`)).json();
      const run = runs.find((/** @type {any} */ it) => it.state === 'running');
      assert.deepEqual([run.dialect, run.dialectId, run.capability], ['jsonrpc', '2', 'test.work']);
      const answer = await fetch(`${lab.gateway.url}/api/runs/${run.runId}/cancel`, { method: 'POST' });
      assert.equal((await answer.json()).cancelled, true);
      assert.deepEqual(await held, cancelled('test.work', '2'));
      assert.equal(await working(page), 0);
    });

    test('failures have their codes', async () => {
      const unknown = await failure(call('test.nothing'));
      assert.deepEqual([unknown.code, unknown.data.code], [-32602, 'UNKNOWN_CAPABILITY']);
      const bad = await failure(call('test.checked', { text: 'a' }));
      assert.deepEqual([bad.code, bad.data.code, bad.data.retryable], [-32602, 'INVALID_PARAMS', false]);
      const failed = await failure(call('test.fail', { message: 'broken', code: 'MINE', retryable: true }));
      assert.deepEqual([failed.code, failed.message, failed.data.code, failed.data.retryable], [-32000, 'broken', 'MINE', true]);
      const noMethod = await failure(client.request('no/method', {}));
      assert.equal(noMethod.code, -32601);
      const optional = await failure(client.request('$/optional', {}));
      assert.equal(optional.code, -32601);
    });

    test('a client that leaves stops its calls', async () => {
      const held = call('test.work').catch(() => undefined);
      await untilWorking(page, 1);
      await client.leave();
      await untilWorking(page, 0);
      client = await connect(lab.gateway);
      void held;
    });

    test('shutdown first settles the calls in flight', async () => {
      const order = /** @type {string[]} */ ([]);
      const held = call('test.work');
      held.catch(() => order.push('call'));
      await untilWorking(page, 1);
      const over = client.request('shutdown');
      over.then(() => order.push('shutdown'), () => {});
      assert.deepEqual(await failure(held), cancelled('test.work', '0'));
      await over;
      assert.deepEqual(order, ['call', 'shutdown']);
      await client.notify('exit', undefined);
    });
  });
}

describe('an app that goes', () => {
  for (const { name, connect } of kinds) {
    test(`settles the calls of ${name} with DISCONNECTED`, async () => {
      const page = await appPage(lab);
      const client = await connect(lab.gateway);
      try {
        const held = failure(client.request('_capabilities/call', { capability: 'test.work' }));
        await untilWorking(page, 1);
        await page.close();
        const { code, data } = await held;
        assert.deepEqual([code, data.code, data.retryable], [-32000, 'DISCONNECTED', true]);
      } finally {
        await client.leave();
        if (!page.isClosed()) await page.close();
      }
    });
  }
});

test('a stdio process that is killed stops its calls', async () => {
  const page = await appPage(lab);
  try {
    const { child, exited } = startStdio(lab.gateway);
    child.stdin.write('{"jsonrpc":"2.0","id":0,"method":"_capabilities/call","params":{"capability":"test.work"}}\n');
    await untilWorking(page, 1);
    child.kill('SIGKILL');
    await exited;
    await untilWorking(page, 0);
  } finally {
    await page.close();
  }
});
