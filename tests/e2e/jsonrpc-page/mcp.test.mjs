import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usePeers } from './peers.mjs';
import { useWire } from './wire.mjs';

const { onPort } = useWire();
const { withPeer } = usePeers();

const VERSION = 'io.modelcontextprotocol/protocolVersion';

const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

test('initialize is answered with the host\'s own version, ping and lists are answered, and other methods are not', async () => {
  const seen = await onPort(async ({ raw, until, rpc }) => {
    raw.post(rpc(0, 'initialize', { protocolVersion: '1999-01-01', capabilities: {}, clientInfo: { name: 'c', version: '1' } }));
    raw.post(rpc(undefined, 'notifications/initialized'));
    raw.post(rpc('', 'ping'));
    raw.post(rpc(1, 'tools/list'));
    raw.post(rpc(2, '_capabilities/list'));
    raw.post(rpc(3, 'resources/list'));
    raw.post(rpc(4, 'server/discover'));
    raw.post(rpc(null, 'ping'));
    raw.post(rpc(1.5, 'ping'));
    raw.post(rpc(5, 'tools/call', { name: 7 }));
    raw.post(rpc(6, 'tools/call', { name: 'test.echo', arguments: [] }));
    raw.post(rpc(7, 'tools/call', { name: 'test_echo', arguments: { n: 1 } }));
    raw.post(rpc(8, 'tools/call', { name: 'nope' }));
    raw.post([rpc(9, 'ping')]);
    await until(() => raw.heard.some((/** @type {any} */ it) => it.id === 7) && raw.heard.length === 13);
    return raw.heard;
  });
  const of = (/** @type {unknown} */ id) => seen.find((/** @type {any} */ it) => it.id === id);
  assert.deepEqual(of(0).result, {
    protocolVersion: '2025-11-25', capabilities: { logging: {}, tools: { listChanged: true } }, serverInfo: { name: 'lab', title: 'Laboratory', version: '1.0.0' },
  });
  assert.deepEqual(of('').result, {});
  assert.deepEqual(of(1).result.tools.find((/** @type {any} */ it) => it.name === 'test_echo'), { name: 'test_echo', title: 'test.echo', description: 'For tests', inputSchema: { type: 'object' } });
  for (const id of [2, 3, 4]) assert.equal(of(id).error.code, -32601);
  assert.deepEqual(seen.filter((/** @type {any} */ it) => it.id === null).map((/** @type {any} */ it) => it.error.code), [-32600, -32600, -32600]);
  for (const id of [5, 6, 8]) assert.equal(of(id).error.code, -32602);
  assert.deepEqual(of(7).result.structuredContent, { n: 1 });
});

for (const version of ['2024-11-05', '2025-03-26', '2025-06-18']) {
  test(`a client of ${version} is answered in its version, with content that it can read`, async () => {
    const seen = await onPort(async ({ host, raw, until, rpc }, asked) => {
      host.register('sums.of', { outputSchema: { type: 'object' } }, async (/** @type {any} */ _, /** @type {any} */ { progress }) => {
        progress({ progress: 1, status: 'adding' });
        return { sum: 3 };
      });
      raw.post(rpc(0, 'initialize', { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'c', version: '1' } }));
      await until(() => raw.heard.length === 1);
      raw.post([rpc(1, 'tools/list'), { jsonrpc: '2.0', method: 'notifications/initialized' }, rpc(2, 'ping')]);
      if (asked !== '2025-03-26') raw.post(rpc(1, 'tools/list'));
      await until(() => raw.heard.some((/** @type {any} */ it) => it.id === 1));
      raw.post(rpc(3, 'tools/call', { name: 'sums_of', _meta: { progressToken: 7 } }));
      await until(() => raw.heard.some((/** @type {any} */ it) => it.id === 3));
      return raw.heard;
    }, version);
    const of = (/** @type {unknown} */ id) => seen.find((/** @type {any} */ it) => it.id === id);
    const structure = version === '2025-06-18';
    assert.equal(of(0).result.protocolVersion, version);
    assert.equal('title' in of(0).result.serverInfo, structure);
    const tool = of(1).result.tools.find((/** @type {any} */ it) => it.name === 'sums_of');
    assert.deepEqual(['title' in tool, 'outputSchema' in tool, 'structuredContent' in of(3).result], [structure, structure, structure]);
    const { params } = seen.find((/** @type {any} */ it) => it.method === 'notifications/progress');
    assert.equal(params.message, version === '2024-11-05' ? undefined : 'adding');
    // Only one version of the protocol has batches.
    if (version === '2025-03-26') assert.deepEqual(of(2).result, {});
    else assert.equal(of(null).error.code, -32600);
  });
}

test('when a client starts again, its calls are stopped and never answered', async () => {
  const seen = await onPort(async ({ host, raw, until, rpc }) => {
    const hello = rpc(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } });
    raw.post(hello);
    raw.post(rpc(1, 'tools/call', { name: 'test.work' }));
    await until(() => host.stats().contexts === 1);
    raw.post(hello);
    await until(() => host.stats().contexts === 0);
    raw.post(rpc(1, 'tools/call', { name: 'test.echo', arguments: { n: 1 } }));
    await until(() => raw.heard.length === 3);
    return { ids: raw.heard.map((/** @type {any} */ it) => [it.id, Boolean(it.result)]), sessions: host.stats().sessions };
  });
  assert.deepEqual(seen, { ids: [[0, true], [0, true], [1, true]], sessions: 1 });
});

