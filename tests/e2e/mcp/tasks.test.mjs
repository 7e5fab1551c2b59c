import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createHost } from 'caphost';
import * as z from 'zod';
import { startGateway } from '../support/gateway.mjs';
import { connect, kinds, rejection } from './clients.mjs';

/** @typedef {{ taskId: string, status: string, statusMessage?: string, [key: string]: any }} Task */

const TASKS = 'io.modelcontextprotocol/tasks';
const RELATED = 'io.modelcontextprotocol/related-task';
const FORM = { message: 'Which one?', requestedSchema: { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] } };
const ENDS = ['completed', 'failed', 'cancelled'];
/** The steps of a job in a race. */
const STEPS = 8;
const any = z.looseObject({});

/** @type {import('../support/gateway.mjs').Gateway} */
let gateway;
/** @type {import('caphost').Host} */
let host;
/** How many steps each job has done, and how it ended. @type {Map<string, { steps: number, end?: string }>} */
const jobs = new Map();

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A pause that ends with the reason of the cancel. @param {number} ms @param {AbortSignal} signal */
const pauseUntil = (ms, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    reject(signal.reason);
  });
});

/** @param {() => unknown} check */
async function until(check) {
  const end = Date.now() + 20_000;
  while (!await check()) {
    assert.ok(Date.now() < end, `it did not come: ${check}`);
    await pause(10);
  }
}

before(async () => {
  host = await createHost({ app: { id: 'tasks', name: 'Tasks', version: '1.0.0' } });
  host.register('work', {}, async ({ name, steps, every }, { signal, progress }) => {
    /** @type {{ steps: number, end?: string }} */
    const job = { steps: 0 };
    jobs.set(name, job);
    try {
      while (job.steps < steps) {
        await pauseUntil(every, signal);
        job.steps += 1;
        progress({ progress: job.steps, total: steps });
      }
      job.end = 'completed';
      return { steps: job.steps };
    } catch (error) {
      job.end = 'cancelled';
      throw error;
    }
  });
  host.register('ask', {}, async (_, { elicit }) => {
    await pause(700);
    const { success, data } = await elicit(FORM);
    return { success, data };
  });
  gateway = await startGateway({ args: ['--mcp-max-tasks-per-token', '1000'] });
  host.connectGateway(`${gateway.wsUrl}/abp/app`);
  await until(async () => (await fetch(`${gateway.url}/abp.json`)).status === 200);
});
after(async () => {
  host?.close();
  await gateway?.stop();
});

/** What a client does with tasks. @typedef {{ make: (name: string, args: object) => Promise<Task>, get: (id: string) => Promise<Task>, cancel: (id: string) => Promise<any>, update?: (id: string, answers: object) => Promise<any>, end: (id: string) => Promise<{ result?: any, error?: any }> }} Client */

/** The published client, in sessions of 2025-11-25. @param {import('@modelcontextprotocol/client').Client} client @returns {Client} */
function ofSession(client) {
  const ask = (/** @type {string} */ method, /** @type {any} */ params) => client.request({ method, params }, any);
  return {
    make: async (name, args) => /** @type {any} */ (await ask('tools/call', { name, arguments: args, task: { ttl: 600_000 } })).task,
    get: async (taskId) => /** @type {any} */ (await ask('tasks/get', { taskId })),
    cancel: (taskId) => ask('tasks/cancel', { taskId }),
    end: (taskId) => ask('tasks/result', { taskId }).then((result) => ({ result }), (error) => ({ error })),
  };
}

/** A client of 2026-07-28. The published one does not speak the extension. @returns {Client} */
function alone() {
  let last = 0;
  const ask = async (/** @type {string} */ method, /** @type {any} */ params) => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { [TASKS]: {} } },
    };
    const response = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json', accept: 'application/json', 'mcp-protocol-version': '2026-07-28',
        'mcp-method': method, 'mcp-name': params.name ?? params.taskId,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: last += 1, method, params: { ...params, _meta: meta } }),
    });
    const { result, error } = /** @type {any} */ (await response.json());
    if (error) throw Object.assign(new Error(error.message), error);
    return result;
  };
  return {
    make: (name, args) => ask('tools/call', { name, arguments: args }),
    get: (taskId) => ask('tasks/get', { taskId }),
    cancel: async (taskId) => {
      assert.deepEqual(await ask('tasks/cancel', { taskId }), { resultType: 'complete' });
      return ask('tasks/get', { taskId });
    },
    update: (taskId, inputResponses) => ask('tasks/update', { taskId, inputResponses }),
    end: async (taskId) => {
      for (;;) {
        const { status, result, error } = await ask('tasks/get', { taskId });
        if (status === 'cancelled') return { error: { code: -32800 } };
        if (ENDS.includes(status)) return { result, error };
        await pause(20);
      }
    },
  };
}

