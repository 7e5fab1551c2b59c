// A result that refers to a file of the page: agents read the file at an address of the gateway.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectWebSocket } from 'caphost/agent';
import WebSocket from 'ws';
import { runCommand } from '../support/command-line.mjs';
import { startGateway } from '../support/gateway.mjs';
import { isWhole, newSource, startApp } from './app.mjs';

const MB = 1 << 20;
/** How far the page may be ahead of the reader: the window, and what lies in sockets on the way. */
const AHEAD = 24 * MB;

/** @type {import('../support/gateway.mjs').Gateway} */
let gateway;
before(async () => { gateway = await startGateway({ args: ['--token', 'app=secret-of-the-app', '--token', 'agent=secret-of-one', '--token', 'agent=secret-of-two'] }); });
after(() => gateway.stop());

/** @type {any} */
let host;
/** @type {import('caphost/agent').Agent} */
let agent;
beforeEach(async () => {
  host = await startApp(gateway, { token: 'secret-of-the-app' });
  agent = await connectWebSocket(`${gateway.wsUrl}/abp`, { agent: { name: 'test', version: '1' }, token: 'secret-of-one' });
});
afterEach(async () => {
  await agent.shutdown();
  await host.close();
});

const headers = { authorization: 'Bearer secret-of-one' };

/** The agent's reference to a file. @param {{ url: string, size: number }} source @returns {Promise<any>} */
const refer = async ({ url, size }) => (await agent.call('file', { url, size })).data;

describe('a file of the page', () => {
  test('is read whole, once, with its name, size and type', { timeout: 60_000 }, async () => {
    const source = newSource(3 * MB + 17);
    const file = await refer(source);
    assert.equal(file.downloadUrl.startsWith(`${gateway.url}/files/`), true, file.downloadUrl);
    assert.deepEqual([file.size, file.mimeType, file.filename], [source.size, 'application/zip', 'Größe 1.zip']);
    const left = Date.parse(file.expiresAt) - Date.now();
    assert.ok(left > 240_000 && left <= 300_000, file.expiresAt);
    assert.equal(source.made, 0);

    const response = await fetch(file.downloadUrl, { headers });
    assert.equal(response.status, 200);
    assert.deepEqual(['content-type', 'content-length', 'content-disposition', 'cache-control'].map((name) => response.headers.get(name)),
      ['application/zip', String(source.size), 'attachment; filename*=UTF-8\'\'Gr%C3%B6%C3%9Fe%201%2Ezip', 'no-store']);
    assert.equal(await isWhole(response, source.size), true);
    assert.equal((await fetch(file.downloadUrl, { headers })).status, 404);
  });

  test('is for its owner alone', { timeout: 60_000 }, async () => {
    const source = newSource(1000);
    const { downloadUrl } = await refer(source);
    assert.equal((await fetch(downloadUrl)).status, 401);
    for (const token of ['secret-of-two', 'secret-of-the-app']) {
      const { status } = await fetch(downloadUrl, { headers: { authorization: `Bearer ${token}` } });
      assert.ok([403, 404].includes(status), `${token}: ${status}`);
    }
    assert.equal((await fetch(downloadUrl, { headers: { authorization: 'Bearer secret-of-two' } })).status, 404);
    assert.equal(source.made, 0);
    assert.equal(await isWhole(await fetch(downloadUrl, { headers }), source.size), true);
  });

  test('is sent as fast as its reader reads, while the app goes on answering', { timeout: 120_000 }, async () => {
    const source = newSource(64 * MB);
    const response = await fetch((await refer(source)).downloadUrl, { headers });
    const reader = /** @type {any} */ (response.body).getReader();
    let { value: { length: read } } = await reader.read();
    // The page sends its first window, and then waits for the reader.
    while (source.made < MB) await agent.call('echo', { a: 1 });
    for (let call = 0; call < 50; call += 1) assert.deepEqual((await agent.call('echo', { call })).data, { call });
    assert.ok(source.made <= read + AHEAD, `${source.made} bytes are sent, and ${read} are read`);
    for (let next = await reader.read(); !next.done; next = await reader.read()) read += next.value.length;
    assert.equal(read, source.size);
  });

  test('is read no further when its reader goes away, and can be read again', { timeout: 60_000 }, async () => {
    const source = newSource(64 * MB);
    const { downloadUrl } = await refer(source);
    const controller = new AbortController();
    const response = await fetch(downloadUrl, { headers, signal: controller.signal });
    await /** @type {any} */ (response.body).getReader().read();
    assert.equal((await fetch(downloadUrl, { headers })).status, 409);
    controller.abort();
    await source.cancelled;
    assert.ok(source.made < source.size);
    assert.equal(await isWhole(await again(downloadUrl), source.size), true);
  });

  test('is gone with its app, also in the middle', { timeout: 60_000 }, async () => {
    const [source, other] = [newSource(64 * MB), newSource(10)];
    const [{ downloadUrl }, { downloadUrl: unread }] = [await refer(source), await refer(other)];
    const response = await fetch(downloadUrl, { headers });
    const reader = /** @type {any} */ (response.body).getReader();
    await reader.read();
    await host.close();
    await assert.rejects(async () => { while (!(await reader.read()).done); });
    assert.equal((await fetch(downloadUrl, { headers })).status, 404);
    assert.equal((await fetch(unread, { headers })).status, 404);
  });

  test('is gone with the session of its agent', { timeout: 60_000 }, async () => {
    // Each reading would end its reference, so each attempt has a file of its own.
    const files = await Promise.all(Array.from({ length: 50 }, () => refer(newSource(10))));
    await agent.shutdown();
    const statuses = [];
    for (const { downloadUrl } of files) {
      const { status } = await fetch(downloadUrl, { headers });
      if (status === 404) return;
      statuses.push(status);
      await sleep(100);
    }
    assert.fail(`never 404: ${statuses}`);
  });

  test('that the page has revoked is said to be gone', { timeout: 60_000 }, async () => {
    const url = URL.createObjectURL(new Blob(['gone']));
    URL.revokeObjectURL(url);
    const response = await fetch((await refer({ url, size: 4 })).downloadUrl, { headers });
    assert.equal(response.status, 502);
    assert.match((await response.json()).error.message, /The app cannot give the file: /);
  });

  test('that is a Blob of Node is read', { timeout: 60_000 }, async () => {
    const url = URL.createObjectURL(new Blob(['a', 'bc'], { type: 'text/plain' }));
    const { downloadUrl } = await refer({ url, size: 3 });
    assert.equal(await (await fetch(downloadUrl, { headers })).text(), 'abc');
  });

  test('is written to a file by the command line', { timeout: 60_000 }, async (t) => {
    const { mkdtemp, readFile, readdir, rm } = await import('node:fs/promises');
    const folder = await mkdtemp('/tmp/caphost-test-');
    t.after(() => rm(folder, { recursive: true }));
    const source = newSource(5 * MB);
    const params = JSON.stringify({ url: source.url, size: source.size });
    const { status, out, err } = await runCommand(gateway, ['call', 'file', '--params', params, '--output', `${folder}/a.zip`, '--token', 'secret-of-one']);
    assert.equal(status, 0, err);
    assert.match(out, /Wrote .*a\.zip \(5242880 bytes, application\/zip\)/);
    assert.equal(await isWhole(new Response(await readFile(`${folder}/a.zip`)), source.size), true);
    assert.deepEqual(await readdir(folder), ['a.zip']);
  });
});

