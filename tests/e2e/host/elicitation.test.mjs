import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mjs';

const lab = useLab();

test('a question is answered, refused, or answered badly, and the handler always learns the outcome', async () => {
  const seen = await lab.run(async ({ newHost, connect, rawPort, inPage }) => {
    const host = await newHost();
    host.register('ask', {}, async (/** @type {any} */ { request }, /** @type {any} */ { elicit }) => {
      const answer = await elicit(request ?? { type: 'confirm', message: 'Sure?' });
      return answer;
    });
    const ask = async (/** @type {any} */ caller, /** @type {any} */ params) => (await caller.call('ask', params)).data;
    /** @type {any} */
    const seen = { ours: [], page: [], plain: [] };
    /** @type {((request: any) => unknown)[]} */
    const answers = [
      ({ message }) => ({ success: true, data: message }), () => 'plain data', () => undefined,
      () => ({ success: false, error: { code: 'PERMISSION_DENIED', message: 'No', retryable: false } }), () => ({ success: false, cancelled: true }),
      () => { throw Object.assign(new Error('odd'), { code: 'BROWSER_ERROR' }); }, () => { throw undefined; }, () => ({ f() {} }),
    ];
    for (const answer of answers) {
      const agent = await connect(host, { onElicitation: answer });
      seen.ours.push(await ask(agent, {}));
      const target = { __abp_elicitation: answer };
      seen.page.push(await ask(await inPage(host, target), {}));
    }
    seen.unable = [await ask(await connect(host), {}), await ask(await inPage(host), {})];
    // A plain agent may answer twice, or with nonsense, or answer another question.
    const raw = await rawPort(host);
    const thief = await rawPort(host);
    const asked = raw.call('ask', {});
    const { id } = await raw.hear((/** @type {any} */ it) => it.type === 'elicitation/request');
    const answer = (/** @type {any} */ who, /** @type {any} */ payload) => who.post({ type: 'elicitation/response', id, timestamp: 0, payload });
    answer(thief, { success: true, data: 'stolen' });
    await thief.call('test.echo');
    answer(raw, { success: true, data: 'first' });
    answer(raw, { success: true, data: 'second' });
    seen.plain.push((await asked).data, host.stats().elicitations, id);
    let deep = {};
    for (let level = 0; level < 500; level += 1) deep = { deep };
    for (const nonsense of ['nonsense', null, [], {}, { success: 'yes' }, { success: true, data: deep }, { success: false, error: 7 }]) {
      const wrong = raw.call('ask', {});
      const request = await raw.hear((/** @type {any} */ it) => it.type === 'elicitation/request' && !seen.plain.includes(it.id));
      raw.post({ type: 'elicitation/response', id: request.id, timestamp: 0, payload: nonsense });
      const { success, error } = (await wrong).data;
      seen.plain.push(request.id, success, typeof error?.message);
    }
    return seen;
  });
  const yes = (/** @type {unknown} */ data) => (data === undefined ? { success: true } : { success: true, data });
  const expected = [yes('Sure?'), yes('plain data'), yes(undefined)];
  for (const way of ['ours', 'page']) {
    assert.deepEqual(seen[way].slice(0, 3), expected, way);
    const [denied, dismissed, ...failed] = seen[way].slice(3);
    assert.equal(denied.error.code, 'PERMISSION_DENIED', way);
    assert.deepEqual(dismissed, { success: false, cancelled: true, metadata: { stop: 'abandoned' } }, way);
    for (const { success, error } of failed.slice(0, 2)) assert.deepEqual([success, typeof error.code], [false, 'string'], way);
  }
  assert.equal(seen.ours[7].error?.code, 'OPERATION_FAILED');
  assert.deepEqual(seen.unable.map((/** @type {any} */ it) => it.error.code), ['NOT_SUPPORTED', 'NOT_SUPPORTED']);
  const [first, pending, ...wrong] = seen.plain;
  assert.deepEqual([first, pending], [yes('first'), 0]);
  assert.deepEqual(wrong.filter((/** @type {unknown} */ it) => !/^elicitation-/.test(String(it))), Array(7).fill([false, 'string']).flat());
});

