/** What a user does on a page and reads from it. Each function waits until the page is ready, however slow the machine is. */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

/** @typedef {import('puppeteer-core').Page | import('puppeteer-core').Frame} Where */

/** The polling interval in milliseconds. Painted frames cannot be used, because a hidden page has none. */
const polling = 50;

/**
 * The element, once it is visible and not disabled.
 *
 * @param {Where} where
 * @param {string} selector
 */
async function ready(where, selector) {
  for (;;) {
    const element = await present(where, selector);
    const state = await where.waitForFunction((it) => {
      if (!it.isConnected) return 'replaced';
      return it.getClientRects().length > 0 && !it.matches(':disabled') && 'ready';
    }, { polling }, element);
    if (await state.jsonValue() === 'ready') return element;
  }
}

/** @param {Where} where @param {string} selector */
async function present(where, selector) {
  const element = await where.waitForSelector(selector);
  assert.ok(element, selector);
  return element;
}

/** @param {Where} where @param {string} selector */
export async function click(where, selector) {
  await (await ready(where, selector)).click();
}

/** @param {Where} where @param {string} selector */
export async function focus(where, selector) {
  await (await ready(where, selector)).focus();
}

/** Replaces the content of a field. @param {Where} where @param {string} selector @param {string} text */
export async function fill(where, selector, text) {
  await (await ready(where, selector)).evaluate((it, value) => void (/** @type {HTMLInputElement} */ (it).value = value), text);
}

/** Types text once the element has the focus. @param {import('puppeteer-core').Page} page @param {string} selector @param {string} text */
export async function type(page, selector, text) {
  await focused(page, selector);
  await page.keyboard.type(text);
}

/** Presses a key once the element has the focus. @param {import('puppeteer-core').Page} page @param {string} selector @param {import('puppeteer-core').KeyInput} key */
export async function press(page, selector, key) {
  await focused(page, selector);
  await page.keyboard.press(key);
}

/** @param {import('puppeteer-core').Page} page @param {string} selector */
async function focused(page, selector) {
  await page.waitForFunction((wanted) => document.activeElement?.matches(wanted), { polling }, selector);
}

/**
 * Evaluates a function on the element once it exists.
 *
 * @template Result
 * @template {any[]} Arguments
 * @param {Where} where
 * @param {string} selector
 * @param {(element: any, ...given: Arguments) => Result} look runs in the page
 * @param {Arguments} given
 * @returns {Promise<Awaited<Result>>}
 */
export async function look(where, selector, look, ...given) {
  const element = await present(where, selector);
  return /** @type {any} */ (element.evaluate)(look, ...given);
}

/**
 * Waits until the condition holds for the element.
 *
 * @param {Where} where
 * @param {string} selector
 * @param {(element: any) => boolean} holds runs in the page
 */
export async function until(where, selector, holds) {
  await comesTo(() => look(where, selector, holds), true);
}

/**
 * Reads until the value is the wanted one. If that never happens, the error has the last value.
 *
 * @template Value
 * @param {() => Promise<Value>} read
 * @param {Value} wanted
 */
export async function comesTo(read, wanted) {
  for (const end = Date.now() + 30_000; Date.now() < end; await pause(polling)) {
    if (isDeepStrictEqual(await read(), wanted)) return;
  }
  assert.deepEqual(await read(), wanted);
}

/** @param {Where} where @param {string} selector @returns {Promise<string>} the text as rendered */
export const textOf = (where, selector) => look(where, selector, (it) => it.innerText);

/**
 * Waits until an element has this text. If that never happens, the error has the last text.
 *
 * @param {Where} where
 * @param {string} selector
 * @param {string | RegExp} wanted the whole rendered text, or a pattern in it
 */
export async function reads(where, selector, wanted) {
  const [source, flags] = typeof wanted === 'string' ? [] : [wanted.source, wanted.flags];
  await where.waitForFunction((it, text, pattern, how) => {
    const shown = /** @type {HTMLElement | null} */ (document.querySelector(it))?.innerText;
    return shown !== undefined && (pattern === undefined ? shown === text : new RegExp(pattern, how).test(shown));
  }, { polling, timeout: 30_000 }, selector, String(wanted), source, flags).catch(async (error) => {
    const shown = await textOf(where, selector).catch(() => undefined);
    if (shown === undefined) throw error;
    if (typeof wanted === 'string') assert.equal(shown, wanted);
    else assert.match(shown, wanted);
  });
}
