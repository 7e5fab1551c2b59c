import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { useLab } from '../support/lab.mjs';
import { serveFiles } from '../support/static-server.mjs';

const lab = useLab();
/** A server of another origin, whose pages are in another agent cluster. @type {Awaited<ReturnType<typeof serveFiles>>} */
let elsewhere;
before(async () => {
  elsewhere = await serveFiles({ pages: { '/plain/': `<script>${frameScript(false)}</script>` } });
});
after(() => elsewhere?.close());

/**
 * A plain agent in a frame of another agent cluster. A compiled module cannot be posted from there, so
 * it causes a `messageerror`. The agent calls, loses a message, and tells its parent what it has
 * received.
 */
function frameScript(/** @type {boolean} */ withPort) {
  return `
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
}

for (const withPort of [false, true]) {
  test(`a message over ${withPort ? 'a private port' : 'a window'} that the host cannot deserialise ends the session, and nothing waits forever`, async () => {
    const seen = await lab.run(async ({ newHost, frame, running }, script, other) => {
      const host = await newHost();
      host.acceptMessages({ allowedOrigins: ['null', other] });
      const told = new Promise((resolve) => addEventListener('message', ({ data }) => data.heard && resolve(data.heard)));
      const runs = running(host, 'held');
      // A host answers an opaque origin only over ports.
      const element = script ? frame(`data:text/html,${encodeURIComponent(`<script>${script}</script>`)}`, { sandbox: 'allow-scripts' }) : frame(`${other}/plain/`);
      await runs;
      (await element).contentWindow.postMessage('started', '*');
      return { heard: await told, inFlight: host.stats().inFlight };
    }, withPort ? frameScript(true) : '', elsewhere.origin);
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

/** Runs in a frame of another agent cluster, with an agent of this package. Returns the outcomes of its calls and questions. */
const agentScript = async (/** @type {any} */ lab, /** @type {string} */ origin) => {
  const module = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  /** @type {any[]} */
  const progress = [];
  const agent = await lab.agents.connectWindow(parent, { origin, onElicitation: () => ({ success: true, data: { module } }) });
  const held = agent.call('test.hold', {}, { callId: 'held' });
  const [asked, got, told, answered] = [
    await agent.call('test.echo', { module }),
    await agent.call('lost.result'),
    await agent.call('lost.progress', {}, { onProgress: (/** @type {any} */ info) => progress.push(info.progress) }),
    await agent.call('lost.answer'),
  ];
  const echo = await agent.call('test.echo', { a: 1 });
  const cancel = await agent.cancel('held');
  const ended = (await held).cancelled;
  const again = await agent.cancel('held');
  await agent.shutdown();
  return { asked: asked.error, got: got.error, told: told.data, progress, answered: answered.data, echo: echo.data, cancel, ended, again, closed: await agent.closed };
};

test('a call, a result, progress or an answer that the other end cannot deserialise fails alone, and the session continues', async () => {
  const page = await lab.page();
  try {
    await page.evaluate(async (src) => {
      const { lab } = /** @type {any} */ (window);
      const module = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
      const host = (/** @type {any} */ (window).host = await lab.newHost());
      host.register('lost.result', {}, () => ({ module }));
      host.register('lost.progress', {}, (/** @type {any} */ _, /** @type {any} */ { progress }) => {
        for (const it of [1, module, 3]) progress({ progress: it });
        return 'told';
      });
      host.register('lost.answer', {}, async (/** @type {any} */ _, /** @type {any} */ { elicit }) => (await elicit({ message: '?' })).error.code);
      host.acceptMessages({ allowedOrigins: [new URL(src).origin] });
      await lab.frame(src);
    }, elsewhere.url('/lab/'));
    const frame = page.frames().find((it) => it.url().startsWith(elsewhere.origin));
    assert.ok(frame);
    await frame.waitForSelector('html[data-ready]');
    const seen = await frame.evaluate(agentScript, await frame.evaluateHandle('lab'), lab.server.origin);
    for (const error of [seen.asked, seen.got]) assert.deepEqual([error.code, error.retryable], ['TRANSPORT_ERROR', true]);
    assert.deepEqual([seen.told, seen.progress, seen.answered, seen.echo], ['told', [1, 3], 'TRANSPORT_ERROR', { a: 1 }]);
    const confirmed = { callId: 'held', cancelled: true, metadata: { stop: 'returned' } };
    assert.deepEqual([seen.cancel, seen.ended, seen.again, seen.closed], [confirmed, true, confirmed, 'shutdown']);
    const left = await page.evaluate(() => {
      const { inFlight, sessions, contexts } = /** @type {any} */ (window).host.stats();
      return { inFlight, sessions, contexts };
    });
    assert.deepEqual(left, { inFlight: 0, sessions: 0, contexts: 0 });
  } finally {
    await page.close();
  }
});

test('a value that one end cannot clone fails alone, and the session continues', async () => {
  const seen = await lab.run(async ({ newHost, connect, rejection }) => {
    const host = await newHost();
    const it = { locked: new ReadableStream() };
    it.locked.getReader();
    host.register('bad.result', {}, () => ({ it }));
    host.register('bad.progress', {}, (/** @type {any} */ _, /** @type {any} */ { progress }) => {
      progress({ progress: 1, it });
      return 'told';
    });
    host.register('bad.question', {}, async (/** @type {any} */ _, /** @type {any} */ { elicit }) => (await elicit({ it })).error.code);
    host.register('question', {}, async (/** @type {any} */ _, /** @type {any} */ { elicit }) => (await elicit({})).error.code);
    const agent = await connect(host, { onElicitation: () => ({ it }) });
    const codes = [];
    for (const name of ['bad.result', 'bad.progress', 'bad.question', 'question', 'test.echo']) {
      const { data, error } = await agent.call(name, name === 'test.echo' ? { it } : {});
      codes.push(error?.code ?? data);
    }
    return { codes, echo: (await agent.call('test.echo', { a: 1 })).data, closed: await rejection(agent.shutdown()) };
  });
  assert.deepEqual(seen.codes, ['OPERATION_FAILED', 'told', 'INVALID_PARAMS', 'OPERATION_FAILED', 'INVALID_PARAMS']);
  assert.deepEqual(seen.echo, { a: 1 });
});
