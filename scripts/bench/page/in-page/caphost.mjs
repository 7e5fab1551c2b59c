import { attentive, echo, forever, hold } from './handlers.mjs';

/**
 * A build of the package, by the path it is served under.
 *
 * @param {string} at
 */
export const load = async (at) => {
  const [{ createHost }, agents] = await Promise.all([import(/** @type {any} */ (`${at}/index.js`)), import(/** @type {any} */ (`${at}/agent.js`))]);
  return { createHost, ...agents };
};

/** Limits that no measurement reaches: what is measured is the work, not the refusal. */
const noLimits = { maxRequestsPerSecond: 1e9, maxInFlight: 1_000_000, maxSessions: 100_000 };

/**
 * A host with the capabilities that all contenders have.
 *
 * @param {{ createHost: any }} build
 * @param {string} [id] of the app
 */
export async function newHost({ createHost }, id = 'bench') {
  const host = await createHost({ app: { id, name: 'Benchmark', version: '1' }, ...noLimits });
  for (const [name, handler] of Object.entries({ echo, attentive, hold, forever })) host.register(name, {}, handler);
  return host;
}

/** @param {any} host @returns {Promise<any>} what `window.abp` would be, with a session */
export async function inPage(host) {
  /** @type {any} */
  const target = {};
  host.expose(target);
  await target.abp.initialize({ agent: { name: 'bench', version: '1' }, protocolVersion: '0.1', features: {} });
  return target.abp;
}

/**
 * A host on this window, and at a gateway.
 *
 * @param {string} at
 * @param {string} [gateway]
 * @param {string} [id] of the app
 */
export async function serve(at, gateway, id) {
  const host = await newHost(await load(at), id);
  host.expose(window);
  Object.assign(window, { echo });
  if (gateway === undefined) return;
  await new Promise((resolve) => {
    const stop = host.observe((/** @type {any} */ { type, state }) => {
      if (type !== 'gateway' || state !== 'connected') return;
      // Events have a cost of their own.
      stop();
      resolve(undefined);
    });
    host.connectGateway(gateway);
  });
}
