/**
 * Starts waiting for the next fitting event of the page's app, before the event can happen.
 *
 * @param {import('puppeteer-core').Page} page
 * @param {Record<string, string>} wanted
 */
export async function nextEvent(page, wanted) {
  const event = await page.evaluateHandle((wanted) => {
    const { host, lab } = /** @type {any} */ (globalThis);
    return { comes: lab.event(host, (/** @type {any} */ it) => Object.entries(wanted).every(([key, value]) => it[key] === value)) };
  }, wanted);
  return () => page.evaluate(({ comes }) => comes, event);
}
