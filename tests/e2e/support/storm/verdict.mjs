/** @typedef {import('./caller.mjs').Outcome} Outcome */

/** How a call ended, as its caller learned. @param {any} response @returns {'completed' | 'cancelled' | 'unknown' | undefined} */
export function endOf({ success, cancelled, error }) {
  if (success === true && cancelled !== true) return 'completed';
  if (success === false && cancelled === true) return 'cancelled';
  if (success === false && ['DISCONNECTED', 'TIMEOUT'].includes(error?.code)) return 'unknown';
  return undefined;
}

/**
 * The contradictions in an outcome, among all reports about the call to anybody.
 *
 * @param {Outcome} outcome
 * @param {string | undefined} inApp the call's last state in the app's own record
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
  // A new session knows nothing of the call.
  if (facts.size > 1 && end !== 'unknown') wrong.push(`${answered}, and its cancels ${JSON.stringify(told)}`);
  return wrong;
}

/** Milliseconds within which the runs of workers that have just died are found. */
const foundWithin = 15_000;

/**
 * The calls whose run one of the workers does not know or does not consider over, or whose run has
 * another end than their caller was told. An unknown end is never wrong.
 *
 * @param {Outcome[]} outcomes
 * @param {ReturnType<typeof import('./operator.mjs').operatorOf>[]} operators one for each worker
 * @param {boolean} mayBeLost whether a run may have been on a worker that is gone, and the workers then say so
 */
export async function lostOrUntrue(outcomes, operators, mayBeLost) {
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
        if (mayBeLost && status?.status === 410) continue;
        if (status?.status !== 200 || !agrees(status.json.state, endOf(outcome.response))) wrong.push({ outcome, status });
      }
    }));
    if (wrong.length === 0 || performance.now() > until) return wrong;
    until = Math.min(until, performance.now() + foundWithin);
    left = wrong.map(({ outcome }) => outcome);
  }
}
