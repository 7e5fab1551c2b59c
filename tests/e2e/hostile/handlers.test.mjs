import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inLab, useLab } from '../support/lab.mjs';

const lab = useLab();
const failed = (/** @type {string} */ message) => ({ code: 'OPERATION_FAILED', message, retryable: false });

/** What a handler does, as source for the page, and the answer to its caller. @type {Record<string, [string, any]>} */
const misdeeds = {
  'throws a string': [`throw 'plain words'`, failed('plain words')],
  'throws undefined': ['throw undefined', failed('The capability failed')],
  'throws null': ['throw null', failed('The capability failed')],
  'throws a number': ['throw 7', failed('7')],
  'throws a symbol': [`throw Symbol('no')`, failed('The capability failed')],
  'throws a function': ['throw () => {}', failed('The capability failed')],
  'throws an object with a code': [
    `throw { code: 'PERMISSION_DENIED', message: 'Not you', details: { why: 1 }, retryAfter: 5, retryable: true }`,
    { code: 'PERMISSION_DENIED', message: 'Not you', details: { why: 1 }, retryAfter: 5, retryable: true },
  ],
  'throws fields of the wrong types': [`throw { code: 7, message: {}, retryable: 'x', retryAfter: 'y' }`, { ...failed('The capability failed'), details: { code: 7 } }],
  'throws an error whose getters throw': [
    `const error = new Error('never read');
     for (const key of ['name', 'message', 'code', 'details', 'retryable', 'retryAfter'])
       Object.defineProperty(error, key, { get() { throw new Error('gotcha'); } });
     throw error`,
    failed('The capability failed'),
  ],
  'throws a proxy that throws': [
    `throw new Proxy(new Error(), { get() { throw 1; }, has() { throw 2; }, getPrototypeOf() { throw 3; } })`,
    failed('The capability failed'),
  ],
  'throws a revoked proxy': [`const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy`, failed('The capability failed')],
  'throws an error with cyclic details': [
    `const details = {}; details.details = details; throw Object.assign(new Error('round'), { details })`,
    failed('round'),
  ],
  'throws an error with details that cannot be sent': [
    `throw Object.assign(new Error('odd'), { details: { f() {} } })`,
    failed('odd'),
  ],
  'gives a thenable that throws in then': [`return { then() { throw new Error('in then'); } }`, failed('in then')],
  'gives a thenable whose then cannot be read': [`return { get then() { throw new Error('unreadable'); } }`, failed('unreadable')],
  'gives a thenable that settles, then throws': [`return { then(yes) { yes(1); throw new Error('too late'); } }`, 1],
  'gives a thenable that settles twice': [`return { then(yes, no) { yes(1); yes(2); no(3); } }`, 1],
  'returns nothing': ['return', undefined],
  'returns a function': ['return () => {}', /holds a function/],
  'returns a method deep inside': ['return { a: [{ b() {} }] }', /holds a function/],
  'returns a symbol': ['return Symbol()', /holds a symbol/],
  'returns cyclic data': ['const it = {}; it.it = it; return it', /cyclic/],
  'returns a cyclic array': ['const it = []; it.push(it); return it', /cyclic/],
  'returns data nested 10 000 levels deep': ['let it = {}; for (let n = 0; n < 10000; n += 1) it = { it }; return it', /nested more than/],
  'returns data that throws when read': [`return { get it() { throw new Error('no'); } }`, /cannot be read/],
  'returns a revoked proxy': [`const { proxy, revoke } = Proxy.revocable([], {}); revoke(); return { proxy }`, /cannot be read/],
  'returns too large a string': [`return 'x'.repeat((16 << 20) + 1)`, /larger than/],
};

/** The page of all these hosts. No host may disturb the next one. @type {import('puppeteer-core').Page | undefined} */
let page;

for (const [what, [source, expected]] of Object.entries(misdeeds)) {
  test(`a handler that ${what}`, async () => {
    page ??= await lab.page();
    const { responses, steady } = await inLab(
      page,
      async ({ newHost, inPage, connect, rawPort }, source) => {
        const host = await newHost();
        for (const [way, Kind] of [['sync', Function], ['async', async function () {}.constructor]]) {
          host.register(way, {}, new /** @type {any} */ (Kind)(source));
        }
        const callers = [await inPage(host), await connect(host), await rawPort(host)];
        const responses = [];
        const steady = [];
        for (const caller of callers) {
          const held = caller.call('test.hold', {}, { callId: 'held' });
          for (const way of ['sync', 'async']) {
            const { metadata: _, ...response } = await caller.call(way);
            responses.push(response);
          }
          const answer = await caller.cancel('held');
          steady.push([answer.cancelled, (await held).cancelled, (await caller.call('test.echo', { a: 1 })).data.a]);
        }
        steady.push(host.stats().inFlight);
        return { responses, steady };
      },
      source,
    );
    for (const response of responses) {
      if (expected?.code) assert.deepEqual(response, { success: false, error: expected });
      else if (expected instanceof RegExp) {
        assert.equal(response.error?.code, 'OPERATION_FAILED', JSON.stringify(response).slice(0, 200));
        assert.match(response.error.message, expected);
      } else assert.deepEqual([response.success, response.data], [true, expected]);
    }
    assert.deepEqual(steady, [...Array(3).fill([true, true, 1]), 0]);
  });
}

