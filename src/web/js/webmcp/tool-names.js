/**
 * What capabilities are called as tools.
 */

/** A name the browser takes. */
const FIT = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Names of tools for the names of capabilities: the same where the browser takes that, else with
 * `_` for whatever it does not. Two that would be the same are told of, and neither gets one.
 *
 * @param {string[]} names
 * @returns {Map<string, string>} the tool's name to the capability's
 */
export function toolNames(names) {
  /** @type {Map<string, string[]>} */
  const claims = new Map();
  for (const name of names) {
    const tool = FIT.test(name) ? name : name.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 128);
    claims.set(tool, [...(claims.get(tool) ?? []), name]);
  }
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const [tool, [name, ...others]] of claims) {
    if (others.length > 0) console.warn(`caphost: ${[name, ...others].join(' and ')} are no tools: both would be ${tool}`);
    else if (name !== undefined) found.set(tool, name);
  }
  return found;
}
