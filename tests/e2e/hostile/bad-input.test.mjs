import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mjs';
import { malformed } from './malformed.mjs';

const lab = useLab();

/** The ways in which a plain agent reaches a host in the page. @type {Record<string, string>} */
const wires = {
  'a MessagePort': 'raw = await lab.rawPort(host)',
  'window messages': `
    const frame = await lab.frame('/lab/');
    while (!frame.contentWindow.lab) await lab.turn();
    const { port1, port2 } = new MessageChannel();
    frame.contentWindow.adopt = ({ newHost }) => newHost().then((it) => { it.acceptMessages(); return it; });
    host = await frame.contentWindow.adopt(frame.contentWindow.lab);
    raw = lab.rawWindow(frame.contentWindow, location.origin);
    await raw.initialize();`,
};

for (const [wire, connect] of Object.entries(wires)) {
  test(`bad input over ${wire} gets a clear error and disturbs nothing`, async () => {
    const answers = await lab.run(
      async (lab, connect, cases) => {
        /** @type {any} */
        const connected = new (/** @type {any} */ (async () => {}).constructor)('lab', 'host', 'raw', `${connect}\nreturn { host, raw };`);
        const { host, raw } = await connected(lab, await lab.newHost());
        const held = raw.call('test.hold', {}, { callId: 'held' });
        // The validator is loaded now, so answers come in order from here on.
        await raw.call('test.checked', { text: 'fine' });
        /** @type {any} */
        const answers = {};
        for (const [name, message] of cases) {
          const id = `bad ${name}`;
          const before = raw.heard.length;
          const whole = new Function('id', `return (${message})`)(id);
          raw.post(whole);
          // Any answer to the bad message arrives before the answer to this call.
          const echo = await raw.call('test.echo', { name });
          if (echo.data?.name !== name) throw new Error(`after ${name}: ${JSON.stringify(echo)}`);
          answers[name] = raw.heard.slice(before, -1);
        }
        const cancel = await raw.cancel('held');
        const { cancelled } = await held;
        return { answers, held: [cancel, cancelled], inFlight: host.stats().inFlight };
      },
      connect,
      malformed.map(({ name, message }) => [name, message]),
    );
    for (const { name, answer, window } of malformed) {
      const [given, ...more] = answers.answers[name];
      assert.deepEqual(more, [], name);
      const expected = wire === 'window messages' && window !== undefined ? window : answer;
      if (expected === null) assert.equal(given, undefined, `${name}: ${JSON.stringify(given)}`);
      else {
        const { type, payload } = given ?? {};
        const { code, message } = payload?.error ?? {};
        assert.deepEqual([type, code], [expected[0], expected[1]], `${name}: ${JSON.stringify(given)}`);
        assert.ok(message.length > 10 && message.length < 300, `${name}: ${message}`);
      }
    }
    assert.deepEqual(answers.held, [{ callId: 'held', cancelled: true, metadata: { stop: 'returned' } }, true]);
    assert.equal(answers.inFlight, 0);
  });
}

