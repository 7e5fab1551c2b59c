import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastMeasure } from '../../../scripts/build/size.mjs';
import { inLab } from '../support/lab.mjs';
import { useWire } from './wire.mjs';

const lab = useWire();
const { onPort } = lab;

test('a connection stays in its first dialect, and refuses messages of another', async () => {
  const seen = await onPort(async ({ lab, host, raw, until, rpc }) => {
    raw.post(rpc(0, '_capabilities/call', { capability: 'test.echo', params: { n: 1 } }));
    await until(() => raw.heard.length === 1);
    raw.post({ type: 'initialize', id: 'abp', timestamp: 0, payload: lab.INITIALIZE });
    await until(() => raw.heard.length === 2);
    const other = await lab.rawPort(host);
    const before = other.heard.length;
    other.post(rpc(5, '_capabilities/list'));
    await other.hear((/** @type {any} */ it) => it.type === 'error');
    const [abpError] = other.heard.slice(before);
    return { heard: raw.heard.map((/** @type {any} */ { error, ...rest }) => ({ ...rest, ...(error && { code: error.code, message: error.message }) })), abpError };
  });
  const [result, refused] = seen.heard;
  assert.deepEqual([result.id, result.result.data], [0, { n: 1 }]);
  assert.deepEqual(refused, { jsonrpc: '2.0', id: 'abp', code: -32600, message: 'A message has jsonrpc: "2.0"' });
  assert.deepEqual([seen.abpError.id, seen.abpError.payload.error.code], [5, 'INVALID_PARAMS']);
});

test('batches, requests that begin with $/, and malformed messages', async () => {
  const seen = await onPort(async ({ raw, until, rpc }) => {
    const messages = [
      [rpc(1, '_capabilities/list')], rpc(2, '$/anything'), rpc(3, 'no/method'), rpc({}, 'm'), { jsonrpc: '2.0', id: 4, method: 7 },
      { jsonrpc: '2.0', id: 5, method: 'm', params: 'p' }, { id: 6, method: 'm' }, 7, null, '{', rpc(8, '_capabilities/call', []),
      rpc(9, '_capabilities/call', { capability: 7 }), rpc(10, '_capabilities/call', { capability: 'test.nothing' }), rpc(11, 'initialize', [1]),
      rpc(12, '_capabilities/call', { capability: 'test.echo', options: { timeout: -1 } }), rpc(13, '_capabilities/call', { capability: 'test.echo', options: 'x' }),
      rpc(14, '_capabilities/call', { capability: 'test.echo', options: { progressToken: {} } }), rpc(15, '_capabilities/call', { capability: 'test.echo', options: { callId: '' } }),
      rpc(16, '_capabilities/call', { capability: 'test.echo', params: Array.from({ length: 1000 }).reduce((it) => ({ it }), {}) }),
    ];
    for (const message of messages) raw.post(message);
    for (const silent of [{ jsonrpc: '2.0', id: 1, result: 1 }, { jsonrpc: '2.0', id: 1, error: { code: 1 } }, rpc(undefined, 'unknown'), rpc(undefined, '$/cancelRequest'), rpc(undefined, '$/cancelRequest', { id: [1] })]) raw.post(silent);
    raw.post(rpc('last', '_capabilities/call', { capability: 'test.echo', params: { alive: true } }));
    await until(() => raw.heard.some((/** @type {any} */ it) => it.id === 'last'));
    return raw.heard.map((/** @type {any} */ { id, error, result }) => [id, error ? error.code : result.data]);
  });
  assert.deepEqual(seen, [
    [null, -32600], [2, -32601], [3, -32601], [null, -32600], [4, -32600], [5, -32600], [6, -32600], [null, -32600], [null, -32600], [null, -32700],
    [8, -32602], [9, -32602], [10, -32602], [11, -32602], [12, -32602], [13, -32602], [14, -32602], [15, -32602], [16, -32600], ['last', { alive: true }],
  ]);
});

test('text is answered with text, also a batch and broken text', async () => {
  const seen = await onPort(async ({ raw, until, rpc }) => {
    raw.post(JSON.stringify([rpc(1, 'm')]));
    raw.post('{ "jsonrpc": ');
    raw.post(JSON.stringify(rpc('', '_capabilities/call', { capability: 'test.echo', params: { n: 1 } })));
    await until(() => raw.heard.length === 3);
    return raw.heard.map((/** @type {any} */ it) => [typeof it, JSON.parse(it)]).map((/** @type {any[]} */ [type, { id, error, result }]) => [type, id, error?.code ?? result.data]);
  });
  assert.deepEqual(seen, [['string', null, -32600], ['string', null, -32700], ['string', '', { n: 1 }]]);
});

