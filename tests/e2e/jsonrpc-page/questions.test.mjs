import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { usePeers } from './peers.mjs';

const lab = usePeers();
const { withPeer } = lab;

const kinds = [
  ['@modelcontextprotocol/client, legacy, over a MessagePort', true],
  ['@agentclientprotocol/sdk over a MessagePort', false],
  ['vscode-jsonrpc over a MessagePort', false],
];

for (const [name, mcp] of /** @type {[string, boolean][]} */ (kinds)) {
  describe(name, () => {
    test('gets a question of the app, and answers, refuses or gives up', async () => {
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
      const code = mcp ? 'PERMISSION_DENIED' : 'OPERATION_FAILED';
      assert.deepEqual(refused.data, { success: false, error: { code, message: mcp ? 'The user has declined' : 'no', retryable: false } });
      // A peer that gives up has not answered, and nothing has failed.
      assert.deepEqual(gone.data, { success: false, cancelled: true, metadata: { stop: 'abandoned' } });
      assert.deepEqual(seen.complaints, []);
    });

    test('learns when its answer is no longer wanted', async () => {
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
      // The question is withdrawn before the call is answered.
      const cancel = mcp ? 'notifications/cancelled' : name.startsWith('@agent') ? '$/cancel_request' : '$/cancelRequest';
      const question = mcp ? 'elicitation/create' : '_elicitation/request';
      assert.deepEqual(seen.methods, mcp ? ['result', question, cancel, 'result'] : [question, cancel, -32800, 'result']);
    });
  });
}

/** The messages on the wire when the call of a question is cancelled and the question is answered after that. */
const lateAnswer = (/** @type {any} */ hostOptions, /** @type {any} */ initialize) =>
  lab.run(async (given, hostOptions, initialize) => {
    const { registerWork } = await import(`${location.origin}/jsonrpc-page/app.js`);
    const host = await given.newHost(hostOptions);
    registerWork(host);
    const raw = await given.rawPort(host, false);
    const rpc = (/** @type {any} */ id, /** @type {string} */ method, /** @type {any} */ params) => ({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, params });
    raw.post(rpc(0, 'initialize', initialize));
    raw.post(rpc(1, '_capabilities/call', { capability: 'test.ask', params: { message: 'Sure?' } }));
    const question = await raw.hear((/** @type {any} */ it) => it.method === '_elicitation/request' || it.id === 1);
    const acp = typeof initialize.protocolVersion === 'number';
    raw.post(acp ? rpc(undefined, '$/cancel_request', { requestId: 1 }) : rpc(undefined, '$/cancelRequest', { id: 1 }));
    await raw.hear((/** @type {any} */ it) => it.id === 1);
    const { elicitations, inFlight } = host.stats();
    // A peer that was not told still answers in the end.
    raw.post({ jsonrpc: '2.0', id: question.id, result: { data: { name: 'Ada' } } });
    raw.post(rpc(2, '_capabilities/call', { capability: 'test.echo' }));
    await raw.hear((/** @type {any} */ it) => it.id === 2);
    const said = raw.heard.slice(1).map((/** @type {any} */ it) => (it.method ? [it.method, it.params] : (it.error?.code ?? it.result.data?.error?.code ?? 'result')));
    return { said, id: question.id, waiting: { elicitations, inFlight } };
  }, hostOptions, initialize);

const lsp = (/** @type {any} */ cancellation) => ({ capabilities: { elicitation: {}, ...(cancellation && { cancellation }) } });
const acp = (/** @type {any} */ cancellation) => ({ protocolVersion: 1, clientCapabilities: { elicitation: {}, ...(cancellation && { cancellation }) } });

for (const [who, capabilities, method, key] of /** @type {const} */ ([
  ['an LSP style', lsp, '$/cancelRequest', 'id'],
  ['an ACP', acp, '$/cancel_request', 'requestId'],
])) {
  const question = ['_elicitation/request', { message: 'Sure?' }];
  const rows = /** @type {[string, any, object, boolean][]} */ ([
    ['that has declared cancellation is sent a cancel', { request: true }, {}, true],
    ['that has declared nothing is sent no cancel', undefined, {}, false],
    ['that has declared something else is sent no cancel', { request: 'yes', notifications: true }, {}, false],
    ['that has declared that it takes none is sent no cancel', { request: false }, {}, false],
    ['that has declared nothing is sent a cancel if the app says so', undefined, { cancelUndeclared: true }, true],
    ['that has declared that it takes none is sent none whatever the app says', { request: false }, { cancelUndeclared: true }, false],
  ]);
  for (const [what, declared, options, told] of rows) {
    test(`${who} peer ${what}, and nothing waits for it`, async () => {
      const { said, id, waiting } = await lateAnswer(options, capabilities(declared));
      assert.deepEqual(said, [question, ...(told ? [[method, { [key]: id }]] : []), -32800, 'result']);
      assert.deepEqual(waiting, { elicitations: 0, inFlight: 0 });
    });
  }
}

test('a peer that answers no questions gets none', async () => {
  const { said } = await lateAnswer({}, { capabilities: {} });
  assert.deepEqual(said, ['NOT_SUPPORTED', 'result']);
});

test('createHost takes true or false for cancelUndeclared', async () => {
  const refused = await lab.run(async (given) => (await given.rejection(given.newHost({ cancelUndeclared: 'yes' }))).message);
  assert.equal(refused, 'cancelUndeclared must be true or false');
});
