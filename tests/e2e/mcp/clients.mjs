import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { gatewayBinary } from '../../../scripts/paths.mjs';

/** @typedef {'legacy' | 'auto'} Mode */
/** @typedef {{ name: string, mode: Mode, era: 'legacy' | 'modern', open: (gateway: Pick<Gateway, 'url'>, app?: string, fetch?: Fetch) => import('@modelcontextprotocol/client').Transport }} Kind */
/** @typedef {import('../support/gateway.mjs').Gateway} Gateway */
/** @typedef {import('@modelcontextprotocol/client').FetchLike} Fetch */

/** @param {Pick<Gateway, 'url'>} gateway @param {string} [app] @param {Fetch} [fetch] */
const http = (gateway, app, fetch) => new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp${app ? `/${app}` : ''}`), fetch && { fetch });

/** @param {Pick<Gateway, 'url'>} gateway @param {string} [app] */
const stdio = (gateway, app) => new StdioClientTransport({
  command: gatewayBinary,
  args: ['mcp', '--gateway', gateway.url, ...(app ? ['--app', app] : [])],
  stderr: 'inherit',
});

/** All ways to connect a client. @type {Kind[]} */
export const kinds = [
  { name: 'HTTP, 2025-11-25', mode: 'legacy', era: 'legacy', open: http },
  { name: 'HTTP, negotiated', mode: 'auto', era: 'modern', open: http },
  { name: 'stdio, 2025-11-25', mode: 'legacy', era: 'legacy', open: stdio },
  { name: 'stdio, negotiated', mode: 'auto', era: 'modern', open: stdio },
];

/**
 * A published client. Only its complaints are recorded.
 *
 * @param {Kind} kind
 * @param {Pick<Gateway, 'url'>} gateway
 * @param {{ app?: string, onTools?: (names: string[]) => void, onQuestion?: (params: any, signal: AbortSignal) => any, versions?: string[], fetch?: Fetch }} [options] `fetch` is for kinds over HTTP
 */
export async function connect(kind, gateway, { app, onTools, onQuestion, versions, fetch } = {}) {
  /** @type {string[]} */
  const complaints = [];
  const client = new Client({ name: 'test', version: '1' }, {
    versionNegotiation: { mode: kind.mode },
    ...(onQuestion && { capabilities: { elicitation: { form: {} } } }),
    ...(versions && { supportedProtocolVersions: versions }),
    ...(onTools && {
      listChanged: {
        tools: {
          debounceMs: 0,
          onChanged: (error, tools) => (error ? complaints.push(String(error)) : onTools((tools ?? []).map(({ name }) => name))),
        },
      },
    }),
  });
  if (onQuestion) client.setRequestHandler('elicitation/create', (request, context) => onQuestion(request.params, context.mcpReq.signal));
  client.onerror = (error) => {
    // The client handles notifications one tick later than answers and its own aborts, even earlier
    // notifications. Progress then has a token that the client has already forgotten.
    if (!error.message.startsWith('Received a progress notification for an unknown token')) complaints.push(String(error).slice(0, 300));
  };
  const transport = kind.open(gateway, app, fetch);
  await client.connect(transport);
  return { client, transport, complaints };
}

/** The error with which `promise` rejects. @param {Promise<unknown>} promise @returns {Promise<any>} */
export const rejection = (promise) => promise.then(
  (result) => { throw new Error(`it has a result: ${JSON.stringify(result).slice(0, 200)}`); },
  (error) => error,
);