test('bad input in the page gets a clear error and disturbs nothing', async () => {
  const seen = await lab.run(async ({ newHost, inPage, rejection, INITIALIZE }) => {
    const host = await newHost();
    const abp = await inPage(host, {}, false);
    /** @type {any} */
    const round = {};
    round.round = round;
    let deep = {};
    for (let level = 0; level < 10_000; level += 1) deep = { deep };
    const { proxy: revoked, revoke } = Proxy.revocable({}, {});
    revoke();
    const unreadable = (/** @type {string} */ key) => Object.defineProperty({}, key, { enumerable: true, get() { throw new Error('no'); } });
    const codes = async (/** @type {any[]} */ promises) =>
      (await Promise.all(promises)).map((it) => it.error?.code ?? it.code ?? it);
    const initialize = await codes(
      [undefined, null, 1, 'x', [], {}, { ...INITIALIZE, agent: 'x' }, { ...INITIALIZE, agent: { name: 1, version: '1' } },
        { ...INITIALIZE, agent: { name: 'x' } }, { ...INITIALIZE, features: [] }, { ...INITIALIZE, features: { progress: 'yes' } },
        { ...INITIALIZE, requestedCapabilities: 'all' }, { ...INITIALIZE, protocolVersion: 0.1 }, { ...INITIALIZE, requestedCapabilities: [7] }, revoked,
      ].map((params) => rejection(abp.initialize(params))));
    const version = await rejection(abp.initialize({ ...INITIALIZE, protocolVersion: '9.9' }));
    const before = await codes([abp.call('test.echo'), abp.call('nothing'), abp.call(7), abp.cancel('x'), abp.cancel()]);
    await abp.initialize(INITIALIZE);
    const twice = await rejection(abp.initialize(INITIALIZE));
    const held = abp.call('test.hold', {}, { callId: 'held' });
    const names = await codes([undefined, null, 7, '', 'nothing', '__proto__', 'constructor', 'x'.repeat(10_000)].map((it) => abp.call(it)));
    const params = await codes([null, 7, 'x', [], round, deep, { f() {} }, unreadable('it'), revoked].map((it) => abp.call('test.echo', it)));
    const options = await codes([null, 7, 'x', [], { callId: '' }, { callId: 7 }, { callId: 'x'.repeat(10_000) }, { callId: 'a\nb' }, { callId: null },
      { timeout: -1 }, { timeout: NaN }, { timeout: '1' }, { timeout: null }, { progressToken: {} }, { signal: 'x' }, { signal: {} }, { callId: 'held' }, revoked,
      unreadable('timeout'), unreadable('callId'),
    ].map((it) => abp.call('test.echo', {}, it)));
    const cancels = await codes([undefined, null, 7, '', 'x'.repeat(10_000), {}, [], { callId: 7 }, { callId: '' }, revoked, unreadable('callId')].map((it) => abp.cancel(it)));
    const echo = await abp.call('test.echo', JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2}'));
    const cancel = await abp.cancel({ callId: 'held', reason: { not: 'text', but() {} } });
    return {
      initialize, version, before, twice, names, params, options, cancels, cancel,
      held: (await held).cancelled, echo: JSON.stringify(echo.data), polluted: /** @type {any} */ ({}).polluted ?? 'no', inFlight: host.stats().inFlight,
    };
  });
  const all = (/** @type {number} */ length, code = 'INVALID_PARAMS') => Array(length).fill(code);
  assert.deepEqual(seen.initialize, all(15));
  assert.equal(seen.version.code, 'NOT_SUPPORTED');
  assert.match(seen.version.message, /9\.9.*0\.1/);
  assert.deepEqual(seen.before, all(5, 'NOT_INITIALIZED'));
  assert.deepEqual([seen.twice.code, seen.twice.retryable], ['ALREADY_INITIALIZED', false]);
  assert.deepEqual(seen.names, [...all(3), ...all(5, 'UNKNOWN_CAPABILITY')]);
  assert.deepEqual(seen.params, all(9));
  assert.deepEqual(seen.options, all(20));
  assert.deepEqual(seen.cancels, all(11));
  assert.deepEqual(seen.cancel, { callId: 'held', cancelled: true, metadata: { stop: 'returned' } });
  assert.deepEqual([seen.held, seen.echo, seen.polluted, seen.inFlight], [true, '{"__proto__":{"polluted":1},"constructor":2}', 'no', 0]);
});

