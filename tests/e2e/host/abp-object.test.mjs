import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mjs';

const lab = useLab();

test('window.abp before initialize, with a session, and after shutdown', async () => {
  const seen = await lab.run(async ({ newHost, rejection, INITIALIZE }) => {
    const host = await newHost();
    host.expose(window);
    const { abp } = /** @type {any} */ (window);
    const look = () => ({ version: abp.protocolVersion, app: abp.app, initialized: abp.initialized, sessionId: abp.sessionId });
    const before = { ...look(), call: (await abp.call('test.echo')).error, cancel: await abp.cancel('x'), list: (await abp.listCapabilities()).length };
    const result = await abp.initialize(INITIALIZE);
    const open = look();
    const twice = await rejection(abp.initialize(INITIALIZE));
    const same = abp.sessionId === open.sessionId;
    const held = abp.call('test.hold', {}, { callId: 'held' });
    const shutdown = (await abp.shutdown({ reason: 'enough' })) === undefined;
    const after = { ...look(), call: (await abp.call('test.echo')).error.code, cancel: (await abp.cancel('held')).error.code, held: await held };
    const again = await abp.initialize(INITIALIZE);
    const forgotten = await abp.cancel('held');
    host.close();
    return { before, result, open, twice, same, shutdown, after, fresh: again.sessionId !== open.sessionId, forgotten, gone: !('abp' in window) };
  });
  const app = { id: 'lab', name: 'Laboratory', version: '1.0.0' };
  const { before, result, open } = seen;
  const { call, cancel, list, ...properties } = before;
  assert.deepEqual(properties, { version: '0.1', app, initialized: false, sessionId: null });
  assert.deepEqual([call.code, call.retryable], ['NOT_INITIALIZED', true]);
  assert.deepEqual([cancel.callId, cancel.cancelled, cancel.error.code], ['x', false, 'NOT_INITIALIZED']);
  assert.equal(list, 14);
  assert.deepEqual(open, { version: '0.1', app, initialized: true, sessionId: result.sessionId });
  const { sessionId, capabilities, ...rest } = result;
  assert.match(sessionId, /^[0-9a-f-]{36}$/);
  assert.deepEqual(capabilities.map((/** @type {any} */ it) => it.available), Array(14).fill(true));
  assert.deepEqual(rest, { protocolVersion: '0.1', app, features: { notifications: true, progress: true, elicitation: true, dynamicCapabilities: true } });
  assert.deepEqual([seen.twice.code, seen.twice.retryable, seen.same], ['ALREADY_INITIALIZED', false, true]);
  assert.equal(seen.shutdown, true);
  const { held, ...later } = seen.after;
  assert.deepEqual(later, { version: '0.1', app, initialized: false, sessionId: null, call: 'NOT_INITIALIZED', cancel: 'NOT_INITIALIZED' });
  assert.deepEqual([held.success, held.cancelled, 'error' in held, 'data' in held], [false, true, false, false]);
  assert.equal(seen.fresh, true);
  assert.deepEqual(seen.forgotten, { callId: 'held', cancelled: false, reason: 'Operation not found' });
  assert.equal(seen.gone, true);
});

test('cancel takes (callId, reason) and ({ callId, reason }), and the handler gets the reason', async () => {
  const seen = await lab.run(async ({ newHost, inPage }) => {
    const host = await newHost();
    const abp = await inPage(host);
    const reasons = [];
    const forms = [['a', 'why'], [{ callId: 'b', reason: 'why' }], ['c'], ['d', { not: 'text' }], ['e', 'x'.repeat(5000)], ['f', new Error('why')]];
    for (const form of forms) {
      const callId = /** @type {any} */ (form[0]).callId ?? form[0];
      const held = abp.call('test.hold', {}, { callId });
      await abp.call('test.started', { callId });
      const { cancelled } = await abp.cancel(...form);
      const { data } = await abp.call('test.report', { callId });
      reasons.push([cancelled, (await held).cancelled, data.aborted, data.reason.slice(0, 30), data.reason.length]);
    }
    return reasons;
  });
  assert.deepEqual(seen, [
    [true, true, true, 'why', 3],
    [true, true, true, 'why', 3],
    [true, true, true, 'The call was cancelled', 22],
    [true, true, true, 'The call was cancelled', 22],
    [true, true, true, 'x'.repeat(30), 1024],
    [true, true, true, 'why', 3],
  ]);
});