test('ids 0, "", 1 and "1" at once, each cancelled separately; an id in flight is refused', async () => {
  const seen = await onPort(async ({ host, raw, until, rpc }) => {
    const ids = [0, '', 1, '1', null];
    for (const id of ids) raw.post(rpc(id, '_capabilities/call', { capability: 'test.work' }));
    raw.post(rpc(1, '_capabilities/list'));
    raw.post(rpc('', '_capabilities/call', { capability: 'test.echo' }));
    await until(() => host.stats().contexts === 5);
    const order = ['', 1, null, '1', 0];
    for (const id of order) raw.post(rpc(undefined, id === 1 ? '$/cancelRequest' : '$/cancel_request', id === 1 ? { id } : { requestId: id }));
    await until(() => raw.heard.length === 7);
    const left = host.stats().contexts;
    for (const id of ids) raw.post(rpc(id, '_capabilities/call', { capability: 'test.echo', params: { again: id } }));
    await until(() => raw.heard.length === 12);
    return { heard: raw.heard.map((/** @type {any} */ { id, error, result }) => [id, error ? [error.code, error.data.requestId ?? error.message, error.data.stop ?? 'no stop'] : result.data]), left };
  });
  const busy = [-32600, 'A request with this id is in flight', 'no stop'];
  assert.deepEqual(seen.heard.slice(0, 2), [[1, busy], ['', busy]]);
  assert.deepEqual(seen.heard.slice(2, 7), ['', 1, null, '1', 0].map((id) => [id, [-32800, String(id), 'returned']]));
  assert.equal(seen.left, 0);
  assert.deepEqual(seen.heard.slice(7), [0, '', 1, '1', null].map((id) => [id, { again: id }]));
});

test('every cancelled call is answered with -32800, children first', async () => {
  const seen = await onPort(async ({ host, raw, until, rpc }) => {
    /** @type {any[]} */
    const ended = [];
    host.observe((/** @type {any} */ it) => it.type === 'call' && it.state === 'cancelled' && ended.push(it.capability));
    const call = (/** @type {unknown} */ id, /** @type {string} */ capability, /** @type {any} */ options = {}) => raw.post(rpc(id, '_capabilities/call', { capability, options }));
    call('timeout', 'test.work', { timeout: 30 });
    await until(() => raw.heard.length === 1);
    call('stubborn', 'test.stubborn', { timeout: 30 });
    await until(() => raw.heard.length === 2);
    /** @type {string} */
    let sessionId = '';
    host.observe((/** @type {any} */ it) => (sessionId = it.sessionId ?? sessionId));
    call('app', 'test.work', { callId: 'mine' });
    await until(() => host.stats().contexts === 1);
    await host.cancelCall(sessionId, 'mine', 'enough');
    call('tree', 'test.tree');
    await until(() => host.stats().contexts === 2);
    ended.length = 0;
    raw.post(rpc(undefined, '$/cancel_request', { requestId: 'tree' }));
    await until(() => raw.heard.length === 4);
    const leaves = [...ended];
    call('shutdown', 'test.work');
    await until(() => host.stats().contexts === 1);
    raw.post(rpc('over', 'shutdown'));
    raw.post(rpc('later', '_capabilities/list'));
    await until(() => raw.heard.length === 7);
    return { heard: raw.heard.map((/** @type {any} */ { id, error, result }) => [id, error?.code ?? result, error?.data.stop ?? 'no stop']), message: raw.heard[0].error, leaves, left: host.stats().contexts, sessions: host.stats().sessions };
  });
  assert.deepEqual(seen.heard, [
    ['timeout', -32800, 'returned'], ['stubborn', -32800, 'abandoned'], ['app', -32800, 'returned'], ['tree', -32800, 'returned'],
    ['shutdown', -32800, 'returned'], ['over', null, 'no stop'], ['later', -32600, 'no stop'],
  ]);
  assert.deepEqual(seen.message, {
    code: -32800, message: 'Tool execution cancelled: test.work', data: { code: 'CANCELLED', retryable: false, requestId: 'timeout', partial: false, stop: 'returned' },
  });
  assert.deepEqual([seen.leaves, seen.left, seen.sessions], [['test.work', 'test.tree'], 0, 0]);
});

