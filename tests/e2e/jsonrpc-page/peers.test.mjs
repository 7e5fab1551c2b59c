import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kinds, usePeers } from './peers.mjs';

const { withPeer } = usePeers();

for (const { name, mcp } of kinds) {
  describe(name, () => {
    test('calls, and gets progress until the call is cancelled', async () => {
      const seen = await withPeer(name, async ({ peer, settle, until, state }) => {
        const echo = await peer.call('test.echo', { text: 'ü\n', list: [null, 1.5] });
        const stop = new AbortController();
        /** @type {any[]} */
        const progress = [];
        const held = settle(peer.call('test.work', {}, { signal: stop.signal, onProgress: (/** @type {any} */ it) => progress.push(it) }));
        await until(() => progress.length >= 2);
        const during = (await state()).working;
        stop.abort('enough');
        const { code, details } = await held;
        await until(async () => (await state()).working === 0);
        const heard = progress.length;
        await peer.call('test.echo');
        return { echo, first: progress[0], during, code, stop: details?.stop, later: progress.length - heard, complaints: peer.complaints };
      });
      const { first, code, stop, ...rest } = seen;
      assert.deepEqual(rest, { echo: { text: 'ü\n', list: [null, 1.5] }, during: 1, later: 0, complaints: [] });
      assert.deepEqual([first.progress, first.total], [1, 1_000]);
      if (!mcp) assert.deepEqual([code, stop], [-32800, 'returned']);
    });

    test('cancels in advance, at once, during the call, after it and twice', async () => {
      const seen = await withPeer(name, async ({ peer, settle, until, state }, mcp) => {
        const idOf = (/** @type {string} */ tool) => peer.sent.findLast((/** @type {any} */ { params }) => [params?.name, params?.capability].includes(tool)).id;
        const answers = (/** @type {unknown} */ id) => peer.heard.filter((/** @type {any} */ it) => it.id === id && !it.method).map((/** @type {any} */ it) => it.error?.code ?? 'result');
        const before = await settle(peer.call('test.work', {}, { signal: AbortSignal.abort('no') }));
        const stop = new AbortController();
        const atOnce = settle(peer.call('test.work', {}, { signal: stop.signal }));
        stop.abort();
        await atOnce;
        await until(async () => (await state()).working === 0);

        const twice = new AbortController();
        const held = settle(peer.call('test.work', {}, { signal: twice.signal }));
        await until(async () => (await state()).working === 1);
        const heldId = idOf('test.work');
        twice.abort();
        peer.cancel(heldId);
        const during = await held;
        peer.cancel(heldId);
        await until(async () => (await state()).working === 0);

        const late = new AbortController();
        const done = await peer.call('test.echo', { n: 1 }, { signal: late.signal });
        const doneId = idOf('test.echo');
        late.abort();
        peer.cancel(doneId);
        for (const id of ['0', '', 'never', 77]) peer.cancel(id);
        // An answer to a repeated cancel would arrive before this answer, and the client would complain
        // before the next one.
        const after = await peer.call('test.echo', { n: 2 });
        await peer.call('test.echo', { n: 3 });
        return { before: before.code, during: during.code, done, after, held: answers(heldId), late: answers(doneId), complaints: peer.complaints, mcp };
      }, mcp);
      const { before: _, during, ...rest } = seen;
      assert.deepEqual(rest, {
        done: { n: 1 }, after: { n: 2 }, held: mcp ? [] : [-32800], late: ['result'], complaints: [], mcp,
      });
      if (!mcp) assert.equal(during, -32800);
    });

    test('of two calls only the cancelled one stops, and failures are distinguished', async () => {
      const seen = await withPeer(name, async ({ peer, settle, until, state }) => {
        const [one, two] = [new AbortController(), new AbortController()];
        const calls = [one, two].map(({ signal }) => settle(peer.call('test.work', {}, { signal })));
        await until(async () => (await state()).working === 2);
        two.abort();
        await calls[1];
        await until(async () => (await state()).working === 1);
        one.abort();
        await calls[0];
        await until(async () => (await state()).working === 0);
        const itself = await settle(peer.call('test.selfAbort'));
        const tree = new AbortController();
        const parent = settle(peer.call('test.tree', {}, { signal: tree.signal }));
        await until(async () => (await state()).working === 1);
        tree.abort();
        await parent;
        await until(async () => (await state()).working === 0);
        const unknown = await settle(peer.call('test.nothing'));
        const failed = await settle(peer.call('test.fail', { message: 'broken', code: 'MINE' }));
        const bad = await settle(peer.call('test.checked', { text: 7 }));
        return { itself, unknown, failed, bad, complaints: peer.complaints };
      });
      assert.equal(seen.unknown.code, -32602);
      assert.deepEqual(seen.complaints, []);
      if (mcp) {
        assert.deepEqual(seen.itself, { message: 'OPERATION_FAILED: I would rather not', isError: true });
        assert.deepEqual(seen.failed, { message: 'MINE: broken', isError: true });
        assert.match(seen.bad.message, /^INVALID_TYPE: /);
      } else {
        assert.deepEqual([seen.itself.code, seen.itself.message, seen.itself.details.code], [-32000, 'I would rather not', 'OPERATION_FAILED']);
        assert.deepEqual([seen.failed.code, seen.failed.message, seen.failed.details.code], [-32000, 'broken', 'MINE']);
        assert.deepEqual([seen.bad.code, seen.bad.details.code], [-32602, 'INVALID_TYPE']);
      }
    });
  });
}
