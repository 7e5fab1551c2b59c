/** Calls of MCP clients and ABP agents through the gateway that a person must allow: at the client, or in the app. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createHost } from 'caphost';
import { connectWebSocket } from 'caphost/agent';
import { startGateway } from '../support/gateway.mjs';
import { connect, kinds, rejection } from './clients.mjs';

/** @type {Awaited<ReturnType<typeof startGateway>>} */
let gateway;
/** @type {import('caphost').Host} */
let host;
let began = 0;
/** The questions in the app. @type {import('caphost').ConfirmEvent[]} */
const questions = [];

/** @param {() => unknown} check */
async function until(check) {
  const end = Date.now() + 20_000;
  while (!await check()) {
    assert.ok(Date.now() < end, `it did not come: ${check}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

before(async () => {
  host = await createHost({ app: { id: 'asks', name: 'Notes', version: '1.0.0' } });
  host.register('clear', { title: 'Clear notes', confirm: 'always' }, ({ folder }) => {
    began += 1;
    return { cleared: folder };
  });
  host.register('list', { annotations: { readOnlyHint: true }, confirm: 'destructive' }, () => ({ notes: 0 }));
  host.observe((event) => void (event.type === 'confirm' && event.question !== undefined && questions.push(event)));
  gateway = await startGateway({ args: ['--mcp-answer-timeout', '5s'] });
  host.connectGateway(`${gateway.wsUrl}/abp/app`);
  await until(async () => (await fetch(`${gateway.url}/abp.json`)).status === 200);
});
after(async () => {
  host?.close();
  await gateway?.stop();
});
beforeEach(() => {
  began = 0;
  questions.length = 0;
});

const nothingIsLeft = () => until(() => host.stats().elicitations === 0 && host.stats().inFlight === 0);

/** @param {any} result */
const codeOf = (result) => (result.isError ? /"?([A-Z]+_[A-Z_]+)"?/.exec(JSON.stringify(result))?.[1] : undefined);

for (const kind of kinds) {
  describe(kind.name, () => {
    /** @type {Awaited<ReturnType<typeof connect>>} */
    let it;
    /** @type {(params: any, signal: AbortSignal) => any} */
    let answer = () => assert.fail('asked');
    before(async () => {
      it = await connect(kind, gateway, { onQuestion: (params, signal) => answer(params, signal) });
    });
    after(async () => {
      await it?.client.close();
      assert.deepEqual(it?.complaints, []);
    });
    const call = (/** @type {any} */ options = {}) => it.client.callTool({ name: 'clear', arguments: { folder: 'Drafts' } }, options);

    test('sees which tools ask, and asks its own user', async () => {
      const { tools } = await it.client.listTools();
      assert.deepEqual(tools.map(({ name, _meta }) => [name, _meta?.['caphost/confirm']]), [['clear', 'always'], ['list', 'destructive']]);
      /** @type {any[]} */
      const asked = [];
      for (const [said, code] of /** @type {[any, string?][]} */ ([
        [{ action: 'accept', content: { confirmed: true } }],
        [{ action: 'accept', content: { confirmed: false } }, 'PERMISSION_DENIED'],
        [{ action: 'decline' }, 'PERMISSION_DENIED'],
        [{ action: 'cancel' }, 'PERMISSION_DENIED'],
      ])) {
        answer = (params) => { asked.push(params); return said; };
        const before = began;
        const result = await call();
        assert.deepEqual([codeOf(result), began - before], [code, code ? 0 : 1], JSON.stringify(result));
      }
      assert.equal(asked.length, 4);
      assert.equal(asked[0].message, 'Allow "Clear notes" in Notes?\n{"folder":"Drafts"}');
      assert.deepEqual(asked[0].requestedSchema.required, ['confirmed']);
      // A call that only reads asks nobody.
      answer = () => assert.fail('asked');
      assert.equal((await it.client.callTool({ name: 'list', arguments: {} })).isError ?? false, false);
      await nothingIsLeft();
    });

    test('a cancel during the question withdraws it, and nothing starts', async () => {
      /** @type {AbortSignal | undefined} */
      let question;
      answer = (_, signal) => new Promise((_resolve, reject) => {
        question = signal;
        signal.addEventListener('abort', () => reject(new Error('withdrawn')));
      });
      const stop = new AbortController();
      const held = rejection(call({ signal: stop.signal }));
      await until(() => question);
      stop.abort('enough');
      await held;
      await until(() => question?.aborted);
      // A client of 2026-07-28 has no request open that it could cancel: its call waits for the time of an answer.
      await nothingIsLeft();
      assert.equal(began, 0);
    });

    test('an operator cancels the call that waits: never-started, and the answer that comes later starts nothing', async () => {
      let answerNow = () => {};
      let asked = false;
      answer = (_, signal) => new Promise((resolve, reject) => {
        asked = true;
        signal.addEventListener('abort', () => reject(new Error('withdrawn')));
        if (kind.era === 'modern') answerNow = () => resolve({ action: 'accept', content: { confirmed: true } });
      });
      const held = rejection(call());
      await until(() => asked);
      const { runs } = /** @type {any} */ (await (await fetch(`${gateway.url}/api/runs`)).json());
      const { runId } = runs.find((/** @type {any} */ run) => run.state === 'running');
      const cancelled = /** @type {any} */ (await (await fetch(`${gateway.url}/api/runs/${runId}/cancel`, { method: 'POST' })).json());
      assert.deepEqual([cancelled.cancelled, cancelled.metadata?.stop ?? cancelled.stop], [true, 'never-started']);
      answerNow();
      assert.equal((await held).code, -32800);
      await nothingIsLeft();
      assert.equal(began, 0);
    });

    test('waits for the person in the app, where the app asks, and hears of that', async () => {
      answer = () => assert.fail('asked');
      const end = host.confirmHere();
      try {
        /** @type {any[]} */
        const told = [];
        const allowed = call({ onprogress: (/** @type {any} */ info) => told.push(info.message) });
        await until(() => questions.length === 1 && told.length === 1);
        assert.deepEqual(told, ['Waits for a person']);
        assert.equal(began, 0);
        host.answer(Number(questions[0]?.question), true);
        assert.deepEqual([codeOf(await allowed), began], [undefined, 1]);
        const denied = call();
        await until(() => questions.length === 2);
        host.answer(Number(questions[1]?.question), false);
        assert.deepEqual([codeOf(await denied), began], ['PERMISSION_DENIED', 1]);
        const stop = new AbortController();
        const held = rejection(call({ signal: stop.signal }));
        await until(() => questions.length === 3);
        stop.abort('enough');
        await held;
        await nothingIsLeft();
        assert.deepEqual([host.answer(Number(questions[2]?.question), true), began], [false, 1]);
      } finally {
        end();
      }
    });

    test('has its call refused if it declares no forms, and the app does not ask', async () => {
      const plain = await connect(kind, gateway);
      const result = await plain.client.callTool({ name: 'clear', arguments: {} });
      assert.deepEqual([codeOf(result), began], ['PERMISSION_REQUIRED', 0]);
      await plain.client.close();
      assert.deepEqual(plain.complaints, []);
    });
  });
}

test('an ABP agent asks its user, cancels with never-started, and is gone without a trace', { timeout: 60_000 }, async () => {
  /** @type {(request: any) => any} */
  let answer = () => true;
  const agent = await connectWebSocket(`${gateway.wsUrl}/abp?app=asks`, { onElicitation: (request) => answer(request) });
  assert.equal((await agent.describeCapability('clear'))?.confirm, 'always');
  assert.deepEqual((await agent.call('clear', { folder: 'a' })).data, { cleared: 'a' });
  answer = () => ({ confirmed: false });
  assert.equal((await agent.call('clear')).error?.code, 'PERMISSION_DENIED');
  let asked = 0;
  answer = () => { asked += 1; return new Promise(() => {}); };
  const call = agent.call('clear', {}, { callId: 'held' });
  await until(() => asked === 1);
  assert.deepEqual((await agent.cancel('held')).metadata, { stop: 'never-started' });
  assert.equal((await call).metadata?.stop, 'never-started');
  const timed = await agent.call('clear', {}, { timeout: 100 });
  assert.deepEqual([timed.cancelled, timed.metadata?.stop], [true, 'never-started']);
  void agent.call('clear');
  await until(() => asked === 3);
  await agent.shutdown();
  await nothingIsLeft();
  assert.equal(began, 1);
});
