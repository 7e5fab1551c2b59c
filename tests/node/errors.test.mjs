import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inPage, newHost } from './host.mjs';

test('an error of a handler arrives with all fields of an ABP error, and no others', async () => {
  const host = await newHost();
  const abp = await inPage(host);
  const whole = { code: 'NO_PAPER', message: 'No paper', retryable: true, details: { tray: 2 }, retryAfter: 100, alternatives: ['export.svg'] };
  host.register('whole', {}, () => {
    throw Object.assign(new Error(whole.message), whole, { more: 1 });
  });
  assert.deepEqual((await abp.call('whole')).error, whole);
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  /** @type {[unknown, string[] | undefined][]} */
  const given = [[[], undefined], ['export.svg', undefined], [['a', 7], ['a']], [[{}], undefined], [['x'.repeat(70_000)], undefined], [proxy, undefined]];
  for (const [alternatives, arrives] of given) {
    host.register('other', { replace: true }, () => {
      throw Object.assign(new Error('no'), { code: 'NO', alternatives });
    });
    assert.deepEqual((await abp.call('other')).error?.alternatives, arrives);
  }
});

test('the error of an unavailable capability names alternatives', async () => {
  const host = await newHost();
  const abp = await inPage(host);
  host.register('export.pdf', { available: false, alternatives: ['export.svg'] }, () => 1);
  const { error } = await abp.call('export.pdf');
  assert.deepEqual([error?.code, error?.alternatives], ['CAPABILITY_UNAVAILABLE', ['export.svg']]);
});

test('an error of a handler respects the message limit: a long message is cut, and details that do not fit are left out', async () => {
  const host = await newHost({ maxMessageBytes: 1_000 });
  const abp = await inPage(host);
  const long = 'x'.repeat(60_000);
  for (const error of [{ message: long, details: { long }, alternatives: [long] }, { message: 'no', details: { long: long.slice(0, 600) }, alternatives: [long.slice(0, 600)] }, { message: long, code: 'y'.repeat(120) }]) {
    host.register('fails', { replace: true }, () => {
      throw Object.assign(new Error(error.message), error);
    });
    const answer = await abp.call('fails');
    assert.ok(JSON.stringify(answer.error).length < 1_200, `${JSON.stringify(answer.error).length} characters`);
    assert.equal(answer.error?.message.slice(0, 2), error.message.slice(0, 2));
  }
  host.register('small', {}, () => {
    throw Object.assign(new Error('no'), { details: { tray: 2 }, alternatives: ['other'] });
  });
  const { error } = await abp.call('small');
  assert.deepEqual([error?.message, error?.details, error?.alternatives], ['no', { tray: 2 }, ['other']]);
});
