import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLabWithGateway } from '../support/lab-gateway.mjs';
import { malformed } from './malformed.mjs';

const lab = useLabWithGateway();

test('bad input over a WebSocket gets a clear error and disturbs nothing', async () => {
  /** Values that JSON cannot express, or that the gateway checks before the app. @type {Record<string, any>} */
  const other = {
    'a timeout that is NaN': ['capabilities/call-result', 'INVALID_PARAMS'],
    'an answer that is no object': ['error', 'INVALID_PARAMS'],
  };
  const seen = await lab.run(
    async ({ newHost, join, rawSocket }, cases, urls) => {
      const host = await newHost();
      await join(host, urls.app);
      const raw = await rawSocket(urls.agent);
      const held = raw.call('test.hold', {}, { callId: 'held' });
      await raw.call('test.checked', { text: 'fine' });
      /** @type {any} */
      const answers = {};
      for (const [name, message] of cases) {
        const before = raw.heard.length;
        const whole = new Function('id', `return (${message})`)(`bad ${name}`);
        raw.post(JSON.stringify(whole));
        await raw.call('test.echo', { name });
        answers[name] = raw.heard.slice(before, -1);
      }
      const cancel = await raw.cancel('held');
      const { cancelled } = await held;
      return { answers, held: [cancel, cancelled], inFlight: host.stats().inFlight };
    },
    malformed.map(({ name, message }) => [name, message]),
    lab.urls,
  );
  for (const { name, answer } of malformed) {
    const [given, ...more] = seen.answers[name];
    assert.deepEqual(more, [], name);
    const expected = name in other ? other[name] : answer;
    const { type, payload } = given ?? {};
    if (expected === null) assert.equal(given, undefined, `${name}: ${JSON.stringify(given)}`);
    else assert.deepEqual([type, payload?.error?.code], [expected[0], expected[1]], `${name}: ${JSON.stringify(given)}`);
  }
  assert.deepEqual(seen.held, [{ callId: 'held', cancelled: true, metadata: { stop: 'returned' } }, true]);
  assert.equal(seen.inFlight, 0);
});

test('text that is no JSON, binary frames and a frame of 100 MB are refused, and the connection stays open', async () => {
  const seen = await lab.run(async ({ newHost, join, rawSocket }, urls) => {
    const host = await newHost();
    await join(host, urls.app);
    const raw = await rawSocket(urls.agent);
    const held = raw.call('test.hold', {}, { callId: 'held' });
    const deep = `{"type":"capabilities/call","id":"deep","payload":{"capability":"test.echo","params":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}}`;
    const frames = ['', 'no JSON', '{"type":', '\ud800', new ArrayBuffer(0), new TextEncoder().encode('{"type":"shutdown"}').buffer, deep, '['.repeat(100_000)];
    const codes = [];
    for (const frame of frames) {
      const before = raw.heard.length;
      raw.socket.send(frame);
      await raw.call('test.echo');
      codes.push(raw.heard.slice(before, -1).map((/** @type {any} */ it) => it.payload.error.code).join());
    }
    const before = raw.heard.length;
    raw.socket.send(`{"type":"capabilities/call","id":"huge","payload":{"capability":"test.echo","params":{"x":"${'x'.repeat(100_000_000)}"}}}`);
    const echo = await raw.call('test.echo', { a: 1 });
    const huge = raw.heard.slice(before, -1).map((/** @type {any} */ it) => it.payload.error.code).join();
    await raw.cancel('held');
    return { codes, huge, echo: echo.data, held: (await held).cancelled, open: raw.socket.readyState };
  }, lab.urls);
  assert.deepEqual(seen, { codes: Array(8).fill('INVALID_PARAMS'), huge: 'INVALID_PARAMS', echo: { a: 1 }, held: true, open: 1 });
});

test('data that JSON cannot carry, or that is too large for the gateway, fails the call', async () => {
  const seen = await lab.run(async ({ newHost, join, agents }, urls) => {
    const host = await newHost();
    /** @type {Record<string, () => unknown>} */
    const data = {
      big: () => ({ n: 1n }),
      element: () => ({ element: document.body }),
      map: () => new Map([['a', 1]]),
      cyclic: () => {
        const it = new (class It { it = /** @type {any} */ (undefined); })();
        it.it = it;
        return it;
      },
      toJSON: () => ({ toJSON() { throw new Error('no'); } }),
      buffer: () => new ArrayBuffer(20 << 20),
      escapes: () => '\u0001'.repeat(4 << 20),
      small: () => new ArrayBuffer(2),
      date: () => ({ at: new Date(0) }),
    };
    for (const [name, give] of Object.entries(data)) host.register(name, {}, async () => give());
    await join(host, urls.app);
    const agent = await agents.connectWebSocket(urls.agent);
    const held = agent.call('test.hold', {}, { callId: 'held' });
    const seen = [];
    for (const name of Object.keys(data)) {
      const { success, error, data } = await agent.call(name, {}, { timeout: 20_000 });
      seen.push([name, success ? JSON.stringify(data).slice(0, 100) : error?.code]);
    }
    await agent.cancel('held');
    return { seen: Object.fromEntries(seen), held: (await held).cancelled };
  }, lab.urls);
  const failed = 'OPERATION_FAILED';
  assert.deepEqual(seen, {
    seen: {
      big: failed, element: failed, map: failed, cyclic: failed, toJSON: failed,
      buffer: 'TRANSPORT_ERROR',
      escapes: 'TRANSPORT_ERROR',
      small: '{"content":"AAA=","mimeType":"application/octet-stream","encoding":"base64","size":2}',
      date: '{"at":"1970-01-01T00:00:00.000Z"}',
    },
    held: true,
  });
});
