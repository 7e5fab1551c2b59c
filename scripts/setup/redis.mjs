import { run, which } from '../command.mjs';
import { installWithApt } from './system-packages.mjs';

/**
 * Finds a `redis-server` with its `redis-cli`, or gets them.
 *
 * @param {(line: string) => void} say
 */
export async function ensureRedis(say) {
  for (const get of [undefined, installRedisWithApt, installWithBrew]) {
    await get?.(say);
    if (which('redis-server') !== undefined && which('redis-cli') !== undefined) return;
  }
  throw new Error('the tests of several workers need redis-server and redis-cli on the PATH: install Redis with the packages of this system');
}

/** @param {(line: string) => void} say */
const installRedisWithApt = (say) => installWithApt(say, ['redis-server']);

/** @param {(line: string) => void} say */
async function installWithBrew(say) {
  if (which('brew') === undefined) return;
  say('installing redis with brew (about a minute)');
  await run('brew', ['install', 'redis'], { toStderr: true });
}
