import { must } from '../command.mjs';

/**
 * Builds the native program `caphost`, which is the gateway and its command line.
 *
 * @param {object} [options]
 * @param {boolean} [options.quick] builds without optimisation: less than half the work, and shared with cargo's tests
 */
export async function buildGateway({ quick = false } = {}) {
  const profile = quick ? [] : ['--release'];
  await must('cargo', ['build', '--locked', ...profile, '--package', 'caphost-gateway', '--bin', 'caphost'], { toStderr: true });
}
