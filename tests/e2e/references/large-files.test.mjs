// Large files of a page in a browser reach their reader whole, on every way, with the memory of the gateway and the
// page flat. A cancel in the middle stops the page's work and leaves nothing on disk.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { useDemo } from '../support/demo.mjs';
import { memory, peakMemory, rendererOf, resetPeak } from '../support/memory.mjs';
import { rejection } from '../mcp/clients.mjs';
import { digest, names, waysTo } from './ways.mjs';

const full = process.env.CAPHOST_STORMS === 'full';
const MEGABYTES = full ? 500 : 20;
const MB = 1_000_000;
/** How much the memory of the gateway may grow while a file of any size passes. */
const OF_GATEWAY = 64 * MB;
/** The same of the page, whose browser clears away the pieces that were sent when it sees fit. */
const OF_PAGE = 256 * MB;
const timeout = full ? 900_000 : 120_000;

const demo = useDemo();
/** @type {number} */
let renderer;
/** @typedef {Awaited<ReturnType<typeof waysTo>>} Ways */

/** A megabyte that does not compress, of which the files of the second app consist. */
const PART = randomBytes(MB);

/** An app in the demo's page with files that do not compress. */
const openFiles = () => demo.page.evaluate(async (gateway, part) => {
  const { createHost } = await import(/** @type {any} */ ('/caphost/index.js'));
  const megabyte = new Blob([Uint8Array.from(atob(part), (it) => it.charCodeAt(0))]);
  const host = await createHost({ app: { id: 'files', name: 'Files', version: '1' } });
  // The reads of files, with how many bytes the page has read of each, and whether the gateway has stopped it.
  const reads = /** @type {{ bytes: number, stopped: boolean }[]} */ ([]);
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).startsWith('blob:')) return response;
    const read = { bytes: 0, stopped: false };
    reads.push(read);
    init?.signal?.addEventListener('abort', () => { read.stopped = true; });
    const counted = new TransformStream({
      transform(chunk, controller) {
        read.bytes += chunk.length;
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body?.pipeThrough(counted), { headers: response.headers });
  };
  Object.assign(globalThis, { reads });
  host.register('file.get', {}, async (/** @type {any} */ { megabytes }) => {
    const blob = new Blob(Array.from({ length: megabytes }, () => megabyte), { type: 'application/x-random' });
    return { downloadUrl: URL.createObjectURL(blob), mimeType: blob.type, size: blob.size, filename: 'random.bin' };
  });
  const connected = new Promise((resolve) => host.observe((/** @type {any} */ event) => event.state === 'connected' && resolve(event)));
  host.connectGateway(`${gateway}/abp/app`);
  await connected;
}, demo.gateway.wsUrl, PART.toString('base64'));

/** The digest of a file of that many megabytes. @param {number} megabytes */
function expected(megabytes) {
  const hash = createHash('sha256');
  for (let at = 0; at < megabytes; at += 1) hash.update(PART);
  return { size: megabytes * MB, hash: hash.digest('hex') };
}

/** The reads of files so far. @returns {Promise<{ bytes: number, stopped: boolean }[]>} */
const reads = () => demo.page.evaluate(() => /** @type {any} */ (globalThis).reads);

/** How many calls the page works on. */
const working = () => demo.page.$$eval('.call[data-state=running], .call[data-state=queued], .call[data-state=cancelling]', (cards) => cards.length);

/**
 * How much the memory of the gateway and of the page's process has grown at its most while `work` was done.
 *
 * @template Result @param {() => Promise<Result>} work
 */
async function measured(work) {
  const pids = [demo.gateway.pid, renderer];
  const before = await Promise.all(pids.map(async (pid) => {
    await resetPeak(pid);
    return memory(pid);
  }));
  const began = performance.now();
  const result = await work();
  const seconds = (performance.now() - began) / 1000;
  const peaks = await Promise.all(pids.map(peakMemory));
  const [gateway = 0, page = 0] = peaks.map((peak, index) => peak - (before[index] ?? 0));
  return { result, gateway, page, seconds };
}

