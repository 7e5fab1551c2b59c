import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inLab, useLab } from '../support/lab.mjs';

const lab = useLab();

/** The ways in: each is code that connects a plain agent `raw` to a host. @type {Record<string, string>} */
const ways = {
  'a port': 'const raw = await lab.rawPort(host);',
  'a window': `
    host.acceptMessages();
    const frame = await lab.frame('/lab/');
    while (!frame.contentWindow.lab) await lab.turn();
    const raw = frame.contentWindow.lab.rawWindow(window, location.origin);
    await raw.initialize();`,
};

/** Values that are few bytes on the wire and expand enormously when they are read. @type {Record<string, string>} */
const values = {
  'a sparse array': '(() => { const it = []; it.length = 2 ** 32 - 1; return it; })()',
  'sparse arrays in a Map': 'new Map(Array.from({ length: 50 }, (_, at) => { const it = []; it.length = 2 ** 31; return [at, it]; }))',
  'a Map of texts': "new Map([['x', 'x'.repeat(3e5)]])",
  'nested Maps': '(() => { let it = new Map(); for (let level = 0; level < 1000; level += 1) it = new Map([[it, 1]]); return it; })()',
  'a large Set': 'new Set(Array.from({ length: 2e5 }, (_, at) => at))',
  'a value that holds itself': '(() => { const it = { map: new Map() }; it.map.set("it", it); return it; })()',
  'two of each, level by level': '(() => { let it = []; for (let level = 0; level < 60; level += 1) it = [it, it]; return it; })()',
  'a text in a thousand places': "(() => { const it = 'x'.repeat(1e3); return Array(1000).fill(it); })()",
};

for (const [way, connect] of Object.entries(ways)) {
  test(`a value that becomes large only when it is expanded is refused before that, over ${way}`, async () => {
    const page = await lab.page();
    try {
      const seen = await inLab(page, async (lab, connect, values) => {
        const host = await lab.newHost({ maxMessageBytes: 100_000 });
        /** @type {any} */
        const AsyncFunction = (async () => {}).constructor;
        const raw = await new AsyncFunction('lab', 'host', `${connect}\nreturn raw;`)(lab, host);
        host.register('asks', {}, async (/** @type {any} */ _, /** @type {any} */ { elicit }) => (await elicit({ message: '?' })).success);
        host.register('checked', { inputSchema: { properties: { it: { uniqueItems: true, items: { type: 'number' } } } } }, () => 'ran');
        await raw.call('checked', {});
        /** @type {any[]} */
        const seen = [];
        for (const [name, code] of Object.entries(values)) {
          const it = new Function(`return ${code}`)();
          const began = performance.now();
          const answers = [
            await raw.call('test.echo', { it }),
            await raw.call('checked', { it }),
            await raw.call('test.echo', {}, { it }),
            await raw.request('capabilities/cancel', { callId: 'x', it }),
            await raw.request('initialize', { ...lab.INITIALIZE, it }),
            await raw.request('initialize', { ...lab.INITIALIZE, requestedCapabilities: it }),
            await raw.request('capabilities/frobnicate', { it }),
            await raw.request('shutdown', { it }),
          ];
          // An answer that is refused is still an answer.
          const asks = raw.call('asks', {}, { callId: `asks ${name}` });
          const { id } = await raw.hear((/** @type {any} */ message) => message.type === 'elicitation/request' && !seen.includes(message.id));
          seen.push(id);
          raw.post({ type: 'elicitation/response', id, timestamp: 0, payload: { success: true, data: it } });
          const asked = (await asks).data;
          const echo = (await raw.call('test.echo', { a: 1 })).data;
          seen.push({ name, took: performance.now() - began, codes: answers.map((payload) => payload.error?.code), asked, echo });
        }
        return { seen: seen.filter((it) => typeof it === 'object'), inFlight: host.stats().inFlight };
      }, connect, values);
      assert.equal(seen.inFlight, 0);
      for (const { name, took, codes, asked, echo } of seen.seen) {
        assert.deepEqual([...new Set(codes)].sort(), ['INVALID_PARAMS', 'NOT_IMPLEMENTED'], name);
        assert.deepEqual([asked, echo], [false, { a: 1 }], name);
        assert.ok(took < 10_000, `${name}: ${took} ms`);
      }
    } finally {
      await page.close();
    }
  });
}

