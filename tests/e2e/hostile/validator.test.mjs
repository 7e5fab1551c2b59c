import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../../scripts/paths.mjs';
import { inLab, useLab } from '../support/lab.mjs';

const html = readFileSync(join(root, 'tests', 'e2e', 'fixtures', 'lab', 'index.html'), 'utf8').replaceAll('="./lab.js"', '="/lab/lab.js"');
const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'";
const lab = useLab(async () => ({ pages: { '/strict/': { body: html, headers: { 'content-security-policy': policy } } } }));

/** A pattern with look-around, which only a backtracking engine supports, and with exponential backtracking. */
const SLOW = '^(?=.*b)(a+)+$';

/** Calls a capability with parameters for which its pattern takes practically forever, and other capabilities at the same time and later. */
const attack = async (/** @type {any} */ { newHost, connect }, /** @type {string} */ pattern) => {
  const host = await newHost();
  const schema = { properties: { a: { pattern } }, required: ['a'] };
  host.register('checked', { inputSchema: schema }, () => 'ran');
  const agent = await connect(host);
  const fine = await agent.call('checked', { a: 'aa' });
  let turns = 0;
  let longest = 0;
  let last = performance.now();
  const looking = setInterval(() => {
    turns += 1;
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  const began = performance.now();
  const bad = agent.call('checked', { a: `${'a'.repeat(40)}!b` });
  const beside = await agent.call('test.echo', { a: 1 });
  const { error } = await bad;
  const took = performance.now() - began;
  clearInterval(looking);
  const held = agent.call('checked', { a: `${'a'.repeat(40)}!b` }, { callId: 'held' });
  const cancel = await agent.cancel('held');
  const { cancelled } = await held;
  const after = await agent.call('checked', { a: 'aab' });
  return { fine, beside: beside.data, error, took, turns, longest, cancel, cancelled, after, inFlight: host.stats().inFlight };
};

test('a pattern that backtracks is checked in a worker, ended at its deadline, and the page continues', async () => {
  const page = await lab.page();
  try {
    /** @type {string[]} */
    const warned = [];
    page.on('console', (message) => void (message.type() === 'warn' && warned.push(message.text())));
    const seen = await inLab(page, attack, SLOW);
    assert.deepEqual([seen.fine.error?.code, seen.after.error?.code], ['INVALID_PARAMS', 'INVALID_PARAMS'], 'it does not match');
    assert.match(seen.fine.error.message, /must match the pattern/);
    assert.deepEqual([seen.error.code, seen.error.message], ['INVALID_PARAMS', 'The parameters take too long to check against the patterns of the schema']);
    assert.deepEqual(seen.beside, { a: 1 });
    assert.ok(seen.took < 5000, `${seen.took} ms`);
    assert.ok(seen.turns > 5 && seen.longest < 1000, `the page was held for ${seen.longest} ms, and turned ${seen.turns} times`);
    assert.deepEqual([seen.cancel.cancelled, seen.cancelled, seen.inFlight], [true, true, 0]);
    assert.deepEqual(warned.length, 1);
    assert.match(warned[0] ?? '', /^caphost: checked: inputSchema: the pattern \^\(\?=\.\*b\)\(a\+\)\+\$ may take very long/);
  } finally {
    await page.close();
  }
});

test('a text that fits such a pattern passes, in parameters with other things to check', async () => {
  const seen = await lab.run(async ({ newHost, inPage }) => {
    const host = await newHost();
    const inputSchema = {
      properties: { password: { pattern: '^(?=.*[A-Z])(?=.*\\d).{8,}$' }, list: { items: { anyOf: [{ pattern: '^(.)\\1+$' }, { type: 'number' }] } } },
      patternProperties: { '^x(?!y)': { type: 'number' } },
    };
    host.register('checked', { inputSchema }, () => 'ran');
    const abp = await inPage(host);
    const all = [
      { password: 'Password1', list: ['aaa', 7, 'bb'], xa: 1 },
      { password: 'password1' }, { list: ['aaa', 'ab'] }, { xa: 'no number' }, { xy: 'no number' },
    ];
    return Promise.all(all.map(async (params) => {
      const { data, error } = await abp.call('checked', params);
      return data ?? error.details.path;
    }));
  });
  assert.deepEqual(seen, ['ran', 'password', 'list.1', 'xa', 'ran']);
});

test('an agent with many such texts keeps no other waiting for all of them', async () => {
  const seen = await lab.run(async ({ newHost, rawPort }, pattern) => {
    const host = await newHost();
    host.register('checked', { inputSchema: { properties: { text: { pattern } } } }, () => 'ran');
    const [greedy, modest] = [await rawPort(host), await rawPort(host)];
    let answered = 0;
    const all = Array.from({ length: 12 }, async (_, at) => {
      await greedy.call('checked', { text: `${'a'.repeat(40)}b` }, { callId: `greedy ${at}` });
      answered += 1;
    });
    const { error } = await modest.call('checked', { text: 'aab' }, { callId: 'modest' });
    const before = answered;
    for (let at = 0; at < 12; at += 1) await greedy.cancel(`greedy ${at}`);
    await Promise.all(all);
    return { message: error.message, before };
  }, SLOW);
  assert.match(seen.message, /must match the pattern/);
  assert.ok(seen.before <= 3, `${seen.before} of the other's were checked before`);
});

test('if no worker is allowed, such a pattern is refused instead of checked', async () => {
  const page = await lab.page(lab.server.url('/strict/'));
  try {
    const seen = await inLab(page, attack, SLOW);
    assert.deepEqual([seen.fine.error.code, seen.error.code, seen.after.error.code], Array(3).fill('NOT_SUPPORTED'));
    assert.match(seen.error.message, /worker-src blob:/);
    assert.deepEqual([seen.beside, seen.inFlight], [{ a: 1 }, 0]);
    assert.ok(seen.longest < 1000, `the page was held for ${seen.longest} ms`);
  } finally {
    await page.close();
  }
});

test('an allowed window cannot block the page with parameters that keep the validator busy', async () => {
  const seen = await lab.run(async ({ newHost, connect }) => {
    const host = await newHost();
    const $defs = { json: { anyOf: [{ type: ['string', 'number'] }, { type: 'array', items: { $ref: '#/$defs/json' } }, { type: 'object', additionalProperties: { $ref: '#/$defs/json' } }] } };
    const inputSchema = {
      properties: { url: { format: 'url' }, unique: { uniqueItems: true }, items: { items: { type: 'string' } }, name: { pattern: '^([a-z]+)*$' }, any: { $ref: '#/$defs/json' } },
      $defs,
    };
    host.register('checked', { inputSchema }, () => 'ran');
    const agent = await connect(host);
    await agent.call('checked', {});
    const params = {
      url: { url: `http://${'a'.repeat(40)}` },
      unique: { unique: Array.from({ length: 10_000 }, (_, at) => ({ at })) },
      items: { items: Array(2_000_000).fill(1) },
      name: { name: `${'a'.repeat(50_000)}!` },
      any: { any: { name: structuredClone(Array(100_000).fill([[1]])) } },
    };
    const took = [];
    for (const [name, given] of Object.entries(params)) {
      const began = performance.now();
      const { success } = await agent.call('checked', given);
      took.push({ name, success, took: performance.now() - began });
    }
    return took;
  });
  assert.deepEqual(seen.map((/** @type {any} */ it) => it.success), [false, true, false, false, true]);
  for (const { name, took } of seen) assert.ok(took < 5000, `${name}: ${took} ms`);
});
