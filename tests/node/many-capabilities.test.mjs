import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inPage, newHost, onPort } from './host.mjs';

const MANY = 5_000;
const CHANGED = 'notifications/capabilities/list_changed';

/** Makes a window that counts how often its manifest link is written. */
function newWindow() {
  const self = { written: 0, manifest: /** @type {any} */ (undefined) };
  const link = {
    remove() {},
    /** @param {string} url */
    set href(url) {
      self.written += 1;
      self.manifest = JSON.parse(decodeURIComponent(url.slice(url.indexOf(',') + 1)));
    },
  };
  const document = { head: { append() {} }, querySelector: () => null, createElement: () => link };
  return Object.assign(self, { document });
}

/** @param {{ heard: any[] }} agent */
const told = ({ heard }) => heard.filter((it) => it.payload.event === CHANGED).map((it) => it.payload.data);

const turn = () => new Promise((resolve) => setTimeout(resolve));

test('thousands of capabilities registered in one turn are one notification, one manifest and one event', async () => {
  const host = await newHost();
  const window = newWindow();
  host.expose(/** @type {any} */ (window));
  const agent = onPort(host);
  await agent.initialize();
  /** @type {string[]} */
  const events = [];
  const stop = host.observe(({ type }) => events.push(type));
  const names = Array.from({ length: MANY }, (_, index) => `many.n${String(index).padStart(4, '0')}`);
  const before = window.written;
  for (const name of names) host.register(name, {}, () => name);
  // The app itself sees the current state at once.
  assert.equal(host.manifest().capabilities.length, MANY);
  await agent.hear((it) => it.payload.event === CHANGED);
  await turn();
  assert.deepEqual(told(agent), [{ added: names, removed: [], changed: [] }]);
  assert.equal(window.written - before, 1);
  assert.equal(window.manifest.capabilities.length, MANY);
  assert.deepEqual(events, ['capabilities']);
  const { data } = await agent.ask('capabilities/call', { capability: names.at(-1), params: {} });
  assert.equal(data, names.at(-1));
  events.length = 0;
  for (const name of names) host.unregister(name);
  await turn();
  assert.deepEqual(told(agent)[1], { added: [], removed: names, changed: [] });
  assert.deepEqual([window.written - before, window.manifest.capabilities, events], [2, [], ['capabilities']]);
  stop();
});

test('a capability that was registered again is reported as changed, and one that came and went is not', async () => {
  const host = await newHost();
  const agent = onPort(host);
  host.register('again', {}, () => 1);
  await agent.initialize();
  host.unregister('again');
  host.register('again', { description: 'other' }, () => 2);
  host.register('passing', {}, () => 3);
  host.unregister('passing');
  await agent.hear((it) => it.payload.event === CHANGED);
  await turn();
  assert.deepEqual(told(agent), [{ added: [], removed: [], changed: ['again'] }]);
});

test('an agent learns of a capability before it gets later notifications of the app', async () => {
  const host = await newHost();
  const agent = onPort(host);
  await agent.initialize();
  host.register('new', {}, () => 1);
  host.notify('app/ready');
  await agent.hear((it) => it.payload.event === 'app/ready');
  assert.deepEqual(agent.heard.slice(1).map((it) => it.payload.event), [CHANGED, 'app/ready']);
});

test('a session that is opened after a registration, in the same turn, lists it and is not told of it', async () => {
  const host = await newHost();
  const agent = onPort(host);
  await agent.initialize();
  host.register('before', {}, () => 1);
  const abp = /** @type {any} */ (await (inPage(host)));
  host.register('after', {}, () => 1);
  assert.deepEqual((await abp.listCapabilities()).map((/** @type {any} */ it) => it.name), ['after', 'before']);
  await turn();
  assert.deepEqual(told(agent).flatMap(({ added }) => added), ['before', 'after']);
});

test('a host that is closed in the turn of a change notifies nobody', async () => {
  const host = await newHost();
  const window = newWindow();
  host.expose(/** @type {any} */ (window));
  /** @type {string[]} */
  const events = [];
  host.observe(({ type }) => events.push(type));
  host.register('late', {}, () => 1);
  host.close();
  await turn();
  assert.deepEqual([window.written, events.includes('capabilities')], [1, false]);
});

/** The bytes of the character tables of patterns. @param {string[]} patterns one for each capability */
async function tablesOf(patterns) {
  const host = await newHost();
  const before = process.memoryUsage().arrayBuffers;
  for (const [at, pattern] of patterns.entries()) {
    host.register(`p${at}`, { inputSchema: { type: 'object', properties: { text: { type: 'string', pattern } } } }, () => at);
  }
  const abp = await inPage(host);
  for (let at = 0; at < patterns.length; at += 1) {
    assert.equal((await abp.call(`p${at}`, { text: 'abcä日9' })).data, at);
    assert.equal((await abp.call(`p${at}`, { text: 'ABC!' })).error?.code, 'INVALID_PARAMS');
  }
  return process.memoryUsage().arrayBuffers - before;
}

test('a thousand capabilities with one pattern take the memory of one', async () => {
  const bytes = await tablesOf(Array(1_000).fill('^[a-zä\\p{Script=Han}]+[0-9_]*\\d$'));
  assert.ok(bytes < 200_000, `${bytes} bytes`);
});

test('a thousand capabilities with a pattern each take little', async () => {
  const bytes = await tablesOf(Array.from({ length: 1_000 }, (_, at) => `^[a-zä\\p{Script=Han}${String.fromCharCode(0x3042 + at)}]+[0-9_]*\\d$`));
  assert.ok(bytes < 4_000_000, `${bytes} bytes`);
});
