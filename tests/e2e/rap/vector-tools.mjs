import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** The capabilities of the conformance vectors that a RAP tool can offer, under valid names. */
const tools = ['echo', 'hold', 'single', 'stubborn', 'told', 'selfAbort', 'look', 'started', 'release', 'report'].map((name) => `test_${name}`);

/**
 * @typedef {object} Invocation
 * @property {string} operation
 * @property {any} arguments
 * @property {string} id
 * @property {string} call_id
 * @property {string} group_id
 * @property {string} callback_url
 */

/** A promise, and the function that fulfils it. */
function event() {
  let happens = () => {};
  /** @type {Promise<void>} */
  const happened = new Promise((resolve) => { happens = () => resolve(); });
  return { happened, happens };
}

/** The state of a call, by the agent's id. It may be asked for before the call arrives. */
class Call {
  /** @type {Invocation | undefined} */
  invocation;
  started = false;
  aborted = false;
  released = false;
  over = false;
  begun = event();
  told = event();
}

/**
 * @template T
 * @param {Map<string, T>} map
 * @param {string} key
 * @param {() => T} make
 */
function entry(map, key, make) {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** The most milliseconds by which one request may overtake another. */
const longestWay = 2000;

/**
 * A RAP tool server. Its calls refer to each other by the agents' ids.
 */
export async function serveVectorTools() {
  /** @type {Map<string, Call>} */
  const calls = new Map();
  /** The calls of `test_single`. Only the first one runs. @type {Call[]} */
  const queue = [];
  /** @type {Map<string, ReturnType<typeof event>>} */
  const threads = new Map();
  const known = (/** @type {string} */ callId) => entry(calls, callId, () => new Call());
  const thread = (/** @type {string} */ id) => entry(threads, id, event);

  /** @param {Invocation} invocation @param {unknown} data */
  const answer = async ({ callback_url, group_id, id, call_id }, data) => {
    end(known(call_id));
    known(call_id).told.happens();
    const text = typeof data === 'string' ? data : JSON.stringify(data);
    await fetch(callback_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'tool_result', group_id, id, call_id, text }),
    });
  };

  /** @param {Call} call */
  const start = (call) => {
    call.started = true;
    call.begun.happens();
    if (call.released && call.invocation) void answer(call.invocation, { released: true });
  };

  /** @param {Call} call */
  const end = (call) => {
    call.over = true;
    const at = queue.indexOf(call);
    if (at >= 0) queue.splice(at, 1);
    const [first] = queue;
    if (at === 0 && first) start(first);
  };

  /** @type {Record<string, (invocation: Invocation, call: Call) => unknown>} */
  const perform = {
    test_echo: (invocation) => answer(invocation, invocation.arguments),
    test_hold: (_, call) => start(call),
    test_stubborn: (_, call) => start(call),
    test_told: (_, call) => start(call),
    // The tool manages its own queue.
    test_single: (_, call) => queue.push(call) === 1 && start(call),
    test_selfAbort: (invocation) => answer(invocation, 'Error: Tool call cancelled: it had enough'),
    test_look: (invocation) => answer(invocation, {
      keys: Object.keys(invocation.arguments).sort(),
      polluted: 'polluted' in invocation.arguments || 'polluted' in {},
    }),
    test_started: async (invocation) => {
      await known(invocation.arguments.callId).begun.happened;
      await answer(invocation, { started: true });
    },
    test_release: async (invocation) => {
      const held = known(invocation.arguments.callId);
      held.released = true;
      if (held.started && !held.over && held.invocation) await answer(held.invocation, { released: true });
      await answer(invocation, {});
    },
    test_report: (invocation) => {
      const { started, aborted } = known(invocation.arguments.callId);
      return answer(invocation, { started, aborted });
    },
  };

  /** @param {any} body */
  const cancel = ({ tool_call_id, thread_id }) => {
    for (const call of calls.values()) {
      const { id, group_id, operation } = call.invocation ?? {};
      if (id !== tool_call_id || group_id !== thread_id) continue;
      call.aborted = call.started && !call.over;
      if (operation !== 'test_stubborn') end(call);
      call.told.happens();
    }
  };

  /** @param {string} path @param {any} body */
  const receive = (path, body) => {
    if (path === '/invoke') {
      const call = known(body.call_id);
      call.invocation = body;
      void perform[body.operation]?.(body, call);
    }
    if (path === '/cancel_tool_call') cancel(body);
    if (path === '/close_thread') thread(body.thread_id).happens();
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
    /** Resolves when the server knows that the call is over. Some calls never arrive, because they were cancelled before. @param {string} callId */
    told: (callId) => Promise.race([known(callId).told.happened, pause(longestWay, undefined, { ref: false })]),
    /**
     * Waits until an agent's thread is closed.
     *
     * @param {string} run the beginning of the agent's callIds
     * @returns {Promise<string[]>} the agent's calls that still run, although all have ended for the agent
     */
    async leftOver(run) {
      const own = () => [...calls].filter(([callId]) => callId.startsWith(run));
      const group = own().flatMap(([, { invocation }]) => invocation?.group_id ?? [])[0];
      if (group !== undefined) await thread(group).happened;
      return own().flatMap(([callId, { started, over, invocation }]) => (started && !over && invocation?.operation !== 'test_stubborn' ? callId : []));
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
