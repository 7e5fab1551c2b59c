/** @import { Host, HostEvent } from './types/protocol.js' */
import init, { createDemo } from './caphost_demo.js';

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
  host.connectGateway(`${scheme}://${location.host}/abp/app`);
  return host;
}
