/**
 * Starts a bundled app, and waits for its first answer.
 *
 * @param {string} at
 * @returns {Promise<{ time: number, loaded: string[] }>} milliseconds, and the names of the files that were loaded
 */
export async function startApp(at) {
  const from = performance.now();
  const { start } = await import(/** @type {any} */ (at));
  const answer = await start({ value: 1 });
  const time = performance.now() - from;
  if (answer?.value !== 1) throw new Error(`${at} answers ${JSON.stringify(answer)}`);
  const folder = new URL('.', new URL(at, location.href)).href;
  const loaded = performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.startsWith(folder));
  return { time, loaded: [...new Set(loaded.map((name) => name.slice(folder.length)))] };
}
