/**
 * The host: a page's capabilities, and the agents that call them.
 */
import { LIMITS, OF_HOST, problemWithOptions } from '../src/web/js/descriptor.js';
import { abpError, invalid, thrown } from '../src/web/js/errors.js';
import { guarded } from '../src/web/js/guard.js';
import { bare } from '../src/web/js/read.js';
import { load } from './host-wasm.js';

export { CapHostError } from '../src/web/js/errors.js';

/**
 * Makes a host.
 *
 * @param {any} given see `HostOptions` in the types
 */
export async function createHost(given) {
  const options = bare(given, OF_HOST);
  const handle = await load();
  const unfit = problemWithOptions(options);
  if (unfit) throw thrown(invalid(unfit));
  // Wasm reads undefined as NaN.
  const host = guarded(handle).make(handle, options.app, ...LIMITS.map((name) => options[name]));
  if (!host) throw abpError('INTERNAL_ERROR', 'The wasm instance is lost');
  const { shell } = host;
  shell.liveness = options.liveness ?? shell.liveness;
  shell.settleGrace = options.settleGrace ?? shell.settleGrace;
  shell.cancelUndeclared = options.cancelUndeclared === true;
  return host;
}
