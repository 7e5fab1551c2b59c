// A RAP tool server, for `caphost serve --tool-server http://127.0.0.1:8090`. Its tools become the
// capabilities of an app that any agent of the gateway can call and cancel.
// node tool-server.mjs [port]

import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { bodyOf, post } from './http.mjs';

const [port = '8090'] = process.argv.slice(2);

/** The controllers of running calls. A cancel must name the thread and the call. @type {Map<string, AbortController>} */
const running = new Map();
const keyOf = (thread, id) => `${thread} ${id}`;

const tools = {
  count: {
    description: 'Counts, ten numbers a second',
    inputSchema: { type: 'object', properties: { end: { type: 'integer', minimum: 1 } }, required: ['end'] },
    annotations: { readOnly: true, longRunning: true },
    async run({ end }, signal) {
      for (let n = 1; n <= end; n += 1) await pause(100, undefined, { signal });
      return JSON.stringify({ counted: end });
    },
  },
};

/** Runs a call to its end, and sends its one result. */
async function invoked({ operation, arguments: args, id, call_id, callback_url, group_id }) {
  const key = keyOf(group_id, id);
  const controller = new AbortController();
  running.set(key, controller);
  let text;
  try {
    text = await tools[operation].run(args, controller.signal);
  } catch (error) {
    text = controller.signal.aborted ? 'Error: Tool call cancelled' : `Error: ${error.message}`;
  }
  running.delete(key);
  console.log(`${operation}: ${text}`);
  await post(callback_url, { type: 'tool_result', group_id, id, call_id, text }).catch(({ message }) => console.error(message));
}

/** The handler of each path. Every request is answered at once, without a body. */
const paths = {
  '/invoke': (message) => void invoked(message),
  '/cancel_tool_call': ({ thread_id, tool_call_id }) => running.get(keyOf(thread_id, tool_call_id))?.abort(),
  '/close_thread': ({ thread_id }) => {
    for (const [key, controller] of running) if (key.startsWith(`${thread_id} `)) controller.abort();
  },
};

const server = createServer(async (request, response) => {
  const base = `http://${request.headers.host}`;
  if (request.url === '/.well-known/rap-toolset') {
    const listed = Object.entries(tools).map(([name, { description, inputSchema, annotations }]) => ({ name, description, inputSchema, annotations }));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ name: 'counter', description: 'Counts', endpoint: `${base}/invoke`, tools: listed }));
  } else if (request.method === 'POST' && Object.hasOwn(paths, request.url)) {
    const message = await bodyOf(request);
    response.end();
    paths[request.url](message);
  } else {
    response.writeHead(404).end();
  }
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
