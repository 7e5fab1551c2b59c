/**
 * A page with an old library, such as Prototype.js, which adds members to all prototypes before this
 * package is loaded.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, test } from 'node:test';

/** A `toJSON` of a time before browsers had JSON: it returns text, which JSON.stringify turns into a string once more. @this {any} */
function ownToJSON() {
  return `own:${this?.length ?? ''}`;
}

/** @param {any} items anything with a length, which is copied like an old `$A` does, without regard to the other arguments */
const oldFrom = (items) => {
  const array = [];
  for (let at = 0; at < (items?.length ?? 0); at += 1) array[at] = items[at];
  return array;
};

const { from } = Array;
const MEMBERS = /** @type {any} */ ({
  each(/** @type {any} */ visit) {
    this.forEach(visit);
  },
  inject() {},
  // The member of this name in an old Enumerable.
  entries() {
    return [...this];
  },
});

/** @type {Record<string, () => void>} the patches, which are applied before the host is made */
const PATCHES = {
  'Array.prototype.toJSON': () => Object.assign(Array.prototype, { toJSON: ownToJSON }),
  'String.prototype.toJSON': () => Object.assign(String.prototype, { toJSON: ownToJSON }),
  'Date.prototype.toJSON': () => Object.assign(Date.prototype, { toJSON: ownToJSON }),
  'Object.prototype.toJSON': () => Object.defineProperty(Object.prototype, 'toJSON', { value: ownToJSON, configurable: true, writable: true }),
  'members of Array.prototype': () => void Object.assign(Array.prototype, MEMBERS),
  'a member of Object.prototype': () => Object.assign(Object.prototype, { extra() {} }),
  'Array.from': () => void (Array.from = /** @type {any} */ (oldFrom)),
};

/** @type {[string, string[]][]} */
const PAGES = [...Object.keys(PATCHES).map((name) => /** @type {[string, string[]]} */ ([name, [name]])), ['all of it', Object.keys(PATCHES)]];

const native = { date: Date.prototype.toJSON, entries: Array.prototype.entries };

function restore() {
  for (const { prototype } of [Array, String, Object]) delete (/** @type {any} */ (prototype).toJSON);
  Date.prototype.toJSON = native.date;
  delete (/** @type {any} */ (Object.prototype).extra);
  for (const name of ['each', 'inject']) delete (/** @type {any} */ (Array.prototype)[name]);
  Object.defineProperty(Array.prototype, 'entries', { value: native.entries, writable: true, configurable: true });
  Array.from = from;
}
after(restore);

const SCHEMA = {
  type: 'object',
  properties: {
    words: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' }, uniqueItems: true },
    kind: { enum: ['a', ['b'], { c: 1 }] },
  },
  required: ['words'],
};

for (const [page, patches] of PAGES) {
  test(`in a page with ${page}, a capability is registered, checked, called and announced`, async () => {
    for (const patch of patches) PATCHES[patch]?.();
    const { port1, port2 } = new MessageChannel();
    try {
      const { createHost } = await import('caphost');
      const { connectPort } = await import('caphost/agent');
      const host = await createHost({ app: { id: 'old', name: 'Old', version: '1' } });
      host.register('words', { inputSchema: SCHEMA, features: { list: true }, alternatives: ['other'] }, ({ words }) => ({ words, when: new Date(0) }));
      host.acceptPort(port1);
      const agent = await connectPort(port2);
      const [listed] = /** @type {any[]} */ (await agent.listCapabilities());
      assert.equal(page && listed.inputSchema.required[0], 'words');
      assert.equal(listed.alternatives[0], 'other');
      const good = await agent.call('words', { words: ['one', 'two'], kind: ['b'] });
      assert.equal(good.error?.message, undefined);
      assert.equal(good.data.words.join(), 'one,two');
      const codes = [];
      for (const bad of [{}, { words: 'one' }, { words: ['one', 'one'] }, { words: ['ONE'] }, { words: [], kind: ['c'] }]) {
        codes.push((await agent.call('words', bad)).error?.code);
      }
      assert.equal(codes.map(Boolean).join(), 'true,true,true,true,true');
      const odd = await agent.call('words', { words: [], kind: ['c'] });
      assert.equal(odd.error?.message, 'Bad parameter kind: must be one of ["a",["b"],{"c":1}]');
      await agent.shutdown();
      host.close();
    } finally {
      port2.close();
      restore();
    }
  });

  test(`in a page with ${page}, JSON on a wire is the same as elsewhere`, async () => {
    const { createHost } = await import('caphost');
    const { toText } = await import('../../src/web/js/json.js');
    class Money {
      toJSON() {
        return '5 EUR';
      }
    }
    const value = { list: [1, ['a', { b: [] }]], when: new Date(0), never: new Date(NaN), text: new String('x'), price: new Money(), bytes: new Uint8Array([1]), flag: new Boolean(true) };
    const want = '{"list":[1,["a",{"b":[]}]],"when":"1970-01-01T00:00:00.000Z","never":null,"text":"x","price":"5 EUR","bytes":{"content":"AQ==","mimeType":"application/octet-stream","encoding":"base64","size":1},"flag":true}';
    assert.equal(toText(value), want);
    for (const patch of patches) PATCHES[patch]?.();
    let got;
    let manifest;
    try {
      got = toText(value);
      const host = await createHost({ app: { id: 'old', name: 'Old', version: '1' } });
      host.register('words', { inputSchema: SCHEMA }, () => 1);
      const link = { href: '', remove() {} };
      const document = { head: { append() {} }, querySelector: () => null, createElement: () => link };
      host.expose(/** @type {any} */ ({ document }));
      manifest = JSON.parse(decodeURIComponent(link.href.slice(link.href.indexOf(',') + 1)));
      host.close();
    } finally {
      restore();
    }
    assert.equal(got, want);
    assert.deepEqual(manifest.capabilities[0].inputSchema, SCHEMA);
  });
}

test('a package that is loaded into such a page makes different ids', () => {
  const script = `
    Array.from = ${oldFrom};
    Array.prototype.toJSON = Object.prototype.toJSON = ${ownToJSON};
    const { createHost } = await import('caphost');
    const host = await createHost({ app: { id: 'old', name: 'Old', version: '1' } });
    const ids = [];
    host.register('id', {}, (_, { callId }) => void ids.push(callId));
    const target = {};
    host.expose(target);
    await target.abp.initialize({ agent: { name: 'a', version: '1' }, protocolVersion: '0.1' });
    for (let count = 0; count < 3; count += 1) await target.abp.call('id');
    console.log(ids.join());
    host.close();`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', timeout: 20_000 });
  const ids = stdout.trim().split(',');
  assert.equal(new Set(ids).size, 3, stderr);
  for (const id of ids) assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});