/** Cancels tasks at random moments, and compares all that is said of each. @param {Client} client @param {number} count @param {number} least the milliseconds before the first cancel */
async function race(client, count, least) {
  const seen = { completed: 0, cancelled: 0, late: 0 };
  const one = async (/** @type {number} */ number) => {
    const name = `race-${Math.random()}-${number}`;
    const { taskId, status } = await client.make('work', { name, steps: STEPS, every: 20 + least / STEPS });
    assert.equal(status, 'working');
    const ended = client.end(taskId);
    // In steps, not in time, so that a busy machine cancels as many in the middle and at the end.
    const step = Math.floor(Math.random() * (STEPS + 2));
    await until(() => step === 0 || (jobs.get(name)?.steps ?? 0) >= Math.min(step, STEPS));
    await pause(Math.random() * 25);
    // A session refuses the cancel of a task that has ended.
    const said = await client.cancel(taskId).catch((error) => {
      assert.equal(error.code, -32602, error.message);
      seen.late += 1;
      return client.get(taskId);
    });
    const steps = jobs.get(name)?.steps ?? 0;
    const { result, error } = await ended;
    await pause(60);
    const after = await client.get(taskId);
    assert.equal(after.status, said.status, name);
    assert.ok(after.status === 'cancelled' || after.status === 'completed', after.status);
    if (after.status === 'completed') {
      seen.completed += 1;
      assert.deepEqual([result.structuredContent, error], [{ steps: STEPS }, undefined]);
      assert.deepEqual(jobs.get(name), { steps: STEPS, end: 'completed' });
    } else {
      seen.cancelled += 1;
      assert.equal(error.code, -32800);
      assert.match(after.statusMessage ?? '', /^Cancelled \((returned|never-started)\); /);
      const job = jobs.get(name);
      assert.notEqual(job?.end, 'completed');
      // Nothing more is done after the confirmation.
      assert.equal(job?.steps ?? 0, steps, name);
    }
    const run = /** @type {any} */ (await (await fetch(`${gateway.url}/api/runs/${taskId}`)).json());
    assert.equal(run.state, after.status);
  };
  // Client and app share a process, whose timers must not be late.
  for (let number = 0; number < count; number += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, at) => one(number + at)));
  }
  assert.equal(host.stats().inFlight, 0);
  return seen;
}

for (const kind of kinds.filter(({ era }) => era === 'legacy')) {
  describe(`${kind.name}, with tasks`, () => {
    /** @type {Awaited<ReturnType<typeof connect>>} */
    let it;
    /** @type {Client} */
    let client;
    /** @type {any[]} */
    const questions = [];
    /** @type {any[]} */
    const told = [];
    before(async () => {
      it = await connect(kind, gateway, {
        onQuestion: (params) => {
          questions.push(params);
          return { action: 'accept', content: { color: 'red' } };
        },
      });
      it.client.setNotificationHandler('notifications/tasks/status', { params: any }, (params) => { told.push(params); });
      client = ofSession(it.client);
    });
    after(async () => {
      await it?.client.close();
      assert.deepEqual(it?.complaints, []);
    });

    test('makes a task, waits for its result, and is told of its end', async () => {
      const task = await client.make('work', { name: 'one', steps: 3, every: 20 });
      const { result } = await client.end(task.taskId);
      assert.deepEqual(result.structuredContent, { steps: 3 });
      assert.deepEqual(result._meta[RELATED], { taskId: task.taskId });
      assert.equal((await client.get(task.taskId)).status, 'completed');
      await until(() => told.some(({ taskId, status }) => taskId === task.taskId && status === 'completed'));
      assert.equal((await rejection(client.cancel(task.taskId))).code, -32602);
      assert.equal((await rejection(client.get('unknown'))).code, -32602);
    });

    test('answers a question of a task that needs input', async () => {
      const { taskId } = await client.make('ask', {});
      assert.equal((await client.get(taskId)).status, 'working');
      await until(async () => (await client.get(taskId)).status === 'input_required');
      assert.equal(questions.length, 0);
      const { result } = await client.end(taskId);
      assert.deepEqual(result.structuredContent, { success: true, data: { color: 'red' } });
      assert.deepEqual(questions.map((it) => it._meta), [{ [RELATED]: { taskId } }]);
      assert.equal((await client.get(taskId)).status, 'completed');
      // The answer may overtake what is told on another stream.
      const states = () => told.filter((it) => it.taskId === taskId).map(({ status }) => status);
      await until(() => states().length === 3);
      assert.deepEqual(states(), ['input_required', 'working', 'completed']);
    });

    test('a cancel withdraws the question of a task', async () => {
      const { taskId } = await client.make('ask', {});
      await until(async () => (await client.get(taskId)).status === 'input_required');
      assert.equal((await client.cancel(taskId)).status, 'cancelled');
      assert.equal(host.stats().elicitations, 0);
    });

    test('200 tasks that are cancelled at random moments are what their state says', { timeout: 120_000 }, async (t) => {
      const seen = await race(client, 200, 0);
      t.diagnostic(JSON.stringify(seen));
      assert.ok(seen.cancelled > 10 && seen.completed > 10, JSON.stringify(seen));
    });
  });
}

describe('HTTP, 2026-07-28, with tasks', () => {
  const client = alone();

  test('answers questions of a task with its state', async () => {
    const { taskId, resultType } = await client.make('ask', {});
    assert.equal(resultType, 'task');
    await until(async () => (await client.get(taskId)).status === 'input_required');
    const { inputRequests } = await client.get(taskId);
    const [[key, request]] = /** @type {[[string, any]]} */ (Object.entries(inputRequests));
    assert.deepEqual(request, { method: 'elicitation/create', params: FORM });
    await client.update?.(taskId, { other: { action: 'accept', content: {} }, [key]: { action: 'unknown' } });
    assert.equal((await client.get(taskId)).status, 'input_required');
    await client.update?.(taskId, { [key]: { action: 'accept', content: { color: 'blue' } } });
    const { result } = await client.end(taskId);
    assert.deepEqual(result.structuredContent, { success: true, data: { color: 'blue' } });
  });

  test('200 tasks that are cancelled at random moments are what their state says', { timeout: 120_000 }, async (t) => {
    // A call becomes a task after half a second.
    const seen = await race(client, 200, 600);
    t.diagnostic(JSON.stringify(seen));
    assert.ok(seen.cancelled > 10 && seen.completed > 10, JSON.stringify(seen));
  });
});
