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
  gateway = await startGateway({ args: ['--mcp-answer-timeout', '5s'] });
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
/** @type {(Kind & { versions?: string[] })[]} */
const all = [...kinds, { .../** @type {Kind} */ (oldest), name: 'HTTP, 2025-06-18', versions: ['2025-06-18'] }];

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

    // A client of 2026-07-28 says nothing more of a call whose question it cannot answer.
    test('a question that the client cannot answer is an error for the app', { skip: kind.era === 'modern' }, async () => {
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
      // A client of 2026-07-28 has no request open that it could cancel.
      assert.equal(seen.cancelled[0], kind.era === 'modern' ? 'The client has not answered the question in time' : 'enough');
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
      let answerNow = () => {};
      answer = (_, signal) => new Promise((resolve, reject) => {
        question = signal;
        signal.addEventListener('abort', () => reject(new Error('withdrawn')));
        if (kind.era === 'modern') answerNow = () => resolve({ action: 'accept', content: { color: 'red' } });
      });
      const held = rejection(call('ask', FORM));
      await until(() => question);
      const { runs } = /** @type {any} */ (await (await fetch(`${gateway.url}/api/runs`)).json());
      const { runId } = runs.find((/** @type {any} */ run) => run.state === 'running');
      const cancelled = await fetch(`${gateway.url}/api/runs/${runId}/cancel`, { method: 'POST' });
      assert.equal((/** @type {any} */ (await cancelled.json())).cancelled, true);
      answerNow();
      assert.equal((await held).code, -32800);
      if (kind.era === 'legacy') await until(() => question?.aborted);
      await nothingIsLeft();
    });

    test('a question that the app no longer waits for is withdrawn, and the call goes on', async () => {
      /** @type {AbortSignal | undefined} */
      let question;
      answer = (_, signal) => new Promise((resolve, reject) => {
        question = signal;
        signal.addEventListener('abort', () => reject(new Error('withdrawn')));
        // A client of 2026-07-28 hears that only after its answer.
        if (kind.era === 'modern') setTimeout(() => resolve({ action: 'accept', content: { color: 'red' } }), 300);
      });
      assert.equal(dataOf(await call('ask', { ...FORM, timeout: 50 })).error.code, 'TIMEOUT');
      if (kind.era === 'legacy') await until(() => question?.aborted);
      assert.equal(seen.cancelled.length, 0);
    });
  });
}

describe('a client that has not declared elicitation', () => {
  /** @type {typeof gateway} A gateway with the options that it has by default. */
  let byDefault;
  before(async () => {
    byDefault = await startGateway();
    host.connectGateway(`${byDefault.wsUrl}/abp/app`);
    await until(async () => (await fetch(`${byDefault.url}/abp.json`)).status === 200);
  });
  after(() => byDefault?.stop());
  for (const kind of kinds) {
    test(kind.name, async () => {
      const it = await connect(kind, byDefault);
      assert.equal(dataOf(await it.client.callTool({ name: 'ask', arguments: FORM })).error.code, 'NOT_SUPPORTED');
      await it.client.close();
      assert.deepEqual(it.complaints, []);
    });
  }
});

