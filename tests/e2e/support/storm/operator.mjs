/** @typedef {import('./caller.mjs').Told} Told */

/**
 * An operator that cancels and asks through one worker. The worker may be gone.
 *
 * @param {{ url: string }} worker
 */
export function operatorOf(worker) {
  /**
   * Sends a request. Returns undefined if the worker does not answer.
   *
   * @param {string} path
   * @param {unknown} [body]
   * @returns {Promise<{ status: number, json: any } | undefined>}
   */
  const ask = async (path, body) => {
    const sent = body === undefined ? {} : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    try {
      const response = await fetch(new URL(path, worker.url), sent);
      return { status: response.status, json: await response.json() };
    } catch {
      return undefined;
    }
  };
  return {
    /** Cancels through the cancellation API. @param {string} callId @returns {Promise<Told>} */
    async cancel(callId) {
      const answer = await ask('/cancellation/cancel', { requestId: callId, reason: 'by an operator' });
      const cancelled = { cancelled: true, completed: false }[/** @type {string} */ (answer?.json.status)];
      return { by: 'operator', cancelled, said: answer };
    },
    /** Cancels through the runs API. @param {string} callId @returns {Promise<Told>} */
    async cancelRun(callId) {
      const answer = await ask(`/api/runs/${callId}/cancel`, {});
      const known = answer?.status === 200 && !answer.json.error;
      return { by: 'operator of runs', cancelled: known ? answer.json.cancelled : undefined, said: answer };
    },
    /** Asks for the state of a run. @param {string} callId */
    status: (callId) => ask(`/cancellation/status/${callId}`),
  };
}
