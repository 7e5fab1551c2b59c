import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from '../paths.mjs';

/**
 * Runs a step only when its inputs have changed since its last success, or an output is missing.
 *
 * @param {object} step
 * @param {string} step.name
 * @param {string[]} step.inputs files and folders, whose content is compared
 * @param {string[]} [step.settings] everything else that the outputs depend on
 * @param {string[]} step.outputs files
 * @param {() => void | Promise<void>} work
 * @returns {Promise<boolean>} whether the step ran
 */
export async function unlessDone({ name, inputs, settings = [], outputs }, work) {
  const stamp = join(root, 'target', 'stamps', name);
  const digest = digestOf(inputs, settings);
  const done = existsSync(stamp) && readFileSync(stamp, 'utf8') === digest && outputs.every((path) => existsSync(path));
  if (done) return false;
  await work();
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, digest);
  return true;
}

/** @param {string[]} inputs @param {string[]} settings */
function digestOf(inputs, settings) {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap(filesUnder)) {
    hash.update(`${relative(root, file)}\0`).update(readFileSync(file)).update('\0');
  }
  return hash.update(settings.join('\0')).digest('hex');
}

/** @param {string} path @returns {string[]} every file there, sorted; none when there is nothing */
export function filesUnder(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).sort().flatMap((name) => filesUnder(join(path, name)));
}
