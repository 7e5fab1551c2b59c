import { attentive, echo, forever, hold } from './handlers.mjs';

/**
 * Loads the build of the package that is served at this path.
 *
 * @param {string} at
 */
export const load = async (at) => {
  const [{ createHost }, agents] = await Promise.all([import(/** @type {any} */ (`${at}/index.js`)), import(/** @type {any} */ (`${at}/agent.js`))]);
  return { createHost, ...agents };
};

/** Limits that no measurement reaches, so that no call is refused. */
const noLimits = { maxRequestsPerSecond: 1e9, maxInFlight: 1_000_000, maxSessions: 100_000 };

/**
 * Makes a host with the capabilities that all contenders have.
 *
 * @param {{ createHost: any }} build
 * @param {string} [id] of the app
 */
export async function newHost({ createHost }, id = 'bench') {
  const host = await createHost({ app: { id, name: 'Benchmark', version: '1' }, ...noLimits });
  for (const [name, handler] of Object.entries({ echo, attentive, hold, forever })) host.register(name, {}, handler);
  return host;
}

/** @param {any} host @returns {Promise<any>} the object that would be `window.abp`, with a session */
export async function inPage(host) {
  /** @type {any} */
  const target = {};
  host.expose(target);
  await target.abp.initialize({ agent: { name: 'bench', version: '1' }, protocolVersion: '0.1', features: {} });
  return target.abp;
}

/**
 * Makes a host that is exposed on this window, and connected to the gateway if there is one.
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
      // Observing events costs time.
      stop();
      resolve(undefined);
    });
    host.connectGateway(gateway);
  });
}
