/**
 * Reading what somebody else has made: a message, an error, options. Nothing here throws.
 */

/** @param {unknown} value @returns {string} its type; `null`, `array` and `revoked` are no objects */
export function kindOf(value) {
  try {
    return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  } catch {
    // A proxy that was revoked.
    return 'revoked';
  }
}

/** @param {unknown} value */
export const isObject = (value) => kindOf(value) === 'object';

/**
 * @param {any} value
 * @param {string} path such as `options.callId`
 * @returns {any} undefined too for what cannot be read
 */
export function get(value, path) {
  try {
    for (const key of path.split('.')) value = isObject(value) ? value[key] : undefined;
    return value;
  } catch {
    return undefined;
  }
}

/**
 * @template {keyof Types} T
 * @param {T} type
 * @param {any} value
 * @param {string} path
 * @returns {Types[T] | undefined} what stands there, if it is of that type
 */
export function getA(type, value, path) {
  const found = get(value, path);
  return typeof found === type ? found : undefined;
}

/** @typedef {{ string: string, number: number, boolean: boolean }} Types */
