/** @typedef {import('./caller.mjs').Outcome} Outcome */

/** How a call ended, for who called. @param {any} response @returns {'completed' | 'cancelled' | 'unknown' | undefined} */
export function endOf({ success, cancelled, error }) {
  if (success === true && cancelled !== true) return 'completed';
  if (success === false && cancelled === true) return 'cancelled';
  if (success === false && ['DISCONNECTED', 'TIMEOUT'].includes(error?.code)) return 'unknown';
  return undefined;
}

/**
 * What is wrong with an outcome: whatever was said of the call, to whomever, by whomever.
 *
 * @param {Outcome} outcome
 * @param {string | undefined} inApp the call's last state by the app's own account
 * @returns {string[]}
 */
export function contradictions({ callId, response, told }, inApp) {
  const end = endOf(response);
  const wrong = [];
  const answered = `${callId} was answered ${JSON.stringify(response)}`;
  if (end === undefined) wrong.push(answered);
  if (end === 'completed' && (inApp !== 'completed' || response.data?.callId !== callId)) wrong.push(`${answered}, in the app it is ${inApp}`);
  if (end === 'cancelled' && inApp !== 'cancelled' && inApp !== undefined) wrong.push(`${answered}, in the app it is ${inApp}`);
  for (const { by, cancelled, said } of told) {
    const against = cancelled === true ? end === 'completed' : cancelled === false && end === 'cancelled';
    if (against) wrong.push(`${answered}, and the ${by} was told ${JSON.stringify(said)}`);
  }
  const facts = new Set(told.flatMap(({ cancelled }) => cancelled ?? []));
  // A session that is another by now knows nothing of the call.
  if (facts.size > 1 && end !== 'unknown') wrong.push(`${answered}, and its cancels ${JSON.stringify(told)}`);
  return wrong;
}

/** How long runs of workers that have just died may take to be found: milliseconds. */
const foundWithin = 15_000;

/**
 * The calls whose run is not known to one of the workers, is not over, or has ended otherwise than
 * its caller was told. That nobody knows how it ended is never wrong.
 *
 * @param {Outcome[]} outcomes
 * @param {ReturnType<typeof import('./operator.mjs').operatorOf>[]} operators one for each worker
 */
export async function lostOrUntrue(outcomes, operators) {
  /** @param {string} state @param {string | undefined} end */
  const agrees = (state, end) => state === 'unknown' || (end === 'unknown' ? ['completed', 'cancelled', 'failed'].includes(state) : state === end);
  let until = Infinity;
  let left = outcomes;
  for (;;) {
    /** @type {{ outcome: Outcome, status: any }[]} */
    const wrong = [];
    const queue = left.entries();
    await Promise.all(Array.from({ length: 50 }, async () => {
      for (const [index, outcome] of queue) {
        const operator = /** @type {typeof operators[0]} */ (operators[index % operators.length]);
        const status = await operator.status(outcome.callId);
        if (status?.status !== 200 || !agrees(status.json.state, endOf(outcome.response))) wrong.push({ outcome, status });
      }
    }));
    if (wrong.length === 0 || performance.now() > until) return wrong;
    until = Math.min(until, performance.now() + foundWithin);
    left = wrong.map(({ outcome }) => outcome);
  }
}
