import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { attach } from 'caphost/automation';
import { automationClients } from '../support/browsers.mjs';
import { abandoned, codeOf, confirmed, logOf, neverStarted, plainAppIn, settled } from './pages.mjs';

for (const { name, launch } of automationClients) {
  describe(`attach() over ${name}, to a plain ABP app`, () => {
    const { appPage, newPage, url } = plainAppIn({ before, after }, launch);

    /** @param {import('node:test').TestContext} t @param {string} [query] @param {import('caphost/automation').ConnectOptions} [options] */
    async function attached(t, query, options) {
      const page = await appPage(t, query);
      return { page, agent: await attach(page, options) };
    }

    test('opens a session and calls', async (t) => {
      const { agent } = await attached(t);
      assert.equal(typeof agent.sessionId, 'string');
      assert.deepEqual(agent.app, { id: 'plain', name: 'Plain app', version: '1.0.0' });
      assert.ok(agent.capabilities.some((it) => it.name === 'echo' && it.available));
      assert.deepEqual(await agent.call('echo', { a: [1, null, { b: 'ü' }] }), { success: true, data: { a: [1, null, { b: 'ü' }] } });
      await assert.rejects(agent.listCapabilities(), { name: 'CapHostError', code: 'NOT_SUPPORTED', message: 'The app does not list its capabilities' });
      assert.equal(codeOf(await agent.call('fail')), 'OPERATION_FAILED');
      assert.equal(codeOf(await agent.call('nothing of the kind')), 'UNKNOWN_CAPABILITY');
      await agent.shutdown();
      assert.equal(await agent.closed, 'shutdown');
      assert.equal(agent.sessionId, null);
      assert.equal(codeOf(await agent.call('echo')), 'NOT_INITIALIZED');
      const { callId, error, ...rest } = await agent.cancel('x');
      assert.deepEqual([callId, error?.code, rest.cancelled], ['x', 'NOT_INITIALIZED', false]);
    });

    test('progress, notifications and questions arrive through the standard names', async (t) => {
      /** @type {unknown[]} */
      const notifications = [];
      const { agent } = await attached(t, '', {
        onNotification: (event, data) => notifications.push([event, data]),
        onElicitation: ({ message }) => `${message} Yes.`,
      });
      const stop = new AbortController();
      const info = await new Promise((onProgress) => {
        void agent.call('hold', {}, { callId: 'held', signal: stop.signal, onProgress });
      });
      assert.deepEqual(info, { operationId: 'held', progress: 1, total: 4, stage: 'holding' });
      stop.abort();
      await agent.call('announce', { news: 1 });
      assert.deepEqual(notifications, [['app/announced', { news: 1 }]]);
      assert.deepEqual((await agent.call('ask', { message: 'Sure?' })).data, { success: true, data: 'Sure? Yes.' });
    });

    test('notifications may come as two arguments, and a question without an answer is refused', async (t) => {
      /** @type {unknown[]} */
      const notifications = [];
      const { agent } = await attached(t, 'twoArguments', { onNotification: (...given) => notifications.push(given) });
      await agent.call('announce', { news: 2 });
      assert.deepEqual(notifications, [['app/announced', { news: 2 }]]);
      assert.equal((await agent.call('ask', { message: '?' })).data.error.code, 'NOT_SUPPORTED');
    });

    test('binary data arrives as it was given, and comes back as ABP binary data', async (t) => {
      const { agent } = await attached(t);
      for (const bytes of [Uint8Array.of(1, 2, 254), Uint8Array.of(1, 2, 254).buffer]) {
        const { data } = await agent.call('bytes', { bytes, text: 'binary 0' });
        assert.equal(data.kind, bytes.constructor.name);
        assert.deepEqual(data.bytes, { content: 'AgP/', mimeType: 'application/octet-stream', encoding: 'base64', size: 3 });
      }
    });

    test('a value that JSON cannot express is reported, and never arrives as something else', async (t) => {
      const { agent } = await attached(t);
      for (const it of [new Map([[1, 2]]), new Set(), /x/, new Error('x')]) {
        const { error } = await agent.call('echo', { it });
        assert.equal(error?.code, 'INVALID_PARAMS');
        assert.match(error?.message ?? '', /cannot be sent: JSON has nothing for a (Map|Set|RegExp|Error)/);
      }
      const { error } = await agent.call('map');
      assert.equal(error?.code, 'OPERATION_FAILED');
      assert.match(error?.message ?? '', /cannot be sent: .*Map/);
      assert.deepEqual((await agent.call('echo', { at: new Date(0) })).data, { at: '1970-01-01T00:00:00.000Z' });
    });

    test('bad arguments resolve to INVALID_PARAMS and never reach the page', async (t) => {
      const { agent, page } = await attached(t);
      const call = /** @type {any} */ (agent.call.bind(agent));
      const cyclic = /** @type {any} */ ({});
      cyclic.self = cyclic;
      const bad = [
        [undefined], [7], ['echo', 7], ['echo', null], ['echo', []], ['echo', { f() {} }], ['echo', { big: 1n }], ['echo', cyclic],
        ['echo', {}, { timeout: -1 }], ['echo', {}, { timeout: NaN }], ['echo', {}, { timeout: '5' }],
        ['echo', {}, { callId: '' }], ['echo', {}, { callId: 'x'.repeat(129) }], ['echo', {}, { callId: 'x'.repeat(10_000) }],
        ['echo', {}, { callId: 'a\nb' }], ['echo', {}, { callId: 7 }], ['echo', {}, { signal: {} }], ['echo', {}, { onProgress: 1 }],
        ['echo', { get trap() { throw new Error('trap'); } }],
      ];
      for (const args of bad) {
        const response = await call(...args);
        assert.equal(codeOf(response), 'INVALID_PARAMS', String(args[2] && JSON.stringify(args[2])));
        assert.equal(response.success, false);
      }
      for (const id of ['', 'x'.repeat(129), 7, undefined, null]) {
        const response = await /** @type {any} */ (agent).cancel(id);
        assert.deepEqual([response.callId, response.cancelled, codeOf(response)], [id, false, 'INVALID_PARAMS']);
      }
      assert.deepEqual(await logOf(page), ['initialize']);
      assert.equal((await agent.call('echo', { still: 'alive' })).success, true);
    });

    test('parameters have the values at the moment of the call', async (t) => {
      const { agent } = await attached(t);
      const params = { number: 0, deep: { number: 0 } };
      const calls = [];
      for (let number = 0; number < 3; number += 1) {
        params.number = params.deep.number = number;
        calls.push(agent.call('echo', params));
      }
      const numbers = (await Promise.all(calls)).map(({ data }) => [data.number, data.deep.number]);
      assert.deepEqual(numbers, [[0, 0], [1, 1], [2, 2]]);
    });

    describe('cancellation', () => {
      test('Cancel non-existent callId', async (t) => {
        const { agent } = await attached(t);
        assert.deepEqual(await agent.cancel('nothing'), { callId: 'nothing', cancelled: false, reason: 'Operation not found' });
      });

      test('Cancel already-completed call', async (t) => {
        const { agent } = await attached(t);
        await agent.call('echo', {}, { callId: 'done' });
        assert.deepEqual(await agent.cancel('done'), { callId: 'done', cancelled: false, reason: 'Operation already completed' });
      });

      test('Cancel already-cancelled call, Multiple cancels for same callId', async (t) => {
        const { agent } = await attached(t);
        const call = agent.call('hold', {}, { callId: 'held' });
        await settled(agent);
        const answers = await Promise.all([agent.cancel('held', 'a reason'), agent.cancel('held'), agent.cancel('held')]);
        assert.deepEqual(answers, Array(3).fill(confirmed('held', 'abandoned')));
        assert.deepEqual(await call, abandoned);
        assert.deepEqual(await agent.cancel('held'), confirmed('held', 'abandoned'));
      });

      test('a cancel of a call that the app has forgotten', async (t) => {
        const { agent } = await attached(t, 'forgets');
        const call = agent.call('hold', {}, { callId: 'held' });
        await settled(agent);
        const answers = await Promise.all([agent.cancel('held'), agent.cancel('held')]);
        assert.deepEqual(answers, Array(2).fill(confirmed('held', 'abandoned')));
        assert.deepEqual(await call, abandoned);
        assert.deepEqual(await agent.cancel('held'), confirmed('held', 'abandoned'));
      });

      test('Call completes while cancel in flight', async (t) => {
        const { agent } = await attached(t);
        const [response, answer] = await Promise.all([
          agent.call('echo', { kept: true }, { callId: 'quick' }),
          Promise.resolve().then(() => agent.cancel('quick')),
        ]);
        assert.equal(answer.cancelled, response.cancelled === true);
        assert.ok(response.success ? response.data.kept : response.cancelled);
      });

      test('Cancel without active session', async (t) => {
        const { agent, page } = await attached(t);
        await page.evaluate(() => /** @type {any} */ (window).abp.shutdown());
        assert.equal(codeOf(await agent.cancel('x')), 'NOT_INITIALIZED');
        assert.equal(codeOf(await agent.call('echo')), 'NOT_INITIALIZED');
      });

      test('an abort stops the work in the page, with its reason', async (t) => {
        const { agent, page } = await attached(t);
        for (const [reason, logged] of [['enough', 'cancel enough'], [new Error('went wrong'), 'cancel went wrong'], [undefined, 'cancel'], [{ no: 'text' }, 'cancel']]) {
          const stop = new AbortController();
          const call = agent.call('hold', {}, { signal: stop.signal });
          await settled(agent);
          stop.abort(reason);
          assert.deepEqual(await call, abandoned);
          assert.deepEqual((await logOf(page)).slice(-2), [logged, 'end hold cancelled']);
        }
      });

      test('an abort in the same tick never reaches the page, nor does an aborted signal', async (t) => {
        const { agent, page } = await attached(t);
        const stop = new AbortController();
        const call = agent.call('hold', {}, { signal: stop.signal, callId: 'same tick' });
        stop.abort();
        assert.deepEqual(await call, neverStarted);
        assert.deepEqual(await agent.call('hold', {}, { signal: AbortSignal.abort(), callId: 'before' }), neverStarted);
        const unsent = agent.call('hold', {}, { callId: 'unsent' });
        assert.deepEqual(await agent.cancel('unsent'), confirmed('unsent', 'never-started'));
        assert.deepEqual(await unsent, neverStarted);
        assert.deepEqual(await logOf(page), ['initialize']);
        // These calls never reached the page, and still the answers agree.
        for (const id of ['same tick', 'before', 'unsent']) assert.deepEqual(await agent.cancel(id), confirmed(id, 'never-started'));
      });

      test('an abort after the end changes nothing', async (t) => {
        const { agent, page } = await attached(t);
        const stop = new AbortController();
        const response = await agent.call('echo', { a: 1 }, { signal: stop.signal });
        stop.abort();
        await settled(agent);
        assert.deepEqual(response.data, { a: 1 });
        assert.ok(!(await logOf(page)).includes('cancel'));
      });

      test('a callId in use is refused, and the first call undisturbed', async (t) => {
        const { agent } = await attached(t);
        const first = agent.call('hold', {}, { callId: 'twice' });
        assert.equal(codeOf(await agent.call('echo', {}, { callId: 'twice' })), 'INVALID_PARAMS');
        await settled(agent);
        assert.deepEqual(await agent.cancel('twice'), confirmed('twice', 'abandoned'));
        assert.deepEqual(await first, abandoned);
      });

      test('an app whose cancel takes an object', async (t) => {
        const { agent } = await attached(t, 'cancel=object');
        const call = agent.call('hold', {}, { callId: 'held' });
        await settled(agent);
        assert.deepEqual(await agent.cancel('held'), confirmed('held', 'abandoned'));
        assert.deepEqual(await call, abandoned);
      });

      test('an app without cancel', async (t) => {
        const { agent } = await attached(t, 'cancel=absent', { grace: 2_000 });
        const stop = new AbortController();
        const call = agent.call('hold', {}, { callId: 'held', signal: stop.signal });
        await settled(agent);
        const answer = await agent.cancel('held');
        assert.deepEqual([answer.callId, answer.cancelled, codeOf(answer)], ['held', false, 'NOT_SUPPORTED']);
        stop.abort();
        assert.equal(codeOf(await call), 'TIMEOUT');
        assert.equal((await agent.call('echo', { a: 1 })).data.a, 1);
      });

      test('an app that never answers a cancel', async (t) => {
        const { agent } = await attached(t, 'cancel=never', { grace: 150 });
        const call = agent.call('hold', {}, { callId: 'held' });
        await settled(agent);
        for (const again of [false, true]) {
          const { error, ...answer } = await agent.cancel('held');
          const unconfirmed = { callId: 'held', cancelled: false, reason: 'No confirmation from the app' };
          assert.deepEqual([answer, error?.code], [unconfirmed, 'TIMEOUT'], String(again));
        }
        assert.equal(codeOf(await call), 'TIMEOUT');
      });

      test('an app that says yes to a cancel and completes the call', async (t) => {
        const { agent } = await attached(t, 'cancel=contradicts');
        const call = agent.call('hold', {}, { callId: 'held' });
        await settled(agent);
        const [answer, response] = await Promise.all([agent.cancel('held'), call]);
        assert.equal(answer.cancelled, response.cancelled === true);
      });

      test('an app that says no to a cancel and cancels the call', async (t) => {
        const { agent } = await attached(t, 'cancel=refuses-then-cancels');
        const call = agent.call('hold', {}, { callId: 'held' });
        await settled(agent);
        const [answer, response] = await Promise.all([agent.cancel('held'), call]);
        assert.equal(answer.cancelled, response.cancelled === true);
      });
    });

    describe('timeouts', () => {
      test('the app keeps timeouts', async (t) => {
        // If the app is 100 ms late, the agent cancels the call first. On a busy machine the app may be late a few times.
        for (let left = 5; ; left -= 1) {
          const { agent, page } = await attached(t);
          assert.deepEqual(await agent.call('hold', {}, { timeout: 50 }), abandoned);
          const [, ...log] = await logOf(page);
          if (left > 1 && log[1] === 'cancel') continue;
          assert.deepEqual(log.slice(0, 2), ['call hold', 'end hold cancelled']);
          return;
        }
      });

      test('or the agent keeps timeouts, and stops the work in the page', async (t) => {
        const { agent, page } = await attached(t, 'ignoresTimeouts');
        assert.deepEqual(await agent.call('hold', {}, { timeout: 50, callId: 'late' }), abandoned);
        assert.deepEqual((await logOf(page)).slice(1), ['call hold', 'cancel', 'end hold cancelled']);
        assert.deepEqual(await agent.cancel('late'), confirmed('late', 'abandoned'));
      });

      test('an app that can do neither leaves the outcome unknown', async (t) => {
        const { agent } = await attached(t, 'ignoresTimeouts&cancel=absent', { grace: 200 });
        assert.equal(codeOf(await agent.call('hold', {}, { timeout: 50 })), 'TIMEOUT');
      });
    });

    describe('attaching', () => {
      test('waits for the app to appear', async (t) => {
        const page = await appPage(t, 'after=400');
        const agent = await attach(page);
        assert.equal((await agent.call('echo', { a: 1 })).data.a, 1);
      });

      test('waits across a navigation', async (t) => {
        const page = /** @type {any} */ (await newPage());
        t.after(() => page.close());
        const attaching = attach(page);
        await page.goto(url('/empty'));
        await page.goto(url('/plain-app/'));
        assert.equal((await (await attaching).call('echo', { a: 1 })).data.a, 1);
      });

      test('gives up if the page has no app', async (t) => {
        const page = /** @type {any} */ (await newPage());
        t.after(() => page.close());
        await page.goto(url('/empty'));
        await assert.rejects(attach(page, { connectTimeout: 300 }), { code: 'TIMEOUT', retryable: true });
      });

      test('fails on a page that is closed, or closes meanwhile', async () => {
        const page = /** @type {any} */ (await newPage());
        await page.goto(url('/empty'));
        const attaching = attach(page);
        const refused = assert.rejects(attaching, { code: 'DISCONNECTED' });
        await page.close();
        await refused;
        await assert.rejects(attach(page), { code: 'DISCONNECTED' });
      });

      test('is refused if there is a session, which continues', async (t) => {
        const { agent, page } = await attached(t);
        await assert.rejects(attach(page), { code: 'ALREADY_INITIALIZED', retryable: false });
        const info = await new Promise((onProgress) => { void agent.call('hold', {}, { onProgress }); });
        assert.equal(info.total, 4);
      });

      test('works again after a shutdown, and after a navigation', async (t) => {
        const { agent: first, page } = await attached(t);
        await first.shutdown();
        const second = await attach(page);
        const info = await new Promise((onProgress) => { void second.call('hold', {}, { onProgress }); });
        assert.equal(info.total, 4);
        await page.reload();
        assert.equal(await second.closed, 'disconnected');
        const third = await attach(page);
        assert.equal((await new Promise((onProgress) => { void third.call('hold', {}, { onProgress }); })).total, 4);
      });

      test('refuses a value that is no page', async () => {
        await assert.rejects(attach(/** @type {any} */ ({})), { code: 'INVALID_PARAMS' });
      });

      test('leaves no listener behind', async (t) => {
        const page = await appPage(t);
        const browser = page.browser?.() ?? page.context().browser();
        const events = ['close', 'crash', 'error', 'domcontentloaded'];
        const count = () => [...events.map((event) => page.listenerCount(event)), browser.listenerCount('disconnected')];
        const idle = count();
        const agent = await attach(page);
        assert.notDeepEqual(count(), idle);
        await agent.shutdown();
        assert.deepEqual(count(), idle);
      });
    });
  });
}
