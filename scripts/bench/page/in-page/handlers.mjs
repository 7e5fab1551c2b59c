/**
 * The functions that every contender serves.
 *
 * @typedef {{ signal: AbortSignal }} Context
 * @typedef {(params: any, context: Context) => Promise<any>} Handler
 */

/** The parameters of every call that is measured. */
export const params = { value: 1 };

/** @param {any} given */
export const echo = async (given) => given;

/** An echo that reads its signal, like a handler with real work. @param {any} given @param {Context} context */
export const attentive = async (given, { signal }) => {
  signal.throwIfAborted();
  return given;
};

/** How many `hold` calls have been stopped, for checks. */
export const seen = { stopped: 0 };

/** Settles when its signal fires. @param {any} _ @param {Context} context @returns {Promise<never>} */
export const hold = (_, { signal }) =>
  new Promise((_resolve, reject) => {
    const stop = () => {
      seen.stopped += 1;
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
  });

/** Never settles, and ignores its signal. */
export const forever = () => new Promise(() => {});
