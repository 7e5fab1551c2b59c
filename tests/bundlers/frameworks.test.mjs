/** The examples for React and Vue in Vite: in development with hot reload, and built. */
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run } from '../../scripts/command.mjs';
import { root } from '../../scripts/paths.mjs';
import { click, comesTo } from '../e2e/support/hands.mjs';
import { first, useExample } from './as-a-reader.mjs';
import { here, openWatched, useWorkplace } from './workplace.mjs';

/** The file with the handler that is edited. @type {Record<string, string>} */
const examples = { react: 'src/Notes.jsx', vue: 'src/NoteList.vue' };

const place = useWorkplace();

/** @param {import('node:test').TestContext} t @param {string} url */
async function opened(t, url) {
  const { page, complaints } = await openWatched(place, t, url);
  /** @param {string} id @param {RegExp} text */
  const shows = (id, text) => page.waitForFunction((selector, source) => new RegExp(source).test(document.querySelector(selector)?.textContent ?? ''), {}, `#${id}`, text.source);
  /** How often the handler of `notes.count` ran. */
  const runs = () => page.evaluate(() => performance.getEntriesByName('notes.count').length);
  /** Calls as an agent of another vendor. */
  const count = () => page.evaluate(async () => {
    const abp = /** @type {any} */ (window).abp;
    if (!abp.initialized) await abp.initialize({ agent: { name: 'test', version: '1' }, protocolVersion: '0.1' });
    return (await abp.call('notes.count')).data;
  });
  /** Adds several notes in one turn of the page. @returns {Promise<any>} the answers to the agent, and the notes that are shown at that moment and afterwards */
  const addAtOnce = (/** @type {string[]} */ texts) => page.evaluate(async (texts) => {
    const abp = /** @type {any} */ (window).abp;
    const shown = () => [...document.querySelectorAll('#notes li')].map((it) => it.textContent);
    const counts = (await Promise.all(texts.map((text) => abp.call('notes.add', { text })))).map(({ data }) => data.count);
    const next = (await abp.call('notes.count')).data;
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 100)));
    return { counts, next, shown: shown() };
  }, texts);
  return { page, complaints, shows, runs, count, addAtOnce };
}

/** Does what a user does in the app. @param {Awaited<ReturnType<typeof opened>>} app */
async function works({ page, shows, runs, complaints }) {
  await shows('count', /^1 notes$/);
  assert.equal(await runs(), 1);
  await click(page, '#add');
  await shows('notes', /From the assistant/);
  await comesTo(() => page.$$eval('#notes li', (items) => items.length), 2);
  await click(page, '#export');
  await shows('said', /^[1-9]\d* %$/);
  await shows('running', /^1$/);
  await click(page, '#stop');
  await shows('said', /^Stopped: returned$/);
  await click(page, '#export');
  await click(page, 'cap-activity >>> .call.running .stop');
  await shows('said', /^Stopped: returned$/);
  await shows('running', /^0$/);
  assert.deepEqual(complaints, []);
}

