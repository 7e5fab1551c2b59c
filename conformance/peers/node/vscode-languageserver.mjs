// vscode-languageserver, over standard input and output with headers.
import * as server from 'vscode-languageserver/node';
import { count, read } from './counting.mjs';

const connection = server.createConnection(server.ProposedFeatures.all, process.stdin, process.stdout);
connection.onInitialize(() => ({ capabilities: {}, serverInfo: { name: 'vscode-languageserver', version: '11.0.0' } }));
connection.onRequest('_conformance/count', async (params, token) => {
  try {
    return await count(params, {
      cancelled: () => token.isCancellationRequested,
      progress: (progress) => params.progressToken !== undefined && connection.sendNotification('$/progress', { token: params.progressToken, value: { progress } }),
    });
  } catch (error) {
    return token.isCancellationRequested ? new server.ResponseError(server.LSPErrorCodes.RequestCancelled, 'cancelled') : Promise.reject(error);
  }
});
connection.onRequest('_conformance/read', (params) => read(params));
connection.listen();
