import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startAbpLiar } from './abp-liar.mjs';
import { startRapLiar } from './rap-liar.mjs';
import { liar, runSuite, those } from './suite.mjs';

/** @typedef {Record<string, [string[], string[]]>} Ways for each way to break the rules: the requirements that are run, and those of them that must be found broken */

/** @type {Ways} */
const abp = {
  'counts-on': [['01', '03', '04', '22'], ['03', '22']],
  completes: [['01', '03', '04', '22'], ['03', '04', '22']],
  'answers-twice': [['01', '04', '22'], ['01', '22']],
  'never-answers': [['01', '03'], ['01']],
  'keeps-data': [['01', '04'], ['04']],
  'confirms-anything': [['01', '05', '06'], ['05', '06']],
};
/** @type {Ways} */
const rap = {
  'counts-on': [['01', '05', '15'], ['05', '15']],
  'answers-twice': [['01', '05', '15'], ['01', '15']],
  'never-answers': [['01', '05'], ['01']],
  refuses: [['01', '02'], ['02']],
  'one-thread': [['01', '07'], ['07']],
};
/** @type {Ways} */
const jsonrpc = {
  'counts-on': [['01', '03', '04', '24'], ['04', '24']],
  'answers-twice': [['01', '03', '24'], ['01', '24']],
  'never-answers': [['01', '03'], ['01']],
  deaf: [['01', '04'], ['04']],
  'answers-cancelled': [['01', '03'], ['03']],
  dies: [['01', '05'], ['05']],
};

const ids = (/** @type {string} */ set, /** @type {string[]} */ numbers) => numbers.map((number) => `${set}-C-${number}`);

/** @param {string} set @param {string[]} run @param {string[]} broken @param {string[]} args */
async function finds(set, run, broken, args) {
  const found = await runSuite(String(args[0]), '--only', ids(set, run).join(','), ...args.slice(1));
  assert.equal(found.code, 1, found.output);
  assert.deepEqual(those(found, 'broken'), ids(set, broken), found.output);
  assert.deepEqual(those(found, 'held'), ids(set, run.filter((it) => !broken.includes(it))), found.output);
}

/** @param {(way: string) => Promise<{ url: string, stop: () => void }>} start @param {string} way @param {(url: string) => Promise<void>} work */
async function withLiar(start, way, work) {
  const peer = await start(way);
  try {
    await work(peer.url);
  } finally {
    peer.stop();
  }
}

/** @param {string[]} args @param {string[]} notOffered */
async function findsNothing(args, notOffered) {
  const found = await runSuite(...args);
  assert.deepEqual(those(found, 'broken'), [], found.output);
  assert.deepEqual([...those(found, 'not-run'), ...those(found, 'not-offered')], notOffered, found.output);
}

describe('the cancellation suite on peers of each dialect that break the rules', { concurrency: 7 }, () => {
  for (const [way, [run, broken]] of Object.entries(abp)) {
    test(`ABP: finds an app that ${way}`, () => withLiar(startAbpLiar, way, (url) => finds('ABP', run, broken, ['abp', '--url', url])));
  }
  for (const [way, [run, broken]] of Object.entries(rap)) {
    test(`RAP: finds a tool server that ${way}`, () => withLiar(startRapLiar, way, (url) => finds('RAP', run, broken, ['rap', '--url', url])));
  }
  for (const [way, [run, broken]] of Object.entries(jsonrpc)) {
    test(`JSON-RPC: finds a peer that ${way}`, () => finds('RPC', run, broken, ['jsonrpc', '--style', 'acp', '--', process.execPath, liar, 'acp', way]));
  }

  test('ABP: finds nothing in an app that keeps the rules', () => withLiar(startAbpLiar, 'honest', (url) => findsNothing(['abp', '--url', url], ['ABP-C-21'])));
  test('RAP: finds nothing in a tool server that keeps the rules', () => withLiar(startRapLiar, 'honest', (url) => findsNothing(['rap', '--url', url], [])));
  for (const style of ['acp', 'lsp']) {
    test(`JSON-RPC: finds nothing in a peer of ${style} that keeps the rules`, () => findsNothing(['jsonrpc', '--style', style, '--frames', 'lines', '--', process.execPath, liar, style, 'honest'], ['RPC-C-08', 'RPC-C-21', 'RPC-C-19', 'RPC-C-23']));
  }
});
