import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { useLabWithGateway } from '../support/lab-gateway.mjs';
import { appPage, untilWorking, working } from './app-page.mjs';
import { openSocket, startStdio } from './clients.mjs';

const lab = useLabWithGateway();
const ids = [0, '', 1, '1', 1.5, null];

/** @param {unknown} id @param {string} capability */
const call = (id, capability, params = {}) => ({ jsonrpc: '2.0', id, method: '_capabilities/call', params: { capability, params } });

/** Both ways in, with their functions to send and to receive. @type {Record<string, () => Promise<{ send: (message: any) => void, hear: (count: number) => Promise<any[]>, leave: () => Promise<unknown> }>>} */
const ways = {
  async WebSocket() {
    const socket = await openSocket(lab.gateway);
    return {
      ...hearing((heard) => socket.on('message', (data) => heard(JSON.parse(String(data))))),
      send: (message) => socket.send(JSON.stringify(message)),
      leave: async () => {
        socket.close();
        await once(socket, 'close');
      },
    };
  },
  async stdio() {
    const { child, exited } = startStdio(lab.gateway);
    let rest = '';
    return {
      ...hearing((heard) => child.stdout.setEncoding('utf8').on('data', (text) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) heard(JSON.parse(line));
      })),
      send: (message) => child.stdin.write(`${JSON.stringify(message)}\n`),
      leave: async () => {
        child.stdin.end();
        await exited;
      },
    };
  },
};

/** @param {(heard: (message: any) => void) => unknown} listen */
function hearing(listen) {
  const heard = /** @type {any[]} */ ([]);
  let woken = () => {};
  listen((message) => {
    heard.push(message);
    woken();
  });
  return {
    /** @param {number} count */
    async hear(count) {
      while (heard.length < count) await new Promise((resolve) => { woken = () => resolve(undefined); });
      return heard.splice(0, count);
    },
  };
}

for (const [name, open] of Object.entries(ways)) {
  test(`ids that look alike are different requests over ${name}`, async () => {
    const page = await appPage(lab);
    const { send, hear, leave } = await open();
    try {
      for (const id of ids) send(call(id, 'test.work'));
      await untilWorking(page, ids.length);
      // Each id is in use, and its twin does not disturb it.
      for (const id of ids) send(call(id, 'test.echo'));
      for (const { id, error } of await hear(ids.length)) {
        assert.ok(ids.includes(id));
        assert.equal(error.code, -32600);
      }
      assert.equal(await working(page), ids.length);
      for (const [at, id] of ids.entries()) {
        const message = at % 2 === 0 ? { method: '$/cancel_request', params: { requestId: id } } : { method: '$/cancelRequest', params: { id } };
        send({ jsonrpc: '2.0', ...message });
        const [answer] = await hear(1);
        assert.deepEqual([answer.id, answer.error.code, answer.error.data.requestId], [id, -32800, String(id)]);
        assert.equal(await working(page), ids.length - at - 1);
      }
      for (const id of ids) send(call(id, 'test.echo', { id }));
      const answers = await hear(ids.length);
      for (const { id, result } of answers) assert.deepEqual(result.data, { id });
      assert.deepEqual(new Set(answers.map(({ id }) => id)), new Set(ids));
    } finally {
      await leave();
      await page.close();
    }
  });
}

test('what is cancelled with notifications/cancelled stops and is not answered', async () => {
  const page = await appPage(lab);
  const { send, hear, leave } = await ways['WebSocket']?.() ?? assert.fail();
  try {
    send(call(0, 'test.work'));
    await untilWorking(page, 1);
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0, reason: 'enough' } });
    await untilWorking(page, 0);
    send(call('after', 'test.echo'));
    assert.equal((await hear(1))[0].id, 'after');
  } finally {
    await leave();
    await page.close();
  }
});
