import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesUnder } from '../../../scripts/build/stamp.mjs';
import { root } from '../../../scripts/paths.mjs';

const folders = ['start', 'guide'].map((name) => join(root, 'docs', name));
const files = [join(root, 'README.md'), ...folders.flatMap(filesUnder).filter((path) => path.endsWith('.md'))];
const pages = files.map((path) => readFileSync(path, 'utf8'));

/** The fenced blocks with a file name in README.md and in the pages that it links to. */
export const named = pages.flatMap((page) => [...page.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)].map(([, name = '', code = '']) => ({ name, code })));

/** The blocks by their names. A block that appears twice is the same in both places. @type {ReadonlyMap<string, string>} */
export const blocks = new Map(named.map(({ name, code }) => [name, code]));

/** @param {string} name @returns {string} */
export function block(name) {
  const code = blocks.get(name);
  if (code === undefined) throw new Error(`No page has the block ${name}`);
  return code;
}

/** The shell commands of these pages, line by line, first those of README.md. */
export const commands = pages.flatMap((page) => [...page.matchAll(/^```sh\n(.*?)^```$/gms)]).flatMap(([, code = '']) => code.trim().split('\n'));