test('data that a transport cannot carry fails only the call on this transport', async () => {
  const seen = await lab.run(async ({ newHost, inPage, connect, rawPort }) => {
    const host = await newHost();
    host.register('element', {}, async () => ({ element: document.body }));
    host.register('proxy', {}, async () => new Proxy({ a: 1 }, {}));
    host.register('map', {}, async () => new Map([['a', 1]]));
    host.register('many', {}, async () => Array.from({ length: 300_000 }, (_, n) => n));
    const page = await inPage(host);
    const seen = [];
    for (const caller of [page, await connect(host), await rawPort(host)]) {
      const { element, proxy, map, many } = Object.fromEntries(
        await Promise.all(['element', 'proxy', 'map', 'many'].map(async (name) => [name, await caller.call(name)])),
      );
      seen.push([element, proxy].map(({ success, error }) => (success ? 'carried' : error.code)).concat(map.data?.get('a'), many.data?.length));
    }
    return seen;
  });
  const carried = ['carried', 'carried', 1, 300_000];
  const refused = ['OPERATION_FAILED', 'carried', 1, 300_000];
  assert.deepEqual(seen, [carried, refused, refused]);
});

test('a handler that never settles is cancelled nevertheless, and its later reports are dropped', async () => {
  const seen = await lab.run(async ({ newHost, connect, running, turn }) => {
    const host = await newHost();
    /** @type {any[]} */
    const settle = [];
    host.register('never', {}, () => new Promise((resolve, reject) => settle.push(resolve, reject)));
    const agent = await connect(host);
    const runs = running(host, 'n');
    const call = agent.call('never', {}, { callId: 'n' });
    await runs;
    const answer = await agent.cancel('n');
    const response = await call;
    settle[0]({ late: true });
    settle[1](new Error('later still'));
    await turn();
    const { inFlight, lateResults, contexts } = host.stats();
    return { answer, response, again: await agent.cancel('n'), held: [inFlight, lateResults, contexts] };
  });
  assert.deepEqual(seen.answer, { callId: 'n', cancelled: true, metadata: { stop: 'abandoned' } });
  const { after, ...ended } = seen.again.metadata.ended;
  assert.ok(after >= 0);
  assert.deepEqual({ ...seen.again, metadata: { ...seen.again.metadata, ended } }, {
    ...seen.answer, metadata: { stop: 'abandoned', ended: { success: true } },
  });
  assert.equal(seen.response.cancelled, true);
  assert.deepEqual(seen.held, [0, 1, 0]);
});

test('progress, notifications and questions that cannot be sent disturb nothing', async () => {
  const seen = await lab.run(async ({ newHost, connect, rawPort, turn }) => {
    const host = await newHost();
    /** @type {any} */
    const round = { progress: 1 };
    round.round = round;
    const odd = [round, { progress: 1, f() {} }, { progress: Symbol('s') }, { progress: 1, list: [round] }];
    const throws = (/** @type {() => void} */ work) => {
      try {
        work();
        return 'nothing';
      } catch (error) {
        return /** @type {any} */ (error).constructor.name;
      }
    };
    host.register('odd', {}, async (/** @type {any} */ _, /** @type {any} */ context) => {
      const thrown = [undefined, null, 7, 'x'].map((it) => throws(() => context.progress(it)));
      for (const info of odd) context.progress(info);
      for (const data of odd) host.notify('odd', data);
      const asked = [];
      for (const request of [...odd, undefined, 'x', [], { timeout: NaN }, { timeout: -1 }, { timeout: 'x' }]) {
        asked.push((await context.elicit(request)).error?.code);
      }
      return { thrown, asked };
    });
    const raw = await rawPort(host);
    const { data } = await raw.call('odd');
    const agent = await connect(host, { onElicitation: () => 1 });
    const second = await agent.call('odd', {}, { onProgress() {} });
    await turn();
    return { data, second: second.data, echo: (await raw.call('test.echo', { a: 1 })).data, questions: host.stats().elicitations };
  });
  const expected = { thrown: Array(4).fill('TypeError'), asked: Array(10).fill('INVALID_PARAMS') };
  assert.deepEqual(seen, { data: expected, second: expected, echo: { a: 1 }, questions: 0 });
});
