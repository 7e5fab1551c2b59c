import assert from 'node:assert/strict';

/**
 * What an agent heard of its calls is what the host said of them, and no more than their handlers
 * know: the oracle of fixtures/host/race.js is `globalThis.race` of the host's page.
 *
 * @param {{ evaluate: (work: any) => Promise<any> }} page
 * @param {[string, string][]} heard by callId: `completed`, or how far the stop was seen
 */
export async function agreeWithHandlers(page, heard) {
  const contradictions = await page.evaluate(() => /** @type {any} */ (globalThis).race.contradictions());
  assert.deepEqual(contradictions.slice(0, 5), [], `${contradictions.length} calls`);
  const said = new Map(await page.evaluate(() => /** @type {any} */ (globalThis).race.said()));
  // Of those that never reached the host nothing runs.
  const differing = heard.filter(([callId, it]) => (said.get(callId) ?? 'never-started') !== it);
  assert.deepEqual(differing.slice(0, 5).map((it) => [...it, said.get(it[0])]), [], `${differing.length} calls`);
}
