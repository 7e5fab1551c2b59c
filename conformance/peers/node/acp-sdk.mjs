// @agentclientprotocol/sdk as an agent, over standard input and output.
import * as acp from '@agentclientprotocol/sdk';
import { Readable, Writable } from 'node:stream';
import { count, read } from './counting.mjs';

const any = (params) => params;
acp.agent({ name: 'conformance' })
  .onRequest('initialize', () => ({ protocolVersion: 1, agentCapabilities: {}, agentInfo: { name: '@agentclientprotocol/sdk', version: '2.4.0' }, authMethods: [] }))
  .onRequest('_conformance/count', any, ({ params, signal, client }) => count(params, {
    cancelled: () => signal.aborted,
    progress: (progress) => params.progressToken !== undefined && client.notify('_conformance/progress', { token: params.progressToken, value: { progress } }),
  }).catch((error) => {
    throw signal.aborted ? acp.RequestError.requestCancelled?.() ?? error : error;
  }))
  .onRequest('_conformance/read', any, ({ params }) => read(params))
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
