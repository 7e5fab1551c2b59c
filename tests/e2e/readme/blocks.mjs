import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/paths.mjs';

const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The fenced blocks of README.md that have a file's name, by that name. @type {ReadonlyMap<string, string>} */
export const blocks = new Map(
  [...readme.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)].map(([, name = '', code = '']) => [name, code]),
);

/** @param {string} name @returns {string} */
export function block(name) {
  const code = blocks.get(name);
  if (code === undefined) throw new Error(`README.md has no block ${name}`);
  return code;
}

/** The shell commands of README.md, line by line. */
export const commands = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, code = '']) => code.trim().split('\n'));
