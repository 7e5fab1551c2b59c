import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHost } from 'caphost';
import { connectPort } from 'caphost/agent';
import type { Caps } from '../src/capabilities.ts';
import { offerWords } from '../src/words.ts';

/** An agent of a host with the tested capability. Both are closed at the end of the block. */
async function setUp() {
  const host = await createHost<Caps>({ app: { id: 'test', name: 'Test', version: '1.0.0' } });
  offerWords(host);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort<Caps>(port2);
  return {
    agent,
    async [Symbol.asyncDispose]() {
      await agent.shutdown();
      await host.close();
    },
  };
}

test('counts the words, and finds the longest', async () => {
  await using it = await setUp();
  assert.deepEqual(await it.agent.invoke('text.words', { texts: ['one two', 'three'] }), { words: 3, longest: 'three' });
});

test('a cancel ends the work', async () => {
  await using it = await setUp();
  const controller = new AbortController();
  const response = await it.agent.call('text.words', { texts: Array(100).fill('word') }, {
    signal: controller.signal,
    onProgress: () => controller.abort('enough'), // the handler is running now
  });
  assert.equal(response.cancelled, true);
  assert.equal(response.metadata.stop, 'returned');
});

test('parameters that do not fit are refused before the handler runs', async () => {
  await using it = await setUp();
  const response = await it.agent.call('text.words', { texts: ['one'], pause: -1 });
  assert.equal(response.error?.code, 'INVALID_PARAMS');
});
