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
