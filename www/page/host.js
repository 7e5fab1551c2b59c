/** @import { Host, HostEvent } from './types/protocol.js' */
import init, { createDemo } from './caphost_demo.js';

/** Of a gateway that wants one; the tab keeps it when the page is loaded anew. */
const TOKEN = 'caphost.token';

/** What the fragment of the address, `#token=<secret>`, says. */
const tokenInAddress = () => new URLSearchParams(location.hash.slice(1)).get('token');

/**
 * The token in the address, which is taken out of sight; or else the one that was there before.
 * @returns {string | undefined}
 */
function gatewayToken() {
  const given = tokenInAddress();
  if (given === null) return sessionStorage.getItem(TOKEN) ?? undefined;
  history.replaceState(history.state, '', location.pathname + location.search);
  sessionStorage.setItem(TOKEN, given);
  return given;
}

/**
 * Starts the demo app in this page: on `window.abp`, for messages of this origin, and through the
 * gateway that served the page.
 * @param {(event: HostEvent) => void} listener
 * @returns {Promise<Host>}
 */
export async function startHost(listener) {
  await init();
  const host = await createDemo();
  host.observe(listener);
  host.expose(window);
  host.acceptMessages({});
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
  const token = gatewayToken();
  // Another fragment alone loads nothing.
  addEventListener('hashchange', () => void (tokenInAddress() !== null && location.reload()));
  host.connectGateway(`${scheme}://${location.host}/abp/app`, token ? { token } : {});
  return host;
}
