/**
 * What a promise gives, and after how many milliseconds.
 *
 * @template Value
 * @param {Promise<Value>} promise
 */
export async function timed(promise) {
  const since = performance.now();
  const value = await promise;
  return { value, ms: performance.now() - since };
}
