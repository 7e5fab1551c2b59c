/** Calls that wait until a person allows them, in a host and agents of the built package. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { connectPort } from 'caphost/agent';
import { activityOf } from 'caphost/activity';
import { shown, visible } from '../../src/web/js/consent/visible.js';
import { tools } from '../../src/web/js/json-rpc/tools.js';
import { inPage, newHost } from './host.mjs';

/** @import { ActivityCall } from 'caphost/activity' */

/** @param {() => unknown} check */
async function until(check) {
  for (let left = 400; !check(); left -= 1) {
    assert.ok(left > 0, `it did not come: ${check}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A host with a capability that a person must allow; `began` counts its handlers. */
async function asking() {
  const host = await newHost();
  const began = { count: 0 };
  host.register('notes.clear', { title: 'Clear notes', confirm: 'always' }, ({ value }) => {
    began.count += 1;
    return value ?? 'cleared';
  });
  host.register('parent', {}, async (_, { call }) => call('notes.clear', { of: 'parent' }));
  /** @type {any[]} */
  const questions = [];
  host.observe((event) => void (event.type === 'confirm' && questions.push(event)));
  return { host, began, questions };
}

/** @param {import('caphost').Host} host @param {any} [options] */
const agentOf = (host, options) => {
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  return connectPort(port2, { agent: { name: 'asker', version: '1' }, ...options });
};

describe('the option confirm', () => {
  test('is in the description, the manifest, and nowhere without it', async () => {
    const { host } = await asking();
    const [clear, parent] = host.manifest().capabilities;
    assert.deepEqual([clear?.confirm, parent && 'confirm' in parent], ['always', false]);
    assert.equal((await (await inPage(host)).describeCapability('notes.clear'))?.confirm, 'always');
  });

  test('is always or destructive', async () => {
    const host = await newHost();
    for (const confirm of ['', 'sometimes', true, null, {}, []]) {
      assert.throws(() => host.register('a', /** @type {any} */ ({ confirm }), () => 1), { code: 'INVALID_PARAMS', message: /^a: confirm must be / }, JSON.stringify(confirm));
    }
    host.register('a', { confirm: undefined }, () => 1);
    assert.equal((await (await inPage(host)).call('a')).data, 1);
  });

  test('destructive takes hints as MCP does: a call without hints may delete or overwrite', async () => {
    const host = await newHost();
    const abp = await inPage(host);
    const cases = /** @type {const} */ ([
      [undefined, true], [{}, true], [{ destructiveHint: true }, true], [{ readOnlyHint: false }, true], [{ idempotentHint: true, openWorldHint: false }, true],
      [{ destructiveHint: false }, false], [{ readOnlyHint: true }, false], [{ readOnlyHint: true, destructiveHint: true }, false],
    ]);
    for (const [annotations, asks] of cases) {
      host.register('a', { annotations, confirm: 'destructive', replace: true }, () => 1);
      const { error } = await abp.call('a');
      assert.equal(error?.code, asks ? 'PERMISSION_REQUIRED' : undefined, JSON.stringify(annotations));
    }
  });
});

describe('in the app', () => {
  test('an answer allows or denies, once, and only a true yes allows', async () => {
    const { host, began, questions } = await asking();
    const end = host.confirmHere();
    const agent = await agentOf(host);
    /** @type {any[]} */
    const told = [];
    const allowed = agent.call('notes.clear', { value: 7 }, { callId: 'one', onProgress: (info) => told.push(info.status) });
    await until(() => questions.length === 1);
    const [{ time, sessionId, question, ...event }] = questions;
    assert.deepEqual(event, { type: 'confirm', callId: 'one', capability: 'notes.clear', params: { value: 7 }, state: 'asked' });
    assert.ok(time > 0 && sessionId && question > 0);
    await until(() => told.length === 1);
    assert.equal(began.count, 0);
    assert.equal(host.answer(question, true), true);
    assert.equal(host.answer(question, false), false);
    const { data } = await allowed;
    assert.deepEqual([data, began.count, told], [7, 1, ['Waits for a person', 'Allowed']]);
    assert.deepEqual([questions[1].state, questions[1].callId, 'question' in questions[1]], ['allowed', 'one', false]);
    for (const no of [false, 1, 'true', undefined]) {
      const denied = agent.call('notes.clear');
      await until(() => questions.at(-1)?.state === 'asked');
      assert.equal(host.answer(questions.at(-1).question, /** @type {any} */ (no)), true);
      const { error } = await denied;
      assert.deepEqual([error?.code, error?.retryable, began.count], ['PERMISSION_DENIED', false, 1]);
      questions.length = 0;
    }
    for (const nothing of [0, -1, NaN, 1e9, 'x', undefined]) assert.equal(host.answer(/** @type {any} */ (nothing), true), false);
    end();
    end();
    assert.equal((await agent.call('notes.clear')).error?.code, 'PERMISSION_REQUIRED');
    assert.equal(host.stats().inFlight, 0);
  });

  test('a cancel, a timeout or a shutdown ends the wait, and the handler never starts', async () => {
    const { host, began, questions } = await asking();
    host.confirmHere();
    for (const way of /** @type {const} */ (['cancel', 'signal', 'timeout', 'app', 'shutdown'])) {
      questions.length = 0;
      const stop = new AbortController();
      const agent = await agentOf(host);
      const call = agent.call('notes.clear', {}, { callId: 'one', signal: stop.signal, ...(way === 'timeout' && { timeout: 30 }) });
      await until(() => questions.length === 1);
      const { question, sessionId } = questions[0];
      /** @type {any} */
      let confirmed;
      if (way === 'cancel') confirmed = await agent.cancel('one');
      if (way === 'signal') stop.abort();
      if (way === 'app') confirmed = await host.cancel('one', { sessionId, by: 'user' });
      if (way === 'shutdown') await agent.shutdown();
      const response = await call;
      assert.deepEqual([response.cancelled, response.metadata?.stop], [true, 'never-started'], way);
      if (confirmed) assert.deepEqual([confirmed.cancelled, confirmed.metadata?.stop], [true, 'never-started'], way);
      assert.equal(host.answer(question, true), false, way);
      if (way !== 'shutdown') await agent.shutdown();
    }
    assert.deepEqual([began.count, host.stats().inFlight, host.stats().lateProgress], [0, 0, 0]);
  });

  test('an agent that is gone leaves no question', async () => {
    const { host, began, questions } = await asking();
    host.confirmHere();
    const { port1, port2 } = new MessageChannel();
    const release = host.acceptPort(port1);
    const agent = await connectPort(port2);
    const call = agent.call('notes.clear');
    await until(() => questions.length === 1);
    release();
    assert.equal(host.answer(questions[0].question, true), false);
    assert.deepEqual([(await call).success, began.count, host.stats().inFlight], [false, 0, 0]);
  });

  test('a closed host answers those who wait', async () => {
    const { host, began, questions } = await asking();
    const end = host.confirmHere();
    const call = (await agentOf(host)).call('notes.clear');
    await until(() => questions.length === 1);
    host.close();
    assert.equal((await call).success, false);
    assert.equal(host.answer(questions[0].question, true), false);
    end();
    assert.equal(began.count, 0);
  });

  test('the calls of a handler are asked about, too', async () => {
    const { host, began, questions } = await asking();
    host.confirmHere();
    const agent = await agentOf(host);
    for (const allow of [false, true]) {
      questions.length = 0;
      const call = agent.invoke('parent', {}, { callId: `of ${allow}` });
      await until(() => questions.length === 1);
      const [{ parentCallId, params, question }] = questions;
      assert.deepEqual([parentCallId, params], [`of ${allow}`, { of: 'parent' }]);
      host.answer(question, allow);
      const child = await call;
      assert.deepEqual([child.success, child.error?.code, began.count], [allow, allow ? undefined : 'PERMISSION_DENIED', Number(allow)]);
    }
  });

  test('activityOf has the question and both answers', async () => {
    const { host, began } = await asking();
    const { calls, allow, deny, stop } = activityOf(host);
    host.confirmHere();
    const agent = await agentOf(host);
    /** @type {(callId: string) => ActivityCall | undefined} */
    const of = (callId) => calls().find((it) => it.callId === callId);
    const [yes, no, stopped] = ['yes', 'no', 'stopped'].map((callId) => agent.call('notes.clear', { value: callId }, { callId }));
    await until(() => calls().filter((it) => it.asks === 'app').length === 3);
    const asked = /** @type {ActivityCall} */ (of('yes'));
    assert.deepEqual([asked.title, asked.params, asked.state, asked.agent?.name], ['Clear notes', { value: 'yes' }, 'queued', 'asker']);
    assert.equal(allow(asked), true);
    assert.equal(deny(/** @type {ActivityCall} */ (of('no'))), true);
    await stop(/** @type {ActivityCall} */ (of('stopped')));
    assert.deepEqual([(await yes)?.data, (await no)?.error?.code, (await stopped)?.metadata?.stop], ['yes', 'PERMISSION_DENIED', 'never-started']);
    await until(() => calls().every((it) => it.until));
    assert.deepEqual(calls().map((it) => [it.state, 'asks' in it, 'question' in it, 'params' in it]), [['completed', false, false, false], ['failed', false, false, false], ['cancelled', false, false, false]]);
    assert.deepEqual([allow(asked), deny({}), began.count], [false, false, 1]);
  });
});

describe('through the agent', () => {
  test('gets a form, and only an explicit yes starts the call', async () => {
    const { host, began, questions } = await asking();
    /** @type {any} */
    let answer;
    /** @type {any} */
    let asked;
    const agent = await agentOf(host, { onElicitation: (/** @type {any} */ request) => { asked = request; return answer(); } });
    const thrown = (/** @type {string} */ code) => () => { throw Object.assign(new Error('no'), { code }); };
    for (const [name, given, code] of /** @type {[string, () => unknown, string?][]} */ ([
      ['true', () => true], ['confirmed', () => ({ confirmed: true })], ['confirmed in a response', () => ({ success: true, data: { confirmed: true } })],
      ['false', () => false, 'PERMISSION_DENIED'], ['not confirmed', () => ({ confirmed: false }), 'PERMISSION_DENIED'],
      ['nothing', () => undefined, 'PERMISSION_DENIED'], ['an empty form', () => ({}), 'PERMISSION_DENIED'], ['a text', () => 'true', 'PERMISSION_DENIED'],
      ['a number', () => ({ confirmed: 1 }), 'PERMISSION_DENIED'], ['a refusal', thrown('PERMISSION_DENIED'), 'PERMISSION_DENIED'],
      ['a dismissal', () => ({ success: false, cancelled: true }), 'PERMISSION_DENIED'],
      ['a failure', thrown('OPERATION_FAILED'), 'PERMISSION_REQUIRED'], ['no person', thrown('NOT_SUPPORTED'), 'PERMISSION_REQUIRED'],
    ])) {
      answer = given;
      const before = began.count;
      const response = await agent.call('notes.clear', { 'te\u202ext': '\n"x"\u200b' }, { callId: name });
      assert.deepEqual([response.error?.code, began.count - before], [code, code ? 0 : 1], name);
      const { message, ...rest } = asked;
      assert.deepEqual(rest, {
        method: 'elicitation/confirm', callId: name, capability: 'notes.clear',
        requestedSchema: { type: 'object', properties: { confirmed: { type: 'boolean', title: 'Allow "Clear notes"' } }, required: ['confirmed'] },
      });
      assert.equal(message, 'Allow "Clear notes" in App?\n{"te\\u{202e}xt":"\\n\\"x\\"\\u{200b}"}');
    }
    assert.ok(questions.every((it) => !('question' in it)));
    assert.deepEqual([host.stats().elicitations, host.stats().inFlight], [0, 0]);
  });

  test('a cancel withdraws the question, and a late answer starts nothing', async () => {
    const { host, began } = await asking();
    /** @type {AbortSignal | undefined} */
    let withdrawn;
    let answer = (/** @type {boolean} */ _) => {};
    const agent = await agentOf(host, {
      onElicitation: (/** @type {any} */ _, /** @type {any} */ { signal }) => {
        withdrawn = signal;
        return new Promise((resolve) => (answer = resolve));
      },
    });
    const call = agent.call('notes.clear', {}, { callId: 'one' });
    await until(() => withdrawn);
    assert.deepEqual((await agent.cancel('one')).metadata, { stop: 'never-started' });
    assert.equal((await call).cancelled, true);
    await until(() => withdrawn?.aborted);
    answer(true);
    await agent.call('parent', {}, { timeout: 20 });
    assert.deepEqual([began.count, host.stats().elicitations], [0, 0]);
  });

  test('an agent that allows no such question, or answers none, has its calls refused', async () => {
    const { host, began } = await asking();
    for (const options of [{}, { onElicitation: () => true, allowedRequests: ['sampling/create'] }, { onElicitation: () => true, allowedRequests: [] }]) {
      const agent = await agentOf(host, options);
      const { error } = await agent.call('notes.clear');
      assert.deepEqual([error?.code, error?.message], ['PERMISSION_REQUIRED', 'Nobody could be asked to allow it']);
      await agent.shutdown();
    }
    assert.equal(began.count, 0);
    const agent = await agentOf(host, { onElicitation: () => true, allowedRequests: ['elicitation/confirm'] });
    assert.equal((await agent.call('notes.clear')).data, 'cleared');
  });

  test('is asked when the last interface of the app ends, and not while there is one', async () => {
    const { host, began, questions } = await asking();
    const ends = [host.confirmHere(), host.confirmHere()];
    let asked = 0;
    const agent = await agentOf(host, { onElicitation: () => { asked += 1; return true; } });
    const call = agent.call('notes.clear');
    await until(() => questions.length === 1);
    ends[0]?.();
    ends[0]?.();
    await agent.call('nothing');
    assert.equal(asked, 0);
    ends[1]?.();
    assert.equal((await call).data, 'cleared');
    assert.deepEqual([asked, began.count, questions.map((it) => it.state)], [1, 1, ['asked', 'asked', 'allowed']]);
  });
});

test('a crowd of calls asks sixteen times, and the rest is refused', async () => {
  const { host, began, questions } = await asking();
  host.confirmHere();
  const agent = await agentOf(host);
  const all = Array.from({ length: 2_000 }, () => agent.call('notes.clear'));
  await until(() => questions.length === 16);
  for (const { question } of [...questions]) host.answer(question, true);
  const codes = (await Promise.all(all)).map(({ error }) => error?.code);
  assert.deepEqual([codes.filter((it) => it === 'RATE_LIMITED').length, codes.filter((it) => !it).length, began.count], [1_984, 16, 16]);
});

test('no character of a parameter is hidden, and what is cut off is said', () => {
  assert.equal(visible('a b\u00a0\u200d\u202e\ufeff\u3164\u{e0041}\ud800é你😀'), 'a b\\u{a0}\\u{200d}\\u{202e}\\u{feff}\\u{3164}\\u{e0041}\\u{d800}é你😀');
  assert.equal(shown('x'.repeat(20), 10), `"${'x'.repeat(9)}… (12 more characters)`);
  assert.equal(shown(undefined, 10), 'undefined');
  const loop = /** @type {any} */ ({});
  loop.loop = loop;
  assert.match(shown(loop, 10), /^{"loop":{"… \(\d+ more characters\)$/);
});

test('the question shows what the handler gets, and calls none of its functions', async () => {
  const { host, began } = await asking();
  /** @type {string[]} */
  const got = [];
  host.register('delete', { confirm: 'always' }, ({ path, inner }) => void got.push(path, inner.path));
  /** @type {string[]} */
  const messages = [];
  let called = 0;
  const agent = await agentOf(host, { onElicitation: (/** @type {any} */ request) => { messages.push(request.message); return true; } });
  const toJSON = () => { called += 1; return { path: 'nothing' }; };
  await agent.invoke('delete', { path: 'everything', toJSON, inner: { path: 'all', toJSON } });
  assert.deepEqual([messages, got, called, began.count], [
    ['Allow "delete" in App?\n{"path":"everything","toJSON":function,"inner":{"path":"all","toJSON":function}}'], ['everything', 'all'], 0, 0,
  ]);
});

test('what JSON cannot express is shown by its kind, and never as something else', () => {
  const sparse = Object.assign([1], { 2: 'c', path: 'p' });
  for (const [value, text] of /** @type {[unknown, string][]} */ ([
    [{ a: undefined, b: null, c: true, __proto__: { d: 1 } }, '{"a":undefined,"b":null,"c":true}'], [[], '[]'], [[1, [], {}], '[1,[],{}]'], [sparse, 'Array(3){"0":1,"2":"c","path":"p"}'],
    [[-0, 0, Infinity, -Infinity, NaN, 1.5], '[-0,0,Infinity,-Infinity,NaN,1.5]'], [[10n, '10n'], '[10n,"10n"]'], [[() => 1, Symbol('x')], '[function,symbol]'],
    [new Map([[1, 2], [2, 3]]), 'Map(2)'], [new Set(), 'Set(0)'], [new Blob(['x']), 'Blob'], [/x/, 'RegExp'], [new Error('x'), 'Error'], [new Uint8Array(3), 'Uint8Array(3)'],
    [new ArrayBuffer(3), 'ArrayBuffer'], [Object('x'), 'String'], [new Date(0), '1970-01-01T00:00:00.000Z'], [new Date(NaN), 'Date'],
    [{ [Symbol.toStringTag]: 'Map', a: 1 }, '{"a":1}'], [{ toJSON: 1, toString: 2, 'a"b': '"' }, '{"toJSON":1,"toString":2,"a\\"b":"\\""}'],
    [{ get a() { throw new Error('called'); } }, '{"a":getter}'], [JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
  ])) assert.equal(shown(value, 1_000), text);
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  assert.equal(shown({ revoked: revoked.proxy }, 100), '{"revoked":object}');
});

test('a huge value is not read whole', () => {
  const huge = Array.from({ length: 100 }, () => 'x'.repeat(1_000));
  assert.equal(shown(huge, 10), `["${'x'.repeat(8)}… (${1 + 100 * 1_003 - 10} more characters)`);
  /** @type {any} */
  let wide = {};
  for (let level = 0; level < 60; level += 1) wide = [wide, wide];
  assert.match(shown(wide, 10), /^\[{10}… \(more than \d+ more characters\)$/);
});

test('tools of the page\'s own MCP say which of them ask, where a version has _meta', () => {
  const documents = [{ name: 'clear', confirm: 'always', inputSchema: { type: 'object' } }, { name: 'list', inputSchema: { type: 'object' } }];
  assert.deepEqual(tools(documents, { audio: true, structure: true }).map((/** @type {any} */ it) => it._meta), [{ 'caphost/confirm': 'always' }, undefined]);
  assert.deepEqual(tools(documents, { audio: true, structure: false }).map((/** @type {any} */ it) => '_meta' in it), [false, false]);
});
