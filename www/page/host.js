/** @import { Host, HostEvent } from './types/protocol.js' */
import init, { createDemo } from './caphost_demo.js';

/** The storage key of the gateway's token. The tab keeps the token when the page reloads. */
const TOKEN = 'caphost.token';

/** Returns the token in the address's fragment, `#token=<secret>`. */
const tokenInAddress = () => new URLSearchParams(location.hash.slice(1)).get('token');

/**
 * Returns the token of the address, which is then removed from the address; or else the token from
 * before.
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
  // A change of the fragment alone reloads nothing.
  addEventListener('hashchange', () => void (tokenInAddress() !== null && location.reload()));
  host.connectGateway(`${scheme}://${location.host}/abp/app`, token ? { token } : {});
  return host;
}
