/**
 * The functions in the parameters of a call, which the agent lends to the handler until the end of the call.
 *
 * The parameters then have a member `caphost/callbacks`: `{ port, paths }`. Each path leads to an empty object
 * in the parameters, in the place of a function. The messages on the port, which belongs to the call:
 *
 * | what | from | message |
 * |---|---|---|
 * | a call of a function | host | `[number, place of its path, arguments]` |
 * | its outcome | agent | `[number, whether it returned, the value or the error]` |
 * | something could not be read | agent | `[0]` |
 * | the call has ended | host | `0` |
 */
import { Refusal, abpError, invalid, text } from './errors.js';
import { inspect } from './inspect.js';
import { carry } from './transfer.js';

/** The member of the parameters. */
const MEMBER = 'caphost/callbacks';

/** @typedef {{ end: () => void }} Borrowed the functions of one call; `end` gives them back */

/** @param {any} params of a call @returns {boolean} */
export const holdsFunctions = (params) => MEMBER in params;

/**
 * Puts the functions into the parameters. Each returns a promise.
 *
 * @param {any} params that nobody else has
 * @param {{ depth: number, size: number }} limits of the host, for what the functions answer
 * @returns {Borrowed}
 * @throws {Refusal} if the member is not valid
 */
export function borrow(params, { depth, size }) {
  const { port, paths } = Object(params[MEMBER]);
  delete params[MEMBER];
  if (!Array.isArray(paths) || !paths.every((path) => Array.isArray(path) && path.length > 0)) throw new Refusal(invalid(`Bad params["${MEMBER}"]: it is {port, paths}`));
  if (!(port instanceof MessagePort)) throw new Refusal(invalid(`Bad params.${paths[0]?.join('.')}: it is a function, and the transport of this agent carries only JSON`));
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  let asked = 0;
  let over = false;
  /** @param {string} why */
  const rejectAll = (why) => {
    for (const { reject } of waiting.values()) reject(abpError('CANCELLED', why));
    waiting.clear();
  };
  /** @param {number} place */
  const lent = (place) => (/** @type {unknown[]} */ ...args) => {
    const answered = new Promise((resolve, reject) => {
      if (over) throw abpError('CANCELLED', ENDED);
      asked += 1;
      carry([asked, place, args], (message, moved) => port.postMessage(message, moved), args);
      waiting.set(asked, { resolve, reject });
    });
    // A handler need not wait for a function.
    answered.catch(() => {});
    return answered;
  };
  paths.forEach((path, place) => put(params, path, lent(place)));
  port.onmessage = ({ data }) => {
    if (!Array.isArray(data)) return;
    const [number, returned, value] = data;
    const it = waiting.get(number);
    waiting.delete(number);
    const unfit = inspect(value, depth, size);
    if (unfit) it?.reject(abpError('INVALID_PARAMS', `The answer of a function of the agent ${unfit}`));
    else if (returned) it?.resolve(value);
    else if (number) it?.reject(Object.assign(new Error(), value, { message: text(value) }));
    else rejectAll(UNREADABLE);
  };
  port.onmessageerror = () => rejectAll(UNREADABLE);
  return {
    end() {
      if (over) return;
      over = true;
      port.postMessage(0);
      port.close();
      rejectAll(ENDED);
    },
  };
}

const ENDED = 'The call has ended, and its functions with it';
const UNREADABLE = 'A value that a function of the agent got or returned could not be read';

/**
 * @param {any} target
 * @param {string[]} path
 * @param {unknown} value
 * @throws {Refusal} if there is no such place
 */
function put(target, [name = '', ...rest], value) {
  if (!Object.hasOwn(Object(target), name)) throw new Refusal(invalid(`Bad params["${MEMBER}"]: a path leads nowhere`));
  if (rest.length > 0) put(target[name], rest, value);
  else target[name] = value;
}
