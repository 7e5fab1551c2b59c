import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectPort, newHost, onPort } from './host.mjs';

const lose = (/** @type {EventTarget} */ port) => port.dispatchEvent(new MessageEvent('messageerror'));

test('a message that the host cannot deserialise ends the session on both sides, and its call settles', async () => {
  const host = await newHost();
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(/** @type {any} */ (port2));
  let aborted = 0;
  host.register('hold', {}, (_, { signal }) => new Promise(() => signal.addEventListener('abort', () => (aborted += 1))));
  host.register('echo', {}, (params) => params);
  await agent.call('echo');
  const held = agent.call('hold');
  // This is the lost call. Nobody receives it.
  await agent.call('echo');
  lose(port1);
  assert.equal(await agent.closed, 'disconnected');
  const { success, error, cancelled } = await held;
  assert.equal(success, false);
  assert.ok(cancelled || error?.code === 'DISCONNECTED');
  assert.equal(aborted, 1);
  assert.deepEqual([host.stats().sessions, host.stats().inFlight], [0, 0]);
  const again = await connectPort(/** @type {any} */ (port2));
  assert.deepEqual((await again.call('echo', { a: 1 })).data, { a: 1 });
  port2.close();
});

test('a plain agent gets the answers to all known calls, and learns that the host is gone', async () => {
  const host = await newHost();
  host.register('hold', {}, () => new Promise(() => {}));
  const agent = onPort(host);
  await agent.initialize();
  const held = agent.ask('capabilities/call', { capability: 'hold' });
  await agent.ask('capabilities/cancel', { callId: 'nothing' });
  lose(agent.hostPort);
  const answered = await held;
  assert.deepEqual([answered.success, answered.cancelled], [false, true]);
  await agent.hear((it) => it.type === 'notification' && it.payload.event === 'notifications/host/closed');
  assert.ok((await agent.initialize()).sessionId);
});
