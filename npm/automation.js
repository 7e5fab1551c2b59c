/**
 * Agents for pages that Puppeteer or Playwright drives.
 */
import { PageMessenger } from '../src/web/js/automation/page-messenger.js';
import { connect } from './agent.js';

/**
 * @param {any} page of Puppeteer or Playwright
 * @param {import('../src/web/js/open.js').OpenOptions} [options]
 */
export async function attach(page, options = {}) {
  return connect(() => new PageMessenger(page), options);
}
