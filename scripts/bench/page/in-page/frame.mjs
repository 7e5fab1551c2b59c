import { load, newHost } from './caphost.mjs';
import { echo } from './handlers.mjs';

/** What a frame serves, by the name in its query. @type {Record<string, (value: string) => Promise<void>>} */
const kinds = {
  async raw() {
    addEventListener('message', ({ data }) => parent.postMessage(data, location.origin));
  },
  async caphost(at) {
    (await newHost(await load(at))).acceptMessages();
  },
  async comlink() {
    const { expose, windowEndpoint } = await import(/** @type {any} */ ('/peers/comlink.js'));
    expose({ echo }, windowEndpoint(parent));
  },
  async penpal() {
    const { connect, WindowMessenger } = await import(/** @type {any} */ ('/peers/penpal.js'));
    connect({ messenger: new WindowMessenger({ remoteWindow: parent }), methods: { echo } });
  },
};

const [[kind = '', value = ''] = []] = new URLSearchParams(location.search);
await kinds[kind]?.(value);
parent.postMessage('ready', location.origin);
