import { echo, hold } from './handlers.mjs';

/**
 * Peers that speak JSON-RPC and have their own way to cancel. `hold` starts a call whose handler
 * waits for a cancel. Its `stop` resolves when the handler has stopped and the call has settled.
 *
 * @typedef {object} Connected
 * @property {(given: any) => Promise<any>} call
 * @property {() => { stop: () => Promise<void> }} hold
 *
 * @typedef {(library: any, far: MessagePort, near: MessagePort) => Promise<Connected>} Connect
 */

/** The functions to call when the handler of a `hold` has ended, by key. @type {Map<number, () => void>} */
const ended = new Map();
let serial = 0;

/** @param {number} key @param {AbortSignal} signal */
const heldHandler = (key, signal) => hold({}, { signal }).finally(() => ended.get(key)?.());

/** @param {(key: number) => { answer: Promise<any>, cancel: () => void }} start */
const held = (start) => () => {
  const key = (serial += 1);
  const handlerEnded = new Promise((resolve) => ended.set(key, () => resolve(ended.delete(key))));
  const { answer, cancel } = start(key);
  const refused = answer.then(() => Promise.reject(new Error('it was not cancelled')), () => {});
  return {
    async stop() {
      cancel();
      await Promise.all([refused, handlerEnded]);
    },
  };
};

/** @type {Connect} */
export async function vscodeJsonRpc({ BrowserMessageReader, BrowserMessageWriter, CancellationTokenSource, createMessageConnection }, far, near) {
  const [server, client] = [far, near].map((port) => createMessageConnection(new BrowserMessageReader(port), new BrowserMessageWriter(port)));
  server.onRequest('echo', (/** @type {any} */ given) => echo(given));
  server.onRequest('hold', (/** @type {any} */ { key }, /** @type {any} */ token) => {
    const controller = new AbortController();
    token.onCancellationRequested(() => controller.abort());
    return heldHandler(key, controller.signal);
  });
  server.listen();
  client.listen();
  far.start();
  near.start();
  return {
    call: (given) => client.sendRequest('echo', given),
    hold: held((key) => {
      const source = new CancellationTokenSource();
      return { answer: client.sendRequest('hold', { key }, source.token), cancel: () => source.cancel() };
    }),
  };
}

/** A transport for MCP over a port: the SDK has none. @param {MessagePort} port */
const transport = (port) => ({
  /** @type {any} */ onmessage: undefined,
  /** @type {any} */ onclose: undefined,
  async start() {
    port.onmessage = ({ data }) => this.onmessage?.(data);
  },
  async send(/** @type {any} */ message) {
    port.postMessage(message);
  },
  async close() {
    port.close();
    this.onclose?.();
  },
});

/** @type {Connect} */
export async function mcp({ Client, McpServer, fromJsonSchema }, far, near) {
  const server = new McpServer({ name: 'bench', version: '1' });
  const inputSchema = fromJsonSchema({ type: 'object' });
  server.registerTool('echo', { inputSchema }, async (/** @type {any} */ given) => ({ content: [], structuredContent: await echo(given) }));
  server.registerTool('hold', { inputSchema }, (/** @type {any} */ { key }, /** @type {any} */ context) => heldHandler(key, context.mcpReq.signal));
  await server.connect(transport(far));
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(transport(near));
  return {
    call: async (given) => (await client.callTool({ name: 'echo', arguments: given })).structuredContent,
    hold: held((key) => {
      const controller = new AbortController();
      return { answer: client.callTool({ name: 'hold', arguments: { key } }, { signal: controller.signal }), cancel: () => controller.abort() };
    }),
  };
}

export const jsonRpcPeers = { 'vscode-jsonrpc': vscodeJsonRpc, 'MCP SDK': mcp };