test('the answer to a call in a worker has the step that stopped it, and its time, beside the grade', async () => {
  const data = await onPort(async ({ host, raw, until, rpc }) => {
    host.registerWorker('part', undefined, '/workers/parts.js', { pool: 1, warm: false });
    const call = (/** @type {number} */ id, /** @type {string} */ part) => raw.post(rpc(id, '_capabilities/call', { capability: 'part', params: { part } }));
    // The worker is started from here on.
    call(0, 'where');
    await until(() => raw.heard.length === 1);
    call(1, 'hold');
    raw.post(rpc(undefined, '$/cancel_request', { requestId: 1 }));
    await until(() => raw.heard.length === 2);
    return raw.heard[1].error.data;
  });
  const { took, ...rest } = data;
  assert.ok(took >= 0, `${took}`);
  assert.deepEqual(rest, { code: 'CANCELLED', retryable: false, requestId: '1', partial: false, stop: 'returned', step: 'signal' });
});

test('a closing host answers the pending requests of its peer', async () => {
  const seen = await onPort(async ({ host, raw, until, rpc }) => {
    raw.post(rpc(1, '_capabilities/call', { capability: 'test.work' }));
    await until(() => host.stats().contexts === 1);
    host.close();
    await until(() => raw.heard.length === 1);
    return raw.heard.map((/** @type {any} */ { id, error }) => [id, error.code, error.data.stop]);
  });
  // A closing host does not wait for handlers.
  assert.deepEqual(seen, [[1, -32800, 'abandoned']]);
});

test('initialize of ACP and LSP declares support for cancels, cannot be cancelled itself, and comes once', async () => {
  const seen = await onPort(async ({ lab, host, raw, until, rpc }) => {
    raw.post(rpc(0, 'initialize', { protocolVersion: 1, clientCapabilities: {}, clientInfo: { name: 'editor', version: '2' } }));
    raw.post(rpc(undefined, '$/cancel_request', { requestId: 0 }));
    raw.post(rpc(1, 'initialize', { protocolVersion: 1 }));
    await until(() => raw.heard.length === 2);
    const lsp = await lab.rawPort(host, false);
    lsp.post(rpc('', 'initialize', { processId: null, rootUri: null, capabilities: { cancellation: { request: true } } }));
    lsp.post(rpc(undefined, '$/cancelRequest', { id: '' }));
    return { acp: raw.heard, lsp: await lsp.hear((/** @type {any} */ it) => it.id === '') };
  });
  const capabilities = { cancellation: { request: true } };
  const info = { name: 'lab', title: 'Laboratory', version: '1.0.0' };
  assert.deepEqual(seen.acp[0].result, { protocolVersion: 1, agentCapabilities: capabilities, agentInfo: info, authMethods: [] });
  assert.deepEqual([seen.acp[1].id, seen.acp[1].error.code, seen.acp[1].error.data.code], [1, -32600, 'ALREADY_INITIALIZED']);
  assert.deepEqual(seen.lsp.result, { capabilities, serverInfo: info });
});

test('initialize is answered after any earlier messages', async () => {
  const seen = await onPort(async ({ lab, host, raw, until, rpc }, VERSION) => {
    const legacy = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} } };
    raw.post(rpc(0, '_capabilities/call', { capability: 'test.echo' }));
    await until(() => raw.heard.length === 1);
    raw.post(rpc(1, 'initialize', { capabilities: { elicitation: {} } }));
    raw.post(rpc(2, '_capabilities/call', { capability: 'test.ask', params: { message: 'Sure?' } }));
    await until(() => raw.heard.some((/** @type {any} */ it) => it.method === '_elicitation/request'));
    const busy = await lab.rawPort(host, false);
    busy.post(rpc(0, '_capabilities/call', { capability: 'test.work' }));
    busy.post(rpc(1, 'initialize', { protocolVersion: 1 }));
    await until(() => busy.heard.length === 1);
    const mcp = await lab.rawPort(host, false);
    mcp.post(rpc(0, 'subscriptions/listen', { notifications: { toolsListChanged: true }, _meta: { [VERSION]: '2026-07-28' } }));
    mcp.post(rpc(1, 'tools/call', { name: 'test.work', _meta: { [VERSION]: '2026-07-28' } }));
    mcp.post(rpc(2, 'initialize', legacy));
    mcp.post(rpc(3, 'initialize', legacy));
    mcp.post(rpc(0, 'ping', { _meta: { [VERSION]: { toString: 1 } } }));
    mcp.post(rpc(1, 'ping'));
    await until(() => mcp.heard.length === 5);
    return [raw, busy, mcp].map((it) => it.heard.map((/** @type {any} */ { id, method, error }) => [id, method ?? error?.code ?? 'result']));
  }, 'io.modelcontextprotocol/protocolVersion');
  assert.deepEqual(seen[0].slice(0, 2), [[0, 'result'], [1, 'result']]);
  assert.deepEqual(seen[1], [[1, 'result']]);
  assert.deepEqual(seen[2], [[null, 'notifications/subscriptions/acknowledged'], [2, 'result'], [3, 'result'], [0, -32602], [1, 'result']]);
});

