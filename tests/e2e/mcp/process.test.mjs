import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { gatewayBinary } from '../../../scripts/paths.mjs';
import { useDemo } from '../support/demo.mjs';

const demo = useDemo();

/** Starts the bridge, as a client does. @param {string} url @param {string[]} [args] */
function start(url, args = []) {
  const child = spawn(gatewayBinary, ['mcp', ...args], { env: { ...process.env, CAPHOST_GATEWAY: url }, stdio: ['pipe', 'pipe', 'pipe'] });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { err += text; });
  /** @type {any[]} */
  const said = [];
  /** @type {() => void} */
  let wake = () => {};
  createInterface(child.stdout).on('line', (line) => {
    // A line that is no message fails here.
    said.push(JSON.parse(line));
    wake();
  });
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve) => child.once('close', (code) => {
    process.off('exit', killWithUs);
    resolve(code);
  }));
  return {
    child,
    said,
    ended,
    err: () => err,
    /** @param {object | string} message */
    send: (message) => void child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    /** @param {(message: any) => boolean} is */
    async until(is) {
      for (;;) {
        const found = said.find(is);
        if (found) return found;
        await new Promise((/** @type {(value: void) => void} */ resolve) => { wake = resolve; });
      }
    },
  };
}

/** @param {number} id @param {string} method @param {object} params */
const request = (id, method, params) => ({ jsonrpc: '2.0', id, method, params });
const hello = request(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } });
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
const long = { name: 'export.archive', arguments: { megabytes: 400, files: 4 }, _meta: { progressToken: 'p' } };

/** @param {number} count */
const running = (count) => demo.page.waitForFunction(
  (wanted) => document.querySelectorAll('.call[data-state=running], .call[data-state=queued]').length === wanted,
  { timeout: 20_000, polling: 20 },
  count,
);

/** Starts a bridge and a call. */
async function calling() {
  const bridge = start(demo.gateway.url, ['--app', 'caphost-demo']);
  bridge.send(hello);
  await bridge.until(({ id }) => id === 0);
  bridge.send(initialized);
  bridge.send(request(1, 'tools/call', long));
  await bridge.until(({ method }) => method === 'notifications/progress');
  await running(1);
  return bridge;
}

/** The call in flight was answered before the process ended. @param {ReturnType<typeof start>} bridge */
function assertGivenUp({ said }) {
  const { error } = said.find(({ id }) => id === 1);
  assert.match(error.message, /cancels this request: its outcome is unknown/);
  assert.equal(error.data.code, 'DISCONNECTED');
}

test('the end of the input cancels the calls in flight, and ends the process', { timeout: 60_000 }, async () => {
  const bridge = await calling();
  bridge.child.stdin.end();
  assert.equal(await bridge.ended, 0);
  assert.equal(bridge.err(), '');
  assertGivenUp(bridge);
  await running(0);
});

test('so does a signal', { timeout: 60_000 }, async () => {
  const bridge = await calling();
  bridge.child.kill('SIGTERM');
  assert.equal(await bridge.ended, 0);
  assertGivenUp(bridge);
  await running(0);
});

test('so does being killed', { timeout: 60_000 }, async () => {
  const bridge = await calling();
  bridge.child.kill('SIGKILL');
  await bridge.ended;
  await running(0);
});

test('malformed input is answered, and a call in flight continues', { timeout: 60_000 }, async () => {
  const bridge = await calling();
  for (const [line, code] of /** @type {const} */ ([['{', -32700], ['hello', -32700], ['[]', -32600], ['7', -32600]])) {
    bridge.said.length = 0;
    bridge.send(line);
    const answer = await bridge.until(({ id }) => id === null);
    assert.equal(answer.error.code, code, line);
  }
  bridge.send(request(1, 'tools/list', {}));
  const refused = await bridge.until(({ id }) => id === 1);
  assert.equal(refused.error.code, -32600, 'the id is in flight');
  await running(1);
  bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await running(0);
  bridge.send(request(2, 'tools/list', {}));
  await bridge.until(({ id, result }) => id === 2 && result.tools.length > 3);
  bridge.child.stdin.end();
  assert.equal(await bridge.ended, 0);
});

test('a script may write all its messages at once, without waiting for the answer to `initialize`', { timeout: 60_000 }, async () => {
  const bridge = start(demo.gateway.url);
  for (const message of [hello, initialized, request(1, 'tools/list', {}), request(2, 'ping', {})]) bridge.send(message);
  await bridge.until(({ id }) => id === 2);
  const { result } = await bridge.until(({ id }) => id === 1);
  assert.ok(result.tools.some((/** @type {any} */ { name }) => name === 'export_pdf'));
  assert.equal(bridge.said[0].id, 0);
  bridge.child.stdin.end();
  assert.equal(await bridge.ended, 0);
  assert.equal(bridge.err(), '');
});

test('a missing gateway gives a readable error', async () => {
  const bridge = start('http://127.0.0.1:9');
  bridge.send(hello);
  const { error } = await bridge.until(({ id }) => id === 0);
  assert.match(error.message, /Cannot reach the gateway at http:\/\/127\.0\.0\.1:9/);
  bridge.child.stdin.end();
  assert.equal(await bridge.ended, 0);
});
