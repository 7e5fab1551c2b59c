import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * @typedef {object} ToolResult
 * @property {'tool_result'} type
 * @property {string} group_id
 * @property {string} id
 * @property {string} [text]
 * @property {({ type: 'text', text: string } | { type: 'image', data: string, mediaType: string })[]} [content]
 */

/**
 * A RAP runtime as anybody might write it. It invokes the tools of a server, and receives the results
 * on a plain HTTP server.
 *
 * @param {string} base the tool server's base URL
 */
export async function startRapRuntime(base) {
  /** @type {ToolResult[]} every callback, in order of arrival */
  const results = [];
  /** @type {Map<string, (result: ToolResult) => void>} */
  const waiting = new Map();
  const server = createServer((request, response) => {
    const chunks = /** @type {Buffer[]} */ ([]);
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const result = JSON.parse(Buffer.concat(chunks).toString());
      results.push(result);
      response.end();
      waiting.get(`${result.group_id} ${result.id}`)?.(result);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());

  /** @param {string} url @param {object} body */
  const post = async (url, body) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.equal(response.status, 200, await response.clone().text());
    assert.equal(await response.text(), '', 'the answer is empty');
  };
  const manifest = async () => {
    const response = await fetch(`${base}/.well-known/rap-toolset`);
    assert.equal(response.status, 200);
    return response.json();
  };
  const { endpoint } = await manifest();

  return {
    results,
    manifest,
    /**
     * Invokes a tool. Resolves when the invocation is accepted, to a promise of the result.
     *
     * @param {string} operation
     * @param {object} args
     * @param {{ thread: string, id: string }} as
     * @returns {Promise<{ result: Promise<ToolResult> }>}
     */
    async invoke(operation, args, { thread, id }) {
      /** @type {Promise<ToolResult>} */
      const result = new Promise((resolve) => { waiting.set(`${thread} ${id}`, resolve); });
      await post(endpoint, {
        operation,
        arguments: args,
        id,
        call_id: null,
        callback_url: `http://127.0.0.1:${port}/callback`,
        group_id: thread,
      });
      return { result };
    },
    /** @param {{ thread: string, id: string }} call */
    cancel: ({ thread, id }) => post(`${base}/cancel_tool_call`, { thread_id: thread, tool_call_id: id }),
    /** @param {string} thread */
    close: (thread) => post(`${base}/close_thread`, { thread_id: thread }),
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
