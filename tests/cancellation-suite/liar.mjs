/**
 * A peer over standard input and output that keeps the rules, or breaks one: node liar.mjs <mcp|lsp|acp> <way>.
 *
 * | Way | What the peer does |
 * |---|---|
 * | `honest` | keeps the rules |
 * | `counts-on` | settles a cancelled call as it should, and goes on with its work |
 * | `answers-twice` | answers every call twice |
 * | `never-answers` | answers no count |
 * | `deaf` | takes no notice of cancels |
 * | `answers-cancelled` | answers where it should be silent, and is silent where it should answer |
 * | `dies` | ends at a cancel that it does not know |
 */
import { createInterface } from 'node:readline';

const [style = 'mcp', way = 'honest'] = process.argv.slice(2);
const isMcp = style === 'mcp';

/** @type {Map<string, number>} */
const counted = new Map();
/** The requests in flight by the JSON of their ids. @type {Map<string, () => void>} */
const inFlight = new Map();

const send = (/** @type {object} */ message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {object} data */
const result = (data) => (isMcp ? { content: [{ type: 'text', text: JSON.stringify(data) }] } : data);

/** @param {any} id @param {any} args @param {unknown} token */
async function count(id, { key, steps, ms }, token) {
  const name = JSON.stringify(id);
  if (inFlight.has(name)) {
    send({ id, error: { code: -32600, message: 'the id is in flight' } });
    return;
  }
  let isCancelled = false;
  let isSettled = false;
  inFlight.set(name, () => {
    if (way === 'deaf' || isCancelled) return;
    isCancelled = true;
    inFlight.delete(name);
    isSettled = true;
    if (isMcp === (way === 'answers-cancelled')) send({ id, error: { code: -32800, message: 'cancelled' } });
  });
  for (let step = 1; step <= steps; step += 1) {
    await pause(ms);
    if (isCancelled && way !== 'counts-on') return;
    counted.set(key, step);
    if (token !== undefined && !isSettled) {
      send(isMcp ? { method: 'notifications/progress', params: { progressToken: token, progress: step } } : { method: '$/progress', params: { token, value: { progress: step } } });
    }
  }
  if (isCancelled) return;
  inFlight.delete(name);
  if (way === 'never-answers') return;
  send({ id, result: result({ key, count: steps }) });
  if (way === 'answers-twice') send({ id, result: result({ key, count: steps }) });
}

/** @type {Record<string, (params: any, id: any) => unknown>} */
const methods = {
  initialize: () => (isMcp
    ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: `liar-${way}`, version: '1' } }
    : { protocolVersion: 1, agentCapabilities: {}, capabilities: {}, agentInfo: { name: `liar-${way}`, version: '1' }, serverInfo: { name: `liar-${way}`, version: '1' } }),
  'tools/list': () => ({ tools: ['conformance_count', 'conformance_read'].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  'tools/call': ({ name, arguments: args, _meta }, id) => (name === 'conformance_count' ? count(id, args, _meta?.progressToken) : result({ key: args.key, steps: counted.get(args.key) ?? 0 })),
  '_conformance/count': (params, id) => count(id, params, params.progressToken),
  '_conformance/read': ({ key }) => ({ key, steps: counted.get(key) ?? 0 }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) {
    const cancelled = method === 'notifications/cancelled' || method === '$/cancel_request' ? params?.requestId : params?.id;
    if (!/cancel/.test(method)) return;
    const cancel = inFlight.get(JSON.stringify(cancelled));
    if (!cancel && way === 'dies') process.exit(3);
    cancel?.();
    return;
  }
  const answer = methods[method]?.(params ?? {}, id);
  if (answer instanceof Promise) return;
  send(answer === undefined ? { id, error: { code: -32601, message: 'Method not found' } } : { id, result: answer });
}).on('close', () => process.exit(0));
