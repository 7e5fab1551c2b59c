import assert from 'node:assert/strict';

/**
 * Checks that an agent learned about its calls what the host has reported, and that this matches the
 * knowledge of their handlers. The oracle of fixtures/host/race.js is `globalThis.race` of the host's
 * page.
 *
 * @param {{ evaluate: (work: any) => Promise<any> }} page
 * @param {[string, string][]} heard by callId: `completed`, or how far the call was seen to stop
 */
export async function agreeWithHandlers(page, heard) {
  const contradictions = await page.evaluate(() => /** @type {any} */ (globalThis).race.contradictions());
  assert.deepEqual(contradictions.slice(0, 5), [], `${contradictions.length} calls`);
  const said = new Map(await page.evaluate(() => /** @type {any} */ (globalThis).race.said()));
  // A call that never reached the host has no handler.
  const differing = heard.filter(([callId, it]) => (said.get(callId) ?? 'never-started') !== it);
  assert.deepEqual(differing.slice(0, 5).map((it) => [...it, said.get(it[0])]), [], `${differing.length} calls`);
}