test('2026-07-28: every request says its version, and results are typed', async () => {
  const seen = await onPort(async ({ host, raw, until, rpc }, VERSION) => {
    /** @type {any} */
    let work;
    host.observe((/** @type {any} */ it) => it.capability === 'test.work' && it.state === 'running' && (work = it));
    const modern = (/** @type {unknown} */ id, /** @type {string} */ method, /** @type {any} */ params = {}, version = '2026-07-28') => raw.post(rpc(id, method, { ...params, _meta: { [VERSION]: version } }));
    modern(0, 'server/discover');
    modern(1, 'tools/list');
    modern(2, 'tools/call', { name: 'test.echo', arguments: { n: 1 } });
    modern(3, 'tools/call', { name: 'test.fail', arguments: { message: 'broken', code: 'MINE' } });
    modern(4, 'ping', {}, '2030-01-01');
    modern(5, 'tools/call', { name: 'test.selfAbort' });
    await until(() => raw.heard.length === 6);
    modern(6, 'tools/call', { name: 'test.work' });
    await until(() => work);
    await host.cancelCall(work.sessionId, work.callId);
    await until(() => raw.heard.length === 7);
    return raw.heard;
  }, VERSION);
  const of = (/** @type {unknown} */ id) => seen.find((/** @type {any} */ it) => it.id === id);
  assert.deepEqual([of(0).result.supportedVersions, of(0).result.resultType], [VERSIONS, 'complete']);
  assert.deepEqual([of(1).result.resultType, of(1).result.ttlMs, of(1).result.cacheScope], ['complete', 0, 'private']);
  assert.deepEqual([of(2).result.resultType, of(2).result.structuredContent], ['complete', { n: 1 }]);
  assert.deepEqual([of(3).result.isError, of(3).result.content[0].text], [true, 'MINE: broken']);
  assert.deepEqual([of(4).error.code, of(4).error.data], [-32022, { supported: VERSIONS, requested: '2030-01-01' }]);
  // A handler that gives up is an ordinary error, because nobody has cancelled the call.
  assert.deepEqual([of(5).result.isError, of(5).result.content[0].text], [true, 'OPERATION_FAILED: I would rather not']);
  assert.deepEqual(of(6).error, {
    code: -32800, message: 'Tool execution cancelled: test.work', data: { requestId: '6', partial: false, stop: 'returned', _meta: { 'caphost/stop': 'returned' } },
  });
});

test('the answer to a call in a worker has the step that stopped it, and its time, beside the grade', async () => {
  const { took, ...data } = await onPort(async ({ host, raw, until, rpc }) => {
    host.registerWorker('part', undefined, '/workers/parts.js', { pool: 1, warm: false });
    /** @type {any} */
    let hold;
    host.observe((/** @type {any} */ it) => it.state === 'running' && (hold = it));
    const call = (/** @type {number} */ id, /** @type {string} */ part) => raw.post(rpc(id, 'tools/call', { name: 'part', arguments: { part } }));
    // The worker is started from here on.
    call(0, 'where');
    await until(() => raw.heard.length === 1);
    call(1, 'hold');
    await until(() => host.stats().contexts === 1);
    await host.cancelCall(hold.sessionId, hold.callId);
    await until(() => raw.heard.length === 2);
    return raw.heard[1].error.data;
  });
  assert.ok(took >= 0, `${took}`);
  assert.deepEqual(data, {
    requestId: '1', partial: false, stop: 'returned', step: 'signal', _meta: { 'caphost/stop': 'returned', 'caphost/step': 'signal', 'caphost/took': took },
  });
});

for (const mode of ['legacy', 'auto']) {
  test(`a client, ${mode}: many tools on one page, notifications of changes, and bytes as content`, async () => {
    const seen = await withPeer(`@modelcontextprotocol/client, ${mode}, over a MessagePort`, async ({ host, peer, until }) => {
      /** @type {string[]} */
      let names = [];
      peer.onChanged((/** @type {string[]} */ given) => (names = given));
      for (let at = 0; at < 230; at += 1) host.register(`many.${String(at).padStart(3, '0')}`, {}, async () => at);
      const outputSchema = { type: 'object', properties: { image: { type: 'string' }, mimeType: { const: 'image/png' } } };
      host.register('picture', { outputSchema }, async () => ({ image: 'iVBORw0KGgo=', mimeType: 'image/png' }));
      host.register('bytes', {}, async () => new Uint8Array([1, 2, 3]));
      await until(() => names.length > 230);
      const listed = (await peer.client.listTools()).tools.length;
      const picture = await peer.client.callTool({ name: 'picture', arguments: {} });
      const bytes = await peer.client.callTool({ name: 'bytes', arguments: {} });
      host.unregister('picture');
      await until(() => !names.includes('picture'));
      return { told: names.length, listed, picture, bytes, complaints: peer.complaints };
    });
    assert.equal(seen.told, seen.listed - 1);
    assert.ok(seen.listed > 230);
    assert.equal(seen.picture.structuredContent, undefined, 'a client would show nothing else');
    assert.deepEqual(JSON.parse(seen.picture.content[0].text), { image: '#/content/1/data', mimeType: 'image/png' });
    assert.deepEqual(seen.picture.content[1], { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' });
    assert.deepEqual(seen.bytes.content[1].resource.blob, 'AQID');
    assert.deepEqual(seen.complaints, []);
  });
}
