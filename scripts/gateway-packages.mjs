// Makes the npm packages to publish: node gateway-packages.mjs <folder> <archive>…. An archive is that of the
// gateway's program for one platform, such as caphost-linux-x64.tar.gz. The folder gets a package for each, and the
// package in pkg/, which names them as optional dependencies. Until they are published, a package that is built from a checkout does
// not name them: npm would ask the registry for names that could belong to anybody.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { copyInto } from './build/wasm.mjs';
import { must } from './command.mjs';
import { packageDir, root } from './paths.mjs';

/** The archives by their names, and for which systems npm installs their packages. */
const platforms = {
  'linux-x64': { os: 'linux', cpu: 'x64', libc: ['glibc'] },
  'linux-arm64': { os: 'linux', cpu: 'arm64', libc: ['glibc'] },
  'macos-arm64': { os: 'darwin', cpu: 'arm64', libc: undefined },
  'windows-x64': { os: 'win32', cpu: 'x64', libc: undefined },
};

/**
 * @param {string} folder
 * @param {string} archive
 * @param {Record<string, any>} main the description of the main package
 * @returns {Promise<string>} the name of the package
 */
async function packageOf(folder, archive, main) {
  const label = /^caphost-(.+)\.tar\.gz$/.exec(basename(archive))?.[1];
  const platform = platforms[/** @type {keyof typeof platforms} */ (label)];
  if (!platform) throw new Error(`${archive} is not the archive of one of ${Object.keys(platforms).join(', ')}`);
  const { os, cpu, libc } = platform;
  const out = join(folder, `gateway-${os}-${cpu}`);
  mkdirSync(out, { recursive: true });
  await must('tar', ['-xzf', archive, '-C', out], { quiet: true });
  copyInto(['LICENSE-MIT', 'LICENSE-APACHE'].map((name) => join(root, name)), out);
  const name = `@caphost/gateway-${os}-${cpu}`;
  writeFileSync(join(out, 'README.md'), `# ${name}\n\nThe program of the caphost gateway for ${os} on ${cpu}. The package [caphost](https://www.npmjs.com/package/caphost) installs it and runs it: \`npx caphost serve\`.\n`);
  const { version, homepage, repository, bugs, license } = main;
  const about = { name, version, description: `The program of the caphost gateway for ${os} on ${cpu}`, homepage, repository, bugs, license };
  write(out, { ...about, os: [os], cpu: [cpu], libc, preferUnplugged: true });
  return name;
}

/** @param {string} folder @param {object} description */
const write = (folder, description) => writeFileSync(join(folder, 'package.json'), `${JSON.stringify(description, null, 2)}\n`);

try {
  const [folder, ...archives] = process.argv.slice(2);
  if (!folder || archives.length === 0) throw new Error('usage: node gateway-packages.mjs <folder> <archive>…');
  rmSync(folder, { recursive: true, force: true });
  const main = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'));
  cpSync(packageDir, join(folder, 'caphost'), { recursive: true });
  const names = await Promise.all(archives.map((archive) => packageOf(folder, archive, main)));
  write(join(folder, 'caphost'), { ...main, optionalDependencies: Object.fromEntries(names.sort().map((name) => [name, main.version])) });
} catch (error) {
  console.error(`gateway-packages: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
