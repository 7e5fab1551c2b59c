import { must } from '../command.mjs';

/**
 * Builds `caphost` with its command line, natively.
 *
 * @param {object} [options]
 * @param {boolean} [options.quick] without optimising it: less than half the work, and it shares what cargo's tests build
 */
export async function buildGateway({ quick = false } = {}) {
  const profile = quick ? [] : ['--release'];
  await must('cargo', ['build', '--locked', ...profile, '--package', 'caphost-gateway', '--bin', 'caphost'], { toStderr: true });
}
