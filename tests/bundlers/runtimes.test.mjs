/**
 * The package in other runtimes than Node. The runtimes are large, so only those that are installed are
 * tested: install them here with `npm install --no-save bun deno`, or put them on the PATH.
 */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run, which } from '../../scripts/command.mjs';
import { packageDir } from '../../scripts/paths.mjs';

const here = dirname(fileURLToPath(import.meta.url));

/** The arguments with which each runtime runs a file. @type {Record<string, string[]>} */
const runtimes = { node: [], bun: [], deno: ['run', '--allow-read'] };

/** @type {string} */
let work;
before(() => {
  work = mkdtempSync(join(here, '.apps-'));
  cpSync(packageDir, join(work, 'node_modules', 'caphost'), { recursive: true });
  writeFileSync(join(work, 'package.json'), '{ "type": "module", "dependencies": { "caphost": "*" } }');
  writeFileSync(join(work, 'app.js'), `
    import { createHost } from 'caphost';
    const host = await createHost({ app: { id: 'app', name: 'App', version: '1.0.0' } });
    const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
    host.register('text.words', { inputSchema }, ({ text }) => text.split(' ').length);
    host.register('hold', {}, (_params, { signal }) => new Promise((_resolve, reject) => { signal.onabort = () => reject(signal.reason); }));
    const target = {};
    host.expose(target);
    const { abp } = target;
    await abp.initialize({ agent: { name: 'test', version: '1' }, protocolVersion: '0.1' });
    const words = (await abp.call('text.words', { text: 'one two three' })).data;
    const refused = (await abp.call('text.words', {})).error.code;
    const held = abp.call('hold', {}, { callId: 'held' });
    await new Promise((resolve) => setTimeout(resolve));
    const { cancelled, metadata: { stop } } = await abp.cancel('held');
    console.log(JSON.stringify({ words, refused, cancelled, stop, held: (await held).cancelled }));
    host.close();
  `);
});
after(() => rmSync(work, { recursive: true, force: true }));

for (const [name, args] of Object.entries(runtimes)) {
  const installed = join(here, 'node_modules', '.bin', name);
  const program = name === 'node' ? process.execPath : existsSync(installed) ? installed : which(name);
  test(`${name} imports the package and calls in the page`, { skip: !program && `there is no ${name} here`, timeout: 60_000 }, async () => {
    const { code, output } = await run(String(program), [...args, 'app.js'], { cwd: work, quiet: true, timeoutMs: 50_000 });
    assert.equal(code, 0, output);
    const told = JSON.parse(output.slice(output.indexOf('{')));
    assert.deepEqual(told, { words: 3, refused: 'MISSING_PARAM', cancelled: true, stop: 'returned', held: true });
  });
}
