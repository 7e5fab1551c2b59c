/** Hosts and agents in Node, on the built package. */
import { after } from 'node:test';
import { createHost } from 'caphost';
import { connectPort } from 'caphost/agent';

const INITIALIZE = /** @type {const} */ ({
  agent: { name: 'node', version: '1' },
  protocolVersion: '0.1',
  features: { notifications: true, progress: true, elicitation: false },
});

/** Makes a host that is closed after the tests. @param {Partial<import('caphost').HostOptions>} [options] */
export async function newHost(options) {
  const host = await createHost({ app: { id: 'app', name: 'App', version: '1' }, ...options });
  after(() => host.close());
  return host;
}

/**
 * Exposes a host as `window.abp` and opens a session.
 *
 * @param {import('caphost').Host} host
 * @returns {Promise<import('caphost').Abp>}
 */
export async function inPage(host) {
  /** @type {any} */
  const target = {};
  host.expose(target);
  await target.abp.initialize(INITIALIZE);
  return target.abp;
}

/**
 * A plain agent that posts messages over anything with `postMessage`.
 *
 * @param {(message: any) => void} post
 */
export function plainAgent(post) {
  /** @type {any[]} */
  const heard = [];
  /** @type {Set<() => void>} */
  const watchers = new Set();
  let next = 0;
  const self = {
    heard,
    /** @param {any} message */
    receive(message) {
      heard.push(message);
      for (const watch of [...watchers]) watch();
    },
    /** @param {(message: any) => boolean} fits @returns {Promise<any>} */
    hear: (fits) => new Promise((resolve) => {
      const look = () => {
        const found = heard.find(fits);
        if (found && watchers.delete(look)) resolve(found);
      };
      watchers.add(look);
      look();
    }),
    /** @param {string} type @param {any} payload @returns {Promise<any>} the payload of the answer */
    async ask(type, payload) {
      const id = `ask ${(next += 1)}`;
      post({ type, id, timestamp: 0, payload });
      return (await self.hear((it) => it.id === id)).payload;
    },
    initialize: () => self.ask('initialize', INITIALIZE),
  };
  return self;
}

/** A plain agent on a MessagePort. @param {import('caphost').Host} host */
export function onPort(host) {
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = plainAgent((message) => port2.postMessage(message));
  port2.onmessage = ({ data }) => agent.receive(data);
  after(() => port2.close());
  return Object.assign(agent, { hostPort: port1 });
}

/** The two ends of an extension's port, which carries JSON. */
export function extensionPorts() {
  const end = () => {
    /** @type {Set<(message: any) => void>} */
    const listeners = new Set();
    const event = (/** @type {Set<any>} */ set) => ({ addListener: (/** @type {any} */ it) => set.add(it), removeListener: (/** @type {any} */ it) => set.delete(it) });
    return { listeners, onMessage: event(listeners), onDisconnect: event(new Set()), disconnect() {}, postMessage: (/** @type {any} */ _) => {} };
  };
  const [one, other] = [end(), end()];
  const carry = (/** @type {typeof one} */ to) => (/** @type {any} */ message) => {
    const text = JSON.stringify(message);
    setImmediate(() => to.listeners.forEach((listener) => listener(JSON.parse(text))));
  };
  one.postMessage = carry(other);
  other.postMessage = carry(one);
  return [one, other];
}

export { connectPort };
