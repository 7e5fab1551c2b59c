import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mjs';

const lab = useLab();

/**
 * A plain agent in a frame of another agent cluster, which no compiled module can be posted from: a
 * `messageerror` comes of it. It calls, loses a message, and tells its parent what it heard.
 */
const frameScript = (/** @type {boolean} */ withPort) => `
  const module = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  const { port1, port2 } = new MessageChannel();
  const heard = [];
  const envelope = (type, id, payload) => ({ type, id, timestamp: 0, payload });
  const post = (message, transfer = []) => ${withPort} && message.id !== 'first' ? port1.postMessage(message) : parent.postMessage(message, '*', transfer);
  const steps = {
    first: () => post(envelope('capabilities/call', 'held', { capability: 'test.hold', callId: 'held' })),
    started: () => post(envelope('capabilities/call', 'lost', { capability: 'test.echo', params: { module } })),
    // A port that came with a session is closed with it; a window hears on.
    'notifications/host/closed': () => ${withPort} ? steps.again() : post(envelope('initialize', 'again', opening)),
    again: () => parent.postMessage({ heard }, '*'),
  };
  const opening = { agent: { name: 'frame', version: '1' }, protocolVersion: '0.1', features: { notifications: true } };
  const hear = ({ data }) => {
    const step = data === 'started' ? data : data.id ?? data.payload.event;
    heard.push([step, data.payload?.cancelled ?? typeof data.payload?.sessionId]);
    steps[step]?.();
  };
  addEventListener('message', hear);
  port1.onmessage = hear;
  post(envelope('initialize', 'first', opening), ${withPort} ? [port2] : []);
`;

for (const withPort of [false, true]) {
  test(`a message over ${withPort ? 'a private port' : 'a window'} that the host cannot deserialise ends the session, and nothing waits for ever`, async () => {
    const seen = await lab.run(async ({ newHost, frame, running }, script) => {
      const host = await newHost();
      host.acceptMessages({ allowedOrigins: ['null'] });
      const told = new Promise((resolve) => addEventListener('message', ({ data }) => data.heard && resolve(data.heard)));
      const runs = running(host, 'held');
      const element = frame(`data:text/html,${encodeURIComponent(`<script>${script}</script>`)}`, { sandbox: 'allow-scripts' });
      await runs;
      (await element).contentWindow.postMessage('started', '*');
      return { heard: await told, inFlight: host.stats().inFlight };
    }, frameScript(withPort));
    assert.deepEqual(seen.heard, [
      ['first', 'string'], ['started', 'undefined'], ['held', true], ['notifications/host/closed', 'undefined'],
      ...(withPort ? [] : [['again', 'string']]),
    ]);
    assert.equal(seen.inFlight, 0);
  });
}

test('a sparse array and a Map over a port are refused for their size before they are expanded', async () => {
  const seen = await lab.run(async ({ newHost, rawPort }) => {
    const host = await newHost({ maxMessageBytes: 100_000 });
    const raw = await rawPort(host);
    /** @type {unknown[]} */
    const sparse = [];
    sparse.length = 2 ** 32 - 1;
    const before = /** @type {any} */ (performance).memory.usedJSHeapSize;
    const answers = [];
    for (const it of [sparse, new Map([['x', 'x'.repeat(1e6)]]), new Set(['x'.repeat(1e6)])]) answers.push(await raw.call('test.echo', { it }));
    const grown = /** @type {any} */ (performance).memory.usedJSHeapSize - before;
    return { said: answers.map(({ error }) => error?.message), grown, echo: (await raw.call('test.echo', { a: 1 })).data };
  });
  assert.deepEqual(seen.said, Array(3).fill('The message is larger than 100000 characters'));
  assert.ok(seen.grown < 50e6, `${seen.grown} bytes`);
  assert.deepEqual(seen.echo, { a: 1 });
});
