// The ways on which a result by reference reaches its reader, through unadapted clients.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { connectWebSocket } from 'caphost/agent';
import { gatewayBinary } from '../../../scripts/paths.mjs';
import { kinds as jsonRpcClients } from '../jsonrpc/clients.mjs';
import { connect, kinds as mcpClients } from '../mcp/clients.mjs';
import { startCommand } from '../support/command-line.mjs';
import { startRapRuntime } from '../support/rap-runtime.mjs';

/** @typedef {import('../support/gateway.mjs').Gateway} Gateway */

/** The names of the ways. */
export const names = /** @type {const} */ ([
  'an agent in Node, by downloadUrl',
  'JSON-RPC over WebSocket',
  'ACP over caphost stdio',
  'RAP',
  'MCP, by resource_link',
  'caphost call --output',
  'caphost mcp --save-to',
]);

/**
 * A way to call a capability and to read the file that its result refers to.
 *
 * @callback Way calls, and rejects if the signal has cancelled the call. On some ways the file is read before the call is answered
 * @param {string} capability
 * @param {object} params
 * @param {AbortSignal} [signal]
 * @returns {Promise<Read>}
 *
 * @typedef {{ from: AsyncIterable<Uint8Array>, size?: number }} Read the bytes of the file, which are read as they are taken
 */

/** Reads a file whole. @param {Read} read */
export async function digest({ from }) {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of from) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, hash: hash.digest('hex') };
}

/** @param {string} url @param {AbortSignal} [signal] @returns {Promise<Read>} */
async function fetched(url, signal) {
  const response = await fetch(url, { signal });
  assert.equal(response.status, 200, url);
  return { from: /** @type {any} */ (response.body), size: Number(response.headers.get('content-length')) };
}

/** How long calls may take. */
const timeout = 900_000;

/**
 * All ways to one app. `folder` is where those that write files write them.
 *
 * @param {Gateway} gateway
 * @param {string} app
 */
export async function waysTo(gateway, app) {
  const folder = await mkdtemp(join(tmpdir(), 'caphost-ways-'));
  const [agent, socket, stdio, runtime, mcp, saving] = await Promise.all([
    connectWebSocket(`${gateway.wsUrl}/abp?app=${app}`, { agent: { name: 'ways', version: '1' } }),
    jsonRpcClient('vscode-jsonrpc over WebSocket').connect(gateway, app),
    jsonRpcClient('@agentclientprotocol/sdk over caphost stdio').connect(gateway, app),
    startRapRuntime(`${gateway.url}/rap/${app}`),
    connect(/** @type {any} */ (mcpClients[0]), gateway, { app }),
    connect({
      name: '--save-to',
      mode: 'auto',
      era: 'modern',
      open: ({ url }) => new StdioClientTransport({ command: gatewayBinary, args: ['mcp', '--gateway', url, '--app', app, '--save-to', folder], stderr: 'inherit' }),
    }, gateway),
  ]);
  let calls = 0;

  /** @param {import('../jsonrpc/clients.mjs').Client} client @returns {Way} */
  const jsonRpc = (client) => async (capability, params, signal) =>
    fetched((await client.request('_capabilities/call', { capability, params }, signal)).data.downloadUrl, signal);

  /** @param {import('@modelcontextprotocol/client').Client} client @param {string} name @param {any} params @param {AbortSignal} [signal] */
  const linkOf = async (client, name, params, signal) => {
    const { content } = /** @type {any} */ (await client.callTool({ name, arguments: params }, { signal, timeout }));
    const link = content.find((/** @type {any} */ block) => block.type === 'resource_link');
    assert.ok(link, JSON.stringify(content));
    return link;
  };

  /** @type {Record<(typeof names)[number], Way>} */
  const ways = {
    async 'an agent in Node, by downloadUrl'(capability, params, signal) {
      const { success, data, error } = await agent.call(capability, params, { signal, timeout });
      assert.equal(success, true, JSON.stringify(error));
      return fetched(data.downloadUrl, signal);
    },
    'JSON-RPC over WebSocket': jsonRpc(socket),
    'ACP over caphost stdio': jsonRpc(stdio),
    async RAP(capability, params, signal) {
      const as = { thread: 'ways', id: `call_${calls += 1}` };
      const { result } = await runtime.invoke(capability.replace('.', '_'), params, as);
      signal?.addEventListener('abort', () => void runtime.cancel(as));
      const { text = '' } = await result;
      if (text.startsWith('Error: ')) throw new Error(text);
      return fetched(JSON.parse(text).downloadUrl, signal);
    },
    'MCP, by resource_link': async (...given) => fetched((await linkOf(mcp.client, ...given)).uri, given[2]),
    async 'caphost call --output'(capability, params, signal) {
      const path = join(folder, 'output.zip');
      const command = startCommand(gateway, ['call', capability, '--app', app, '--params', JSON.stringify(params), '--output', path]);
      signal?.addEventListener('abort', () => command.signal('SIGINT'));
      const { status, err } = await command.ended;
      if (status !== 0) throw new Error(err);
      return { from: createReadStream(path) };
    },
    async 'caphost mcp --save-to'(...given) {
      const { uri, size } = await linkOf(saving.client, ...given);
      return { from: createReadStream(fileURLToPath(uri)), size };
    },
  };
  return {
    ways,
    /** The names of the files that were written. */
    files: () => readdir(folder),
    /** Removes the files that were written. */
    clear: async () => {
      for (const name of await readdir(folder)) await rm(join(folder, name));
    },
    async leave() {
      await Promise.all([agent.shutdown(), socket.leave(), stdio.leave(), runtime.stop(), mcp.client.close(), saving.client.close()]);
      await rm(folder, { recursive: true });
    },
  };
}

/** @param {string} name @returns {import('../jsonrpc/clients.mjs').Kind} */
function jsonRpcClient(name) {
  const kind = jsonRpcClients.find((it) => it.name === name);
  assert.ok(kind, name);
  return kind;
}
