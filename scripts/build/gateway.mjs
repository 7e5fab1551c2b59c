import { must } from '../command.mjs';

/** Builds `caphost` with its command line, natively. */
export async function buildGateway() {
  await must('cargo', [
    'build', '--locked', '--release', '--package', 'caphost-gateway', '--bin', 'caphost',
  ], { toStderr: true });
}
