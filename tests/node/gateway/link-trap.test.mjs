import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHost } from 'caphost';
import { accept } from '../../../src/web/js/accept.js';
import { GatewayLink } from '../../../src/web/js/gateway/link.js';
import { fromText, toText } from '../../../src/web/js/json.js';
import { onWindow } from '../../../src/web/js/on-window.js';
import { Socket, last } from './socket.mjs';

test('a lost instance still answers over a gateway, and registers in place of resuming, without haste', async (t) => {
  t.mock.method(console, 'error', () => {});
  /** @type {any} */
  const host = await createHost({ app: { id: 'a', name: 'a', version: '1' } });
  new GatewayLink(host.shell, 'ws://gateway', { WebSocket: Socket }, new Socket(), { accept, fromText, log: () => {}, onWindow, toText });
  last().open();
  last().hear('app/registered', { appId: 'a', resume: { token: 'secret', grace: 60_000 } });
  // No delivery has this number, so Rust panics.
  host.shell.rust.received(1e6);
  await new Promise((resolve) => setTimeout(resolve, 10));
  last().sent.length = 0;
  last().hear('capabilities/call', { callId: 'c', capability: 'x' }, 'a1', 'call');
  assert.equal(last().sent[0].payload.error.code, 'INTERNAL_ERROR');
  last().hear('app/ack', { received: 1 });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  last().end();
  t.mock.timers.tick(9_999);
  assert.equal(Socket.all.length, 1);
  t.mock.timers.tick(1);
  last().open();
  assert.deepEqual(last().sent.map(({ type, payload }) => [type, payload.replaces]), [['app/register', 'secret']]);
});
