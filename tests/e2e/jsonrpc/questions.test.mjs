// Questions of an app reach JSON-RPC and ACP peers of the gateway, through published clients.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { createHost } from 'caphost';
import { startGateway } from '../support/gateway.mjs';
import { kinds, openSocket } from './clients.mjs';

const FORM = { message: 'Your name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } };

/** @type {import('../support/gateway.mjs').Gateway} */
let gateway;
/** @type {any} */
let host;
/** What the app has heard of its questions. @type {any[]} */
let answers = [];
before(async () => {
  gateway = await startGateway();
  host = await createHost({ app: { id: 'asks', name: 'Asks', version: '1' } });
  host.register('ask', {}, async (/** @type {any} */ request, /** @type {any} */ { elicit }) => {
    const answer = await elicit(request);
    answers.push(answer);
    return answer;
  });
  /** Does not wait for its question. */
  host.register('ask.and.go', {}, async (/** @type {any} */ request, /** @type {any} */ { elicit }) => {
    void elicit(request).then((/** @type {any} */ answer) => answers.push(answer));
    await new Promise((resolve) => setTimeout(resolve, 100));
    return 'done';
  });
  host.register('echo', {}, async (/** @type {any} */ params) => params);
  const connected = new Promise((resolve) => host.observe((/** @type {any} */ event) => event.state === 'connected' && resolve(event)));
  host.connectGateway(`${gateway.wsUrl}/abp/app`);
  await connected;
});
after(async () => {
  await host.close();
  await gateway.stop();
});

const CANCELLATION = { cancellation: { request: true } };
/** @type {[string, any, string, boolean][]} the kind, what it declares, the request, and whether it is ACP's */
const peers = [
  ['vscode-jsonrpc over WebSocket', { elicitation: {} }, '_elicitation/request', false],
  ['vscode-jsonrpc over caphost stdio', { elicitation: {} }, '_elicitation/request', false],
  ['@agentclientprotocol/sdk over caphost stdio', { elicitation: {} }, '_elicitation/request', false],
  ['@agentclientprotocol/sdk over caphost stdio', { elicitation: { form: {} } }, 'elicitation/create', true],
];

for (const [name, declared, method, isForm] of peers) {
  describe(`${name}, asked with ${method}`, () => {
    /** @type {import('./clients.mjs').Client} */
    let client;
    /** @type {(params: any, signal: AbortSignal) => any} */
    let answer;
    /** The questions, with their signals. @type {{ params: any, signal: AbortSignal }[]} */
    let asked = [];
    beforeEach(async () => {
      [asked, answers] = [[], []];
      const kind = kinds.find((it) => it.name === name);
      client = await /** @type {import('./clients.mjs').Kind} */ (kind).connect(gateway, 'asks');
      client.onRequest(method, (params, signal) => {
        asked.push({ params, signal });
        return answer(params, signal);
      });
      const { greeting } = client;
      const place = greeting.clientCapabilities ? 'clientCapabilities' : 'capabilities';
      await client.request('initialize', { ...greeting, [place]: { ...greeting[place], ...declared, ...CANCELLATION } });
    });
    afterEach(() => client.leave());

    /** @param {string} capability @param {any} params @param {AbortSignal} [signal] */
    const call = async (capability, params, signal) => (await client.request('_capabilities/call', { capability, params }, signal)).data;
    const asks = async () => { while (asked.length === 0) await new Promise(setImmediate); };

    test('the peer answers, refuses or gives up', { timeout: 30_000 }, async () => {
      const accepts = isForm ? { action: 'accept', content: { name: 'Ada' } } : { data: { name: 'Ada' } };
      answer = () => accepts;
      assert.deepEqual(await call('ask', FORM), { success: true, data: { name: 'Ada' } });
      const [{ params } = { params: {} }] = asked;
      assert.deepEqual([params.message, params.requestedSchema], [FORM.message, FORM.requestedSchema]);
      if (isForm) assert.deepEqual([params.mode, typeof params.requestId], ['form', 'number']);

      answer = () => {
        if (isForm) return { action: 'decline' };
        throw Object.assign(new Error('no'), { code: -32000, data: { code: 'PERMISSION_DENIED' } });
      };
      const refused = await call('ask', FORM);
      assert.deepEqual([refused.success, refused.error.code], [false, 'PERMISSION_DENIED']);

      answer = () => {
        if (isForm) return { action: 'cancel' };
        throw Object.assign(new Error('gone'), { code: -32800 });
      };
      assert.deepEqual(await call('ask', FORM), { success: false, cancelled: true, metadata: { stop: 'abandoned' } });
    });

    test('a cancel of the call withdraws the question, and its late answer counts for nothing', { timeout: 30_000 }, async () => {
      /** @type {(answer: any) => void} */
      let late = () => {};
      answer = () => new Promise((resolve) => { late = resolve; });
      const stop = new AbortController();
      const calling = call('ask', FORM, stop.signal).then(() => undefined, (error) => error);
      await asks();
      assert.equal(asked[0]?.signal.aborted, false);
      stop.abort();
      assert.equal((await calling).code, -32800);
      while (!asked[0]?.signal.aborted) await new Promise(setImmediate);
      late(isForm ? { action: 'accept', content: {} } : { data: {} });
      assert.deepEqual(await call('echo', { a: 1 }), { a: 1 });
      assert.deepEqual(answers.filter(({ success }) => success), []);
    });

    test('the end of the call withdraws the question', { timeout: 30_000 }, async () => {
      answer = (_, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(Object.assign(new Error('withdrawn'), { code: -32800 }))));
      assert.equal(await call('ask.and.go', FORM), 'done');
      assert.equal(asked.length, 1);
      while (!asked[0]?.signal.aborted) await new Promise(setImmediate);
    });
  });
}

