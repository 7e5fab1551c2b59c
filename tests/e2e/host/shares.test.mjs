import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectWebSocket } from 'caphost/agent';
import { inLab } from '../support/lab.mjs';
import { useLabWithGateway } from '../support/lab-gateway.mjs';

const lab = useLabWithGateway();

test('an allowed frame with a thousand ports locks out neither window.abp, nor other frames, nor the gateway', async () => {
  const page = await lab.page();
  const seen = await inLab(page, async ({ newHost, frame, turn, inPage, connect, join, INITIALIZE }, url) => {
    const host = await newHost();
    host.acceptMessages();
    await join(host, url);
    const grab = async (/** @type {Window & any} */ source, /** @type {string} */ name) => {
      while (!source.lab) await turn();
      return new source.Function('name', 'INITIALIZE', `
        return Promise.all(Array.from({ length: 1000 }, (_, at) => new Promise((resolve) => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = ({ data }) => resolve(data.payload.error?.code ?? 'open');
          parent.postMessage({ type: 'initialize', id: name + at, timestamp: 0, payload: INITIALIZE }, { targetOrigin: location.origin, transfer: [port2] });
        })));`)(name, INITIALIZE);
    };
    const { contentWindow } = await frame('/lab/');
    const codes = await grab(contentWindow, 'grab');
    const other = await frame('/lab/');
    while (!other.contentWindow.lab) await turn();
    const codesOfOther = await grab(other.contentWindow, 'other');
    const abp = await inPage(host);
    const agent = await connect(host);
    const echoes = await Promise.all([abp.call('test.echo', { a: 1 }), agent.call('test.echo', { a: 2 })]);
    const count = (/** @type {string[]} */ list) => list.filter((it) => it === 'open').length;
    return { first: count(codes), second: count(codesOfOther), refused: codes.at(-1), echoes: echoes.map((it) => it.data) };
  }, lab.urls.app);
  assert.deepEqual(seen, { first: 250, second: 125, refused: 'RATE_LIMITED', echoes: [{ a: 1 }, { a: 2 }] });
  const agent = await connectWebSocket(lab.urls.agent);
  assert.deepEqual((await agent.call('test.echo', { a: 3 })).data, { a: 3 });
  await agent.shutdown();
});
