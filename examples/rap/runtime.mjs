// A RAP runtime: calls the tools of an app at a gateway, and cancels a call.
// node runtime.mjs [gateway] [app id]

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { bodyOf, post } from './http.mjs';

const [gateway = 'http://127.0.0.1:8787', app = 'caphost-demo'] = process.argv.slice(2);
const base = `${gateway.replace(/\/$/, '')}/rap/${encodeURIComponent(app)}`;
const thread = randomUUID();

/** Calls that wait for a result. Results arrive at the server below, because an invocation is answered before the tool begins. */
const waiting = new Map();
const callbacks = createServer(async (request, response) => {
  const result = await bodyOf(request);
  response.end();
  waiting.get(result.id)?.(result);
}).listen(0, '127.0.0.1');
await once(callbacks, 'listening');

const { name, tools, endpoint } = await (await fetch(`${base}/.well-known/rap-toolset`)).json();
console.log(`${name}: ${tools.map((tool) => tool.name).join(', ')}`);

/** Calls a tool. Returns the id of the call, and the promise of its text. */
async function invoke(operation, args) {
  const id = randomUUID();
  const result = new Promise((resolve) => waiting.set(id, resolve));
  const callback_url = `http://127.0.0.1:${callbacks.address().port}/`;
  await post(endpoint, { operation, arguments: args, id, call_id: null, callback_url, group_id: thread });
  return { id, text: result.then(({ text, content }) => text ?? content.map((it) => it.text).join('\n')) };
}

const short = await invoke('convert_markdownToHtml', { markdown: '# It works' });
console.log(JSON.parse(await short.text).html.trim());

// Every call has one result, also a cancelled call: its text says how far the work was seen to stop.
const long = await invoke('export_archive', { megabytes: 400 });
await pause(300);
await post(`${base}/cancel_tool_call`, { thread_id: thread, tool_call_id: long.id });
console.log(await long.text);

await post(`${base}/close_thread`, { thread_id: thread });
callbacks.close();
callbacks.closeAllConnections();
