import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { attach } from 'caphost/automation';
import { startGateway } from '../support/gateway.mjs';
import { inLab, useLab } from '../support/lab.mjs';

const lab = useLab();
/** @type {Awaited<ReturnType<typeof startGateway>>} */
let gateway;
before(async () => {
  await lab.begun;
  gateway = await startGateway({ args: ['--allow-origin', lab.server.origin] });
});
after(() => gateway?.stop());

/** The handlers of the app, with the values that they throw and return. Runs in the page, with `host`. */
const APP = `
  const fails = (name, make) => host.register('fails.' + name, {}, async () => { throw await make(); });
  const http = (details) => Object.assign(new Error('No luck'), { code: 'HTTP_500', retryable: true, retryAfter: 7, details });
  fails('response', () => http(new Response('no')));
  fails('inner', () => http({ status: 500, response: new Response('no') }));
  fails('map', () => http(new Map([['a', () => 1]])));
  fails('bigint', () => http({ big: 1n }));
  fails('function', () => http(() => 1));
  fails('node', () => http(document.body));
  fails('stream', () => http({ socket: window }));
  fails('hostile', () => Object.defineProperties(http(), { details: { get() { throw new Error('mine'); } } }));
  fails('object', () => ({ status: 404 }));
  fails('members', () => ({ code: 'NOT_THERE', message: 'Not there', status: 404, body: { text: 'no' }, response: new Response('no'), log() {} }));
  class HttpFailure { status = 404; }
  fails('class', () => new HttpFailure());
  fails('aggregate', () => new AggregateError([new TypeError('one'), Object.assign(new Error('two'), { code: 'TWO' }), 3], 'both'));
  fails('any', () => Promise.any([Promise.reject(new Error('one'))]));
  fails('dom', () => new DOMException('Not found here', 'NotFoundError'));
  fails('cause', () => new Error('outside', { cause: new RangeError('inside', { cause: 'the text' }) }));
  fails('type', () => new TypeError('of a type'));
  fails('plain', () => new Error('plain'));
  fails('status', () => Object.assign(new TypeError('Not there'), { status: 404, url: '/x', retried: false, request: { secret: 1 }, log() {} }));
  fails('numeric', () => Object.assign(new Error('Not there'), { code: 404 }));
  fails('numericObject', () => ({ code: 404, message: 'Not there' }));
  fails('numericCause', () => new Error('outside', { cause: Object.assign(new Error('inside'), { code: 404, status: 5 }) }));
  fails('number', () => 404);
  fails('boolean', () => false);
  fails('bigText', () => 10n);
  fails('array', () => ['a', 1, { b: 2 }]);
  fails('errors', () => [new Error('one'), Object.assign(new Error('two'), { code: 'TWO' }), 3]);
  fails('empty', () => []);
  fails('nothing', () => undefined);
  const cyclic = new Error('cyclic');
  cyclic.cause = cyclic;
  fails('cyclic', () => cyclic);
  fails('getter', () => ({ status: 404, get body() { throw new Error('mine'); } }));
  const reactive = (target) => new Proxy(target, {
    get: (target, key, receiver) => {
      const value = Reflect.get(target, key, receiver);
      const kind = Object.prototype.toString.call(value).slice(8, -1);
      return ['Object', 'Array'].includes(kind) ? reactive(value) : value;
    },
  });
  const state = { list: [{ a: 1 }, [2]], text: 'x' };
  state.same = state.list;
  host.register('reactive', {}, () => reactive(state));
  host.register('reactive.many', {}, () => ({ rows: reactive(Array.from({ length: 500 }, (_, at) => ({ at }))) }));
  host.register('reactive.details', {}, () => { throw Object.assign(new Error('no'), { code: 'NO', details: reactive({ list: [1] }) }); });
  const memory = new Uint8Array(4096).fill(9);
  host.register('view', {}, () => memory.subarray(8, 12));
  host.register('keep', {}, () => memory);
`;

/** The ways in which an agent connects to the app. Each runs in the page, with `lab`, `host` and `gateway`. @type {Record<string, string>} */
const ways = {
  'a port': 'return lab.connect(host)',
  'a frame': `
    const { contentWindow } = await lab.frame('/lab/');
    while (!contentWindow.lab) await lab.turn();
    host.acceptMessages();
    return contentWindow.lab.agents.connectWindow(window, { origin: location.origin })`,
  'a gateway': `
    await lab.join(host, gateway + '/abp/app');
    return lab.agents.connectWebSocket(gateway + '/abp?app=lab')`,
};