test('an app that does not offer its files keeps its own addresses', { timeout: 60_000 }, async (t) => {
  await host.close();
  const app = new WebSocket(`${gateway.wsUrl}/abp/app?token=secret-of-the-app`);
  t.after(() => app.close());
  const said = (/** @type {string} */ type) => new Promise((resolve) => app.on('message', (text) => {
    const message = JSON.parse(String(text));
    if (message.type === type) resolve(message);
  }));
  const say = (/** @type {any} */ message) => app.send(JSON.stringify({ timestamp: 0, ...message }));
  await new Promise((resolve) => app.once('open', resolve));
  say({ type: 'app/register', id: 'r', payload: { app: { id: 'old', name: 'Old', version: '1' }, capabilities: [{ name: 'file' }] } });
  await said('app/registered');
  const greeted = said('initialize');
  const connecting = connectWebSocket(`${gateway.wsUrl}/abp`, { agent: { name: 'test', version: '1' }, token: 'secret-of-one' });
  const hello = await greeted;
  const payload = { sessionId: 's', protocolVersion: '0.1', app: { id: 'old', name: 'Old', version: '1' }, capabilities: [{ name: 'file', available: true }], features: {} };
  say({ type: 'initialize-result', id: hello.id, agent: hello.agent, payload });
  const plain = await connecting;
  const called = said('capabilities/call');
  const result = plain.call('file', {});
  const call = await called;
  say({ type: 'capabilities/call-result', id: call.id, agent: call.agent, payload: { success: true, data: { downloadUrl: 'blob:http://a/1' } } });
  assert.deepEqual((await result).data, { downloadUrl: 'blob:http://a/1' });
  await plain.shutdown();
});

/** A request once the gateway has noticed that the reader before is gone. @param {string} url */
async function again(url) {
  for (;;) {
    const response = await fetch(url, { headers });
    if (response.status !== 409) return response;
  }
}
