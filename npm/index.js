/**
 * The host: a page's capabilities, and the agents that call them.
 */
import { load } from './wasm.js';

/**
 * Makes a host.
 *
 * @param {object} options see `HostOptions` in the types
 */
export async function createHost(options) {
  const { newHost } = await load();
  const host = newHost(options ?? {});
  if (host instanceof Error) throw host;
  return host;
}
