import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createHost } from 'caphost';
import { root } from '../../scripts/paths.mjs';
import { extract } from '../../src/web/js/json-rpc/content.js';
import { FAULTS, cancelledError, codeFor, read, rpcError } from '../../src/web/js/json-rpc/message.js';
import { keyOf, readCancel } from '../../src/web/js/json-rpc/policy.js';
import { WAYS } from '../../src/web/js/json-rpc/ways.js';
import { done, failed, progressReader } from '../../src/web/js/json-rpc/result.js';
import { toolNames } from '../../src/web/js/json-rpc/tool-names.js';
import { inputSchema, outputSchema } from '../../src/web/js/json-rpc/tool-schemas.js';
import { findTool, tools as toolsOf } from '../../src/web/js/json-rpc/tools.js';
import { VERSIONS } from '../../src/web/js/json-rpc/versions.js';

/** Reads vectors, which the gateway's tests use too. @param {string} name */
const vectors = (name) => JSON.parse(readFileSync(join(root, 'tests', 'conformance', 'jsonrpc', `${name}.json`), 'utf8'));

/** Returns a version of MCP, by default the newest. @param {string} [name] @returns {any} */
const version = (name = '2026-07-28') => VERSIONS.find((it) => it.name === name);

/** The value as it is after transport over the wire. @param {any} value */
const plain = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

test('the reply policy of every dialect', () => {
  const { dialects, cancels, ids } = vectors('policy');
  assert.deepEqual(WAYS.map((it) => ({ ...it, settles: it.answered ? 'on the answer' : 'at once' })), dialects);
  for (const { method, params, gives } of cancels) assert.deepEqual(plain(readCancel(method, params) ?? null), gives, method);
  const keys = ids.different.map(keyOf);
  assert.equal(new Set(keys).size, keys.length);
  for (const [one, other] of ids.same) assert.equal(keyOf(one), keyOf(other));
  for (const none of ids.none) assert.equal(keyOf(none), undefined);
});

test('messages', () => {
  for (const { message, reads } of vectors('messages')) {
    const got = /** @type {any} */ (read(message));
    if (got.kind === 'invalid') {
      const expected = reads.kind === 'batch' ? { kind: 'invalid', id: null, fault: FAULTS.batch } : reads;
      assert.deepEqual({ ...got, fault: FAULTS[/** @type {keyof typeof FAULTS} */ (got.fault)] }, expected);
    } else {
      assert.deepEqual(plain(got), reads);
    }
  }
});

test('errors', () => {
  const { codes, errors, cancelled } = vectors('errors');
  for (const [abp, code] of Object.entries(codes)) assert.equal(codeFor(abp), code, abp);
  for (const { error, gives } of errors) assert.deepEqual(rpcError(error), gives);
  for (const { id, capability, gives, ...seen } of cancelled) assert.deepEqual(cancelledError(id, capability, seen), gives);
});

/** Removes the parts that name the call, and parses texts as JSON where the order of members is free. @param {any} result @param {any} pattern */
function comparable({ _meta, ...result }, pattern) {
  const loose = pattern.content.map((/** @type {any} */ it) => it.$anyOrder);
  const texts = (/** @type {any} */ { content, ...rest }) => ({
    ...rest,
    content: content.map((/** @type {any} */ { $anyOrder: _, ...block }, /** @type {number} */ at) => (loose[at] ? { ...block, text: JSON.parse(block.text) } : block)),
  });
  return [texts(result), texts(pattern)];
}

test('results of MCP', () => {
  const { call, results, failures, noBinary, progress } = vectors('mcp');
  for (const { data, promised, version: of, gives } of results) {
    const [got, expected] = comparable(/** @type {any} */ (done(data, undefined, promised, version(of), call)), gives);
    assert.deepEqual(plain(got), expected);
  }
  for (const { error, gives } of failures) {
    const [got, expected] = comparable(failed(error), gives);
    assert.deepEqual(got, expected);
  }
  for (const value of noBinary) {
    const data = structuredClone(value);
    assert.deepEqual([extract(data, 1, version(), call), data], [[], value]);
  }
  for (const { infos, gives } of progress) {
    const reader = progressReader(0, version());
    assert.deepEqual(infos.flatMap((/** @type {any} */ info) => reader?.(info)?.params ?? []), gives);
  }
});

test('the title of a capability is the title of its tool, where the version has titles', () => {
  const titles = (/** @type {[string?]} */ ...[named]) => toolsOf([{ name: 'export.pdf', title: 'Export as PDF' }, { name: 'a.b' }, { name: 'c' }], version(named)).map(({ title }) => title);
  assert.deepEqual(titles(), ['Export as PDF', 'a.b', undefined]);
  assert.deepEqual(titles('2025-03-26'), [undefined, undefined, undefined]);
});

test('the hints of a capability are annotations of its tool, where the version has annotations', () => {
  const annotations = { readOnlyHint: true };
  const listed = (/** @type {string} */ named) => toolsOf([{ name: 'a', annotations }], version(named))[0]?.annotations;
  assert.deepEqual([listed('2024-11-05'), listed('2025-03-26'), listed('2026-07-28')], [undefined, annotations, annotations]);
});

test('tools of MCP', async () => {
  /** @type {any} */
  const host = await createHost({ app: { id: 'a', name: 'a', version: '1' } });
  const { rust } = host.shell;
  const { listed, inputSchemas, outputSchemas, tools } = vectors('mcp');
  for (const { capability, gives } of listed) assert.deepEqual(toolsOf([capability], version()), [gives]);
  for (const { schema, gives, rule } of inputSchemas) assert.deepEqual(inputSchema(schema), { schema: gives, ...(rule && { rule }) });
  for (const { schema, gives } of outputSchemas) assert.deepEqual(outputSchema(schema) ?? null, gives);
  const names = Object.keys(tools.names);
  assert.deepEqual(toolNames(names), Object.values(tools.names));
  const documents = names.map((name) => ({ name }));
  for (const [own, listed] of Object.entries(tools.names)) {
    assert.match(listed, /^[\w-]{1,64}$/);
    for (const wanted of [own, listed]) assert.equal(findTool(documents, wanted, rust).name, own);
  }
  for (const [wanted, message] of Object.entries(tools.refused)) assert.equal(findTool(documents, wanted, rust), message);
  host.close();
});

test('the schema of structured content is made once for each capability', () => {
  const schema = { type: 'object', properties: { words: { type: 'number' } } };
  assert.deepEqual(outputSchema(schema), schema);
  assert.equal(outputSchema(schema), outputSchema(schema));
});