test('the error for parameters that fail the schema names the place, and the handler does not run', async () => {
  const seen = await lab.run(async ({ newHost, inPage }) => {
    const host = await newHost();
    let ran = 0;
    const inputSchema = {
      type: 'object',
      properties: {
        html: { type: 'string', minLength: 1 },
        options: { type: 'object', properties: { pageSize: { enum: ['letter', 'a4'] }, margin: { type: 'number' } }, required: ['pageSize'] },
        list: { type: 'array', items: { type: 'integer' } },
      },
      required: ['html'],
      additionalProperties: false,
    };
    host.register('strict', { inputSchema }, async () => (ran += 1));
    for (const [name, schema] of Object.entries({ no: false, yes: true })) host.register(name, { inputSchema: schema }, async () => 'ran');
    const abp = await inPage(host);
    const bad = [{}, { html: 7 }, { html: '' }, { html: 'x', options: {} }, { html: 'x', options: { pageSize: 'b5' } }, { html: 'x', options: { pageSize: 'a4', margin: '1' } },
      { html: 'x', list: [1, 'two'] }, { html: 'x', more: 1 }, JSON.parse('{"html":"x","__proto__":1}')];
    const errors = [];
    for (const params of bad) errors.push((await abp.call('strict', params)).error);
    const fine = await abp.call('strict', { html: 'x', options: { pageSize: 'a4' }, list: [1] });
    const odd = [];
    for (const name of ['no', 'yes']) odd.push((await abp.call(name, { a: 'x' })).error?.code ?? 'ran');
    return { errors: errors.map((it) => [it?.code, it?.details?.path]), fine: fine.data, odd };
  });
  assert.deepEqual(seen.errors, [
    ['MISSING_PARAM', 'html'], ['INVALID_TYPE', 'html'], ['INVALID_PARAMS', 'html'], ['MISSING_PARAM', 'options.pageSize'], ['INVALID_PARAMS', 'options.pageSize'],
    ['INVALID_TYPE', 'options.margin'], ['INVALID_TYPE', 'list.1'], ['INVALID_PARAMS', 'more'], ['INVALID_PARAMS', '__proto__'],
  ]);
  assert.equal(seen.fine, 1);
  assert.deepEqual(seen.odd, ['INVALID_PARAMS', 'ran']);
});

test('registrations that make no sense are refused whole', async () => {
  const seen = await lab.run(async ({ newHost, inPage, createHost, rejection }) => {
    const host = await newHost();
    const abp = await inPage(host);
    const before = host.manifest().capabilities.length;
    /** @type {any} */
    const round = { type: 'object' };
    round.properties = { round };
    const run = async () => 1;
    const refused = [[undefined, {}, run], ['', {}, run], ['x'.repeat(257), {}, run], ['a', {}, undefined], ['a', {}, 'run'], ['a', 'text', run], ['a', [], run],
      ['a', { inputSchema: 'x' }, run], ['a', { inputSchema: { properties: { a: { pattern: '[' } } } }, run], ['a', { inputSchema: { type: 'strng' } }, run], ['a', { inputSchema: { properties: { a: { $ref: '#nowhere' } } } }, run], ['a', { inputSchema: { $ref: '#/nowhere' } }, run], ['a', { outputSchema: 7 }, run], ['a', { inputSchema: round }, run], ['a', { outputSchema: { const: 1n } }, run],
      ...[0, -1, 1.5, NaN, Infinity, '2', {}].map((concurrency) => ['a', { concurrency }, run]), ['test.echo', {}, run]];
    const codes = refused.map((given) => {
      try {
        host.register(...given);
        return 'registered';
      } catch (error) {
        return /** @type {any} */ (error).code;
      }
    });
    const app = { id: 'a', name: 'a', version: '1' };
    const hosts = await Promise.all([undefined, null, {}, { app: 7 }, { app: { id: 'a' } }, { app: { ...app, id: '' } }, { app, maxDepth: -1 }, { app, maxInFlight: 'x' }, { app, maxSessions: NaN }]
      .map((options) => rejection(createHost(options))));
    return { codes, hosts: hosts.map(({ code }) => code), added: host.manifest().capabilities.length - before, echo: (await abp.call('test.echo', { a: 1 })).data };
  });
  assert.deepEqual(seen, { codes: Array(23).fill('INVALID_PARAMS'), hosts: Array(9).fill('INVALID_PARAMS'), added: 0, echo: { a: 1 } });
});