test('a window that is gone ends its calls; a window that posts messages is answered there', async () => {
  const seen = await onPort(async ({ lab, host, until, rpc }) => {
    host.acceptMessages();
    const frame = await lab.frame('/lab/');
    const { contentWindow } = frame;
    while (!contentWindow.lab) await lab.turn();
    const peer = contentWindow.lab.rawWindow(window, location.origin);
    peer.post(rpc(0, '_capabilities/call', { capability: 'test.echo', params: { n: 1 } }));
    const { result } = await peer.hear((/** @type {any} */ it) => it.id === 0);
    peer.post(JSON.stringify(rpc(1, '_capabilities/call', { capability: 'test.work' })));
    await until(() => host.stats().contexts === 1);
    frame.remove();
    await until(() => host.stats().contexts === 0);
    return { data: result.data, inFlight: host.stats().inFlight };
  });
  assert.deepEqual(seen, { data: { n: 1 }, inFlight: 0 });
});

test('two hosts that receive each other\'s messages do not answer unrequested answers', async () => {
  const seen = await onPort(async ({ lab, host, rpc, until }) => {
    host.acceptMessages();
    const { contentWindow } = await lab.frame('/jsonrpc-page/framed.html');
    while (!contentWindow.host) await lab.turn();
    /** @type {any[]} */
    const heard = [];
    addEventListener('message', ({ data, source }) => source === contentWindow && data.jsonrpc && heard.push(data.method ?? `answer ${data.id}`));
    contentWindow.postMessage(rpc(0, 'initialize', { capabilities: { elicitation: {} } }), location.origin);
    contentWindow.postMessage(rpc(1, '_capabilities/call', { capability: 'test.ask', params: { message: 'Sure?' } }), location.origin);
    contentWindow.postMessage(rpc(2, 'no/method'), location.origin);
    await until(() => heard.length >= 3);
    // If the two sides answered each other's messages, these answers would arrive before the last of
    // these.
    for (const id of [3, 4, 5]) {
      contentWindow.postMessage(rpc(id, 'no/method'), location.origin);
      await until(() => heard.includes(`answer ${id}`));
    }
    return { heard, waiting: contentWindow.host.stats().elicitations };
  });
  assert.deepEqual(seen, { heard: ['answer 0', 'answer 2', '_elicitation/request', 'answer 3', 'answer 4', 'answer 5'], waiting: 1 });
});

test("an extension's port: its end is the end of its calls", async () => {
  const seen = await onPort(async ({ host, until, rpc }) => {
    const event = () => {
      /** @type {Set<(message?: any) => void>} */
      const listeners = new Set();
      return { addListener: (/** @type {any} */ it) => listeners.add(it), removeListener: (/** @type {any} */ it) => listeners.delete(it), fire: (/** @type {any} */ message = undefined) => listeners.forEach((it) => it(message)) };
    };
    /** @type {any[]} */
    const heard = [];
    const port = { onMessage: event(), onDisconnect: event(), postMessage: (/** @type {any} */ it) => heard.push(JSON.parse(JSON.stringify(it))), disconnect() {} };
    host.acceptPort(port);
    port.onMessage.fire(rpc(0, 'tools/call', { name: 'test.echo', arguments: { n: 1 } }));
    port.onMessage.fire(rpc(1, 'tools/call', { name: 'test.work' }));
    await until(() => heard.length === 1 && host.stats().contexts === 1);
    port.onDisconnect.fire();
    await until(() => host.stats().contexts === 0);
    return heard.map(({ id, result }) => [id, result.structuredContent]);
  });
  assert.deepEqual(seen, [[0, { n: 1 }]]);
});