describe('a state of 2026-07-28', () => {
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let secure;
  /** The clients' tokens. */
  const [one, two] = ['for-one', 'for-two'];
  before(async () => {
    const tokens = ['app=for-apps', `agent=${one}`, `agent=${two}`];
    secure = await startGateway({ args: [...tokens.flatMap((token) => ['--token', token]), '--mcp-answer-timeout', '5s'] });
    host.connectGateway(`${secure.wsUrl}/abp/app`, { token: 'for-apps' });
    await until(async () => (await call('ask', {}, { ...META, 'io.modelcontextprotocol/clientCapabilities': {} })).result?.isError !== true);
  });
  after(() => secure?.stop());
  let id = 0;
  /** The answer to a call. @param {string} name @param {any} more @param {any} [meta] @param {string} [token] */
  const call = async (name, more, meta = META, token = one) => {
    const response = await fetch(`${secure.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${token}`,
        'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: id += 1, method: 'tools/call', params: { name, arguments: FORM, _meta: meta, ...more } }),
    });
    const text = await response.text();
    const answer = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
    assert.equal(answer.id, id);
    return answer;
  };
  const accept = (/** @type {any} */ asked, /** @type {any} */ content = { color: 'green' }) =>
    Object.fromEntries(Object.keys(asked.inputRequests).map((key) => [key, { action: 'accept', content }]));

  test('goes on with the same call, once', async () => {
    const { result: asked } = await call('ask', {});
    assert.equal(asked.resultType, 'input_required');
    assert.deepEqual(Object.values(asked.inputRequests), [{ method: 'elicitation/create', params: FORM }]);
    const again = { requestState: asked.requestState, inputResponses: accept(asked) };
    const { result } = await call('ask', again);
    assert.equal(result.resultType, 'complete');
    assert.deepEqual(dataOf(result), { success: true, data: { color: 'green' } });
    assert.equal(seen.begun, 1);
    assert.equal((await call('ask', again)).error.code, -32602, 'a second time');
    await nothingIsLeft();
  });

  test('that was changed, is made up or is of another tool leaves the call as it is', async () => {
    const { result: asked } = await call('ask', {});
    const { requestState } = asked;
    const inputResponses = accept(asked);
    for (let at = 0; at < requestState.length; at += 7) {
      const changed = requestState.slice(0, at) + (requestState[at] === 'a' ? 'b' : 'a') + requestState.slice(at + 1);
      assert.equal((await call('ask', { requestState: changed, inputResponses })).error.code, -32602, `${at}`);
    }
    for (const made of ['', 'x', requestState.slice(0, -2), `${requestState}00`, 7, {}, 'a'.repeat(200)]) {
      assert.equal((await call('ask', { requestState: made, inputResponses })).error.code, -32602, JSON.stringify(made));
    }
    assert.equal((await call('ask', { requestState, inputResponses }, META, two)).error.code, -32602, 'of another client');
    assert.equal((await call('ask-both', { requestState, inputResponses })).error.code, -32602);
    assert.equal((await call('ask', { requestState, inputResponses: [] })).error.code, -32602);
    assert.deepEqual(dataOf((await call('ask', { requestState, inputResponses })).result).success, true);
    await nothingIsLeft();
  });

  test('without an answer, or with one that cannot be read, asks again', async () => {
    let { result: asked } = await call('ask', {});
    const [key] = Object.keys(asked.inputRequests);
    const states = new Set();
    for (const inputResponses of [undefined, {}, { other: { action: 'accept' } }, { [String(key)]: { action: 'maybe' } }, { [String(key)]: 7 }]) {
      states.add(asked.requestState);
      ({ result: asked } = await call('ask', { requestState: asked.requestState, inputResponses }));
      assert.deepEqual(Object.keys(asked.inputRequests), [key]);
      assert.ok(!states.has(asked.requestState));
    }
    assert.equal((await call('ask', { requestState: [...states][0], inputResponses: accept(asked) })).error.code, -32602, 'an old one');
    const { result } = await call('ask', { requestState: asked.requestState, inputResponses: { [String(key)]: { action: 'decline' } } });
    assert.equal(dataOf(result).error.code, 'PERMISSION_DENIED');
    await nothingIsLeft();
  });

  test('of a call that has ended meanwhile gives its end', async () => {
    const { result: asked } = await call('ask', { arguments: { ...FORM, timeout: 50 } });
    await until(() => seen.answers.length === 1);
    const { result } = await call('ask', { requestState: asked.requestState, inputResponses: accept(asked) });
    assert.equal(dataOf(result).error.code, 'TIMEOUT');
    await nothingIsLeft();
  });

  test('that is not used in time is of no use, and its call is cancelled', async () => {
    const { result: asked } = await call('ask', {});
    await until(() => seen.cancelled.length === 1);
    await nothingIsLeft();
    const { error } = await call('ask', { requestState: asked.requestState, inputResponses: accept(asked) });
    assert.equal(error.code, -32602);
    assert.match(error.message, /does not wait/);
  });

  test('is not given to a client that fills in no forms', async () => {
    for (const elicitation of [undefined, { url: {} }]) {
      const meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': { elicitation } };
      assert.equal(dataOf((await call('ask', {}, meta)).result).error.code, 'NOT_SUPPORTED');
    }
  });

  test('has all questions that the app asks at once', async () => {
    const both = { first: { ...FORM, message: '1' }, second: { ...FORM, message: '2' } };
    const { result: asked } = await call('ask-both', { arguments: both });
    const messages = Object.values(asked.inputRequests).map((/** @type {any} */ it) => it.params.message);
    assert.deepEqual(messages, ['1', '2']);
    const { result } = await call('ask-both', { requestState: asked.requestState, inputResponses: accept(asked) });
    assert.deepEqual(dataOf(result).map((/** @type {any} */ it) => it.success), [true, true]);
    await nothingIsLeft();
  });
});
