/**
 * Agents for pages that Puppeteer or Playwright drives.
 */
import { PageMessenger, isGone } from '../src/web/js/automation/page-messenger.js';
import { abpError } from '../src/web/js/errors.js';
import { isAmount } from '../src/web/js/read.js';
import { connect } from './agent.js';

export { CapHostError } from '../src/web/js/errors.js';

/**
 * @param {any} page or frame of Puppeteer or Playwright
 * @param {import('../src/web/js/open.js').OpenOptions & { terminate?: boolean | { after?: number } }} [options]
 */
export async function attach(page, options = {}) {
  const { terminate } = options;
  const after = Object(terminate).after;
  if (terminate !== undefined && typeof terminate !== 'boolean' && !isAmount(after)) {
    throw abpError('INVALID_PARAMS', 'terminate must be true, false, or { after }, a number of milliseconds');
  }
  // An app that comes back has the origin of before.
  const place = options?.reconnect ? {} : undefined;
  const make = () => new PageMessenger(page, createHost, terminate, place);
  return connect(Object.assign(make, { isOver: () => isGone(page) }), options);
}

/** Loaded only for a page whose capabilities are tools. @param {object} options */
const createHost = async (options) => (await import('./index.js')).createHost(options);