test('an id that is no text is not read, and its message is answered like any malformed message', async () => {
  const seen = await lab.run(async ({ newHost, frame, turn, rawPort, INITIALIZE }) => {
    const host = await newHost();
    host.acceptMessages();
    const { contentWindow } = await frame('/lab/');
    while (!contentWindow.lab) await turn();
    const raw = await rawPort(host);
    // As text, this value would have 2^60 commas.
    /** @type {any} */
    let many = [];
    for (let level = 0; level < 60; level += 1) many = [many, many];
    const before = host.stats().sessions;
    contentWindow.many = many;
    contentWindow.open_ = new contentWindow.Function('INITIALIZE', `
      parent.postMessage({ type: 'initialize', id: many, timestamp: 0, payload: INITIALIZE }, { targetOrigin: location.origin, transfer: [new MessageChannel().port2] });`);
    contentWindow.open_(INITIALIZE);
    const heard = raw.heard.length;
    raw.post({ type: 'capabilities/call', id: many, timestamp: 0, payload: { capability: 'test.echo' } });
    raw.post({ type: 'capabilities/cancel', id: 'x', timestamp: 0, payload: { callId: many } });
    const echo = await raw.call('test.echo', { a: 1 });
    const answers = raw.heard.slice(heard, -1).map((/** @type {any} */ { type, id, payload }) => [type, id, payload.callId ?? null, payload.error?.code]);
    await turn();
    return { answers, echo: echo.data, sessions: host.stats().sessions - before };
  });
  assert.deepEqual(seen, {
    answers: [
      ['capabilities/call-result', null, null, 'INVALID_PARAMS'],
      ['capabilities/cancel-result', 'x', null, 'INVALID_PARAMS'],
    ],
    echo: { a: 1 },
    sessions: 0,
  });
});

test('an agent does not expand what a host answers', async () => {
  const seen = await lab.run(async ({ newHost, connect }) => {
    const host = await newHost({ maxMessageBytes: 100_000 });
    const sparse = () => {
      /** @type {unknown[]} */
      const it = [];
      it.length = 2 ** 32 - 1;
      return it;
    };
    host.register('sparse.progress', {}, (/** @type {any} */ _, /** @type {any} */ { progress, elicit }) => {
      progress({ progress: 1, it: sparse() });
      return elicit({ message: '?', timeout: 50 }).then(() => 'done');
    });
    host.register('sparse.result', {}, () => ({ it: sparse() }));
    host.register('map.result', {}, () => new Map([['x', 'x'.repeat(3e5)]]));
    const agent = await connect(host);
    const began = performance.now();
    const said = [];
    for (const name of ['sparse.progress', 'sparse.result', 'map.result']) {
      const { data, error } = await agent.call(name, {}, { onProgress() {} });
      said.push(error?.code ?? data);
    }
    host.notify('sparse', sparse());
    host.notify('notifications/capabilities/list_changed', { added: sparse(), removed: sparse(), changed: sparse() });
    const echo = await agent.call('test.echo', { a: 1 });
    return { said, echo: echo.data, took: performance.now() - began };
  });
  assert.deepEqual([seen.said, seen.echo], [['done', 'OPERATION_FAILED', 'OPERATION_FAILED'], { a: 1 }]);
  assert.ok(seen.took < 5000, `${seen.took} ms`);
});

test('a window that opens sessions without end is not given ports without end', async () => {
  const seen = await lab.run(async ({ newHost, frame, turn, INITIALIZE }) => {
    const host = await newHost({ maxSessions: 5000 });
    host.acceptMessages();
    const { contentWindow } = await frame('/lab/');
    const { port1, port2 } = new MessageChannel();
    const answered = new Promise((resolve) => (port1.onmessage = resolve));
    while (!contentWindow.lab) await turn();
    contentWindow.open_ = new contentWindow.Function('INITIALIZE', `
      for (let at = 0; at < 1500; at += 1) {
        parent.postMessage({ type: 'initialize', id: 'session ' + at, timestamp: 0, payload: INITIALIZE }, { targetOrigin: location.origin, transfer: [new MessageChannel().port2] });
      }
      parent.postMessage({ type: 'initialize', id: 'x'.repeat(1e6), timestamp: 0, payload: INITIALIZE }, { targetOrigin: location.origin, transfer: [new MessageChannel().port2] });`);
    contentWindow.open_(INITIALIZE);
    host.acceptPort(port2);
    while (host.stats().sessions < 1024) await turn();
    port1.postMessage({ type: 'initialize', id: 'other', timestamp: 0, payload: INITIALIZE });
    await answered;
    await turn();
    return host.stats().sessions;
  });
  assert.equal(seen, 1025);
});
