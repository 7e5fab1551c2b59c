import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLab } from '../support/lab.mjs';

const lab = useLab();

test('maxInFlight: one call more is RATE_LIMITED, in that session only, until one ends', async () => {
  const seen = await lab.run(async ({ newHost, inPage }) => {
    const host = await newHost({ maxInFlight: 2 });
    const [one, two] = [await inPage(host), await inPage(host)];
    const held = [one.call('test.hold', {}, { callId: 'a' }), one.call('test.hold', {}, { callId: 'b' })];
    const { error } = await one.call('test.echo', {}, { callId: 'c' });
    const other = await two.call('test.echo', { a: 1 });
    await one.cancel('a');
    const again = await one.call('test.echo', { a: 2 }, { callId: 'c' });
    await one.cancel('b');
    await Promise.all(held);
    return { error, other: other.data, again: again.data };
  });
  assert.deepEqual([seen.error.code, seen.error.retryable], ['RATE_LIMITED', true]);
  assert.deepEqual([seen.other, seen.again], [{ a: 1 }, { a: 2 }]);
});

test('maxRemembered: an evicted call is not found', async () => {
  const seen = await lab.run(async ({ newHost, inPage }) => {
    const host = await newHost({ maxRemembered: 3 });
    const abp = await inPage(host);
    const held = abp.call('test.hold', {}, { callId: '0' });
    await abp.cancel('0');
    await held;
    for (const callId of ['1', '2', '3']) await abp.call('test.echo', {}, { callId });
    const reasons = [];
    for (const callId of ['0', '1', '2', '3']) reasons.push((await abp.cancel(callId)).reason);
    const reused = await abp.call('test.echo', { again: true }, { callId: '0' });
    const refused = await abp.call('test.echo', {}, { callId: '3' });
    return { reasons, reused: reused.data, refused: refused.error.code };
  });
  const done = 'Operation already completed';
  assert.deepEqual(seen, { reasons: ['Operation not found', done, done, done], reused: { again: true }, refused: 'INVALID_PARAMS' });
});

test('maxRemembered: an infinite limit takes only memory for the calls that exist', async () => {
  const seen = await lab.run(async ({ newHost, inPage }) => {
    const abp = await inPage(await newHost({ maxRemembered: Infinity }));
    for (let callId = 0; callId < 200; callId += 1) await abp.call('test.echo', {}, { callId: `${callId}` });
    return [await abp.cancel('0'), await abp.cancel('199')].map((it) => it.reason);
  });
  assert.deepEqual(seen, Array(2).fill('Operation already completed'));
});

test('maxSessions: one more is refused, until one ends', async () => {
  const seen = await lab.run(async ({ newHost, inPage, connect, rejection, event, INITIALIZE }) => {
    const host = await newHost({ maxSessions: 2 });
    const abp = await inPage(host);
    const agent = await connect(host);
    const third = await rejection(connect(host));
    const page = await inPage(host, {}, false);
    const fourth = await rejection(page.initialize(INITIALIZE));
    const undisturbed = [(await abp.call('test.echo', { a: 1 })).data, (await agent.call('test.echo', { a: 1 })).data];
    const closed = event(host, (/** @type {any} */ it) => it.type === 'session' && it.state === 'closed');
    await agent.shutdown();
    await closed;
    const late = await rejection(page.initialize(INITIALIZE));
    return { third, fourth, undisturbed, late: late.code ?? 'open' };
  });
  assert.deepEqual([seen.third.code, seen.third.retryable], [seen.fourth.code, seen.fourth.retryable]);
  assert.deepEqual([seen.third.code, seen.third.retryable], ['RATE_LIMITED', true]);
  assert.deepEqual([seen.undisturbed, seen.late], [[{ a: 1 }, { a: 1 }], 'open']);
});

// The only wait by the clock: it is the time that retryAfter promises.
test('maxRequestsPerSecond: the burst is used up, and retryAfter is true', async () => {
  const seen = await lab.run(async ({ newHost, inPage }) => {
    const host = await newHost({ maxRequestsPerSecond: 5 });
    const [abp, other] = [await inPage(host), await inPage(host)];
    const held = abp.call('test.hold', {}, { callId: 'held' });
    const responses = await Promise.all(Array.from({ length: 8 }, () => abp.call('test.echo')));
    const answer = await abp.cancel('held');
    const another = (await other.call('test.echo')).success;
    const errors = responses.filter((it) => !it.success).map((it) => it.error);
    await new Promise((resolve) => setTimeout(resolve, errors.at(-1).retryAfter + 5));
    return { errors, fine: (await abp.call('test.echo')).success, held: (await held).cancelled, answer: answer.cancelled, another };
  });
  const { errors, ...rest } = seen;
  assert.deepEqual(rest, { fine: true, held: true, answer: true, another: true });
  assert.equal(errors.length, 4);
  for (const { code, retryable, retryAfter } of errors) {
    assert.deepEqual([code, retryable], ['RATE_LIMITED', true]);
    assert.ok(retryAfter > 0 && retryAfter <= 200, String(retryAfter));
  }
});

test('maxMessageBytes and maxDepth: of parameters and of data, in the page and over a port', async () => {
  const seen = await lab.run(async ({ newHost, inPage, connect }) => {
    const host = await newHost({ maxMessageBytes: 1000, maxDepth: 8 });
    const nest = (/** @type {number} */ levels) => {
      let it = {};
      for (let level = 1; level < levels; level += 1) it = { it };
      return it;
    };
    host.register('large', {}, async (/** @type {any} */ { size }) => 'x'.repeat(size));
    host.register('deep', {}, async (/** @type {any} */ { levels }) => nest(levels));
    const outcomes = [];
    for (const caller of [await inPage(host), await connect(host)]) {
      const code = async (/** @type {any[]} */ ...given) => {
        const { success, error } = await caller.call(...given);
        return success ? 'fine' : error.code;
      };
      outcomes.push([
        await code('test.echo', { text: 'x'.repeat(500) }), await code('test.echo', { text: 'x'.repeat(1000) }), await code('test.echo', { ['x'.repeat(1000)]: 1 }),
        await code('test.echo', { list: Array(1001).fill(0) }), await code('test.echo', nest(8)), await code('test.echo', nest(9)),
        await code('large', { size: 900 }), await code('large', { size: 1000 }), await code('deep', { levels: 8 }), await code('deep', { levels: 9 }),
      ]);
    }
    return outcomes;
  });
  const [bad, failed] = ['INVALID_PARAMS', 'OPERATION_FAILED'];
  const expected = ['fine', bad, bad, bad, 'fine', bad, 'fine', failed, 'fine', failed];
  assert.deepEqual(seen, [expected, expected]);
});

test('a host listens to 64 channels of a window, however many the window invents', async () => {
  const seen = await lab.run(async ({ frame, rawWindow, turn }) => {
    const { contentWindow } = await frame('/lab/');
    while (!contentWindow.lab) await turn();
    contentWindow.adopt = (/** @type {any} */ { newHost }) => newHost().then((/** @type {any} */ it) => (it.acceptMessages(), it));
    const host = await contentWindow.adopt(contentWindow.lab);
    const raw = rawWindow(contentWindow, location.origin);
    await raw.initialize();
    for (let channel = 0; channel < 1_000; channel += 1) raw.post({ type: 'shutdown', id: 'x', timestamp: 0, payload: {}, channel });
    return { echo: (await raw.call('test.echo', { a: 1 })).data, connections: host.shell.connections.size };
  });
  assert.deepEqual(seen, { echo: { a: 1 }, connections: 64 });
});
