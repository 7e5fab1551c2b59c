import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Delivery } from '../../../src/web/js/gateway/delivery.js';

/** One of two sides. It sends '0', '1', '2', … and records what it receives. */
class Side {
  delivery = new Delivery(Infinity);
  next = 0;
  /** @type {number[]} */
  heard = [];
  /** The frames on their way to the other side: texts, and counts of received texts. @type {(string | number)[]} */
  wire = [];

  send() {
    const text = String(this.next++);
    assert.ok(this.delivery.keep(text));
    this.wire.push(text);
  }

  acknowledge() {
    this.wire.push(this.delivery.tell());
  }

  /** @param {string | number} frame */
  hear(frame) {
    if (typeof frame === 'number') return assert.ok(this.delivery.acknowledge(frame));
    this.delivery.note(frame.length);
    return this.heard.push(Number(frame));
  }

  /** Starts a new connection. @param {number} received the number of texts that the other side has received */
  resume(received) {
    assert.ok(this.delivery.acknowledge(received));
    this.wire = [...this.delivery.kept];
  }
}

/** @param {Side} app @param {Side} gateway */
function reconnect(app, gateway) {
  const [ofApp, ofGateway] = [app.delivery.tell(), gateway.delivery.tell()];
  app.resume(ofGateway);
  gateway.resume(ofApp);
}

/** @param {Side} from @param {Side} to */
function arrive(from, to) {
  const frame = from.wire.shift();
  if (frame !== undefined) to.hear(frame);
}

/** @param {Side} app @param {Side} gateway */
function settle(app, gateway) {
  while (app.wire.length + gateway.wire.length > 0) {
    arrive(app, gateway);
    arrive(gateway, app);
  }
  for (const [from, to] of [[app, gateway], [gateway, app]]) {
    assert.deepEqual(to?.heard, Array.from({ length: from?.next ?? 0 }, (_, number) => number));
  }
}

test('wherever the connection breaks, every message arrives once and in order', () => {
  for (let up = 0; up <= 7; up += 1) {
    for (let down = 0; down <= 7; down += 1) {
      const [app, gateway] = [new Side(), new Side()];
      for (let turn = 0; turn < 5; turn += 1) {
        app.send();
        gateway.send();
        if (turn % 2) {
          app.acknowledge();
          gateway.acknowledge();
        }
      }
      for (let count = 0; count < up; count += 1) arrive(app, gateway);
      for (let count = 0; count < down; count += 1) arrive(gateway, app);
      reconnect(app, gateway);
      settle(app, gateway);
    }
  }
});

test('after any sequence of events, every message arrives once and in order', () => {
  let state = 0x2545f491;
  const random = (/** @type {number} */ below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  for (let round = 0; round < 200; round += 1) {
    const [app, gateway] = [new Side(), new Side()];
    const steps = [
      () => app.send(), () => app.send(), () => gateway.send(), () => gateway.send(),
      () => arrive(app, gateway), () => arrive(app, gateway), () => arrive(gateway, app), () => arrive(gateway, app),
      () => app.acknowledge(), () => gateway.acknowledge(), () => reconnect(app, gateway),
    ];
    for (let step = 0; step < 200; step += 1) steps[random(steps.length)]?.();
    settle(app, gateway);
    app.acknowledge();
    gateway.acknowledge();
    settle(app, gateway);
    assert.deepEqual([app.delivery.kept, gateway.delivery.kept], [[], []]);
  }
});

test('an impossible count is refused', () => {
  const delivery = new Delivery(Infinity);
  for (const text of ['a', 'b', 'c']) delivery.keep(text);
  assert.equal(delivery.acknowledge(4), false);
  assert.equal(delivery.acknowledge(2), true);
  for (const bad of [1, 2.5, -1, undefined, null, 'x', NaN, Infinity, {}]) assert.equal(delivery.acknowledge(bad), false, String(bad));
  assert.deepEqual(delivery.kept, ['c']);
});

test('no more is kept than fits, but always at least one message', () => {
  const delivery = new Delivery(10);
  assert.equal(delivery.keep('x'.repeat(20)), true);
  assert.equal(delivery.keep('x'), false);
  assert.equal(delivery.acknowledge(1), true);
  assert.equal(delivery.keep('x'.repeat(9)), true);
  assert.equal(delivery.keep('x'), true);
  assert.equal(delivery.keep('x'), false);
});

test('an acknowledgement is due after many messages or characters', () => {
  const delivery = new Delivery(Infinity);
  for (let count = 1; count < 64; count += 1) assert.equal(delivery.note(1), false);
  assert.equal(delivery.note(1), true);
  assert.equal(delivery.tell(), 64);
  assert.equal(delivery.note(1), false);
  assert.equal(delivery.note(1 << 20), true);
});
