// @modelcontextprotocol/server 2: node mcp-sdk-2.mjs, or node mcp-sdk-2.mjs http
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { count, read } from './counting.mjs';
import { serveSessions } from './sessions.mjs';

const result = (data) => ({ content: [{ type: 'text', text: JSON.stringify(data) }] });

function server() {
  const made = new McpServer({ name: '@modelcontextprotocol/server', version: '2.4.0' });
  made.registerTool('conformance.count', { inputSchema: z.object({ key: z.string(), steps: z.number(), ms: z.number() }) }, async (params, { mcpReq }) => {
    const token = mcpReq._meta?.progressToken;
    return result(await count(params, {
      cancelled: () => mcpReq.signal.aborted,
      progress: (progress) => token !== undefined && mcpReq.notify({ method: 'notifications/progress', params: { progressToken: token, progress } }),
    }));
  });
  made.registerTool('conformance.read', { inputSchema: z.object({ key: z.string() }) }, async (params) => result(read(params)));
  return made;
}

if (process.argv[2] === 'http') await serveSessions(server, (options) => new NodeStreamableHTTPServerTransport(options));
else await server().connect(new StdioServerTransport());
