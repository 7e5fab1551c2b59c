// vscode-jsonrpc, over standard input and output with headers.
import * as rpc from 'vscode-jsonrpc/node';
import { count, read } from './counting.mjs';

const connection = rpc.createMessageConnection(new rpc.StreamMessageReader(process.stdin), new rpc.StreamMessageWriter(process.stdout));
connection.onRequest('initialize', () => ({ capabilities: {}, serverInfo: { name: 'vscode-jsonrpc', version: '10.0.0' } }));
connection.onRequest('_conformance/count', async (params, token) => {
  try {
    return await count(params, {
      cancelled: () => token.isCancellationRequested,
      progress: (progress) => params.progressToken !== undefined && connection.sendNotification('$/progress', { token: params.progressToken, value: { progress } }),
    });
  } catch (error) {
    return token.isCancellationRequested ? new rpc.ResponseError(-32800, 'cancelled') : Promise.reject(error);
  }
});
connection.onRequest('_conformance/read', (params) => read(params));
connection.onClose(() => process.exit());
connection.listen();