/** The responses to calls over one of the ways. @param {string} way @param {string[]} names @returns {Promise<any[]>} */
async function responses(way, names) {
  if (way === 'attach') {
    return lab.inPage(async (page) => {
      await inLab(page, async (lab, app) => {
        const host = await lab.newHost();
        new Function('host', app)(host);
        host.expose(window);
      }, APP);
      const agent = await attach(page);
      const found = [];
      for (const name of names) found.push(await agent.call(name));
      await agent.shutdown();
      return found;
    });
  }
  return lab.run(async (lab, app, connect, gateway, names) => {
    const host = await lab.newHost();
    new Function('host', app)(host);
    const agent = await new /** @type {any} */ ((async () => {}).constructor)('lab', 'host', 'gateway', connect)(lab, host, gateway);
    const found = [];
    for (const name of names) found.push(await agent.call(name));
    // The responses go to the test as JSON.
    return JSON.parse(JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)));
  }, APP, ways[way], gateway.wsUrl, names);
}

for (const way of [...Object.keys(ways), 'attach']) {
  test(`over ${way}, an error keeps its code, message and retryable for any details`, async () => {
    const names = ['response', 'map', 'bigint', 'function', 'node', 'stream', 'hostile'];
    const found = await responses(way, names.map((it) => `fails.${it}`));
    for (const [at, { success, error }] of found.entries()) {
      const { details, ...rest } = error;
      assert.deepEqual([success, rest], [false, { code: 'HTTP_500', message: 'No luck', retryable: true, retryAfter: 7 }], names[at]);
      // A port carries a bigint. JSON does not.
      if (names[at] !== 'bigint') assert.equal(details, undefined, names[at]);
    }
  });

  test(`over ${way}, the parts of a thrown value that can be sent are kept`, async () => {
    const names = ['object', 'members', 'class', 'aggregate', 'any', 'dom', 'cause', 'type', 'plain', 'cyclic', 'getter', 'status', 'numeric', 'numericObject', 'numericCause', 'number', 'boolean', 'bigText', 'array', 'errors', 'empty', 'nothing'];
    const found = await responses(way, names.map((it) => `fails.${it}`));
    const seen = Object.fromEntries(found.map(({ error: { code, message, details } }, at) => [names[at], [code, message, details]]));
    const failed = 'OPERATION_FAILED';
    const { cyclic, ...others } = seen;
    assert.deepEqual(cyclic.slice(0, 2), [failed, 'cyclic']);
    assert.deepEqual(others, {
      object: [failed, 'The capability failed', { status: 404 }],
      members: ['NOT_THERE', 'Not there', { status: 404, body: { text: 'no' } }],
      class: [failed, 'The capability failed', { status: 404 }],
      aggregate: [failed, 'both', { name: 'AggregateError', errors: [{ name: 'TypeError', message: 'one' }, { code: 'TWO', message: 'two' }, 3] }],
      any: [failed, 'All promises were rejected', { name: 'AggregateError', errors: [{ message: 'one' }] }],
      dom: [failed, 'Not found here', { name: 'NotFoundError' }],
      cause: [failed, 'outside', { cause: { name: 'RangeError', message: 'inside', cause: 'the text' } }],
      type: [failed, 'of a type', { name: 'TypeError' }],
      plain: [failed, 'plain', undefined],
      getter: [failed, 'The capability failed', { status: 404 }],
      status: [failed, 'Not there', { name: 'TypeError', status: 404, url: '/x', retried: false }],
      numeric: [failed, 'Not there', { code: 404 }],
      numericObject: [failed, 'Not there', { code: 404 }],
      numericCause: [failed, 'outside', { cause: { message: 'inside', code: 404, status: 5 } }],
      number: [failed, '404', undefined],
      boolean: [failed, 'false', undefined],
      bigText: [failed, '10', undefined],
      array: [failed, 'The capability failed', ['a', 1, { b: 2 }]],
      errors: [failed, 'The capability failed', [{ message: 'one' }, { code: 'TWO', message: 'two' }, 3]],
      empty: [failed, 'The capability failed', []],
      nothing: [failed, 'The capability failed', undefined],
    });
  });

  test(`over ${way}, a reactive proxy that a handler returns is copied`, async () => {
    const [small, many, details] = await responses(way, ['reactive', 'reactive.many', 'reactive.details']);
    assert.deepEqual(small.data, { list: [{ a: 1 }, [2]], text: 'x', same: [{ a: 1 }, [2]] });
    assert.deepEqual(many.data?.rows?.[499], { at: 499 });
    assert.deepEqual([details.error.code, details.error.details], ['NO', { list: [1] }]);
  });
}

