import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

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

/** Milliseconds by which one request may overtake another. */
const longestWay = 2000;

/**
 * A RAP tool server. Its calls are known to each other by the agents' ids.
 */
export async function serveVectorTools() {
  /** @type {Map<string, Invocation>} those without a result, by the agent's id */
  const running = new Map();
  /** Whoever has been invoked, by the agent's id. @type {Set<string>} */
  const seen = new Set();
  /** @type {(() => void)[]} */
  const awaited = [];
  /** Some calls never come: they were cancelled before. @param {string} callId */
  const begun = async (callId) => {
    const late = pause(longestWay, 'late', { ref: false });
    while (!seen.has(callId)) {
      const next = new Promise((/** @type {(value: void) => void} */ resolve) => { awaited.push(resolve); });
      if ((await Promise.race([next, late])) === 'late') break;
    }
  };

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
      await begun(invocation.arguments.callId);
      await answer(invocation, { started: true });
    },
    test_release: async (invocation) => {
      // Each invocation is a request of its own, and a later one may come first.
      await begun(invocation.arguments.callId);
      const held = running.get(invocation.arguments.callId);
      if (held) await answer(held, { released: true });
      await answer(invocation, { released: held !== undefined });
    },
  };

  /** @param {string} path @param {any} body */
  const receive = (path, body) => {
    if (path === '/invoke') {
      running.set(body.call_id, body);
      seen.add(body.call_id);
      for (const go of awaited.splice(0)) go();
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
