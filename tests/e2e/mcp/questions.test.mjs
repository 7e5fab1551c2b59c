import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createHost } from 'caphost';
import { startGateway } from '../support/gateway.mjs';
import { connect, kinds, rejection } from './clients.mjs';

/** @typedef {import('./clients.mjs').Kind} Kind */

const FORM = {
  message: 'Which one?',
  requestedSchema: {
    type: 'object',
    properties: { color: { type: 'string', enum: ['red', 'green'], default: 'red' }, count: { type: 'integer', minimum: 1 } },
    required: ['color'],
  },
};

/** @type {Awaited<ReturnType<typeof startGateway>>} */
let gateway;
/** @type {import('caphost').Host} */
let host;
/** Resolves the promise that `wait` waits for. */
let goOn = () => {};
/** The calls of the app that have begun, and the cancels they have seen. */
const seen = { begun: 0, cancelled: /** @type {string[]} */ ([]), answers: /** @type {any[]} */ ([]) };

/** @param {() => unknown} check */
async function until(check) {
  const end = Date.now() + 20_000;
  while (!await check()) {
    assert.ok(Date.now() < end, `it did not come: ${check}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

before(async () => {
  host = await createHost({ app: { id: 'asks', name: 'Asks', version: '1.0.0' } });
  const plain = (/** @type {any} */ { metadata, ...answer }) => ({ ...answer, ...(metadata?.stop && { stop: metadata.stop }) });
  const told = (/** @type {AbortSignal} */ signal) => signal.addEventListener('abort', () => seen.cancelled.push(signal.reason.message));
  const pause = (/** @type {AbortSignal} */ signal) => new Promise((resolve, reject) => {
    goOn = () => resolve(undefined);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  const begin = () => (seen.begun += 1);
  host.register('ask', {}, async (request, { elicit, signal }) => {
    begin();
    told(signal);
    const answer = plain(await elicit(request));
    seen.answers.push(answer);
    return answer;
  });
  host.register('ask-both', {}, async ({ first, second }, { elicit, progress }) => {
    progress({ progress: 1, total: 2 });
    return Promise.all([elicit(first), elicit(second)].map(async (it) => plain(await it)));
  });
  host.register('ask-again', {}, async ({ times }, { elicit }) => {
    const answers = [];
    for (let number = 1; number <= times; number += 1) answers.push(plain(await elicit({ ...FORM, message: `${number}` })).data.count);
    return { answers };
  });
  host.register('wait-and-ask', {}, async (request, { elicit, signal }) => {
    begin();
    told(signal);
    await pause(signal);
    return plain(await elicit(request));
  });
  host.register('ask-and-wait', {}, async (request, { elicit, signal }) => {
    const answer = plain(await elicit(request));
    begin();
    told(signal);
    await pause(signal);
    return answer;
  });
  gateway = await startGateway();
  host.connectGateway(`${gateway.wsUrl}/abp/app`);
  await until(async () => (await fetch(`${gateway.url}/abp.json`)).status === 200);
});
after(async () => {
  host?.close();
  await gateway?.stop();
});
beforeEach(() => Object.assign(seen, { begun: 0, cancelled: [], answers: [] }));

/** What a call returns. @param {any} result */
const dataOf = (result) => {
  assert.ok(!result.isError, JSON.stringify(result));
  return result.structuredContent ?? JSON.parse(result.content[0].text);
};

/** Nothing is left of calls and questions. */
const nothingIsLeft = () => until(() => host.stats().elicitations === 0 && host.stats().inFlight === 0);

const [oldest] = kinds;
const asking = kinds.filter(({ era }) => era === 'legacy');
/** @type {(Kind & { versions?: string[] })[]} */
const all = [...asking, { .../** @type {Kind} */ (oldest), name: 'HTTP, 2025-06-18', versions: ['2025-06-18'] }];

for (const kind of all) {
  describe(kind.name, () => {
    /** @type {Awaited<ReturnType<typeof connect>>} */
    let it;
    /** @type {(params: any, signal: AbortSignal) => any} */
    let answer = () => assert.fail('asked');
    before(async () => {
      it = await connect(kind, gateway, { onQuestion: (params, signal) => answer(params, signal), versions: kind.versions });
    });
    after(async () => {
      await it?.client.close();
      assert.deepEqual(it?.complaints, []);
    });
    const call = (/** @type {string} */ name, /** @type {any} */ args, /** @type {any} */ options = {}) =>
      it.client.callTool({ name, arguments: args }, options);

    test('gets a question of the app, and the app gets the answer', async () => {
      /** @type {any[]} */
      const asked = [];
      for (const [said, got] of [
        [{ action: 'accept', content: { color: 'green', count: 2 } }, { success: true, data: { color: 'green', count: 2 } }],
        [{ action: 'decline' }, { success: false, error: { code: 'PERMISSION_DENIED', message: 'The user has declined', retryable: false } }],
        [{ action: 'cancel' }, { success: false, cancelled: true, stop: 'abandoned' }],
      ]) {
        answer = (params) => { asked.push(params); return said; };
        assert.deepEqual(dataOf(await call('ask', { ...FORM, method: 'elicitation/input' })), got);
      }
      assert.equal(asked.length, 3);
      assert.equal(asked[0].message, FORM.message);
      assert.deepEqual(asked[0].requestedSchema, FORM.requestedSchema);
      await nothingIsLeft();
    });

    test('is asked forms only', async () => {
      answer = () => assert.fail('asked');
      for (const request of [{ method: 'sampling/create', message: 'Say' }, { mode: 'url', message: 'Go', url: 'https://example.com' }]) {
        assert.equal(dataOf(await call('ask', request)).error.code, 'NOT_SUPPORTED');
      }
    });

    test('a question that the client cannot answer is an error for the app', async () => {
      answer = () => { throw new Error('No such form'); };
      const { success, error } = dataOf(await call('ask', FORM));
      assert.deepEqual([success, error.code], [false, 'OPERATION_FAILED']);
      assert.match(error.message, /No such form/);
    });

    test('several calls at once get their own answers, and one call several', async () => {
      answer = async ({ message }) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
        return { action: 'accept', content: { color: 'red', count: Number(message) } };
      };
      const numbers = Array.from({ length: 40 }, (_, number) => number + 1);
      const results = await Promise.all(numbers.slice(0, 20).map((number) => call('ask', { ...FORM, message: `${number}` })));
      assert.deepEqual(results.map((result) => dataOf(result).data.count), numbers.slice(0, 20));
      assert.deepEqual(dataOf(await call('ask-again', { times: 5 })), { answers: [1, 2, 3, 4, 5] });
      const both = dataOf(await call('ask-both', { first: { ...FORM, message: '1' }, second: { ...FORM, message: '2' } }, { onprogress() {} }));
      assert.deepEqual(both.map((/** @type {any} */ one) => one.data.count), [1, 2]);
      await nothingIsLeft();
    });

    test('a cancel before the question keeps it from being asked', async () => {
      answer = () => assert.fail('asked');
      const stop = new AbortController();
      const held = rejection(call('wait-and-ask', FORM, { signal: stop.signal }));
      await until(() => seen.begun === 1);
      stop.abort('enough');
      await held;
      await until(() => seen.cancelled.length === 1);
      goOn();
      await nothingIsLeft();
    });

    test('a cancel during the question withdraws it', async () => {
      /** @type {AbortSignal | undefined} */
      let question;
      answer = (_, signal) => new Promise((_resolve, reject) => {
        question = signal;
        signal.addEventListener('abort', () => reject(new Error('withdrawn')));
      });
      const stop = new AbortController();
      const held = rejection(call('ask', FORM, { signal: stop.signal }));
      await until(() => question);
      stop.abort('enough');
      await held;
      await until(() => seen.cancelled.length === 1);
      assert.equal(seen.cancelled[0], 'enough');
      await nothingIsLeft();
      await until(() => question?.aborted);
    });

    test('a cancel after the answer stops the call', async () => {
      answer = () => ({ action: 'accept', content: { color: 'red' } });
      const stop = new AbortController();
      const held = rejection(call('ask-and-wait', FORM, { signal: stop.signal }));
      await until(() => seen.begun === 1);
      stop.abort('enough');
      await held;
      await until(() => seen.cancelled.length === 1);
      await nothingIsLeft();
    });

    test('a cancel by an operator withdraws the question, and the call is cancelled', async () => {
      /** @type {AbortSignal | undefined} */
      let question;
      answer = (_, signal) => new Promise((_resolve, reject) => {
        question = signal;
        signal.addEventListener('abort', () => reject(new Error('withdrawn')));
      });
      const held = rejection(call('ask', FORM));
      await until(() => question);
      const { runs } = /** @type {any} */ (await (await fetch(`${gateway.url}/api/runs`)).json());
      const { runId } = runs.find((/** @type {any} */ run) => run.state === 'running');
      const cancelled = await fetch(`${gateway.url}/api/runs/${runId}/cancel`, { method: 'POST' });
      assert.equal((/** @type {any} */ (await cancelled.json())).cancelled, true);
      assert.equal((await held).code, -32800);
      await until(() => question?.aborted);
      await nothingIsLeft();
    });

    test('a question that the app no longer waits for is withdrawn, and the call goes on', async () => {
      /** @type {AbortSignal | undefined} */
      let question;
      answer = (_, signal) => new Promise((_resolve, reject) => {
        question = signal;
        signal.addEventListener('abort', () => reject(new Error('withdrawn')));
      });
      assert.equal(dataOf(await call('ask', { ...FORM, timeout: 50 })).error.code, 'TIMEOUT');
      await until(() => question?.aborted);
      assert.equal(seen.cancelled.length, 0);
    });
  });
}

describe('a client that has not declared elicitation', () => {
  for (const kind of kinds) {
    test(kind.name, async () => {
      const it = await connect(kind, gateway);
      assert.equal(dataOf(await it.client.callTool({ name: 'ask', arguments: FORM })).error.code, 'NOT_SUPPORTED');
      await it.client.close();
      assert.deepEqual(it.complaints, []);
    });
  }
});
