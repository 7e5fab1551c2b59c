/**
 * Reading what somebody else has made: a message, an error, options. Nothing here throws.
 */

/** @param {unknown} value @returns {value is Record<string, any>} false for null, an array, and a proxy that was revoked */
export function isObject(value) {
  try {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * @param {any} value
 * @param {string} key
 * @returns {any} undefined too for what cannot be read
 */
export function get(value, key) {
  try {
    return isObject(value) ? value[key] : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @template {keyof Types} T
 * @param {T} type
 * @param {any} value
 * @param {string} key
 * @returns {Types[T] | undefined} what stands there, if it is of that type
 */
export function getA(type, value, key) {
  const found = get(value, key);
  return typeof found === type ? found : undefined;
}

/** @typedef {{ string: string, number: number, boolean: boolean }} Types */
