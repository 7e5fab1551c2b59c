// @modelcontextprotocol/sdk 1: node mcp-sdk-1.mjs, or node mcp-sdk-1.mjs http
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { count, read } from './counting.mjs';
import { serveSessions } from './sessions.mjs';

const result = (data) => ({ content: [{ type: 'text', text: JSON.stringify(data) }] });

function server() {
  const made = new McpServer({ name: '@modelcontextprotocol/sdk', version: '1.32.2' });
  made.registerTool('conformance.count', { inputSchema: { key: z.string(), steps: z.number(), ms: z.number() } }, async (params, { signal, sendNotification, _meta }) => result(await count(params, {
    cancelled: () => signal.aborted,
    progress: (progress) => _meta?.progressToken !== undefined && sendNotification({ method: 'notifications/progress', params: { progressToken: _meta.progressToken, progress } }),
  })));
  made.registerTool('conformance.read', { inputSchema: { key: z.string() } }, async (params) => result(read(params)));
  return made;
}

if (process.argv[2] === 'http') await serveSessions(server, (options) => new StreamableHTTPServerTransport(options));
else await server().connect(new StdioServerTransport());