/**
 * What a peer hears that declares this, calls `ask`, and cancels it when it is asked.
 *
 * @param {any} hello @param {any} request
 */
async function heardBy(hello, request = FORM) {
  const socket = await openSocket(gateway, 'asks');
  /** @type {any[]} */
  const heard = [];
  const say = (/** @type {any} */ message) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const ended = new Promise((resolve) => socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    heard.push(message);
    if (message.method?.includes('elicitation')) {
      // Another's answer, and an answer to what was never asked.
      say({ id: 'elicitation-1', result: { data: 'wrong' } });
      say({ id: message.id.replace(/\d+$/, '9999'), result: { data: 'wrong' } });
      say({ method: '$/cancelRequest', params: { id: 1 } });
    }
    if (message.id === 1 && !message.method) resolve(undefined);
  }));
  if (hello) say({ id: 0, method: 'initialize', params: hello });
  say({ id: 1, method: '_capabilities/call', params: { capability: 'ask', params: request } });
  await ended;
  socket.close();
  await once(socket, 'close');
  return heard.filter(({ id, method }) => id !== 0 || method).map(({ method, error, result }) => method ?? error?.code ?? result.data.error.code);
}

describe('a peer', { timeout: 30_000 }, () => {
  test('that has declared nothing is not asked', async () => {
    for (const hello of [undefined, {}, { capabilities: {} }, { capabilities: { elicitation: false } }, { protocolVersion: 1, clientCapabilities: { elicitation: null } }]) {
      assert.deepEqual(await heardBy(hello), ['NOT_SUPPORTED'], JSON.stringify(hello));
    }
  });

  test('of ACP that opens addresses only is asked no form, and one that takes forms nothing else', async () => {
    assert.deepEqual(await heardBy({ protocolVersion: 1, clientCapabilities: { elicitation: { url: {} } } }), ['NOT_SUPPORTED']);
    assert.deepEqual(await heardBy({ protocolVersion: 1, clientCapabilities: { elicitation: { form: {} } } }, { method: 'sampling/create' }), ['NOT_SUPPORTED']);
  });

  test('is told of a withdrawn question only if it has declared that', async () => {
    const asked = '_elicitation/request';
    assert.deepEqual(await heardBy({ capabilities: { elicitation: {} } }), [asked, -32800]);
    assert.deepEqual(await heardBy({ capabilities: { elicitation: {}, ...CANCELLATION } }), [asked, '$/cancelRequest', -32800]);
    assert.deepEqual(await heardBy({ protocolVersion: 1, clientCapabilities: { elicitation: {}, ...CANCELLATION } }), [asked, '$/cancel_request', -32800]);
  });
});
