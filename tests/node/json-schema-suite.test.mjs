/**
 * The required cases of the JSON Schema Test Suite, for the drafts that people use. The guide on
 * schemas lists the deviations in a table, which this test reads: the file, and parts of the names of
 * its cases.
 */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../scripts/paths.mjs';
import { compile } from '../../src/web/js/schema/compile.js';
import { examine } from '../../src/web/js/schema/examine.js';
import { resolve } from '../../src/web/js/schema/references.js';

/** @typedef {{ description: string, schema: any, tests: { description: string, data: unknown, valid: boolean }[] }} Group */

const guide = readFileSync(join(root, 'docs', 'guide', 'schemas.md'), 'utf8');
/** The deviations by file: parts of the names of cases; an empty list means all cases. @type {Map<string, string[]>} */
const differs = new Map([...guide.matchAll(/^\| `(\w+\.json)` \| (.*?) \|/gm)].map(([, file = '', cases = '']) => [file, [...cases.matchAll(/`([^`]+)`/g)].map((it) => it[1] ?? '')]));

/** @param {any} schema @returns {(value: any) => unknown} a function that returns the fault of a value, if there is one */
function checkOf(schema) {
  examine(schema);
  return compile(schema, resolve(schema), examine).check;
}

/** @param {Group} group @param {boolean} old */
async function differencesIn({ description, schema, tests }, old) {
  /** Without a `$schema`, the draft would be 2020-12. */
  const whole = old && typeof schema === 'object' ? { $schema: 'http://json-schema.org/draft-07/schema#', ...schema } : schema;
  /** @type {string[]} */
  const different = [];
  /** @type {ReturnType<typeof checkOf> | undefined} */
  let check;
  try {
    check = checkOf(whole);
  } catch { /* It is refused when it is registered. */ }
  for (const { description: said, data, valid } of tests) {
    const fits = check && (await check(data)) === null;
    if (fits !== valid) different.push(`${description}: ${said}`);
  }
  return different;
}

for (const draft of ['draft7', 'draft2020-12']) {
  const folder = join(root, 'tests', 'conformance', 'json-schema', draft);
  for (const file of readdirSync(folder)) {
    test(`${draft}, ${file}: values fit or do not fit as in the suite, except for the cases that the guide names`, async () => {
      const groups = /** @type {Group[]} */ (JSON.parse(readFileSync(join(folder, file), 'utf8')));
      const parts = differs.get(file);
      const isNamed = (/** @type {string} */ it) => parts !== undefined && (parts.length === 0 || parts.some((part) => it.includes(part)));
      const different = (await Promise.all(groups.map((it) => differencesIn(it, draft === 'draft7')))).flat();
      assert.deepEqual(different.filter((it) => !isNamed(it)), []);
    });
  }
}

test('every difference that the guide names exists', async () => {
  assert.ok(differs.size > 0);
  for (const [file, parts] of differs) {
    /** @type {string[]} */
    const different = [];
    for (const draft of ['draft7', 'draft2020-12']) {
      const folder = join(root, 'tests', 'conformance', 'json-schema', draft);
      if (!readdirSync(folder).includes(file)) continue;
      for (const group of JSON.parse(readFileSync(join(folder, file), 'utf8'))) different.push(...await differencesIn(group, draft === 'draft7'));
    }
    for (const part of parts.length ? parts : ['']) assert.ok(different.some((it) => it.includes(part)), `${file}: ${part}`);
  }
});
