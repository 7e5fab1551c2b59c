import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Guard, guarded, isAlone, oneWay } from '../../src/web/js/guard.js';

const trap = () => {
  throw new WebAssembly.RuntimeError('unreachable');
};

/** The functions of a module. @param {(handle: any) => void} [declare] */
function module(declare = isAlone) {
  const handle = { answer: () => 42, trap, run: (/** @type {() => unknown} */ work) => work() };
  declare(handle);
  /** @type {string[]} */
  const told = [];
  const guard = new Guard(handle, () => told.push('lost'));
  return { rust: guarded(handle), guard, told };
}

const jobs = () => new Promise((resolve) => setTimeout(resolve));

beforeEach((t) => void /** @type {any} */ (t).mock.method(console, 'error', () => {}));

test('a trap of one module is the loss of this module alone', async () => {
  const [one, other] = [module(), module()];
  assert.equal(one.rust.trap(), undefined);
  await jobs();
  assert.deepEqual([one.told, other.told], [['lost'], []]);
  assert.deepEqual([one.rust.answer(), other.rust.answer()], [undefined, 42]);
  assert.deepEqual([Boolean(one.guard.trap), other.guard.trap], [true, undefined]);
});

test('a module within whose frames another traps goes on', async () => {
  const [one, other] = [module(), module()];
  const shell = { post: () => 'posted' };
  oneWay(shell, ['post']);
  assert.equal(one.rust.run(() => {
    other.rust.trap();
    return shell.post();
  }), 'posted');
  await jobs();
  assert.deepEqual([one.told, other.told], [[], ['lost']]);
});

test('a lost module is not returned to from what it called, even if another module noticed nothing', async () => {
  const [one, other] = [module(), module()];
  const shell = { post: () => void one.rust.trap() };
  oneWay(shell, ['post']);
  /** @type {string[]} */
  const ran = [];
  one.rust.run(() => {
    shell.post();
    ran.push('returned');
  });
  await jobs();
  assert.deepEqual([ran, one.told, other.rust.answer()], [[], ['lost'], 42]);
});

test('both halves of one module are lost together', async () => {
  const [host, agent] = [module(() => {}), module(() => {})];
  agent.rust.trap();
  await jobs();
  assert.deepEqual([host.told, agent.told, host.rust.answer()], [['lost'], ['lost'], undefined]);
});
