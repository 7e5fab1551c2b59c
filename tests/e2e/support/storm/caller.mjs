import { setTimeout as pause } from 'node:timers/promises';
import { agentOf } from '../workers.mjs';

/**
 * An agent that reconnects whenever its worker or its app is gone.
 *
 * @param {{ wsUrl: string }} at
 */
export function keepConnected(at) {
  const over = new AbortController();
  let connections = 0;
  const connect = () => {
    connections += 1;
    const agent = agentOf(at, 'storm', {}, over.signal);
    agent.then(async ({ closed }) => {
      await closed;
      if (!over.signal.aborted) current = connect();
    }, () => {});
    return agent;
  };
  let current = connect();
  return {
    agent: () => current,
    get connections() {
      return connections;
    },
    async close() {
      over.abort();
      await current.then((agent) => agent.shutdown(), () => {});
    },
  };
}

/** A generator of numbers from 0 to below a bound, the same in every run. @param {number} seed @returns {(bound: number) => number} */
export function dice(seed) {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/**
 * The answer to a cancel: whether the call is cancelled, or has ended otherwise; undefined if neither
 * is known.
 *
 * @typedef {{ by: string, cancelled: boolean | undefined, said: any }} Told
 *
 * @typedef {{ callId: string, response: any, told: Told[] }} Outcome
 */

/** @param {string} by @param {import('caphost/agent').CancelResponse} said @returns {Told} */
const byAgent = (by, said) => ({ by, cancelled: said.error ? undefined : said.cancelled, said });

/**
 * Makes one call, and cancels it in one of several ways at a random moment.
 *
 * @param {string} callId
 * @param {import('caphost/agent').Agent} agent
 * @param {ReturnType<typeof import('./operator.mjs').operatorOf>} operator
 * @param {(bound: number) => number} random
 * @param {(callId: string) => void} confirmed called at once when a cancel is confirmed
 * @returns {Promise<Outcome>}
 */
export async function callAndCancel(callId, agent, operator, random, confirmed) {
  const controller = new AbortController();
  const way = random(8);
  // An operator's cancel takes longer to arrive.
  const longest = way >= 3 && way <= 6 ? 60 : 12;
  const response = agent.call(random(4) ? 'storm.work' : 'storm.single', { ms: random(3) ? random(longest) : 0 }, {
    callId,
    ...(way === 0 ? { timeout: 1 + random(10) } : {}),
    ...(way === 1 ? { signal: controller.signal } : {}),
  });
  // A call that is cancelled before it is sent has no run.
  await pause(random(2) ? random(8) : 0);
  /** @param {Promise<Told>} asked */
  const hear = async (asked) => {
    const told = await asked;
    if (told.cancelled === true) confirmed(callId);
    return told;
  };
  const byItsAgent = async (/** @type {string} */ by) => byAgent(by, await agent.cancel(callId, 'raced'));
  /** @type {Promise<Told>[]} */
  let asked = [];
  if (way === 1) controller.abort();
  else if (way === 2) asked = [byItsAgent('agent')];
  else if (way === 3) asked = [byItsAgent('agent'), byItsAgent('agent again'), operator.cancel(callId)];
  else if (way === 4 || way === 5) asked = [operator.cancel(callId)];
  else if (way === 6) asked = [operator.cancelRun(callId)];
  const told = await Promise.all(asked.map(hear));
  const settled = await response;
  // The session may be over by now. The call is then unknown.
  told.push(byAgent('agent, afterwards', await agent.cancel(callId)));
  return { callId, response: settled, told };
}

/** The duration of a long call in milliseconds: enough for an operator to find the call on another worker, unless a worker hangs. */
const LASTS = 5_001;

/**
 * Makes long calls, one after the other, until an operator has cancelled one. A hanging worker hides
 * calls from the operator, and a failure ends calls in another way.
 *
 * @param {object} options
 * @param {string} options.prefix of the callIds
 * @param {ReturnType<typeof keepConnected>} options.caller
 * @param {ReturnType<typeof import('./operator.mjs').operatorOf>} options.operator
 * @param {(callId: string) => void} options.confirmed called at once when a cancel is confirmed
 * @returns {Promise<Outcome[]>}
 */
export async function cancelByOperator({ prefix, caller, operator, confirmed }) {
  /** @type {Outcome[]} */
  const outcomes = [];
  for (;;) {
    const callId = `${prefix}-${outcomes.length}`;
    const agent = await caller.agent();
    let over = false;
    const response = agent.call('storm.work', { ms: LASTS }, { callId }).finally(() => (over = true));
    /** @type {Told[]} */
    const told = [];
    while (!over) {
      const said = await operator.cancel(callId);
      if (said.cancelled === true) confirmed(callId);
      told.push(said);
      await pause(20);
    }
    outcomes.push({ callId, response: await response, told });
    if (told.some(({ cancelled }) => cancelled === true)) return outcomes;
  }
}
