import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mjs';

const lab = useLab();

/**
 * What a handler does in the abort event of its signal, in the middle of the cancel that fires the
 * event. Each is source for the page, which has `abp`, `host`, `callId` and `context`.
 *
 * @type {Record<string, string>}
 */
const deeds = {
  'cancels itself': `return abp.cancel(callId)`,
  'cancels another call': `return abp.cancel('other')`,
  'cancels what does not exist': `return abp.cancel('nothing')`,
  'registers a capability': `host.register('new', {}, async () => 'new'); return abp.call('new')`,
  'registers the same capability twice': `try { host.register('test.echo', {}, async () => 1) } catch ({ code }) { return code }`,
  'unregisters its own capability': `return host.unregister('deed')`,
  'calls again': `return abp.call('test.echo', { again: true })`,
  'calls itself again': `return abp.call('deed', { once: true }, { callId: 'again', timeout: 0 })`,
  'calls as a child': `return context.call('test.echo', {})`,
  'asks the agent': `return context.elicit({ type: 'confirm' })`,
  'reports progress': `context.progress({ progress: 1 }); host.notify('x', 1)`,
  'shuts down': `return abp.shutdown()`,
  'opens a second session': `return abp.initialize({}).catch(({ code }) => code)`,
  'closes the host': `host.close(); host.close()`,
  'looks around': `return [host.stats().inFlight, host.manifest().capabilities.length, abp.sessionId !== null]`,
  'throws': `throw new Error('in a listener')`,
};

/** @type {Record<string, unknown>} */
const results = {
  'cancels itself': { callId: 'one', cancelled: true, metadata: { stop: 'abandoned' } },
  'cancels another call': { callId: 'other', cancelled: true, metadata: { stop: 'returned' } },
  'cancels what does not exist': { callId: 'nothing', cancelled: false, reason: 'Operation not found' },
  'registers the same capability twice': 'INVALID_PARAMS',
  'unregisters its own capability': true,
  'calls itself again': { success: false, cancelled: true, metadata: { stop: 'abandoned' } },
  'calls as a child': { success: false, cancelled: true, metadata: { stop: 'never-started' } },
  'asks the agent': { success: false, cancelled: true, metadata: { stop: 'never-started' } },
  'opens a second session': 'INVALID_PARAMS',
};

for (const [what, source] of Object.entries(deeds)) {
  test(`a handler that, told to stop, ${what}`, async () => {
    const seen = await lab.run(
      async ({ newHost, inPage, turn }, source) => {
        addEventListener('error', (event) => event.preventDefault());
        const host = await newHost();
        const abp = await inPage(host);
        /** @type {any} */
        let deed;
        const act = new Function('abp', 'host', 'callId', 'context', source);
        host.register('deed', {}, (/** @type {any} */ params, /** @type {any} */ context) => new Promise(() => {
          if (params.once) return;
          context.signal.addEventListener('abort', () => {
            deed = act(abp, host, context.callId, context);
          });
        }));
        const one = abp.call('deed', {}, { callId: 'one' });
        const other = abp.call('test.hold', {}, { callId: 'other' });
        await turn();
        const answer = await abp.cancel('one', 'stop it');
        const response = await one;
        const outcome = await deed;
        // This ends whatever has not ended with the session or the host.
        await abp.cancel('other');
        const last = await other;
        await turn();
        const { inFlight = 0, contexts, elicitations = 0 } = host.stats();
        return { answer, response: response.cancelled, outcome, last: last.cancelled, held: [inFlight, contexts, elicitations] };
      },
      source,
    );
    const { outcome, ...rest } = seen;
    assert.deepEqual(rest, { answer: { callId: 'one', cancelled: true, metadata: { stop: 'abandoned' } }, response: true, last: true, held: [0, 0, 0] });
    if (what in results) assert.deepEqual(outcome, results[what]);
  });
}

test('observers may throw, call back and stop themselves', async () => {
  const seen = await lab.run(async ({ newHost, inPage }) => {
    addEventListener('error', (event) => event.preventDefault());
    const host = await newHost();
    const abp = await inPage(host);
    /** @type {string[]} */
    const states = [];
    host.observe(() => {
      throw new Error('an observer of the app');
    });
    const stop = host.observe((/** @type {any} */ { type, state, callId }) => {
      if (type !== 'call') return;
      states.push(`${callId} ${state}`);
      if (callId === 'one' && state === 'running') abp.cancel('one');
      if (callId === 'one' && state === 'cancelled') stop();
    });
    const one = await abp.call('test.hold', {}, { callId: 'one' });
    const two = await abp.call('test.echo', { a: 1 }, { callId: 'two' });
    return { one: one.cancelled, two: two.data, states };
  });
  assert.deepEqual(seen, { one: true, two: { a: 1 }, states: ['one queued', 'one running', 'one cancelled'] });
});

test('after close() everything is refused, and nothing waits', async () => {
  const seen = await lab.run(async ({ newHost, inPage, connect, rawPort, rejection, INITIALIZE }) => {
    const host = await newHost();
    const target = {};
    const abp = await inPage(host, target);
    const agent = await connect(host);
    const raw = await rawPort(host);
    /** @type {any} */
    let kept;
    host.register('keeps', {}, (/** @type {any} */ _, /** @type {any} */ context) => {
      kept = context;
      return new Promise(() => {});
    });
    const calls = [abp.call('keeps'), agent.call('test.hold'), raw.call('test.hold')];
    // The host has received all of them once a later call on each way is answered.
    await Promise.all([abp, agent, raw].map((it) => it.call('test.echo')));
    host.close();
    const pending = (await Promise.all(calls)).map(({ cancelled }) => cancelled);
    const thrown = ['register', 'expose', 'acceptMessages', 'acceptPort', 'connectGateway'].map((name) => {
      try {
        host[name]('x', {}, () => {});
        return 'nothing';
      } catch (error) {
        return /** @type {any} */ (error).code;
      }
    });
    kept.progress({ progress: 1 });
    return {
      pending,
      exposed: 'abp' in target,
      ended: await agent.closed,
      call: (await abp.call('test.echo')).error.code,
      cancel: (await abp.cancel('x')).error.code,
      initialize: (await rejection(abp.initialize(INITIALIZE))).code,
      shutdown: (await abp.shutdown()) ?? 'answered',
      properties: [abp.initialized, abp.sessionId, await abp.listCapabilities()],
      child: (await kept.call('test.echo')).success,
      question: (await kept.elicit({})).success,
      thrown,
      unregister: host.unregister('test.echo'),
      cancelCall: (await host.cancelCall('s', 'x')).cancelled,
    };
  });
  assert.deepEqual(seen, {
    pending: [true, true, true],
    exposed: false,
    ended: 'disconnected',
    call: 'NOT_INITIALIZED',
    cancel: 'NOT_INITIALIZED',
    initialize: 'NOT_INITIALIZED',
    shutdown: 'answered',
    properties: [false, null, []],
    child: false,
    question: false,
    thrown: Array(5).fill('INVALID_PARAMS'),
    unregister: false,
    cancelCall: false,
  });
});
