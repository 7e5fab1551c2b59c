import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import {
  AbstractMessageReader, AbstractMessageWriter, CancellationTokenSource, ProgressType, ResponseError,
  StreamMessageReader, StreamMessageWriter, createMessageConnection,
} from 'vscode-jsonrpc/node';
import { WebSocket } from 'ws';
import { gatewayBinary } from '../../../scripts/paths.mjs';

/**
 * A published JSON-RPC client that is connected to a gateway. A request rejects with an error that has
 * `code`, `message` and `data`.
 *
 * @typedef {object} Client
 * @property {(method: string, params?: any, signal?: AbortSignal) => Promise<any>} request sends a request; the requests are numbered from 0
 * @property {(method: string, params: any) => Promise<unknown>} notify
 * @property {(id: unknown) => Promise<unknown>} cancel sends another cancel, by the id
 * @property {(token: string | number, heard: (value: any) => void) => void} onProgress
 * @property {(method: string, answer: (params: any, signal: AbortSignal) => any) => void} onRequest answers requests of the gateway; must be called before the first request. A thrown error with a `code` is the answer
 * @property {any} greeting the first message of this kind of peer
 * @property {() => Promise<unknown>} leave
 *
 * @typedef {{ name: string, connect: (gateway: Gateway, app?: string) => Promise<Client> }} Kind
 */

/** @typedef {Pick<import('../support/gateway.mjs').Gateway, 'url' | 'wsUrl'>} Gateway */

/** @param {Gateway} gateway @param {string} [app] */
export async function openSocket(gateway, app = 'lab') {
  const socket = new WebSocket(`${gateway.wsUrl}/jsonrpc?app=${app}`);
  await once(socket, 'open');
  return socket;
}

/** @param {Gateway} gateway @param {string} [app] */
export function startStdio(gateway, app = 'lab') {
  const child = spawn(gatewayBinary, ['stdio', '--gateway', gateway.url, '--app', app], { stdio: ['pipe', 'pipe', 'inherit'] });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  /** @type {Promise<number | null>} */
  const exited = new Promise((resolve) => child.once('exit', (code) => {
    process.off('exit', killWithUs);
    resolve(code);
  }));
  return { child, exited };
}

class SocketReader extends AbstractMessageReader {
  /** @param {WebSocket} socket */
  constructor(socket) {
    super();
    this.socket = socket;
  }

  /** @param {import('vscode-jsonrpc').DataCallback} callback */
  listen(callback) {
    this.socket.on('message', (data) => callback(JSON.parse(String(data))));
    this.socket.on('close', () => this.fireClose());
    return { dispose() {} };
  }
}

class SocketWriter extends AbstractMessageWriter {
  /** @param {WebSocket} socket */
  constructor(socket) {
    super();
    this.socket = socket;
  }

  /** @param {import('vscode-jsonrpc').Message} message */
  async write(message) {
    this.socket.send(JSON.stringify(message));
  }

  end() {}
}

/** @param {import('vscode-jsonrpc').MessageReader} reader @param {import('vscode-jsonrpc').MessageWriter} writer @param {() => Promise<unknown>} leave @returns {Client} */
function vscode(reader, writer, leave) {
  const connection = createMessageConnection(reader, writer);
  connection.listen();
  return {
    request(method, params, signal) {
      const source = new CancellationTokenSource();
      if (signal?.aborted) source.cancel();
      signal?.addEventListener('abort', () => source.cancel(), { once: true });
      return connection.sendRequest(method, params, source.token);
    },
    notify: (method, params) => connection.sendNotification(method, params),
    cancel: (id) => connection.sendNotification('$/cancelRequest', { id }),
    onProgress: (token, heard) => void connection.onProgress(new ProgressType(), token, heard),
    onRequest: (method, answer) => void connection.onRequest(method, async (params, token) => {
      const stop = new AbortController();
      token.onCancellationRequested(() => stop.abort());
      try {
        return await answer(params, stop.signal);
      } catch (/** @type {any} */ { code, message, data }) {
        // For other errors, vscode-jsonrpc makes an error of its own.
        throw new ResponseError(code, message, data);
      }
    }),
    greeting: { processId: process.pid, rootUri: null, capabilities: { window: { workDoneProgress: true } }, clientInfo: { name: 'vscode-jsonrpc', version: '10' } },
    async leave() {
      connection.dispose();
      await leave();
    },
  };
}

/** @param {Readable} input @param {Writable} output @param {() => Promise<unknown>} leave @returns {Client} */
function agentClientProtocol(input, output, leave) {
  /** @type {Map<unknown, (value: any) => void>} */
  const heard = new Map();
  /** @type {Map<string, (params: any, signal: AbortSignal) => any>} */
  const answers = new Map();
  /** @param {string} method */
  const answer = (method) => async (/** @type {any} */ { params, signal }) => {
    try {
      return await answers.get(method)?.(params, signal);
    } catch (/** @type {any} */ { code, message, data }) {
      // For other errors, the SDK makes an error of its own.
      throw new acp.RequestError(code, message, data);
    }
  };
  const stream = acp.ndJsonStream(
    /** @type {any} */ (Writable.toWeb(output)),
    /** @type {any} */ (Readable.toWeb(input)),
  );
  const connection = acp
    .client()
    .onNotification('$/progress', (params) => /** @type {any} */ (params), ({ params }) => heard.get(params.token)?.(params.value))
    .onRequest('_elicitation/request', (params) => /** @type {any} */ (params), answer('_elicitation/request'))
    .onRequest('elicitation/create', answer('elicitation/create'))
    .connect(stream);
  return {
    request: (method, params, cancellationSignal) => connection.agent.request(method, params, cancellationSignal && { cancellationSignal }),
    notify: (method, params) => connection.agent.notify(method, params),
    cancel: (requestId) => connection.agent.notify('$/cancel_request', { requestId }),
    onProgress: (token, listener) => void heard.set(token, listener),
    onRequest: (method, given) => void answers.set(method, given),
    greeting: { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {}, clientInfo: { name: 'acp', version: '2' } },
    async leave() {
      connection.close();
      await leave();
    },
  };
}

/** @param {ReturnType<typeof startStdio>} stdio */
const hangUp = ({ child, exited }) => async () => {
  child.stdin.end();
  return exited;
};

/** The published clients, each with its own framing. @type {Kind[]} */
export const kinds = [
  {
    name: 'vscode-jsonrpc over WebSocket',
    async connect(gateway, app) {
      const socket = await openSocket(gateway, app);
      return vscode(new SocketReader(socket), new SocketWriter(socket), async () => {
        socket.close();
        await once(socket, 'close');
      });
    },
  },
  {
    name: 'vscode-jsonrpc over caphost stdio',
    async connect(gateway, app) {
      const stdio = startStdio(gateway, app);
      const { stdin, stdout } = stdio.child;
      return vscode(new StreamMessageReader(stdout), new StreamMessageWriter(stdin), hangUp(stdio));
    },
  },
  {
    name: '@agentclientprotocol/sdk over caphost stdio',
    async connect(gateway, app) {
      const stdio = startStdio(gateway, app);
      return agentClientProtocol(stdio.child.stdout, stdio.child.stdin, hangUp(stdio));
    },
  },
];
