/**
 * Lends the functions in the parameters of a call to the app, until the end of the call. `borrowed.js` has the
 * messages. A page loads this part with its first such call.
 */

/** Milliseconds that the calls of functions have to arrive which the app made just before it ended the call. */
const LAST = 1_000;

/**
 * @typedef {object} Tools shared with the code that every page loads
 * @property {typeof import('../errors.js').abpError} abpError
 * @property {typeof import('../transfer.js').carry} carry
 * @property {typeof import('../plain.js').isPlain} isPlain
 */

/**
 * @param {{ closed: Promise<unknown> }} agent
 * @param {boolean} accepted whether the app accepts functions over this connection
 * @param {object} params that hold functions
 * @param {(params: object, port: MessagePort) => Promise<any>} invoke calls the capability, and moves the port
 * @param {Tools} tools
 * @returns {Promise<any>} the data of the call
 */
export async function lend(agent, accepted, params, invoke, { abpError, carry, isPlain }) {
  /** @type {((...args: any[]) => any)[]} */
  const lent = [];
  /** @type {string[][]} */
  const paths = [];
  /** @param {any} value @param {string[]} path @returns {any} a copy with an empty object in place of each function */
  const without = (value, path) => {
    if (typeof value === 'function') {
      if (!accepted) throw abpError('NOT_SUPPORTED', `Bad params.${path.join('.')}: it is a function, and this connection carries only data. Windows, ports and workers with an app of this package carry functions; attach, a gateway and the port of an extension carry JSON`);
      lent.push(value);
      paths.push(path);
      return {};
    }
    const list = Array.isArray(value);
    if (typeof value !== 'object' || value === null || !(list || isPlain(value))) return value;
    if (path.length > DEPTH) throw abpError('INVALID_PARAMS', `params.${path.join('.')} is nested too deep for functions`);
    if (list) return value.map((it, place) => without(it, [...path, String(place)]));
    return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, without(it, [...path, name])]));
  };
  const data = without(params, []);
  const { port1: port, port2 } = new MessageChannel();
  /** @type {Promise<void>} */
  const ended = new Promise((resolve) => {
    port.onmessage = async ({ data: message }) => {
      if (!Array.isArray(message)) return resolve();
      const [number, place, args] = message;
      /** @param {boolean} returned @param {unknown} value */
      const answer = (returned, value) => carry([number, returned, value], (it, moved) => port.postMessage(it, moved), value);
      try {
        answer(true, await lent[place]?.(...args));
      } catch (error) {
        answer(false, problemOf(error));
      }
      return undefined;
    };
  });
  port.onmessageerror = () => port.postMessage([0]);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  try {
    const result = await invoke({ ...data, 'caphost/callbacks': { port: port2, paths } }, port2);
    await Promise.race([ended, agent.closed, new Promise((resolve) => (timer = setTimeout(resolve, LAST)))]);
    return result;
  } finally {
    clearTimeout(timer);
    port.close();
    lent.length = 0;
  }
}

/** Levels of nesting at which functions are found. */
const DEPTH = 16;

/** @param {any} error that a function has thrown @returns {object} the part of it that can be sent */
function problemOf(error) {
  try {
    const { name, message = String(error), code } = Object(error);
    return { ...(typeof name === 'string' && { name }), message: String(message), ...(typeof code === 'string' && { code }) };
  } catch {
    return { message: 'It cannot be read' };
  }
}
