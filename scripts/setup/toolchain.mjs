import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, must, which } from '../command.mjs';
import { root } from '../paths.mjs';

/**
 * Installs what rust-toolchain.toml asks for: the compiler, clippy, rustfmt and the wasm target.
 *
 * @param {(line: string) => void} say
 */
export async function ensureToolchain(say) {
  const { channel, components, targets } = pinned();
  if (complete(targets)) return;
  if (!which('rustup')) {
    throw new Error(`Rust ${channel} with ${targets.join(', ')} is needed: install rustup from https://rustup.rs`);
  }
  say(`installing Rust ${channel} with ${[...components, ...targets].join(', ')} (about a minute)`);
  const parts = [
    ...components.flatMap((name) => ['--component', name]),
    ...targets.flatMap((name) => ['--target', name]),
  ];
  await must('rustup', ['toolchain', 'install', channel, '--profile', 'minimal', ...parts], { toStderr: true });
}

function pinned() {
  const text = readFileSync(join(root, 'rust-toolchain.toml'), 'utf8');
  const value = (/** @type {string} */ key) => new RegExp(`^${key}\\s*=\\s*(.*)$`, 'm').exec(text)?.[1] ?? '';
  const list = (/** @type {string} */ key) => [...value(key).matchAll(/"([^"]+)"/g)].map(([, name]) => String(name));
  const [channel] = list('channel');
  if (channel === undefined) throw new Error('rust-toolchain.toml names no channel');
  return { channel, components: list('components'), targets: list('targets') };
}

/** @param {string[]} targets */
function complete(targets) {
  // Looks at the files: rustup's own lists take several times as long.
  const sysroot = ask('rustc', ['--print', 'sysroot']);
  if (sysroot === undefined) return false;
  const ending = process.platform === 'win32' ? '.exe' : '';
  return ['cargo', 'cargo-clippy', 'cargo-fmt'].every((tool) => existsSync(join(sysroot, 'bin', tool + ending)))
    && targets.every((target) => existsSync(join(sysroot, 'lib', 'rustlib', target, 'lib')));
}
