import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createHost } from 'caphost';
import { startGateway } from '../support/gateway.mjs';
import { connect, kinds, rejection } from './clients.mjs';

/** @type {import('../support/gateway.mjs').Gateway} */
let gateway;
before(async () => { gateway = await startGateway(); });
after(() => gateway.stop());

/** An app in Node with the capabilities `echo` and `<id>.only`, and `wait`, which a cancel ends. @param {string} id */
async function startApp(id) {
  const host = await createHost({ app: { id, name: id, version: '1' } });
  /** @type {string[]} */
  const cancels = [];
  host.register('echo', {}, async () => id);
  host.register(`${id}.only`, {}, async () => id);
  host.register('wait', {}, (/** @type {any} */ _, { signal }) => new Promise((_resolve, reject) => {
    cancels.push('begun');
    signal.addEventListener('abort', () => {
      cancels.push('cancelled');
      reject(signal.reason);
    });
  }));
  host.connectGateway(`${gateway.wsUrl}/abp/app`);
  while (!(await (await fetch(`${gateway.url}/api/apps`)).json()).apps.some((/** @type {any} */ app) => app.id === id)) await pause(20);
  return { host, cancels };
}

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {() => boolean} is */
const until = async (is) => { while (!is()) await pause(10); };

for (const kind of kinds) {
  describe(kind.name, () => {
    test('a client of no app reaches the tools of all apps, and each cancel reaches its app', { timeout: 60_000 }, async () => {
      const one = await startApp('one');
      /** @type {string[][]} */
      const told = [];
      const it = await connect(kind, gateway, { onTools: (names) => told.push(names) });
      const names = async () => (await it.client.listTools()).tools.map(({ name }) => name);
      const call = async (/** @type {string} */ name) => /** @type {any} */ (await it.client.callTool({ name, arguments: {} })).content?.[0]?.text;
      assert.deepEqual(await names(), ['echo', 'one_only', 'wait']);
      await pause(500);
      let two = await startApp('two');
      const both = ['one_echo', 'one_only', 'one_wait', 'two_echo', 'two_only', 'two_wait'];
      await until(() => told.some((them) => them.length === both.length));
      assert.deepEqual(await names(), both);
      assert.deepEqual(await Promise.all(['one_echo', 'two_echo', 'one_only', 'two.only'].map(call)), ['one', 'two', 'one', 'two']);
      assert.match((await rejection(call('echo'))).message, /Several apps have a tool echo: name one of one_echo, two_echo/);

      const early = AbortSignal.abort('early');
      await rejection(it.client.callTool({ name: 'two_wait', arguments: {} }, { signal: early }));
      const controller = new AbortController();
      const waiting = rejection(it.client.callTool({ name: 'two_wait', arguments: {} }, { signal: controller.signal }));
      await until(() => two.cancels.includes('begun'));
      controller.abort('enough');
      await waiting;
      await until(() => two.cancels.includes('cancelled'));
      assert.deepEqual([one.cancels, two.cancels], [[], ['begun', 'cancelled']]);
      const late = new AbortController();
      await it.client.callTool({ name: 'one_echo', arguments: {} }, { signal: late.signal });
      late.abort('late');

      told.length = 0;
      two.host.close();
      await until(() => told.some((them) => them.length === 3));
      assert.deepEqual(await names(), ['echo', 'one_only', 'wait']);
      assert.equal(await call('echo'), 'one');
      // Its page may be loading.
      for (const name of ['two_only', 'two.only', 'two_echo']) assert.match(await call(name), /^DISCONNECTED: The app "two", which had "two.(only|echo)", is not connected/);
      assert.match((await rejection(call('two_nothing'))).message, /Unknown tool: two_nothing/);
      two = await startApp('two');
      await until(() => told.some((them) => them.length === both.length));
      assert.equal(await call('two_echo'), 'two');
      await it.client.close();
      assert.deepEqual(it.complaints, []);
      one.host.close();
      two.host.close();
      while ((await (await fetch(`${gateway.url}/api/apps`)).json()).apps.length > 0) await pause(20);
    });
  });
}
