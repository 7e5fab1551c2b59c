import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { activityOf } from 'caphost/activity';
import { connectPort, connectWebSocket } from 'caphost/agent';
import { createHost } from 'caphost';
import { WebSocketServer } from 'ws';
import { inPage, newHost } from './host.mjs';

/** @param {import('node:test').TestContext} t @param {import('caphost').Host} host */
async function ways(t, host) {
  const abp = await inPage(host);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  t.after(() => port2.close());
  return /** @type {[string, any][]} */ ([['the page', abp], ['a port', await connectPort(port2)]]);
}

/** Collects the texts on the app's console. @param {import('node:test').TestContext} t */
function consoleOf(t) {
  /** @type {string[]} */
  const said = [];
  for (const how of /** @type {const} */ (['error', 'warn'])) t.mock.method(console, how, (/** @type {any[]} */ ...what) => said.push(what.map(String).join(' ')));
  return said;
}

test('the answer to an unknown capability name lists similar names that the agent may use', async (t) => {
  const host = await newHost();
  for (const name of ['math.sum', 'math.sub', 'text.words']) host.register(name, {}, () => 1);
  host.register('parent', {}, (/** @type {any} */ _, { call }) => call('text.word'));
  for (const [way, agent] of await ways(t, host)) {
    const { error } = await agent.call('math.summ');
    assert.deepEqual([error.code, error.message, error.alternatives], ['UNKNOWN_CAPABILITY', 'There is no capability "math.summ"', ['math.sum', 'math.sub']], way);
    assert.equal((await agent.call('weather')).error.alternatives, undefined, way);
    assert.deepEqual((await agent.call('parent')).data.error.alternatives, ['text.words'], way);
  }
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  t.after(() => port2.close());
  const scoped = await connectPort(port2, { requestedCapabilities: ['math.sub', 'math.summ'] });
  const { error } = /** @type {any} */ (await scoped.call('math.summ'));
  assert.deepEqual(error.alternatives, ['math.sub']);
});

test('the console of the app reports a handler that returns an unsendable value, like one that throws', async (t) => {
  const said = consoleOf(t);
  const host = await newHost();
  host.register('gives.function', {}, () => ({ f: () => {} }));
  host.register('gives.deep', {}, async () => ({ deep: [Symbol('deep')] }));
  // Only the transport detects that the data cannot be cloned.
  host.register('gives.promise', {}, () => ({ deep: [Promise.resolve()] }));
  for (const [way, agent] of await ways(t, host)) {
    for (const name of ['gives.function', 'gives.deep', ...(way === 'a port' ? ['gives.promise'] : [])]) {
      const { error } = await agent.call(name, {}, { callId: `${way} ${name}` });
      assert.match(error.message, /^The capability returned data that cannot be sent: /, way);
      const lines = said.filter((it) => it.includes(`${way} ${name}`));
      assert.equal(lines.length, 1, `${way} ${name}: ${said.join('\n')}`);
      assert.ok(lines[0]?.includes(error.message), lines[0]);
      assert.ok(lines[0]?.includes(`${name} (call ${way} ${name})`), lines[0]);
    }
  }
});

test('the console of the app reports a library\'s schema that throws', async (t) => {
  const said = consoleOf(t);
  const host = await newHost();
  const standard = (/** @type {any} */ validate) => ({ '~standard': { version: 1, vendor: 'test', validate } });
  const fault = () => { throw new Error('the transform fails'); };
  host.register('sync', { inputSchema: /** @type {any} */ (standard(fault)) }, () => 1);
  host.register('later', { inputSchema: /** @type {any} */ (standard(async () => fault())) }, () => 1);
  const abp = await inPage(host);
  for (const name of ['sync', 'later']) {
    const { error } = /** @type {any} */ (await abp.call(name));
    assert.equal(error.message, 'The parameters cannot be checked: the transform fails');
    assert.equal(said.filter((it) => it.includes(`the inputSchema of ${name} has failed`) && it.includes('the transform fails')).length, 1, said.join('\n'));
  }
});

test('the error names a host that was not awaited', async () => {
  const promise = createHost({ app: { id: 'app', name: 'App', version: '1' } });
  assert.throws(() => activityOf(/** @type {any} */ (promise)), /This is no host\..*createHost\(\).*awaited/);
  (await promise).close();
});

test('the error for a function among the options of window.abp names it, and the alternative', async () => {
  const host = await newHost();
  host.register('echo', {}, (params) => params);
  const abp = await inPage(host);
  const { error } = /** @type {any} */ (await abp.call('echo', {}, /** @type {any} */ ({ onProgress() {} })));
  assert.equal(error.code, 'INVALID_PARAMS');
  assert.match(error.message, /options\.onProgress.*__abp_progress/);
  assert.equal((await abp.call('echo', { a: 1 })).success, true);
});

test('the error of an agent that finds no gateway, or a wrong path, names the cause and the remedy', async (t) => {
  const server = createServer((_, response) => response.writeHead(404).end());
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  t.after(() => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  for (const [url, why, remedy] of /** @type {[string, RegExp, RegExp][]} */ ([
    ['ws://127.0.0.1:9/abp', /ECONNREFUSED/, /Is the gateway running.*\/abp/],
    // The WebSocket of newer Node does not tell whether a server has answered.
    [`ws://127.0.0.1:${port}/nowhere`, /404|non-101/, globalThis.WebSocket ? /\/abp/ : /404\. A server answers there, but not as a gateway does at this path\. Agents connect to \/abp$/],
  ])) {
    await assert.rejects(connectWebSocket(url), (/** @type {any} */ error) => {
      assert.equal(error.code, 'DISCONNECTED');
      assert.match(`${error.cause?.code} ${error.cause?.message}`, why);
      assert.match(error.message, remedy);
      return true;
    });
  }
});

test('the warning of an app whose path is wrong says that a server answers there', { skip: Boolean(globalThis.WebSocket) }, async (t) => {
  const said = consoleOf(t);
  const server = createServer((_, response) => response.writeHead(404).end());
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  t.after(() => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const host = await newHost();
  const lost = new Promise((resolve) => host.observe((/** @type {any} */ event) => event.type === 'gateway' && event.state === 'disconnected' && resolve(event)));
  host.connectGateway(`ws://127.0.0.1:${port}/nowhere`);
  await lost;
  await null;
  assert.match(said.join(), /nowhere cannot be connected to: a server answers there, but not as a gateway does at this path \(response: 404\)\. Apps connect to \/abp\/app/);
  host.close();
});

test('an app at the path of agents is refused, with the gateway\'s message', { timeout: 20_000 }, async (t) => {
  const said = consoleOf(t);
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  t.after(() => server.close());
  let registered = 0;
  server.on('connection', (socket) => socket.on('message', (data) => {
    const { id } = JSON.parse(String(data));
    registered += 1;
    socket.send(JSON.stringify({ type: 'error', id, timestamp: 0, payload: { code: 'INVALID_PARAMS', message: 'Unknown message type "app/register"', retryable: false } }));
  }));
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const host = await newHost();
  /** @type {any} */
  const refused = await new Promise((resolve) => {
    host.observe((/** @type {any} */ event) => event.type === 'gateway' && event.state === 'refused' && resolve(event));
    host.connectGateway(`ws://127.0.0.1:${port}/abp`);
  });
  assert.match(refused.error.message, /^Unknown message type "app\/register"\. Apps connect to \/abp\/app$/);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(registered, 1, 'it is not asked again');
  assert.ok(said.some((it) => it.includes('refuses this app: Unknown message type')), said.join('\n'));
});
