import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mjs';

const lab = useLab();

/** The ways in which an agent of this package connects to a host whose handlers run in the page. @type {Record<string, string>} */
const ways = {
  'a port': 'return lab.connect(host)',
  'a frame': `
    const { contentWindow } = await lab.frame('/lab/');
    while (!contentWindow.lab) await lab.turn();
    host.acceptMessages();
    return contentWindow.lab.agents.connectWindow(window, { origin: location.origin })`,
};

for (const [way, source] of Object.entries(ways)) {
  test(`over ${way}, buffers, bitmaps and streams are moved if their owner gives them away, and copied otherwise`, async () => {
    const seen = await lab.run(async (lab, source) => {
      const host = await lab.newHost();
      const connect = new /** @type {any} */ ((async () => {}).constructor)('lab', 'host', source);
      const agent = await connect(lab, host);
      /** @type {any[]} */
      const kept = [];
      const keep = (/** @type {any} */ it) => (kept.push(it), it);
      host.register('size', {}, async (/** @type {any} */ { buffer, view, list }) =>
        [buffer, view?.buffer, list?.[0]?.deep].map((it) => it?.byteLength));
      const given = (/** @type {any} */ it, /** @type {any} */ { give }, /** @type {any} */ { transfer }) => {
        if (give) transfer(it.buffer ?? it);
        return keep(it);
      };
      host.register('buffer', {}, async (/** @type {any} */ params, /** @type {any} */ context) => given(new Uint8Array(8).fill(7).buffer, params, context));
      host.register('nested', {}, async (/** @type {any} */ params, /** @type {any} */ context) => ({ list: [{ view: given(new Uint8Array(8), params, context) }], same: kept.at(-1) }));
      host.register('bitmap', {}, async (/** @type {any} */ params, /** @type {any} */ context) => (params.bitmap ? params.bitmap.width : given(await createImageBitmap(new ImageData(3, 2)), params, context)));
      host.register('stream', {}, async (/** @type {any} */ { stream }) => (stream ? new Response(stream).text() : new Response('from the app').body));
      const buffer = (/** @type {number} */ size) => new ArrayBuffer(size);
      const [a, b, c, d] = [buffer(1), new Uint8Array(2), buffer(3), buffer(4)];
      const moved = await agent.call('size', { buffer: a, view: b, list: [{ deep: c }] }, { transfer: [a, b.buffer, c] });
      const copied = await agent.call('size', { buffer: d });
      const result = { moved: moved.data, left: [a, b.buffer, c].map((it) => it.byteLength), copied: [copied.data[0], d.byteLength] };

      const size = (/** @type {any} */ it) => it.byteLength ?? it.width;
      const out = [];
      for (const name of ['buffer', 'bitmap']) {
        for (const [give, options] of [[false, {}], [false, { transfer: true }], [false, { transfer: [] }], [true, {}], [true, { transfer: true }]]) {
          const { data } = await agent.call(name, { give }, options);
          out.push([name, size(data), size(kept.at(-1))]);
        }
      }
      const { data: nested } = await agent.call('nested', { give: true });
      const bitmap = await createImageBitmap(new ImageData(5, 1));
      const width = (await agent.call('bitmap', { bitmap }, { transfer: [bitmap] })).data;
      const stream = /** @type {ReadableStream} */ (new Response('from the agent').body);
      const sent = (await agent.call('stream', { stream }, { transfer: [stream] })).data;
      const { data: received } = await agent.call('stream');
      return {
        ...result, out, width, bitmap: bitmap.width, sent, received: await new Response(received).text(),
        nested: [nested.list[0].view.byteLength, nested.same === nested.list[0].view, kept.at(-1).byteLength],
      };
    }, source);
    assert.deepEqual(seen, {
      moved: [1, 2, 3], left: [0, 0, 0], copied: [4, 4],
      out: [...[8, 8, 8, 0, 0].map((left) => ['buffer', 8, left]), ...[3, 3, 3, 0, 0].map((left) => ['bitmap', 3, left])],
      nested: [8, true, 0], width: 5, bitmap: 0, sent: 'from the agent', received: 'from the app',
    });
  });
}

test('an object that cannot be moved is reported at once, and nothing is lost', async () => {
  const seen = await lab.run(async ({ newHost, connect, rawPort }) => {
    const host = await newHost();
    const agent = await connect(host);
    const gone = new ArrayBuffer(1);
    structuredClone(gone, { transfer: [gone] });
    const fine = new ArrayBuffer(2);
    const codes = [];
    for (const transfer of [[gone], [fine, fine], [{}], [null], 'x', 7]) {
      codes.push((await agent.call('test.echo', { fine }, { transfer })).error?.code);
    }
    // An app that transfers the same buffer to two callers.
    const shared = new ArrayBuffer(3);
    host.register('shared', {}, async (/** @type {any} */ _, /** @type {any} */ { transfer }) => (transfer(shared), shared));
    const two = [await agent.call('shared'), await agent.call('shared')];
    // This buffer cannot be moved, so it is copied.
    const fixed = new WebAssembly.Memory({ initial: 1 }).buffer;
    host.register('fixed', {}, async (/** @type {any} */ _, /** @type {any} */ { transfer }) => (transfer(fixed), { fixed }));
    const copied = [(await agent.call('fixed')).data?.fixed.byteLength, fixed.byteLength];
    // A plain agent asks with the option itself, and takes only what was transferred.
    const raw = await rawPort(host);
    const own = new ArrayBuffer(4);
    host.register('own', {}, async () => own);
    const plain = await raw.call('own', {}, { transfer: true });
    return { codes, fine: fine.byteLength, two: two.map((it) => it.data?.byteLength ?? it.error.code), copied, plain: plain.data.byteLength, own: own.byteLength, held: host.stats().inFlight };
  });
  assert.deepEqual(seen, { codes: Array(6).fill('INVALID_PARAMS'), fine: 2, two: [3, 'OPERATION_FAILED'], copied: [65_536, 65_536], plain: 4, own: 4, held: 0 });
});
