/**
 * A RAP tool server that keeps the rules, or breaks one: `startRapLiar(way)`.
 *
 * | Way | What the server does |
 * |---|---|
 * | `honest` | keeps the rules |
 * | `counts-on` | gives a cancelled call its result, and goes on with the work |
 * | `answers-twice` | gives every call its result twice |
 * | `never-answers` | gives a count no result |
 * | `refuses` | answers the cancel of an unknown call with 404 |
 * | `one-thread` | takes no notice of the thread of a cancel |
 */
import { once } from 'node:events';
import { createServer } from 'node:http';

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {string} way */
export async function startRapLiar(way) {
  /** @type {Map<string, number>} */
  const counted = new Map();
  /** The calls in flight by thread and id. @type {Map<string, { invocation: any, cancelled: boolean }>} */
  const calls = new Map();
  const nameOf = (/** @type {string} */ thread, /** @type {string} */ id) => (way === 'one-thread' ? id : `${thread}/${id}`);

  /** @param {any} invocation @param {string} text */
  const give = ({ callback_url: url, group_id, id }, text) => fetch(url, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type: 'tool_result', group_id, id, text }),
  }).catch(() => {});

  /** @param {any} invocation */
  async function invoke(invocation) {
    const { operation, group_id: thread, id, arguments: { key, steps, ms } } = invocation;
    if (operation === 'conformance_read') return give(invocation, JSON.stringify({ key, steps: counted.get(key) ?? 0 }));
    const name = nameOf(thread, id);
    if (calls.has(name)) return undefined;
    const call = { invocation, cancelled: false };
    calls.set(name, call);
    for (let step = 1; step <= steps; step += 1) {
      await pause(ms);
      if (call.cancelled && way !== 'counts-on') return undefined;
      counted.set(key, step);
    }
    if (call.cancelled) return undefined;
    calls.delete(name);
    if (way === 'never-answers') return undefined;
    if (way === 'answers-twice') await give(invocation, JSON.stringify({ key, count: steps }));
    return give(invocation, JSON.stringify({ key, count: steps }));
  }

  /** @param {string} name */
  function cancel(name) {
    const call = calls.get(name);
    if (!call) return false;
    call.cancelled = true;
    calls.delete(name);
    void give(call.invocation, 'Error: Tool call cancelled');
    return true;
  }

  const server = createServer(async (request, response) => {
    if (request.url === '/.well-known/rap-toolset') {
      const tools = ['conformance_count', 'conformance_read'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
      response.end(JSON.stringify({ name: `liar-${way}`, endpoint: `http://${request.headers.host}/invoke`, tools }));
      return;
    }
    let text = '';
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    if (request.url === '/invoke') void invoke(body);
    if (request.url === '/cancel_tool_call' && !cancel(nameOf(body.thread_id, body.tool_call_id)) && way === 'refuses') response.statusCode = 404;
    if (request.url === '/close_thread') for (const name of [...calls.keys()]) if (name.startsWith(`${body.thread_id}/`)) cancel(name);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