test('a host that goes away answers the pending requests', async () => {
  const seen = await onPort(async ({ lab, until, rpc }) => {
    const frame = await lab.frame('/jsonrpc-page/framed.html');
    while (!frame.contentWindow.host) await lab.turn();
    /** @type {any[]} */
    const heard = [];
    // A message that a document posts while it unloads has no source.
    addEventListener('message', ({ data }) => data.channel !== 'mcp-iframe' && heard.push(data));
    const wrapped = (/** @type {any} */ payload) => frame.contentWindow.postMessage({ channel: 'own', type: 'mcp', direction: 'client-to-server', payload }, location.origin);
    wrapped('mcp-check-ready');
    wrapped(rpc(0, 'tools/call', { name: 'test.work' }));
    frame.contentWindow.postMessage(rpc(0, '_capabilities/call', { capability: 'test.work' }), location.origin);
    await until(() => frame.contentWindow.host.stats().contexts === 2);
    frame.src = '/lab/';
    await until(() => heard.length === 4);
    return heard.map((it) => (it.type === 'mcp' ? [it.channel, it.payload.result?.content[0].text ?? it.payload] : [it.id, it.error.data.code]));
  });
  assert.deepEqual(seen.slice(0, 1), [['own', 'mcp-server-ready']]);
  assert.deepEqual(seen.slice(1).sort(), [[0, 'DISCONNECTED'], ['own', 'DISCONNECTED: The host is going away'], ['own', 'mcp-server-stopped']].sort());
});

test('if the module cannot be loaded, requests get an error', async () => {
  const page = await lab.page();
  try {
    const file = String(lastMeasure()?.find(({ onDemand }) => onDemand === 'JSON-RPC')?.file);
    await page.setRequestInterception(true);
    page.on('request', (request) => void (request.url().endsWith(file) ? request.abort() : request.continue()));
    const seen = await inLab(page, async ({ newHost, rawPort }) => {
      const raw = await rawPort(await newHost(), false);
      raw.post({ jsonrpc: '2.0', id: 0, method: 'ping' });
      raw.post({ jsonrpc: '2.0', id: 1, method: 'ping' });
      await raw.hear((/** @type {any} */ it) => it.id === 1);
      return raw.heard.map((/** @type {any} */ { jsonrpc, id, error }) => [jsonrpc, id, error.code]);
    });
    assert.deepEqual(seen, [['2.0', 0, -32603], ['2.0', 1, -32603]]);
  } finally {
    await page.close();
  }
});

test('limits of requests in flight, of listeners and of sessions', async () => {
  const seen = await onPort(async ({ lab, raw, until, rpc }) => {
    for (let id = 0; id <= 16_384; id += 1) {
      raw.post(rpc(id, 'subscriptions/listen', { notifications: {}, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }));
    }
    const full = await raw.hear((/** @type {any} */ it) => it.error);
    raw.post(rpc(undefined, 'notifications/cancelled', { requestId: 5 }));
    raw.post(rpc('again', 'ping'));
    await until(() => raw.heard.some((/** @type {any} */ it) => it.id === 'again'));
    const host = await lab.newHost({ maxSessions: 1, maxInFlight: 1 });
    await lab.connect(host);
    const second = await lab.rawPort(host, false);
    second.post(rpc(0, '_capabilities/call', { capability: 'test.echo' }));
    const late = await second.hear((/** @type {any} */ it) => it.id === 0);
    return { full: [full.id, full.error.code, full.error.data], again: raw.heard.at(-1).result, late: [late.error.code, late.error.data.code, late.error.data.retryable] };
  });
  assert.deepEqual(seen, {
    full: [16_384, -32000, { code: 'RATE_LIMITED', retryable: true, details: { limit: 'inFlight', max: 16_384 } }],
    again: {}, late: [-32000, 'RATE_LIMITED', true],
  });
});

test('when the instance is lost, every request is answered', async () => {
  const seen = await onPort(async ({ lab, host, raw, until, rpc }) => {
    console.error = () => {};
    const mcp = await lab.rawPort(host, false);
    mcp.post(rpc(0, 'tools/call', { name: 'test.hold' }));
    raw.post(rpc(0, '_capabilities/call', { capability: 'test.hold' }));
    await until(() => host.stats().contexts === 2);
    host.shell.number = 1e6;
    raw.post(rpc(1, '_capabilities/call', { capability: 'test.echo' }));
    await raw.hear((/** @type {any} */ it) => it.id === 1);
    const { result } = await mcp.hear((/** @type {any} */ it) => it.id === 0);
    return [raw.heard.map((/** @type {any} */ { id, error }) => [id, error.code, error.data.code]), result.isError, result.content[0].text.split(':')[0]];
  });
  assert.deepEqual(seen, [[[0, -32603, 'INTERNAL_ERROR'], [1, -32603, 'INTERNAL_ERROR']], true, 'INTERNAL_ERROR']);
});
