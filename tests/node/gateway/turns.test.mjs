import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { createHost } from 'caphost';
import { onWindow } from '../../../src/web/js/on-window.js';
import { GatewayLink } from '../../../src/web/js/gateway/link.js';
import { Socket, last } from './socket.mjs';

const BEHIND = 1 << 20;

/** @type {any} */
const host = await createHost({ app: { id: 'a', name: 'a', version: '1' } });

/** A socket that is as far behind as the test says. */
class SlowSocket extends Socket {
  bufferedAmount = 0;
}

/** The documents of the app's capabilities. @type {any[]} */
let documents = [];
/** Tells the last link that the capabilities have changed. */
let update = () => {};

const shell = {
  app: { id: 'a' },
  rust: host.shell.rust,
  capabilities: {
    documents: () => documents,
    entry: (/** @type {any} */ it) => it,
    onChanged: (/** @type {() => void} */ listener) => {
      update = listener;
      return () => {};
    },
  },
  timeline: { emit() {} },
};

/** The function by which the session of the last agent sends a text. @type {(text: string) => void} */
let say = () => {};
const accept = /** @type {any} */ ((/** @type {unknown} */ _, /** @type {any} */ messenger) => ({
  connect: () => {
    say = (text) => messenger.post({ type: 'progress', payload: { text } });
    return { receive() {}, close() {} };
  },
}));

/** @param {any} [resume] the gateway's offer of a session */
function connect(resume = { token: 'secret', grace: 5_000 }) {
  const tools = { accept, fromText: JSON.parse, log: () => undefined, onWindow, toText: JSON.stringify };
  const link = new GatewayLink(/** @type {any} */ (shell), 'ws://gateway', { WebSocket: SlowSocket }, new SlowSocket(), tools);
  last().open();
  last().hear('app/registered', { appId: 'a', resume });
  last().take();
  return link;
}

/** @param {string} name @returns {(text: string) => void} what the app says to the agent */
function agent(name) {
  last().hear('capabilities/call', {}, name);
  return say;
}

/** @param {number} amount */
const buffered = (amount) => {
  /** @type {SlowSocket} */ (last()).bufferedAmount = amount;
};

const long = 'x'.repeat(100_000);

/** What was sent since the last time, each long text as one letter. */
const taken = () => last().take().map((text) => (text.length > 1_000 ? text[0] : text));

describe('a socket to a gateway that is behind', () => {
  beforeEach(() => {
    Socket.all = [];
    documents = [];
  });

  test('sends a short answer of one agent before all long ones of another', () => {
    connect();
    const [large, small] = [agent('large'), agent('small')];
    large(long);
    buffered(BEHIND + 1);
    for (let count = 0; count < 9; count += 1) large(long);
    small('1');
    small('2');
    assert.deepEqual(taken(), ['x'], 'what comes later waits');
    buffered(BEHIND);
    last().hear('app/ack', { received: 1 });
    assert.deepEqual(taken().slice(0, 3).filter((text) => text !== 'x'), ['1', '2']);
  });

  test('sends no more than makes it be behind again', () => {
    connect();
    const large = agent('large');
    buffered(BEHIND + 1);
    for (let count = 0; count < 3; count += 1) large(long);
    const socket = last();
    const send = socket.send.bind(socket);
    socket.send = (text) => {
      buffered(BEHIND + 1);
      send(text);
    };
    for (let sent = 0; sent < 3; sent += 1) {
      buffered(0);
      socket.hear('app/ack', { received: sent });
      assert.deepEqual(taken(), ['x']);
    }
  });

  test('keeps the order of each agent, and lets whole messages wait as long as one is behind', () => {
    connect();
    const [a, b] = [agent('a'), agent('b')];
    buffered(BEHIND + 1);
    for (const text of ['1', '2']) {
      a(`a${text}`);
      b(`b${text}`);
    }
    buffered(0);
    a('a3');
    assert.deepEqual(taken(), []);
    last().hear('app/ack', { received: 0 });
    const all = taken();
    assert.deepEqual(all.filter((text) => text.startsWith('a')), ['a1', 'a2', 'a3']);
    assert.deepEqual(all.filter((text) => text.startsWith('b')), ['b1', 'b2']);
    a('a4');
    assert.deepEqual(taken(), ['a4']);
  });

  test('that breaks loses nothing of what waited', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    connect();
    const a = agent('a');
    a('1');
    buffered(BEHIND + 1);
    a('2');
    a('3');
    assert.deepEqual(taken(), ['1']);
    last().end();
    a('4');
    t.mock.timers.tick(100);
    last().open();
    last().take();
    last().hear('app/resumed', { received: 1 });
    assert.deepEqual(taken(), ['2', '3', '4']);
  });

  test('that is closed sends what waited first', () => {
    const link = connect();
    const a = agent('a');
    buffered(BEHIND + 1);
    a('1');
    a('2');
    link.close();
    assert.deepEqual(taken(), ['1', '2']);
  });

  test('lets nothing wait without a session, which no acknowledgement would end', () => {
    connect(null);
    const a = agent('a');
    buffered(BEHIND + 1);
    a('1');
    assert.deepEqual(taken(), ['1']);
  });

  test('sends what waits at once, in order, when an update is more than the session can keep', () => {
    connect();
    const a = agent('a');
    a('x'.repeat((1 << 26) - 1_000));
    buffered(BEHIND + 1);
    a('1');
    assert.deepEqual(taken(), ['x']);
    documents = [{ name: 'large', description: long }];
    update();
    assert.deepEqual(taken(), ['app/update', '1']);
    a('2');
    assert.deepEqual(taken(), ['2']);
  });

  test('that breaks while more waits than the session can keep registers with the name of that session', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    connect();
    const a = agent('a');
    buffered(BEHIND + 1);
    for (let count = 0; count < 7; count += 1) a('x'.repeat(10_000_000));
    assert.deepEqual(taken(), []);
    last().end();
    t.mock.timers.tick(100);
    last().open();
    const { type, payload } = last().sent[0];
    assert.deepEqual([type, payload.replaces], ['app/register', 'secret']);
  });
});
