// fastmcp of npm, over standard input and output.
import { FastMCP } from 'fastmcp';
import { z } from 'zod';
import { count, read } from './counting.mjs';

const server = new FastMCP({ name: 'fastmcp (npm)', version: '4.20.16' });
server.addTool({
  name: 'conformance.count',
  description: 'Counts steps',
  parameters: z.object({ key: z.string(), steps: z.number(), ms: z.number() }),
  execute: async (params, { reportProgress, signal }) => JSON.stringify(await count(params, {
    cancelled: () => signal?.aborted ?? false,
    progress: (progress) => reportProgress({ progress }),
  })),
});
server.addTool({ name: 'conformance.read', description: 'Reads', parameters: z.object({ key: z.string() }), execute: async (params) => JSON.stringify(read(params)) });
await server.start({ transportType: 'stdio' });
