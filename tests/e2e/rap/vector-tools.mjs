import { once } from 'node:events';
import { createServer } from 'node:http';

/** The capabilities of the conformance vectors that a RAP tool can have, under names it may have. */
const tools = ['echo', 'hold', 'single', 'stubborn', 'selfAbort', 'started', 'release'].map((name) => `test_${name}`);

/**
 * @typedef {object} Invocation
 * @property {string} operation
 * @property {any} arguments
 * @property {string} id
 * @property {string} call_id
 * @property {string} group_id
 * @property {string} callback_url
 */

/**
 * A RAP tool server. Its calls are known to each other by the agents' ids.
 */
export async function serveVectorTools() {
  /** @type {Map<string, Invocation>} those without a result, by the agent's id */
  const running = new Map();
  /** @type {Map<string, () => void>} */
  const awaited = new Map();

  /** @param {Invocation} invocation @param {unknown} data */
  const answer = async ({ callback_url, group_id, id, call_id }, data) => {
    running.delete(call_id);
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    await fetch(callback_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'tool_result', group_id, id, call_id, text }),
    });
  };

  /** @type {Record<string, (invocation: Invocation) => unknown>} */
  const perform = {
    test_echo: (invocation) => answer(invocation, invocation.arguments),
    test_hold: () => {},
    test_single: () => {},
    test_stubborn: () => {},
    test_selfAbort: (invocation) => answer(invocation, 'Error: Tool call cancelled: it had enough'),
    test_started: async (invocation) => {
      const { callId } = invocation.arguments;
      if (!running.has(callId)) await new Promise((/** @type {(value: void) => void} */ resolve) => { awaited.set(callId, resolve); });
      await answer(invocation, { started: true });
    },
    test_release: async (invocation) => {
      const held = running.get(invocation.arguments.callId);
      if (held) await answer(held, { released: true });
      await answer(invocation, { released: held !== undefined });
    },
  };

  /** @param {string} path @param {any} body */
  const receive = (path, body) => {
    if (path === '/invoke') {
      running.set(body.call_id, body);
      awaited.get(body.call_id)?.();
      awaited.delete(body.call_id);
      void perform[body.operation]?.(body);
    }
    if (path === '/cancel_tool_call') {
      for (const [callId, { id, group_id, operation }] of running) {
        const meant = id === body.tool_call_id && group_id === body.thread_id;
        if (meant && operation !== 'test_stubborn') running.delete(callId);
      }
    }
  };

  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.url === '/.well-known/rap-toolset') {
      const described = tools.map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
      response.end(JSON.stringify({ name: 'vectors', endpoint: `${url}/invoke`, tools: described }));
      return;
    }
    response.end();
    receive(String(request.url), JSON.parse(Buffer.concat(chunks).toString('utf8')));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
  return {
    url,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