test('an AbortSignal in the page: aborted before, in the same tick, with a string, and after the end', async () => {
  const seen = await lab.run(async ({ newHost, inPage, turn }) => {
    const host = await newHost();
    const abp = await inPage(host);
    /** @type {string[]} */
    const started = [];
    host.observe((/** @type {any} */ it) => it.state === 'running' && started.push(it.callId));
    const before = await abp.call('test.hold', {}, { callId: 'before', signal: AbortSignal.abort('no') });
    const same = new AbortController();
    const sameTick = abp.call('test.hold', {}, { callId: 'same', signal: same.signal });
    same.abort();
    const text = new AbortController();
    let listeners = 0;
    for (const [name, step] of /** @type {const} */ ([['addEventListener', 1], ['removeEventListener', -1]])) {
      const original = text.signal[name].bind(text.signal);
      Object.defineProperty(text.signal, name, { value: (/** @type {any[]} */ ...given) => {
        listeners += step;
        return /** @type {any} */ (original)(...given);
      } });
    }
    const late = await abp.call('test.echo', { a: 1 }, { callId: 'late', signal: text.signal });
    const held = abp.call('test.hold', {}, { callId: 'text', signal: text.signal });
    await abp.call('test.started', { callId: 'text' });
    text.abort('a string, no error');
    await turn();
    const report = await abp.call('test.report', { callId: 'text' });
    return {
      before, sameTick: (await sameTick).cancelled, held: (await held).cancelled, reason: report.data.reason, late: late.data, listeners,
      started: started.filter((it) => ['before', 'same'].includes(it)),
      again: (await abp.call('test.echo', {}, { callId: 'before' })).error.code,
      cancels: [await abp.cancel('before'), await abp.cancel('late'), await abp.cancel('text')].map((it) => it.reason ?? it.cancelled),
    };
  });
  assert.deepEqual(seen, {
    before: { success: false, cancelled: true, metadata: { stop: 'never-started' } }, sameTick: true, held: true, reason: 'a string, no error', late: { a: 1 }, listeners: 0, started: [],
    cancels: [true, 'Operation already completed', true], again: 'INVALID_PARAMS',
  });
});

test('a call that is refused for its callId, and aborted in the same tick, does not affect the call with this callId', async () => {
  const seen = await lab.run(async ({ newHost, inPage }) => {
    const abp = await inPage(await newHost());
    const first = abp.call('test.hold', {}, { callId: 'taken' });
    const controller = new AbortController();
    const second = abp.call('test.echo', {}, { callId: 'taken', signal: controller.signal });
    controller.abort();
    const { error } = await second;
    await abp.call('test.release', { callId: 'taken' });
    return { refused: error.code, first: (await first).data };
  });
  assert.deepEqual(seen, { refused: 'INVALID_PARAMS', first: { released: true } });
});

test('the parameters are checked even if a capability is called as soon as the page learns of it', async () => {
  const seen = await lab.run(async ({ newHost, inPage }) => {
    const host = await newHost();
    /** @type {any} */
    const target = {};
    const abp = await inPage(host, target);
    const called = new Promise((resolve) => {
      target.__abp_capabilities_changed = () => resolve(abp.call('new', {}));
    });
    host.register('new', { inputSchema: { type: 'object', required: ['text'] } }, async () => 'ran');
    return /** @type {any} */ (await called).error?.code;
  });
  assert.equal(seen, 'MISSING_PARAM');
});

