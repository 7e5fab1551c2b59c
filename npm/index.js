/**
 * The host: a page's capabilities, and the agents that call them.
 */
import { problemWithApp } from '../src/web/js/descriptor.js';
import { invalid, thrown } from '../src/web/js/errors.js';
import { load } from './wasm.js';

/** In the order Rust takes them. */
const LIMITS = ['maxRemembered', 'maxInFlight', 'maxSessions', 'maxRequestsPerSecond', 'maxMessageBytes', 'maxDepth'];

/**
 * Makes a host.
 *
 * @param {any} options see `HostOptions` in the types
 */
export async function createHost(options) {
  const { HostHandle, newHost } = await load();
  const unfit = problemWithApp(options?.app) ?? problemWithLimits(options);
  if (unfit) throw thrown(invalid(unfit));
  return newHost(HostHandle, options.app, ...LIMITS.map((name) => options[name]));
}

/** @param {any} options @returns {string | undefined} what is wrong with them; an undefined one is the default */
function problemWithLimits(options) {
  const bad = LIMITS.find((name) => options[name] !== undefined && !(typeof options[name] === 'number' && options[name] >= 0));
  return bad && `${bad} is a number, not negative`;
}
