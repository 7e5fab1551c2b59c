import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { must } from '../command.mjs';
import { root, targetDir } from '../paths.mjs';
import { unlessDone } from './stamp.mjs';

const target = 'wasm32-unknown-unknown';

// The features that rustc uses by default for wasm32. A stripped module no longer lists them.
const features = [
  'bulk-memory',
  'bulk-memory-opt',
  'call-indirect-overlong',
  'multivalue',
  'mutable-globals',
  'nontrapping-float-to-int',
  'reference-types',
  'sign-ext',
].map((feature) => `--enable-${feature}`);

/** The folder of cargo's sources. Its path is kept out of modules: it adds bytes and differs from machine to machine. */
const registry = join(process.env.CARGO_HOME ?? join(homedir(), '.cargo'), 'registry', 'src');
const rustFlags = [...(process.env.RUSTFLAGS ?? '').split(' ').filter(Boolean), `--remap-path-prefix=${registry}=.`];

/**
 * Compiles a crate's library to wasm with its JavaScript glue.
 *
 * @param {object} options
 * @param {string} options.crate
 * @param {string} [options.library] the library's name, if it is not the crate's
 * @param {string} options.profile the cargo profile
 * @param {string} options.out the folder for `<name>.js`, `<name>.d.ts`, `<name>_bg.wasm` and `snippets/`
 * @param {string} options.name
 * @param {string[]} [options.withFeatures] the cargo features; by default the crate's default features
 * @param {string} [options.bindgenTarget] the target for which wasm-bindgen writes its JavaScript
 * @param {string[]} [options.optimize] arguments for wasm-opt, which does not run without them
 * @param {string} options.wasmBindgen the folder that holds the program
 * @returns {Promise<boolean>} whether anything changed
 */
export async function buildWasm({ crate, library = crate.replaceAll('-', '_'), profile, out, name, withFeatures, bindgenTarget = 'web', optimize = [], wasmBindgen }) {
  // Builds only the cdylib: cargo skips link-time optimisation when it also has to make an rlib.
  await must('cargo', [
    'rustc', '--locked', '--lib', '--crate-type', 'cdylib', '--package', crate, '--profile', profile, '--target', target,
    ...(withFeatures ? ['--no-default-features', '--features', withFeatures.join(',')] : []),
  ], { toStderr: true, env: { CARGO_ENCODED_RUSTFLAGS: rustFlags.join('\x1f') } });
  // Cargo's folder for the profile `dev` has another name.
  const folder = profile === 'dev' ? 'debug' : profile;
  const compiled = join(targetDir, target, folder, `${library}.wasm`);
  const wasmOpt = join(root, 'node_modules', 'binaryen', 'bin', 'wasm-opt');
  return unlessDone({
    // Two builds may use the same module, each in a folder of its own.
    name: `wasm-${basename(out)}`,
    inputs: [compiled, join(root, 'package-lock.json'), join(root, 'scripts', 'build')],
    settings: [wasmBindgen, bindgenTarget, ...optimize],
    outputs: [join(out, `${name}.js`), join(out, `${name}_bg.wasm`)],
  }, async () => {
    const fresh = `${out}.fresh`;
    rmSync(fresh, { recursive: true, force: true });
    await must(join(wasmBindgen, 'wasm-bindgen'), [
      compiled, '--target', bindgenTarget, '--out-dir', fresh, '--out-name', name,
    ], { quiet: true });
    if (optimize.length > 0) {
      const module = join(fresh, `${name}_bg.wasm`);
      await must(process.execPath, [wasmOpt, module, '-o', module, ...features, ...optimize], { quiet: true });
    }
    rmSync(out, { recursive: true, force: true });
    renameSync(fresh, out);
  });
}

/** @param {string[]} files @param {string} folder the target; only existing files are copied */
export function copyInto(files, folder) {
  mkdirSync(folder, { recursive: true });
  for (const file of files.filter((path) => existsSync(path))) {
    copyFileSync(file, join(folder, /** @type {string} */ (file.split(/[\\/]/).at(-1))));
  }
}