test('a question is withdrawn when its call is cancelled, when it times out, and when the session ends', async () => {
  const seen = await lab.run(async ({ newHost, connect, rawPort, event, turn }) => {
    const host = await newHost();
    /** @type {any[]} */
    const outcomes = [];
    host.register('ask', {}, async (/** @type {any} */ request, /** @type {any} */ { elicit }) => {
      const outcome = await elicit(request);
      outcomes.push(outcome.error?.code ?? outcome);
      return outcome;
    });
    /** @type {AbortSignal[]} */
    const signals = [];
    /** @type {() => void} */
    let heard = () => {};
    const agent = await connect(host, {
      onElicitation: (/** @type {any} */ _, /** @type {any} */ { signal }) => {
        signals.push(signal);
        heard();
        return new Promise(() => {});
      },
    });
    const asked = () => new Promise((resolve) => (heard = () => resolve(undefined)));
    let next = asked();
    const cancelled = agent.call('ask', {}, { callId: 'a' });
    await next;
    await agent.cancel('a');
    await turn();
    const first = signals[0]?.aborted;
    const timedOut = await agent.call('ask', { timeout: 20 });
    const second = signals[1]?.aborted;
    next = asked();
    const left = agent.call('ask', {}, { callId: 'c' });
    await next;
    const closed = event(host, (/** @type {any} */ it) => it.type === 'session' && it.state === 'closed');
    await agent.shutdown();
    await closed;
    const raw = await rawPort(host);
    const question = host.stats().elicitations;
    const plain = raw.call('ask', {}, { callId: 'd' });
    const { id } = await raw.hear((/** @type {any} */ it) => it.type === 'elicitation/request');
    await raw.cancel('d');
    await plain;
    const order = raw.heard.slice(-3).map((/** @type {any} */ it) => it.payload.event ?? it.type);
    const withdrawn = raw.heard.find((/** @type {any} */ it) => it.type === 'notification').payload.data.id === id;
    raw.post({ type: 'elicitation/response', id, timestamp: 0, payload: { success: true, data: 'late' } });
    const echo = await raw.call('test.echo', { a: 1 });
    return {
      cancelled: (await cancelled).cancelled, timedOut: timedOut.data.error.code, left: (await left).cancelled,
      aborted: [first, second, signals[2]?.aborted], outcomes, question, order, withdrawn, echo: echo.data, last: host.stats().elicitations,
    };
  });
  const { order, ...rest } = seen;
  // An agent with a withdrawn question was told, and was not seen to stop.
  const takenBack = { success: false, cancelled: true, metadata: { stop: 'abandoned' } };
  assert.deepEqual(rest, {
    cancelled: true, timedOut: 'TIMEOUT', left: true, aborted: [true, true, true], question: 0, withdrawn: true, echo: { a: 1 }, last: 0,
    outcomes: [takenBack, 'TIMEOUT', takenBack, takenBack],
  });
  assert.deepEqual(order, ['notifications/elicitation/withdrawn', 'capabilities/cancel-result', 'capabilities/call-result']);
});

test('the app itself asks through abp.elicit', async () => {
  const seen = await lab.run(async ({ newHost, inPage }) => {
    const host = await newHost();
    const target = { __abp_elicitation: async (/** @type {any} */ { message }) => ({ success: true, data: `${message} yes` }) };
    const abp = await inPage(host, target, false);
    const before = await abp.elicit({ message: 'Sure?' });
    await abp.initialize({ agent: { name: 'a', version: '1' }, protocolVersion: '0.1', features: { elicitation: false } });
    const unable = await abp.elicit({ message: 'Sure?' });
    await abp.shutdown();
    await abp.initialize({ agent: { name: 'a', version: '1' }, protocolVersion: '0.1', features: { elicitation: true } });
    const asked = await abp.elicit({ message: 'Sure?' });
    target.__abp_elicitation = () => new Promise(() => {});
    const timedOut = await abp.elicit({ message: 'Sure?', timeout: 10 });
    const pending = abp.elicit({ message: 'Sure?' });
    await abp.shutdown();
    return { before: before.error.code, unable: unable.error.code, asked: asked.data, timedOut: timedOut.error.code, left: (await pending).error.code };
  });
  assert.deepEqual(seen, { before: 'NOT_INITIALIZED', unable: 'NOT_SUPPORTED', asked: 'Sure? yes', timedOut: 'TIMEOUT', left: 'DISCONNECTED' });
});
