import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { createHost } from 'caphost';
import { connect, connectWebSocket, connectWindow } from 'caphost/agent';
import { newHost } from './host.mjs';
import { wire } from '../../docs/examples/own-transport.mjs';

test('host and agent communicate over a custom transport', async () => {
  const host = await newHost();
  host.register('double', {}, ({ n }) => 2 * n);
  host.register('wait', {}, (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))));
  const [left, right] = pipe();
  host.accept(wire(left));
  const agent = await connect(() => wire(right));
  assert.deepEqual(agent.app, { id: 'app', name: 'App', version: '1' });
  assert.equal(await agent.invoke('double', { n: 4 }), 8);
  const waiting = agent.call('wait', {}, { callId: 'w' });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(await agent.cancel('w'), { callId: 'w', cancelled: true, metadata: { stop: 'returned' } });
  assert.equal((await waiting).cancelled, true);
  await agent.shutdown();
  // The pipe closes with the agent's session.
  assert.equal(left.closed, true);
  assert.equal(host.stats().sessions, 0);
});

test('the end of the transport settles all pending calls on both sides', async () => {
  const host = await newHost();
  /** @type {AbortSignal | undefined} */
  let signal;
  host.register('wait', {}, (_, context) => new Promise(() => ({ signal } = context)));
  const [left, right] = pipe();
  host.accept(wire(left));
  const agent = await connect(wire(right));
  const waiting = agent.call('wait');
  while (!signal) await new Promise((resolve) => setTimeout(resolve, 5));
  left.end();
  assert.equal((await waiting).error?.code, 'DISCONNECTED');
  assert.equal(await agent.closed, 'disconnected');
  assert.equal(signal.aborted, true);
  assert.equal(host.stats().sessions, 0);
});

test('the function that accept returns ends the session and closes the transport', async () => {
  const host = await newHost();
  const [left, right] = pipe();
  const stop = host.accept(wire(left));
  const agent = await connect(wire(right));
  stop();
  assert.equal(await agent.closed, 'disconnected');
  assert.equal(left.closed, true);

  const other = await createHost({ app: { id: 'other', name: 'Other', version: '1' } });
  const ends = pipe();
  other.accept(wire(ends[0]));
  await connect(wire(ends[1]));
  other.close();
  assert.equal(ends[0].closed, true);
});

test('the error names an unusable argument, and the alternative', async () => {
  const host = await newHost();
  // @ts-expect-error that is no messenger
  assert.throws(() => host.accept({ post() {} }), { code: 'INVALID_PARAMS', message: /has no close$/ });
  // @ts-expect-error that is no messenger
  await assert.rejects(connect({ close() {} }), { code: 'INVALID_PARAMS', message: /has no post$/ });
  const failed = connect(() => {
    throw new Error('no pipe');
  });
  await assert.rejects(failed, { code: 'INVALID_PARAMS', message: 'There is no messenger: no pipe' });
  assert.throws(() => host.acceptMessages(), { code: 'NOT_SUPPORTED', message: /^acceptMessages works in a page.*acceptPort, accept or connectGateway$/ });
  await assert.rejects(connectWindow(/** @type {any} */ (undefined)), { code: 'NOT_SUPPORTED', message: /^connectWindow works in a page.*connectPort, connectWebSocket or connect$/ });
  await assert.rejects(connectWebSocket('ws://127.0.0.1:9/abp?token=secret'), (/** @type {any} */ { code, message }) => {
    assert.equal(code, 'DISCONNECTED');
    assert.match(message, /^The connection to ws:\/\/127\.0\.0\.1:9\/abp\?token=… failed/);
    return true;
  });
});

test('a host in Node finds the WebSocket of the package ws', async (t) => {
  const host = await newHost();
  const { WebSocket } = globalThis;
  Object.defineProperty(globalThis, 'WebSocket', { value: undefined, configurable: true, writable: true });
  t.after(() => Object.defineProperty(globalThis, 'WebSocket', { value: WebSocket, configurable: true, writable: true }));
  const events = new Promise((resolve) => {
    /** @type {string[]} */
    const states = [];
    const stop = host.observe((event) => {
      if (event.type !== 'gateway') return;
      states.push(event.state);
      if (states.length === 2) resolve(states);
      if (states.length === 2) stop();
    });
  });
  // Nobody listens at this port.
  host.connectGateway('ws://127.0.0.1:9/abp/app');
  assert.deepEqual(await events, ['connecting', 'disconnected']);
});

/** Makes the two ends of a text pipe, such as a serial line or a data channel. */
function pipe() {
  class End extends EventEmitter {
    closed = false;
    /** @type {End | undefined} */
    other;

    /** @param {string} line */
    write(line) {
      queueMicrotask(() => this.other?.emit('line', line));
    }

    end() {
      for (const it of [this, this.other]) {
        if (!it || it.closed) continue;
        it.closed = true;
        queueMicrotask(() => it.emit('end'));
      }
    }
  }
  const [left, right] = [new End(), new End()];
  [left.other, right.other] = [right, left];
  return /** @type {const} */ ([left, right]);
}
