import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectPort } from 'caphost/agent';
import { exhaust } from '../e2e/fixtures/lab/exhausted.js';
import { inPage, newHost } from './host.mjs';

test('when a handler exhausts the stack within its host, everybody is told, even if the console throws', { timeout: 20_000 }, async (t) => {
  t.mock.method(console, 'error', () => { throw new Error('console.error throws'); });
  const host = await newHost();
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  t.after(() => port2.close());
  const agents = [await inPage(host), await connectPort(port2)];
  const seen = await exhaust(host, agents);
  assert.deepEqual(seen, { codes: Array(3).fill('INTERNAL_ERROR'), later: Array(4).fill('INTERNAL_ERROR'), aborted: true, lost: true });
});
