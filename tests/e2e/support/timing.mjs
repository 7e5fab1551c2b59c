/**
 * Returns the value of a promise, and the milliseconds until it resolved.
 *
 * @template Value
 * @param {Promise<Value>} promise
 */
export async function timed(promise) {
  const since = performance.now();
  const value = await promise;
  return { value, ms: performance.now() - since };
}
