import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId, uuidOf } from '../../src/web/js/platform.js';

const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('an id is a UUID of version 4, and another one each time', () => {
  const ids = new Set(Array.from({ length: 1000 }, newId));
  assert.equal(ids.size, 1000);
  for (const id of ids) assert.match(id, version4);
});

test('if the platform makes no UUIDs, they are made from random bytes', (t) => {
  Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
  t.after(() => Reflect.deleteProperty(crypto, 'randomUUID'));
  assert.equal(crypto.randomUUID, undefined);
  assert.match(newId(), version4);
  assert.notEqual(newId(), newId());
});

test('an id contains all of its bytes, except for the version and the variant', () => {
  assert.equal(uuidOf(new Uint8Array(16).fill(255)), 'ffffffff-ffff-4fff-bfff-ffffffffffff');
  const bytes = Uint8Array.of(0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0, 0x10, 0x2a, 0x3b, 0x4c, 0x5d, 0x6e, 0x7f);
  assert.equal(uuidOf(bytes), '01234567-89ab-4def-8010-2a3b4c5d6e7f');
});
