import { echo } from './handlers.mjs';

/**
 * Libraries that call functions behind a MessagePort, each set up according to its documentation.
 * None of them has a cancel that reaches the function. Each adapter receives its library as an
 * argument, so this module works without the libraries.
 *
 * @typedef {(library: any, far: MessagePort, near: MessagePort) => Promise<(given: any) => Promise<any>>} Connect
 */

/** @type {Connect} */
export async function comlink({ expose, wrap }, far, near) {
  expose({ echo }, far);
  const remote = wrap(near);
  return (given) => remote.echo(given);
}

/** @type {Connect} */
export async function penpal({ connect, PortMessenger }, far, near) {
  connect({ messenger: new PortMessenger({ port: far }), methods: { echo } });
  const remote = await connect({ messenger: new PortMessenger({ port: near }) }).promise;
  return (given) => remote.echo(given);
}

/** @type {Connect} */
export async function birpc({ createBirpc }, far, near) {
  /** @param {MessagePort} port */
  const channel = (port) => ({
    post: (/** @type {any} */ data) => port.postMessage(data),
    on: (/** @type {(data: any) => void} */ listener) => (port.onmessage = ({ data }) => listener(data)),
  });
  createBirpc({ echo }, channel(far));
  const remote = createBirpc({}, channel(near));
  return (given) => remote.echo(given);
}

/** @type {Connect} */
export async function comctx({ defineProxy }, far, near) {
  /** @param {MessagePort} port */
  const adapter = (port) => ({
    sendMessage: (/** @type {any} */ message, /** @type {Transferable[]} */ transfer) => port.postMessage(message, transfer),
    onMessage(/** @type {(message: any) => void} */ callback) {
      const listener = (/** @type {MessageEvent} */ { data }) => callback(data);
      port.addEventListener('message', listener);
      port.start();
      return () => port.removeEventListener('message', listener);
    },
  });
  const [provide, inject] = defineProxy(() => ({ echo }));
  provide(adapter(far));
  const remote = inject(adapter(near));
  return (given) => remote.echo(given);
}

/** The worker end of kkrpc takes anything that posts messages. @type {Connect} */
export async function kkrpc({ RPCChannel, WorkerParentIO }, far, near) {
  new RPCChannel(new WorkerParentIO(far), { expose: { echo } });
  const remote = new RPCChannel(new WorkerParentIO(near)).getAPI();
  return (given) => remote.echo(given);
}

/** @type {Connect} */
export async function capnweb({ RpcTarget, newMessagePortRpcSession }, far, near) {
  class Service extends RpcTarget {
    /** @param {any} given */
    echo(given) {
      return echo(given);
    }
  }
  newMessagePortRpcSession(far, new Service());
  const remote = newMessagePortRpcSession(near);
  return (given) => remote.echo(given);
}

export const portPeers = { comlink, penpal, birpc, comctx, kkrpc, capnweb };
