/** The repository paths in documents and comments exist. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../../scripts/paths.mjs';

/** Matches paths that are built, installed or copied. */
const made = /(^|\/)(node_modules|target|pkg|dist|bundled|\.[^/]*)$|^pkg\.fresh$|^docs\/public\/(api|caphost)$/;

/** @param {string} folder @returns {string[]} files and folders below it, relative to the repository */
const below = (folder) => readdirSync(join(root, folder), { withFileTypes: true }).flatMap((it) => {
  const path = folder === '' ? it.name : `${folder}/${it.name}`;
  if (made.test(path)) return path === '.github' ? below(path) : [];
  return it.isDirectory() ? [path, ...below(path)] : [path];
});

const paths = below('');
/** All ends of all paths, because documents leave out beginnings that their reader knows, such as `gateway/src`. */
const ends = new Set(paths.flatMap((path) => path.split('/').map((_, at, parts) => parts.slice(at).join('/'))));

/** Matches a path that begins with a folder of the repository, or that ends like a file. */
const named = /(?<![\w./:@<>$~*-])(?:(?:src|gateway|docs|tests|examples|scripts|npm|www|macros)(?:\/[\w.-]*\w)+|(?:[\w-]+\/)+[\w.-]+\.(?:rs|mjs|js|ts|md|toml|yml|json))\b(?![*{/])/g;
/** Matches a path in the reader's own app or package. */
const elsewhere = /^(pkg|caphost|target|node_modules)\//;
const comments = /\/\*[^]*?\*\/|(?<![:'"`\w])\/\/.*|(?<=^|\s)#[^\n[!].*/g;

/** @param {string} text @param {boolean} isDocument @returns {string[]} the paths in the text that do not exist */
function dead(text, isDocument) {
  const said = isDocument ? text : (text.match(comments) ?? []).join('\n');
  return (said.match(named) ?? []).filter((path) => !elsewhere.test(path) && !made.test(path) && !ends.has(path) && !ends.has(`${path}.rs`));
}

test('a missing path is found, in a document and in a comment', () => {
  assert.deepEqual(dead('in `src/call` and `src/nowhere`, see broker/message.rs, broker/nothing.rs and https://x.example/docs/none', true), ['src/nowhere', 'broker/nothing.rs']);
  assert.deepEqual(dead("import 'src/code';\n// as src/nowhere does\n/** like\n * `gateway/src/none/of.rs` */", false), ['src/nowhere', 'gateway/src/none/of.rs']);
});

test('documents and comments name existing paths', () => {
  const read = paths.filter((path) => /\.(md|mjs|js|ts|rs|toml|yml|html|vue|css)$/.test(path) && !/^CHANGELOG|named-paths/.test(path));
  assert.ok(read.length > 500, `${read.length}`);
  const found = read.flatMap((path) => dead(readFileSync(join(root, path), 'utf8'), path.endsWith('.md')).map((it) => `${path}: ${it}`));
  assert.deepEqual(found, []);
});
