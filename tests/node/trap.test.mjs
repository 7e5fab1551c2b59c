import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connectPort } from 'caphost/agent';
import { createHost } from 'caphost';

const app = { id: 'a', name: 'a', version: '1' };
const code = (/** @type {any} */ it) => it.error?.code;

test('outer stack frames of a lost instance do not continue, every host of the instance is told at once, and the module of agents goes on', async (t) => {
  const logged = t.mock.method(console, 'error', () => {});
  const host = /** @type {any} */ (await createHost({ app }));
  const other = await createHost({ app });
  const { port1, port2 } = new MessageChannel();
  after(() => port2.close());
  other.acceptPort(port1);
  const agent = await connectPort(/** @type {any} */ (port2));
  other.register('hold', {}, () => new Promise(() => {}));
  const held = agent.call('hold');

  /** @type {string[]} */
  const told = [];
  other.observe((event) => {
    if (event.type === 'call' && event.callId === 'late') told.push(`${event.capability} ${event.state} ${/** @type {any} */ (event).response?.error.code ?? ''}`);
  });
  const late = agent.call('hold', {}, { callId: 'late' });
  while (told.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));

  /** @type {string[]} */
  const ran = [];
  /** @type {any} */
  let inside;
  host.register('breaks', {}, () => {
    ran.push('breaks');
    // This host does not exist, so Rust panics inside the stack frame that has called the handler.
    host.shell.number = 1e6;
    inside = target.abp.call('next');
    ran.push('broken');
  });
  host.register('next', {}, () => void ran.push('next'));
  /** @type {any} */
  const target = {};
  host.expose(target);
  await target.abp.initialize({ agent: { name: 'n', version: '1' }, protocolVersion: '0.1', features: {} });
  const seen = await Promise.all([target.abp.call('breaks'), target.abp.call('next'), held, late]);
  assert.deepEqual(seen.map(code), Array(4).fill('INTERNAL_ERROR'));
  assert.equal(code(await inside), 'INTERNAL_ERROR');
  assert.deepEqual(ran, ['breaks', 'broken']);
  assert.equal(code(await agent.call('hold')), 'INTERNAL_ERROR');
  assert.equal(await Promise.race([agent.closed, 'open']), 'open');
  assert.deepEqual(told, ['hold queued ', 'hold running ', 'hold failed INTERNAL_ERROR']);
  assert.equal(logged.mock.callCount(), 1);
  await assert.rejects(createHost({ app }), { code: 'INTERNAL_ERROR' });
  const plain = new MessageChannel();
  after(() => plain.port1.close());
  plain.port1.onmessage = ({ data: { type, id } }) => {
    const payload = type === 'initialize' ? { sessionId: 's', protocolVersion: '0.1', app, capabilities: [], features: {} } : { success: true, data: 'done' };
    plain.port1.postMessage({ type: type === 'initialize' ? 'initialize-result' : 'capabilities/call-result', id, timestamp: 0, payload });
  };
  const another = await connectPort(/** @type {any} */ (plain.port2));
  assert.equal((await another.call('work')).data, 'done');
});