test('describeCapability, supports and listCapabilities report the registered capabilities', async () => {
  const described = {
    description: 'Makes a PDF',
    inputSchema: { type: 'object', properties: { html: { type: 'string' } } },
    outputSchema: { type: 'object' },
    requirements: [{ type: 'permission', description: 'May print' }],
    features: { paper: ['a4'] },
    experimental: true,
    deprecated: true,
    deprecationMessage: 'Use export.pdf2',
    alternatives: ['export.pdf2'],
  };
  const seen = await lab.run(async ({ createHost, inPage }, described) => {
    const host = await createHost({ app: { id: 'a', name: 'A', version: '1', description: 'An app' } });
    host.register('export.pdf', described, async () => 1);
    host.register('plain', {}, async () => 1);
    host.register('off', { available: false }, async () => 1);
    const abp = await inPage(host, {}, false);
    const session = await abp.initialize({ agent: { name: 'a', version: '1' }, protocolVersion: '0.1' });
    return {
      session, app: abp.app, off: (await abp.call('off')).error.code,
      list: await abp.listCapabilities(),
      described: [await abp.describeCapability('export.pdf'), await abp.describeCapability('nothing'), await abp.describeCapability()],
      supports: [await abp.supports('export.pdf'), await abp.supports('off'), await abp.supports('nothing')],
      manifest: host.manifest(),
    };
  }, described);
  const pdf = { name: 'export.pdf', available: true, ...described };
  const bare = { description: '', inputSchema: { type: 'object' }, outputSchema: {}, requirements: [], features: {} };
  assert.deepEqual(seen.list, [pdf, { name: 'plain', available: true, ...bare }, { name: 'off', available: false, ...bare }]
    .sort((a, b) => (a.name < b.name ? -1 : 1)));
  assert.deepEqual(seen.described, [pdf, null, null]);
  const [full, off, nothing] = seen.supports;
  assert.deepEqual(full, { supported: true, available: true, requirements: described.requirements, features: described.features, alternatives: ['export.pdf2'] });
  assert.deepEqual([off.supported, off.available], [true, false]);
  assert.deepEqual([nothing.supported, nothing.available, typeof nothing.reason], [false, false, 'string']);
  assert.equal(seen.off, 'CAPABILITY_UNAVAILABLE');
  assert.deepEqual(seen.app, { id: 'a', name: 'A', version: '1', description: 'An app' });
  assert.deepEqual(seen.session.features.elicitation, false);
  const summary = seen.session.capabilities.find((/** @type {any} */ it) => it.name === 'export.pdf');
  assert.deepEqual(summary, { name: 'export.pdf', available: true, experimental: true, deprecated: true });
  assert.deepEqual([seen.manifest.abp, seen.manifest.app.id, seen.manifest.capabilities.length], ['0.1', 'a', 3]);
});

test('the manifest link follows the registered capabilities, and a page keeps its own link', async () => {
  const seen = await lab.run(async ({ newHost }) => {
    const read = async () => {
      // The link element follows at the end of the turn.
      await undefined;
      const links = /** @type {NodeListOf<HTMLLinkElement>} */ (document.querySelectorAll('head link[rel="abp-manifest"]'));
      return { links: links.length, names: links[0] && (await (await fetch(links[0].href)).json()).capabilities.map((/** @type {any} */ it) => it.name) };
    };
    const host = await newHost();
    host.expose(window);
    const first = await read();
    host.register('grüße/&?#%', { description: 'ü' }, async () => 1);
    const added = await read();
    host.unregister('grüße/&?#%');
    const removed = await read();
    host.close();
    const closed = await read();
    document.head.insertAdjacentHTML('beforeend', '<link rel="abp-manifest" href="data:application/json,{%22capabilities%22:[]}">');
    const other = await newHost();
    other.expose(window);
    const own = await read();
    other.close();
    return { first: first.names.length, added: added.names.includes('grüße/&?#%'), removed: removed.names.length, closed, own, kept: (await read()).links };
  });
  assert.deepEqual(seen, { first: 14, added: true, removed: 14, closed: { links: 0 }, own: { links: 1, names: [] }, kept: 1 });
});