/** @param {() => Promise<boolean>} holds */
async function until(holds) {
  while (!(await holds())) await sleep(20);
}

describe('large files of a page', () => {
  /** @type {Ways} */
  let archives;
  /** @type {Ways} */
  let files;
  before(async () => {
    await openFiles();
    [archives, files] = await Promise.all([waysTo(demo.gateway, 'caphost-demo'), waysTo(demo.gateway, 'files')]);
    renderer = await rendererOf(demo.page);
    // Code is loaded, and buffers have their size.
    await digest(await archives.ways[names[0]]('export.archive', { megabytes: 2 }));
    await digest(await files.ways[names[0]]('file.get', { megabytes: 2 }));
  }, { timeout });
  after(async () => {
    await archives?.leave();
    await files?.leave();
  });

  for (const [what, capability, params] of /** @type {const} */ ([
    ['the archive of the demo', 'export.archive', { megabytes: MEGABYTES, files: 4, seed: 3 }],
    ['a Blob that does not compress', 'file.get', { megabytes: MEGABYTES }],
  ])) {
    describe(`${what}, of ${MEGABYTES} MB`, () => {
      /** @type {Set<string>} */
      const digests = new Set();
      for (const name of names) {
        test(`reaches its reader whole: ${name}`, { timeout }, async (t) => {
          const { ways, files: written, clear } = capability === 'file.get' ? files : archives;
          const { result: { size, hash }, gateway, page, seconds } = await measured(async () => digest(await ways[name](capability, params)));
          t.diagnostic(`${name}: ${size} bytes in ${seconds.toFixed(1)} s; the gateway has ${(gateway / MB).toFixed(1)} MB more at most, the page ${(page / MB).toFixed(1)} MB`);
          if (capability === 'file.get') assert.deepEqual({ size, hash }, expected(MEGABYTES));
          digests.add(`${size} ${hash}`);
          assert.deepEqual([...digests], [`${size} ${hash}`], 'every way gives the same bytes');
          assert.ok(gateway < OF_GATEWAY, `the gateway has ${gateway / MB} MB more`);
          assert.ok(page < OF_PAGE, `the page has ${page / MB} MB more`);
          assert.equal((await written()).length, name.startsWith('caphost') ? 1 : 0);
          await clear();
        });
      }
    });
  }

  describe('a cancel in the middle', () => {
    for (const name of names) {
      test(`of the call stops the page's work and leaves nothing on disk: ${name}`, { timeout }, async () => {
        const controller = new AbortController();
        const calling = rejection(archives.ways[name]('export.archive', { megabytes: 500 }, controller.signal));
        await Promise.race([
          until(async () => (await working()) > 0),
          calling.then((error) => { throw error; }),
        ]);
        await sleep(100);
        controller.abort(new Error('enough'));
        await calling;
        await until(async () => (await working()) === 0);
        await until(async () => (await archives.files()).length === 0);
      });

      test(`of the reading stops the page's reading and leaves nothing on disk: ${name}`, { timeout }, async () => {
        const { length } = await reads();
        const controller = new AbortController();
        const reading = rejection((async () => digest(await files.ways[name]('file.get', { megabytes: 500 }, controller.signal)))());
        await Promise.race([
          until(async () => ((await reads())[length]?.bytes ?? 0) > 2 * MB),
          reading.then((error) => { throw error; }),
        ]);
        controller.abort(new Error('enough'));
        await reading;
        await until(async () => (await reads())[length]?.stopped === true);
        const { bytes = 0 } = (await reads())[length] ?? {};
        assert.ok(bytes < 500 * MB, `the page has read all of it: ${bytes}`);
        await sleep(200);
        assert.equal((await reads())[length]?.bytes, bytes);
        await until(async () => (await files.files()).length === 0);
      });
    }
  });
});
