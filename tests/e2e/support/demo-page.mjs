/** What a user sees and does on the demo page. */
import { click } from './hands.mjs';

/** @typedef {import('puppeteer-core').Page} Page */
/** @typedef {'queued' | 'running' | 'completed' | 'cancelled' | 'failed'} State */

/** Opens a capability's form and picks a preset. @param {Page} page @param {string} name @param {string} preset 'Small' or 'Large', or the name of another preset */
export async function choose(page, name, preset) {
  const form = `.capability[data-capability="${name}"]`;
  if (!(await page.$(`${form}[open]`))) await click(page, `${form} > summary`);
  await page.waitForSelector(`${form}[open] form`);
  if (await page.$(`${form} .presets`)) await click(page, `${form} .presets label:has(input[value=${JSON.stringify(preset)}])`);
  return form;
}

/**
 * The card of the call that `act` makes, once it is on the page.
 *
 * @param {Page} page
 * @param {() => Promise<unknown>} act
 */
export async function newCall(page, act) {
  const known = await page.$$eval('.call', (cards) => cards.map((card) => /** @type {HTMLElement} */ (card).dataset.callId));
  await act();
  const card = await page.waitForFunction(
    (before) => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.call[data-own]'))].find((it) => !before.includes(it.dataset.callId))?.dataset.callId,
    {},
    known,
  );
  return `.call[data-call-id="${await card.jsonValue()}"]`;
}

/** @param {Page} page @param {string} card @param {State} state */
export const becomes = (page, card, state) => page.waitForSelector(`${card}[data-state=${state}]`, { timeout: 30_000 });

/** Waits until a call's progress bar reaches this percentage. @param {Page} page @param {string} card @param {number} percent */
export const reaches = (page, card, percent) =>
  page.waitForFunction(
    (selector, wanted) => Number(document.querySelector(`${selector} [role=progressbar]`)?.getAttribute('aria-valuenow') ?? -1) >= wanted,
    { timeout: 30_000 },
    card,
    percent,
  );
