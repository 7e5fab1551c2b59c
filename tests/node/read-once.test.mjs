import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connect, connectPort } from 'caphost/agent';
import { LIMIT, LONG, SHAPES, fickle, size } from './fickle.mjs';
import { inPage, newHost } from './host.mjs';

/** Makes a host with limits, which keeps the parameters that its handler has received. */
async function keeper() {
  const host = await newHost({ maxMessageBytes: LIMIT, maxDepth: 8 });
  /** @type {any[]} */
  const given = [];
  host.register('keep', {}, (params) => void given.push(params));
  return { host, given };
}

for (const [shape, make] of Object.entries(SHAPES)) {
  for (const times of [1, 2, 3]) {
    test(`in the page, no handler gets more than the limit: ${shape}, long from reading ${times + 1}`, async () => {
      const { host, given } = await keeper();
      const abp = await inPage(host);
      const { success, error } = await abp.call('keep', make(fickle(times)));
      if (success) assert.ok(size(given[0]) <= LIMIT && size(given[0]) <= LIMIT, `${size(given[0])} characters`);
      else assert.equal(error?.code, 'INVALID_PARAMS');
    });

    test(`in a child call, no handler gets more than the limit: ${shape}, long from reading ${times + 1}`, async () => {
      const { host, given } = await keeper();
      host.register('parent', {}, (_, { call }) => call('keep', make(fickle(times))));
      const { data } = await (await inPage(host)).call('parent');
      if (data.success) assert.ok(size(given[0]) <= LIMIT && size(given[0]) <= LIMIT, `${size(given[0])} characters`);
      else assert.equal(data.error.code, 'INVALID_PARAMS');
    });

    test(`data has the value that was checked: ${shape}, long from reading ${times + 1}`, async () => {
      const host = await newHost({ maxMessageBytes: LIMIT });
      host.register('fickle', {}, () => make(fickle(times)));
      host.register('parent', {}, (_, { call }) => call('fickle'));
      const { port1, port2 } = new MessageChannel();
      host.acceptPort(port1);
      const agent = await connectPort(port2);
      after(() => port2.close());
      const abp = await inPage(host);
      for (const answer of [await abp.call('fickle'), (await abp.call('parent')).data, await agent.call('fickle')]) {
        if (answer.success) assert.ok(size(answer.data) <= LIMIT && size(answer.data) <= LIMIT, `${size(answer.data)} characters`);
        else assert.equal(answer.error?.code, 'OPERATION_FAILED');
      }
    });
  }
}

test('the reason of a cancel, the name of an agent and the answer to a question are read once', async () => {
  const { host } = await keeper();
  /** @type {any[]} */
  const seen = [];
  host.register('hold', {}, (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(seen.push(signal.reason.message)))));
  host.register('ask', {}, (_, { elicit }) => elicit({ method: 'elicitation/input' }));
  /** @type {any} */
  const target = { __abp_elicitation: () => ({ success: true, get data() { return fickleData.text; } }) };
  const fickleData = fickle(2);
  host.expose(target);
  const { abp } = target;
  const agent = Object.defineProperty({ version: '1' }, 'name', { get: () => naming.text, enumerable: true });
  const naming = fickle();
  await abp.initialize({ agent, protocolVersion: '0.1', features: { elicitation: true } });
  const held = abp.call('hold', {}, { callId: 'held' });
  await new Promise((resolve) => setTimeout(resolve));
  const why = fickle();
  await abp.cancel({ callId: 'held', get reason() { return why.text; } });
  await held;
  assert.ok(seen[0].length <= LIMIT);
  const { data } = await abp.call('ask');
  if (data.success) assert.ok(size(data) <= LIMIT && size(data) <= LIMIT);
});

test('changes that a handler makes after it has returned do not reach its caller', async () => {
  const host = await newHost();
  const state = { list: [1], at: 1 };
  host.register('state', {}, () => state);
  host.register('parent', {}, (_, { call }) => call('state'));
  const abp = await inPage(host);
  const [mine, theirs] = [await abp.call('state'), await abp.call('parent')];
  state.list.push(2);
  state.at = 2;
  assert.deepEqual([mine.data, theirs.data.data], [{ list: [1], at: 1 }, { list: [1], at: 1 }]);
});

test('a child call obeys the limits of its host like a call of an agent, in both directions', async () => {
  const host = await newHost({ maxMessageBytes: LIMIT, maxDepth: 4 });
  const deep = (/** @type {number} */ levels) => {
    /** @type {any} */
    let it = {};
    for (let level = 1; level < levels; level += 1) it = { it };
    return it;
  };
  host.register('take', {}, (params) => ({ ok: true, levels: params.it !== undefined }));
  host.register('give', {}, ({ size: length, levels }) => (levels ? deep(levels) : 'y'.repeat(length)));
  host.register('parent', {}, (/** @type {any} */ { what, about }, { call }) => call(what, about === 'long' ? { text: LONG } : about === 'deep' ? deep(5) : about === 'fits' ? deep(4) : about));
  const abp = await inPage(host);
  const child = async (/** @type {string} */ what, /** @type {any} */ about) => (await abp.call('parent', { what, about })).data;
  const asAgent = [await abp.call('take', { text: LONG }), await abp.call('take', deep(5)), await abp.call('give', { size: 2 * LIMIT }), await abp.call('give', { levels: 5 })];
  const asChild = [await child('take', 'long'), await child('take', 'deep'), await child('give', { size: 2 * LIMIT }), await child('give', { levels: 5 })];
  assert.deepEqual(asChild.map(({ error }) => error), asAgent.map(({ error }) => error));
  assert.deepEqual(asAgent.map(({ error }) => error?.code), ['INVALID_PARAMS', 'INVALID_PARAMS', 'OPERATION_FAILED', 'OPERATION_FAILED']);
  assert.equal((await child('take', 'fits')).success, true);
  assert.equal((await abp.call('take', deep(4))).success, true);
});

test('a transport within the page delivers the checked value', async () => {
  const { host, given } = await keeper();
  /** @type {any} */
  const [ours, theirs] = [{ close() {} }, { close() {} }];
  ours.post = (/** @type {any} */ it) => theirs.onmessage?.(it);
  theirs.post = (/** @type {any} */ it) => ours.onmessage?.(it);
  host.accept(theirs);
  const agent = await connect(ours);
  const { success } = await agent.call('keep', fickle(1));
  if (success) assert.ok(size(given[0]) <= LIMIT);
  await agent.shutdown();
});
