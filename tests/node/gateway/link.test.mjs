import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createHost } from 'caphost';
import { Capabilities } from '../../../src/web/js/capabilities.js';
import { onWindow } from '../../../src/web/js/on-window.js';
import { GatewayLink } from '../../../src/web/js/gateway/link.js';
import { CLOSED, Socket, last } from './socket.mjs';

const GRACE = 5_000;

/** A host whose functions in Rust keep and count the messages. @type {any} */
const host = await createHost({ app: { id: 'a', name: 'a', version: '1' } });

/** Logs like the page, but synchronously. @param {'warn' | 'error'} how @param {unknown[]} what */
const log = (how, ...what) => void console[how](`caphost: ${what.shift()}`, ...what);

/** An agent's session on the host. */
class Session {
  /** @type {Session[]} */
  static all = [];
  open = true;

  /** @param {{ post: (envelope: any) => unknown }} messenger */
  constructor(messenger) {
    this.say = (/** @type {string} */ text) => messenger.post({ type: 'progress', payload: { text } });
    Session.all.push(this);
  }

  receive() {}

  close() {
    this.open = false;
    this.say('never');
  }
}

/** @param {any[]} events collects the reported events @param {Map<string, any>} [registered] the documents of its capabilities, by name */
const newShell = (events, registered = new Map()) => ({
  app: { id: 'a' },
  rust: host.shell.rust,
  capabilities: {
    documents: () => [...registered.values()],
    entry: Capabilities.prototype.entry,
    /** @param {() => void} listener */
    onChanged: (listener) => {
      update = listener;
      return () => {};
    },
  },
  timeline: { emit: (/** @type {any} */ it) => events.push(it) },
});
/** Tells the last link that the capabilities have changed. */
let update = () => {};
const accept = /** @type {any} */ ((/** @type {unknown} */ _, /** @type {any} */ messenger) => ({ connect: () => new Session(messenger) }));
const tools = { accept, fromText: JSON.parse, log, onWindow, toText: JSON.stringify };

/** Makes a link on its first socket. @param {any} [resume] the gateway's offer @param {string} [updates] the updates that the gateway accepts */
function connect(resume = { token: 'secret', grace: GRACE }, updates) {
  /** @type {any[]} */
  const events = [];
  /** @type {Map<string, any>} */
  const registered = new Map();
  const link = new GatewayLink(/** @type {any} */ (newShell(events, registered)), 'ws://gateway', { WebSocket: Socket, token: 'bearer' }, new Socket(), tools);
  last().open();
  const { type, payload } = last().sent.shift();
  assert.deepEqual([type, payload.resume, payload.token], ['app/register', true, 'bearer']);
  last().hear('app/registered', { appId: 'a', resume, updates });
  return { link, events, registered, states: () => events.splice(0).map(({ state, resumed }) => (resumed ? 'resumed' : state)) };
}

/** Has an agent make a call. @param {string} [agent] */
function agent(agent = 'a1') {
  last().hear('capabilities/call', {}, agent);
  return /** @type {Session} */ (Session.all.at(-1));
}

