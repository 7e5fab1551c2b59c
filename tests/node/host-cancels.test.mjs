import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inPage, newHost } from './host.mjs';

test('the host cancels a running call of any session before it names an ended call of the same id', async () => {
  const host = await newHost();
  host.register('quick', {}, () => 1);
  host.register('hold', {}, (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)));
  const [first, second] = [await inPage(host), await inPage(host)];
  assert.equal((await first.call('quick', {}, { callId: 'same' })).data, 1);
  const running = second.call('hold', {}, { callId: 'same' });
  const { cancelled } = await host.cancel('same', { by: 'user' });
  assert.deepEqual([cancelled, (await running).cancelled], [true, true]);
  // Now both have ended, and the first session counts.
  assert.equal((await host.cancel('same')).reason, 'Operation already completed');
  assert.deepEqual(await host.cancel('other'), { callId: 'other', cancelled: false, reason: 'Operation not found' });
});

test('a closed host says so to whoever cancels a call', async () => {
  const host = await newHost();
  host.close();
  for (const answer of [await host.cancel('x'), await host.cancelCall('s', 'x')]) {
    assert.deepEqual([answer.cancelled, answer.error?.code], [false, 'NOT_INITIALIZED']);
  }
});