for (const [name, edited] of Object.entries(examples)) {
  const example = useExample(name);

  test(`${name}: its README has the commands of this test, and no others`, () => {
    assert.deepEqual(example.commands, [...first(name), 'npm run dev', 'npm run build && npm run preview']);
  });

  test(`${name}: in development every call runs once, and a hot reload replaces the handler`, { timeout: 120_000 }, async (t) => {
    const { folder } = example;
    const app = await opened(t, await example.start(t, 'npm run dev'));
    await works(app);
    assert.equal(await app.count(), '2 notes');
    assert.deepEqual(await app.addAtOnce(['a', 'b', 'c']), { counts: [3, 4, 5], next: '5 notes', shown: ['Buy milk', 'From the assistant', 'a', 'b', 'c'] });

    const file = join(folder, edited);
    const source = readFileSync(file, 'utf8');
    writeFileSync(file, source.replace(' notes`', ' edited notes`'));
    await app.page.waitForFunction(async () => (await /** @type {any} */ (window).abp.call('notes.count')).data.includes('edited'), { polling: 200 });
    // React keeps the state of an edited component. Vue resets it.
    assert.equal(await app.count(), name === 'react' ? '5 edited notes' : '1 edited notes');

    // The module of the host is edited: a new host then serves the window.
    const host = join(folder, 'src', 'host.js');
    writeFileSync(host, readFileSync(host, 'utf8').replace("name: 'Notes'", "name: 'Edited notes'"));
    await app.page.waitForFunction(() => /** @type {any} */ (window).abp?.app.name === 'Edited notes', { polling: 200 });
    await app.page.waitForFunction(() => document.querySelector('#count')?.textContent?.includes('edited'), { polling: 200 });
    assert.match(await app.count(), /edited notes$/);
    assert.deepEqual(app.complaints, []);
  });

  test(`${name}: built, it works as well`, { timeout: 120_000 }, async (t) => {
    const app = await opened(t, await example.start(t, 'npm run build && npm run preview'));
    await app.shows('count', /^1 (edited )?notes$/);
    await works({ ...app, shows: async (id, text) => (id === 'count' ? app.shows(id, /notes$/) : app.shows(id, text)) });
  });

  test(`${name}: the example has the versions that are tested`, () => {
    const tested = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).devDependencies;
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'examples', name, 'package.json'), 'utf8'));
    for (const [wanted, version] of Object.entries({ ...dependencies, ...devDependencies })) if (wanted !== 'caphost') assert.equal(version, tested[wanted], wanted);
  });
}

test('react: a strict TypeScript project accepts the hooks, with a map of capabilities', { timeout: 120_000 }, async () => {
  const folder = join(place.work, 'typed');
  cpSync(join(root, 'examples', 'react', 'src', 'hooks.ts'), join(folder, 'hooks.ts'));
  writeFileSync(join(folder, 'uses.tsx'), `
    import type { Host } from 'caphost';
    import type { Agent } from 'caphost/agent';
    import { useAction, useActivity, useAgent, useCall, useCapability } from './hooks.ts';

    type Caps = {
      'notes.add': (params: { text: string }) => { count: number };
      'notes.count': () => string;
    };

    export function Notes({ host }: { host: Host<Caps> }) {
      useCapability(host, 'notes.add', { concurrency: 1 }, ({ text }, { signal }) => ({ count: signal.aborted ? 0 : text.length }));
      // @ts-expect-error there is no such capability
      useCapability(host, 'notes.ad', {}, () => ({ count: 1 }));
      // @ts-expect-error that is not what it returns
      useCapability(host, 'notes.add', {}, () => 'one');
      return <output>{useActivity(host).length}</output>;
    }

    export function Calls({ connect, untyped }: { connect: () => Promise<Agent<Caps>>; untyped: Agent }) {
      const whatever = useCall(untyped, 'whatever', { it: 1 });
      const agent = useAgent(connect);
      return agent ? <Called agent={agent} /> : <p>{whatever?.data}</p>;
    }

    function Called({ agent }: { agent: Agent<Caps> }) {
      const count = useCall(agent, 'notes.count');
      const add = useAction(agent, 'notes.add');
      // @ts-expect-error the text is missing
      void add.start();
      // @ts-expect-error a count is not what it gives
      count?.data?.count;
      return <button onClick={() => void add.start({ text: 'Milk' })}>{count?.data?.length} {add.progress?.percentage} {add.response?.data?.count}</button>;
    }
  `);
  const compilerOptions = {
    strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noImplicitOverride: true, verbatimModuleSyntax: true,
    target: 'es2023', module: 'esnext', moduleResolution: 'bundler', lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'], types: [],
    jsx: 'react-jsx', allowImportingTsExtensions: true, noEmit: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*'] }));
  const { code, output } = await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '--project', folder], { quiet: true, timeoutMs: 60_000 });
  assert.equal(code, 0, output);
});