describe('the link to a gateway', () => {
  beforeEach((t) => {
    Socket.all = [];
    Session.all = [];
    /** @type {any} */ (t).mock.timers.enable({ apis: ['setTimeout'] });
  });
  /** @param {any} t @param {number} ms */
  const wait = (t, ms) => t.mock.timers.tick(ms);

  test('sends the missing messages over the next socket, and nothing twice', (t) => {
    const { states } = connect();
    const session = agent();
    for (const text of ['1', '2', '3']) session.say(text);
    last().end();
    session.say('4');
    assert.equal(session.open, true);
    wait(t, 100);
    last().open();
    const { type, payload } = last().sent.shift();
    assert.deepEqual([type, payload], ['app/resume', { resume: 'secret', received: 1, token: 'bearer' }]);
    session.say('5');
    assert.deepEqual(last().take(), []);
    last().hear('app/resumed', { received: 2 });
    session.say('6');
    assert.deepEqual(last().take(), ['3', '4', '5', '6']);
    assert.deepEqual(states(), ['connected', 'disconnected', 'connecting', 'resumed']);
    wait(t, GRACE);
    assert.equal(session.open, true);
    last().hear('app/ack', { received: 6 });
    last().end();
    wait(t, 100);
    last().open();
    last().hear('app/resumed', { received: 6 });
    assert.deepEqual(last().take(), ['app/resume']);
  });

  test('gives up when the grace is over, and names its previous session', (t) => {
    const { states } = connect();
    const session = agent();
    last().end();
    wait(t, GRACE - 1);
    assert.equal(session.open, true);
    wait(t, 1);
    assert.equal(session.open, false);
    assert.ok(Socket.all.length === 2, 'the second attempt has neither failed nor got through');
    last().open();
    const { type, payload } = last().sent.shift();
    assert.deepEqual([type, payload.replaces], ['app/register', 'secret']);
    last().hear('app/registered', { appId: 'a', resume: { token: 'new', grace: GRACE } });
    agent('a2').say('1');
    assert.deepEqual(last().take(), ['1']);
    assert.deepEqual(states(), ['connected', 'disconnected', 'connecting', 'connected']);
    last().end();
    wait(t, 100);
    last().open();
    assert.equal(last().sent[0].payload.resume, 'new');
  });

  test('does not wait for an answer past the grace', (t) => {
    connect();
    const session = agent();
    last().end();
    wait(t, 100);
    last().open();
    const mute = last();
    assert.deepEqual(mute.take(), ['app/resume']);
    wait(t, GRACE);
    assert.deepEqual([session.open, mute.closedWith], [false, 1000]);
    mute.hear('app/resumed', { received: 0 });
    assert.deepEqual(mute.take(), []);
    wait(t, 1_000);
    assert.notEqual(last(), mute);
    last().open();
    assert.equal(last().sent[0].payload.replaces, 'secret');
  });

  test('registers on the same socket when the session is lost', (t) => {
    const { states } = connect();
    const session = agent();
    last().end();
    wait(t, 100);
    last().open();
    last().hear('app/lost', { error: {} });
    assert.equal(session.open, false);
    assert.deepEqual(last().take(), ['app/resume', 'app/register']);
    last().hear('app/registered', { appId: 'a' });
    assert.deepEqual(states(), ['connected', 'disconnected', 'connecting', 'connected']);
  });

  test('keeps trying within the grace when attempts fail', (t) => {
    connect();
    const session = agent();
    session.say('1');
    last().end();
    for (let time = 0; time < 3_900; time += 100) {
      wait(t, 100);
      if (last().readyState !== CLOSED) last().end();
    }
    wait(t, 1_000);
    assert.equal(session.open, true);
    assert.ok(Socket.all.length >= 5, String(Socket.all.length));
    last().open();
    last().hear('app/resumed', { received: 0 });
    assert.deepEqual(last().take(), ['app/resume', '1']);
  });

  for (const [what, resume, code] of /** @type {const} */ ([
    ['that the gateway closes', undefined, 1001],
    ['of a gateway without sessions', null, 1006],
  ])) {
    test(`cancels at once the work of a connection ${what}`, (t) => {
      connect(resume);
      const session = agent();
      last().end(code);
      assert.equal(session.open, false);
      wait(t, 100);
      last().open();
      assert.deepEqual(last().take(), ['app/register']);
    });
  }

  test('acknowledges after many messages, and else after a while', (t) => {
    connect();
    for (let count = 0; count < 63; count += 1) agent();
    assert.deepEqual(last().take(), []);
    agent();
    assert.deepEqual(last().sent.shift().payload, { received: 64 });
    agent();
    wait(t, 999);
    assert.deepEqual(last().take(), []);
    wait(t, 1);
    assert.deepEqual(last().sent.shift().payload, { received: 65 });
    wait(t, 10_000);
    assert.deepEqual(last().take(), []);
  });

  for (const count of [4, 1, 2.5, -1, 2 ** 64, 'x', null, undefined]) {
    test(`gives up when the gateway cannot have received ${count} messages`, (t) => {
      connect();
      const session = agent();
      for (const text of ['1', '2', '3']) session.say(text);
      last().hear('app/ack', { received: 2 });
      last().end();
      wait(t, 100);
      last().open();
      last().hear('app/resumed', { received: count });
      assert.equal(session.open, false);
      wait(t, 500);
      last().open();
      assert.equal(last().sent[0].payload.replaces, 'secret');
    });
  }

  test('acknowledges at once after many characters', () => {
    connect();
    last().hear('capabilities/call', { text: 'x'.repeat(1 << 20) }, 'a1');
    assert.deepEqual(last().sent.shift().payload, { received: 1 });
  });

  test('waits longer before each attempt, up to ten seconds', (t) => {
    connect(null);
    t.mock.method(Math, 'random', () => 0.5);
    const waits = [];
    for (const expected of [50, 250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]) {
      const before = Socket.all.length;
      last().end();
      wait(t, expected - 1);
      assert.equal(Socket.all.length, before, String(expected));
      wait(t, 1);
      waits.push(Socket.all.length - before);
    }
    assert.deepEqual(waits, Array(9).fill(1));
  });

  test('gives up when more messages are unsent than it can keep', (t) => {
    connect();
    const session = agent();
    last().end();
    const large = 'x'.repeat(30_000_000);
    session.say(large);
    session.say(large);
    assert.equal(session.open, true);
    session.say(large);
    assert.equal(session.open, false);
    wait(t, 100);
    last().open();
    assert.equal(last().sent[0].payload.replaces, 'secret');
  });

  test('is over when it is closed, for any state of the connection', (t) => {
    const { link, states } = connect();
    const session = agent();
    last().end();
    link.close();
    assert.equal(session.open, false);
    wait(t, 2 * GRACE);
    assert.equal(Socket.all.length, 1);
    assert.deepEqual(states(), ['connected', 'disconnected']);
  });

  test('an app whose registration is too large is refused once, with the words of the gateway', (t) => {
    const said = t.mock.method(console, 'warn', () => {});
    const { states, events } = connect(/** @type {any} */ (null));
    last().end();
    wait(t, 500);
    last().open();
    assert.deepEqual(states(), ['connected', 'disconnected', 'connecting']);
    last().end(1009, 'A message may have at most 1114112 bytes');
    const message = 'The descriptions and schemas of its capabilities are too large: A message may have at most 1114112 bytes';
    assert.deepEqual(events.map(({ state, error }) => [state, error]), [
      ['refused', { code: 'INVALID_PARAMS', message, retryable: false }],
      ['disconnected', undefined],
    ]);
    assert.deepEqual(said.mock.calls.map((it) => it.arguments), [[`caphost: ws://gateway refuses this app: ${message}`]]);
    wait(t, 60_000);
    assert.equal(Socket.all.length, 2);
  });

  test('tries again when a failure to connect is reported only by an error event', (t) => {
    const { states, events } = connect();
    last().end();
    wait(t, 100);
    assert.deepEqual(states(), ['connected', 'disconnected', 'connecting']);
    last().readyState = CLOSED;
    last().onerror({});
    assert.deepEqual(events, [{ type: 'gateway', state: 'disconnected', url: 'ws://gateway', error: { code: 'DISCONNECTED', message: 'The connection to ws://gateway failed', retryable: true } }]);
    // A close that still follows reports nothing new.
    last().end();
    assert.deepEqual(states(), ['disconnected']);
    wait(t, 500);
    assert.equal(Socket.all.length, 3);
  });

  describe('of a page', () => {
    /** @type {EventTarget} */
    let page;
    /** @type {Map<string, string>} */
    let stored;
    beforeEach(() => {
      page = new EventTarget();
      stored = new Map();
      const storage = {
        getItem: (/** @type {string} */ key) => stored.get(key) ?? null,
        setItem: (/** @type {string} */ key, /** @type {string} */ value) => stored.set(key, value),
        removeItem: (/** @type {string} */ key) => stored.delete(key),
      };
      const globals = { addEventListener: page.addEventListener.bind(page), removeEventListener: page.removeEventListener.bind(page), sessionStorage: storage };
      for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true });
    });
    afterEach(() => {
      for (const name of ['addEventListener', 'removeEventListener', 'sessionStorage']) delete (/** @type {any} */ (globalThis)[name]);
    });
    const hide = () => page.dispatchEvent(new Event('pagehide'));
    const show = (/** @type {boolean} */ persisted) => page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted }));

    test('leaves with the page, and registers afresh when the page comes back', (t) => {
      const { states } = connect();
      const session = agent();
      const socket = last();
      hide();
      assert.deepEqual([session.open, socket.closedWith, states()], [false, 1000, ['connected', 'disconnected']]);
      socket.end(1000);
      wait(t, 60_000);
      show(false);
      assert.equal(Socket.all.length, 1);
      show(true);
      last().open();
      const { type, payload } = last().sent.shift();
      assert.deepEqual([type, payload.replaces], ['app/register', 'secret']);
      last().hear('app/registered', { appId: 'a', resume: { token: 'fresh', grace: GRACE } });
      assert.deepEqual(states(), ['connecting', 'connected']);
      assert.equal(stored.size, 0);
    });

    test('tells the gateway which page it replaces, in the same tab, and only for a page that was left', () => {
      connect();
      assert.equal(stored.size, 0);
      hide();
      assert.equal(stored.size, 1);
      new GatewayLink(/** @type {any} */ (newShell([])), 'ws://another', { WebSocket: Socket }, new Socket(), tools);
      last().open();
      assert.equal(last().sent.shift().payload.replaces, undefined);
      new GatewayLink(/** @type {any} */ (newShell([])), 'ws://gateway', { WebSocket: Socket }, new Socket(), tools);
      last().open();
      assert.equal(last().sent.shift().payload.replaces, 'secret');
      assert.equal(stored.size, 0);
    });

    test('does not come back when it was closed', () => {
      const { link } = connect();
      link.close();
      hide();
      show(true);
      assert.deepEqual([Socket.all.length, stored.size], [1, 0]);
    });
  });

  describe('whose capabilities change', () => {
    /** @param {string} name @param {string} [description] */
    const document = (name, description = 'd'.repeat(100)) => ({ name, description, inputSchema: {}, outputSchema: {}, available: true });
    const named = (/** @type {any[]} */ list) => list?.map(({ name }) => name);
    const sent = () => last().sent.splice(0).map(({ type, payload: { added, removed, capabilities } }) => [type, { added: named(added), removed, all: named(capabilities) }]);

    test('sends only the changes to a gateway that accepts differences', () => {
      const { registered } = connect(undefined, 'differences');
      update();
      assert.deepEqual(sent(), []);
      for (const name of ['one', 'two']) registered.set(name, document(name));
      update();
      assert.deepEqual(last().sent[0].payload.added[0], { name: 'one', description: 'd'.repeat(100), inputSchema: {}, outputSchema: {} });
      assert.deepEqual(sent(), [['app/update', { added: ['one', 'two'], removed: undefined, all: undefined }]]);
      registered.delete('one');
      registered.set('two', document('two', 'other'));
      registered.set('three', document('three'));
      update();
      assert.deepEqual(sent(), [['app/update', { added: ['two', 'three'], removed: ['one', 'two'], all: undefined }]]);
      registered.delete('three');
      update();
      update();
      assert.deepEqual(sent(), [['app/update', { added: undefined, removed: ['three'], all: undefined }]]);
    });

    test('sends all capabilities to any other gateway', () => {
      const { registered } = connect();
      for (const name of ['one', 'two']) {
        registered.set(name, document(name));
        update();
      }
      assert.deepEqual(sent().map(([, { added, removed, all }]) => [added, removed, all]), [[undefined, undefined, ['one']], [undefined, undefined, ['one', 'two']]]);
    });

    for (const updates of ['differences', undefined]) {
      test(`sends the changes during its registration to a gateway that accepts ${updates ?? 'no differences'}`, () => {
        /** @type {Map<string, any>} */
        const registered = new Map([['one', document('one')]]);
        new GatewayLink(/** @type {any} */ (newShell([], registered)), 'ws://gateway', { WebSocket: Socket }, new Socket(), tools);
        update();
        last().open();
        registered.set('two', document('two'));
        update();
        assert.deepEqual(named(last().sent.shift().payload.capabilities), ['one']);
        assert.deepEqual(last().sent, []);
        last().hear('app/registered', { appId: 'a', updates });
        const { added, capabilities } = last().sent.shift().payload;
        assert.deepEqual(named(added ?? capabilities), updates ? ['two'] : ['one', 'two']);
        assert.deepEqual(last().sent, []);
      });
    }

    test('sends unacknowledged updates again, in order, and no others', (t) => {
      const { registered } = connect(undefined, 'differences');
      for (const name of ['one', 'two']) {
        registered.set(name, document(name));
        update();
      }
      last().end();
      registered.delete('one');
      update();
      wait(t, 100);
      last().open();
      last().sent.length = 0;
      last().hear('app/resumed', { received: 1 });
      assert.deepEqual(sent().map(([, { added, removed }]) => [added, removed]), [[['two'], undefined], [undefined, ['one']]]);
      registered.set('three', document('three'));
      update();
      assert.deepEqual(sent().map(([, { added, removed }]) => [added, removed]), [[['three'], undefined]]);
    });

    test('starts again with all capabilities when the session is lost, or an update was refused', (t) => {
      const { registered } = connect(undefined, 'differences');
      registered.set('one', document('one'));
      update();
      last().end();
      wait(t, 100);
      last().open();
      last().hear('app/lost', { error: {} });
      assert.deepEqual(named(last().sent.pop().payload.capabilities), ['one']);
      last().hear('app/registered', { appId: 'a', updates: 'differences' });
      last().sent.length = 0;
      registered.set('two', document('two'));
      update();
      const { id } = last().sent[0];
      assert.deepEqual(sent().map(([, { added }]) => added), [['two']]);
      const warn = t.mock.method(console, 'warn', () => {});
      last().onmessage({ data: JSON.stringify({ type: 'error', id, payload: { error: {} } }) });
      assert.equal(warn.mock.callCount(), 1);
      for (const name of ['three', 'four']) {
        registered.set(name, document(name));
        update();
      }
      assert.deepEqual(sent().map(([, { added, all }]) => [added, all]), [[undefined, ['one', 'two', 'three']], [['four'], undefined]]);
    });

    test('sends each document once, however many there are', () => {
      const { registered } = connect(null, 'differences');
      let documents = 0;
      for (let index = 0; index < 2_000; index += 1) {
        const one = document(`name.n${index}`);
        documents += JSON.stringify(Capabilities.prototype.entry(one)).length;
        registered.set(one.name, one);
        // Each update comes in a turn of its own.
        update();
      }
      const sent = last().sent.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
      assert.ok(sent < 2 * documents, `${sent} for ${documents}`);
    });
  });

  test('does not come back after it was refused', (t) => {
    const { states } = connect();
    const session = agent();
    last().end();
    wait(t, 100);
    last().open();
    const warn = t.mock.method(console, 'warn', () => {});
    last().hear('app/refused', { error: { retryable: false, message: 'No token was given' } });
    assert.deepEqual(warn.mock.calls.map((call) => call.arguments), [['caphost: ws://gateway refuses this app: No token was given']]);
    assert.equal(session.open, false);
    last().end(1008);
    wait(t, 2 * GRACE);
    assert.deepEqual(states(), ['connected', 'disconnected', 'connecting', 'refused', 'disconnected']);
  });
});
