import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connectPort } from 'caphost/agent';
import { LIMIT, LONG, SHAPES, fickle, size } from './fickle.mjs';
import { inPage, newHost, onPort, plainAgent } from './host.mjs';

const INITIALIZE = { agent: { name: 'node', version: '1' }, protocolVersion: '0.1' };

for (const [shape, make] of Object.entries(SHAPES)) {
  for (const times of [1, 2, 3, 4]) {
    test(`all that an app tells without being asked has the value that was checked: ${shape}, long from reading ${times + 1}`, async () => {
      const host = await newHost({ maxMessageBytes: LIMIT, maxDepth: 8 });
      /** @type {any[]} */
      const heard = [];
      host.observe((event) => void heard.push(event));
      /** @type {any} */
      const target = { __abp_progress: (/** @type {any} */ it) => heard.push(it), __abp_notification: (/** @type {any} */ it) => heard.push(it), __abp_elicitation: (/** @type {any} */ it) => heard.push(it) };
      host.register('tell', {}, async (_, { callId, progress, elicit }) => {
        progress(/** @type {any} */ (make(fickle(times))));
        target.abp.notifyProgress(Object.defineProperty(make(fickle(times)), 'operationId', { value: callId, enumerable: true }));
        host.notify('told', make(fickle(times)));
        target.abp.notify('told', make(fickle(times)));
        await elicit(/** @type {any} */ (make(fickle(times))));
      });
      host.expose(target);
      await target.abp.initialize({ ...INITIALIZE, features: { notifications: true, progress: true, elicitation: true } });
      const { port1, port2 } = new MessageChannel();
      host.acceptPort(port1);
      after(() => port2.close());
      const agent = plainAgent((message) => port2.postMessage(message));
      port2.onmessage = ({ data }) => {
        agent.receive(data);
        if (data.type === 'elicitation/request') port2.postMessage({ type: 'elicitation/response', id: data.id, payload: { success: true } });
      };
      await agent.ask('initialize', { ...INITIALIZE, features: { notifications: true, progress: true, elicitation: true } });
      await target.abp.call('tell');
      await agent.ask('capabilities/call', { capability: 'tell' });
      await new Promise((resolve) => setTimeout(resolve, 10));
      assert.deepEqual([...heard, ...agent.heard].filter((it) => size(it) > 2 * LIMIT).map((it) => it.type ?? it), []);

    });

    test(`an error has the values that were checked: ${shape}, long from reading ${times + 1}`, async () => {
      const host = await newHost({ maxMessageBytes: LIMIT, maxDepth: 8 });
      /** @type {Record<string, () => unknown>} */
      const throws = {
        details: () => ({ code: 'OWN', message: 'Own', details: make(fickle(times)) }),
        alternatives: () => ({ code: 'OWN', message: 'Own', alternatives: make(fickle(times)) }),
        members: () => ({ inside: make(fickle(times)) }),
        cause: () => new Error('Own', { cause: make(fickle(times)) }),
        errors: () => new AggregateError([make(fickle(times)), new Error('Inner', { cause: make(fickle(times)) })], 'Own'),
        itself: () => make(fickle(times)),
      };
      host.register('fail', {}, ({ how }) => {
        throw throws[/** @type {string} */ (how)]?.();
      });
      const { port1, port2 } = new MessageChannel();
      host.acceptPort(port1);
      const agent = await connectPort(port2);
      after(() => port2.close());
      const abp = await inPage(host);
      for (const how of Object.keys(throws)) {
        for (const { error } of [await abp.call('fail', { how }), await agent.call('fail', { how })]) {
          assert.ok(size(error) <= LIMIT + 200 && size(error) <= LIMIT + 200, `${how}: ${size(error)} characters`);
        }
      }
    });
  }
}

test('a notification that exceeds the limits of the host is dropped with a warning, like progress', async (t) => {
  const host = await newHost({ maxMessageBytes: LIMIT, maxDepth: 4 });
  /** @type {string[]} */
  const warnings = [];
  t.mock.method(console, 'warn', (/** @type {string} */ text) => void warnings.push(text));
  const agent = onPort(host);
  await agent.initialize();
  const abp = await inPage(host);
  host.notify('long', { text: LONG });
  host.notify('deep', { a: { b: { c: { d: {} } } } });
  host.notify('function', { f() {} });
  host.notify(LONG);
  abp.notify('long', { text: LONG });
  host.notify('fits', { text: 'short' });
  host.notify('nothing');
  await agent.hear(({ payload }) => payload.event === 'nothing');
  assert.deepEqual(agent.heard.filter(({ type }) => type === 'notification').map(({ payload }) => payload), [{ event: 'fits', data: { text: 'short' } }, { event: 'nothing' }]);
  assert.equal(warnings.length, 5);
  assert.match(/** @type {string} */ (warnings[0]), /the notification long is dropped: it is larger than 1000 characters/);
  assert.ok(warnings.every((it) => it.length < 300));
});

test('changes that a handler makes after it has told something do not reach the agent', async () => {
  const host = await newHost();
  const agent = onPort(host);
  await agent.initialize();
  host.register('tell', {}, async (_, { progress }) => {
    const state = { list: [1] };
    progress(/** @type {any} */ (state));
    state.list.push(2);
  });
  host.observe(() => {});
  await agent.ask('capabilities/call', { capability: 'tell' });
  assert.deepEqual(agent.heard.find(({ type }) => type === 'progress').payload.list, [1]);
});

test('large data have the value that was checked, over every transport', async () => {
  const host = await newHost({ maxMessageBytes: 200_000 });
  const large = () => Array.from({ length: 10 }, (_, n) => `${n}`.repeat(10_000));
  for (const [shape, make] of Object.entries(SHAPES)) {
    for (const times of [1, 2, 3, 4]) {
      const it = fickle(times);
      let reads = 0;
      const later = { get text() { reads += 1; return reads > times ? 'x'.repeat(1_000_000) : it.text.slice(0, 5); } };
      host.register(`${shape} ${times}`, {}, () => ({ large: large(), it: make(later) }));
    }
  }
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2);
  after(() => port2.close());
  const abp = await inPage(host);
  for (const shape of Object.keys(SHAPES)) {
    for (const times of [1, 2, 3, 4]) {
      for (const { success, data } of [await abp.call(`${shape} ${times}`), await agent.call(`${shape} ${times}`)]) {
        if (success) assert.ok(size(data) <= 200_000 && size(data) <= 200_000, `${shape} ${times}: ${size(data)} characters`);
      }
    }
  }
});