for (const [way, connect] of Object.entries(ways)) {
  if (way === 'a gateway') continue;
  test(`over ${way}, a view of a larger buffer goes without the rest of it`, async () => {
    const seen = await lab.run(async (lab, connect) => {
      const host = await lab.newHost();
      const memory = new WebAssembly.Memory({ initial: 1 });
      const part = () => new Uint8Array(memory.buffer, 16, 4).fill(7);
      const views = () => ({
        view: part(),
        deep: [{ map: new Map([['view', new Set([part()])]]) }],
        data: new DataView(memory.buffer, 16, 4),
        floats: new Float32Array(memory.buffer, 16, 1),
        big: new BigInt64Array(memory.buffer, 16, 1),
        own: Object.assign(Object.create({ inherited: 1 }), { view: part() }),
        rows: [...Array(300).fill(0), part()],
        whole: new Uint8Array(2),
        error: new Error('x', { cause: new Map([['a', new TypeError('y', { cause: { view: part() } })]]) }),
      });
      const sizes = (/** @type {any} */ it) => [
        it.view, [...it.deep[0].map.get('view')][0], it.data, it.floats, it.big, it.own.view, it.rows[300], it.whole, it.error.cause.get('a').cause.view,
      ].map((view) => [Object.prototype.toString.call(view).slice(8, -1), view.buffer.byteLength, view.byteLength, new Uint8Array(view.buffer, view.byteOffset)[0]]);
      host.register('views', {}, () => views());
      host.register('sizes', {}, (/** @type {any} */ params) => sizes(params));
      host.register('alone', {}, () => part());
      host.register('tell', {}, (/** @type {any} */ _, /** @type {any} */ { progress }) => progress({ progress: 1, view: part() }));
      host.register('ask', {}, async (/** @type {any} */ _, /** @type {any} */ { elicit }) => sizes((await elicit({ method: 'x', view: part() })).data));
      const agent = await new /** @type {any} */ ((async () => {}).constructor)('lab', 'host', connect)(lab, host);
      /** @type {number[]} */
      const told = [];
      await agent.call('tell', {}, { onProgress: (/** @type {any} */ info) => told.push(info.view.buffer.byteLength) });
      const { data: alone } = await agent.call('alone');
      const abp = await lab.inPage(host);
      return {
        sent: (await agent.call('sizes', views())).data,
        got: sizes((await agent.call('views')).data),
        inPage: (await abp.call('sizes', views())).data,
        alone: alone.buffer.byteLength,
        told,
        left: memory.buffer.byteLength,
      };
    }, connect);
    const kinds = ['Uint8Array', 'Uint8Array', 'DataView', 'Float32Array'];
    const parts = [...kinds.map((it) => [it, 4, 4, 7]), ['BigInt64Array', 8, 8, 7], ['Uint8Array', 4, 4, 7], ['Uint8Array', 4, 4, 7], ['Uint8Array', 2, 2, 0], ['Uint8Array', 4, 4, 7]];
    assert.deepEqual(seen, { sent: parts, got: parts, inPage: parts, alone: 4, told: [4], left: 65_536 });
  });

  test(`over ${way}, a reactive proxy among the parameters is copied, at any depth`, async () => {
    const seen = await lab.run(async (lab, app, connect) => {
      const host = await lab.newHost();
      new Function('host', `${app}; globalThis.reactive = reactive`)(host);
      const { reactive } = /** @type {any} */ (globalThis);
      const agent = await new /** @type {any} */ ((async () => {}).constructor)('lab', 'host', connect)(lab, host);
      const big = reactive(Array.from({ length: 500 }, (_, at) => ({ at })));
      const answers = [];
      for (const call of [agent.call.bind(agent), (await lab.inPage(host)).call]) {
        answers.push((await call('test.echo', reactive({ list: [{ a: 1 }] }))).data);
        const { data } = await call('test.echo', { deep: { big, date: new Date(5), map: new Map([['a', reactive({ b: 1 })]]) } });
        answers.push([data?.deep.big[499].at, data?.deep.date.getTime(), data?.deep.map.get('a')]);
      }
      return answers;
    }, APP, connect);
    const once = [{ list: [{ a: 1 }] }, [499, 5, { b: 1 }]];
    assert.deepEqual(seen, [...once, ...once]);
  });
}

test('the rest of a buffer stays with the app: it is moved only if the app gives it away, and each call gets it', async () => {
  const seen = await lab.run(async (lab) => {
    const host = await lab.newHost();
    const agent = await lab.connect(host);
    const kept = new Uint8Array(64).fill(5);
    host.register('kept', {}, () => kept);
    host.register('part', {}, () => ({ view: kept.subarray(1, 3) }));
    const found = [];
    for (let round = 0; round < 2; round += 1) {
      found.push((await agent.call('kept', {}, { transfer: true })).data?.byteLength, (await agent.call('part', {}, { transfer: [] })).data?.view.buffer.byteLength);
    }
    return [...found, kept.byteLength];
  });
  assert.deepEqual(seen, [64, 2, 64, 2, 64]);
});

test('shared memory is passed on unchanged, and a part of it as a copy', async () => {
  const seen = await lab.run(async (lab) => {
    const host = await lab.newHost();
    // Shared memory of this kind does not need an isolated page.
    const shared = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer;
    host.register('part', {}, () => new Uint8Array(shared, 4, 4));
    const agent = await lab.connect(host);
    const { data, error } = await agent.call('part');
    const blob = new Blob(['text']);
    host.register('blob', {}, (/** @type {any} */ { blob }) => blob);
    return [error?.message ?? 'none', data?.buffer instanceof ArrayBuffer, data?.buffer.byteLength, await (await agent.call('blob', { blob })).data.text()];
  });
  assert.deepEqual(seen, ['none', true, 4, 'text']);
});
