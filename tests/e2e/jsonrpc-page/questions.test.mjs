import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { usePeers } from './peers.mjs';

const { withPeer } = usePeers();

const kinds = [
  ['@modelcontextprotocol/client, legacy, over a MessagePort', true],
  ['@agentclientprotocol/sdk over a MessagePort', false],
  ['vscode-jsonrpc over a MessagePort', false],
];

for (const [name, mcp] of /** @type {[string, boolean][]} */ (kinds)) {
  describe(name, () => {
    test('is asked by the app, and answers, refuses or gives up', async () => {
      const seen = await withPeer(name, async ({ peer, settle }, mcp) => {
        /** @type {any[]} */
        const asked = [];
        const outcomes = [];
        const answers = mcp
          ? [{ action: 'accept', content: { name: 'Ada' } }, { action: 'decline' }, { action: 'cancel' }]
          : [{ data: { name: 'Ada' } }, Object.assign(new Error('no'), { code: -32000 }), Object.assign(new Error('gone'), { code: -32800 })];
        for (const answer of answers) {
          peer.onQuestion(async (/** @type {any} */ request) => {
            asked.push(request);
            if (answer instanceof Error) throw answer;
            return answer;
          });
          outcomes.push(await settle(peer.call('test.ask', { message: 'Your name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } })));
        }
        return { asked: asked[0], outcomes, complaints: peer.complaints };
      }, mcp);
      assert.equal(seen.asked.message, 'Your name?');
      assert.deepEqual(seen.asked.requestedSchema, { type: 'object', properties: { name: { type: 'string' } } });
      const [accepted, refused, gone] = seen.outcomes;
      assert.deepEqual(accepted.data, { success: true, data: { name: 'Ada' } });
      assert.equal(refused.data.success, false);
      assert.equal(refused.data.cancelled, undefined);
      if (mcp) assert.equal(gone.data.error?.code ?? 'CANCELLED', 'CANCELLED');
      else assert.deepEqual([gone.data.success, gone.data.error?.code ?? 'CANCELLED'].slice(0, 1), [false]);
    });

    test('is told when its answer is not wanted any more', async () => {
      const seen = await withPeer(name, async ({ host, peer, settle, until }) => {
        /** @type {AbortSignal | undefined} */
        let signal;
        peer.onQuestion((/** @type {any} */ _, /** @type {AbortSignal} */ given) => new Promise((_resolve, reject) => {
          signal = given;
          given.addEventListener('abort', () => reject(Object.assign(new Error('cancelled'), { code: -32800 })));
        }));
        const stop = new AbortController();
        const held = settle(peer.call('test.ask', { message: 'Sure?' }, { signal: stop.signal }));
        await until(() => signal);
        stop.abort();
        const { code } = await held;
        await until(() => signal?.aborted);
        await until(() => host.stats().elicitations === 0);
        const echo = await peer.call('test.echo', { n: 1 });
        const methods = peer.heard.map((/** @type {any} */ it) => it.method ?? (it.error ? it.error.code : 'result')).slice(-4);
        return { code, echo, methods, complaints: peer.complaints };
      });
      if (!mcp) assert.equal(seen.code, -32800);
      assert.deepEqual(seen.echo, { n: 1 });
      assert.deepEqual(seen.complaints, []);
      // The question is withdrawn before its call is answered.
      const cancel = mcp ? 'notifications/cancelled' : name.startsWith('@agent') ? '$/cancel_request' : '$/cancelRequest';
      const question = mcp ? 'elicitation/create' : '_elicitation/request';
      assert.deepEqual(seen.methods, mcp ? ['result', question, cancel, 'result'] : [question, cancel, -32800, 'result']);
    });
  });
}

test('a peer whose requests cannot be cancelled is not told, and one that answers no questions is asked none', async () => {
  const seen = await withPeer('vscode-jsonrpc over a MessagePort', async ({ lab, host, until }) => {
    const rpc = (/** @type {any} */ id, /** @type {string} */ method, /** @type {any} */ params) => ({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, params });
    const outcome = async (/** @type {any} */ capabilities) => {
      const raw = await lab.rawPort(host, false);
      raw.post(rpc(0, 'initialize', { capabilities }));
      raw.post(rpc(1, '_capabilities/call', { capability: 'test.ask', params: { message: 'Sure?' } }));
      await until(() => raw.heard.length === 2);
      raw.post(rpc(undefined, '$/cancelRequest', { id: 1 }));
      raw.post(rpc(2, '_capabilities/call', { capability: 'test.echo' }));
      await until(() => raw.heard.some((/** @type {any} */ it) => it.id === 2));
      return raw.heard.slice(1).map((/** @type {any} */ it) => it.method ?? it.error?.code ?? it.result.data?.error?.code ?? 'result');
    };
    return [await outcome({ elicitation: {}, cancellation: { request: false } }), await outcome({ elicitation: {} }), await outcome({})];
  });
  assert.deepEqual(seen, [
    ['_elicitation/request', -32800, 'result'],
    ['_elicitation/request', '$/cancelRequest', -32800, 'result'],
    ['NOT_SUPPORTED', 'result'],
  ]);
});
