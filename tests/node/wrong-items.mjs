/** Checks four million wrong items; `schema-attacks.test.mjs` runs this with a small heap. */
import assert from 'node:assert/strict';
import { inPage, newHost } from './host.mjs';

const host = await newHost();
const abp = await inPage(host);
const a = Array.from({ length: 4_000_000 }, () => 1);
const kinds = [{ items: { type: 'string' } }, { items: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, { items: { allOf: [{ type: 'string' }] } }, { items: false }, { contains: { type: 'string' } }];
for (const [at, kind] of kinds.entries()) {
  host.register(`checked.${at}`, { inputSchema: { properties: { a: kind } } }, () => 'ran');
  const { success } = /** @type {any} */ (await abp.call(`checked.${at}`, { a }));
  assert.equal(success, false);
}
process.exit(0);
