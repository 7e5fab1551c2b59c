/**
 * The memory that is held by a call in flight, by an ended call and by a session. Each is measured
 * in a page of its own, after a garbage collection.
 *
 * @typedef {import('./setting.mjs').Bench} Bench
 * @typedef {{ name: string, js: number, wasm: number, bytes: number, note?: string }} Held bytes of each; `js` is the growth of the page's heap, including DOM objects
 * @typedef {{ title: string, rows: Held[] }} Memory
 */

/** @typedef {{ js: number, wasm: number }} Usage */

/**
 * @param {Bench} bench
 * @returns {Promise<Memory[]>}
 */
export async function memory(bench) {
  const { quick, builds } = bench;
  const ways = /** @type {const} */ (['page', 'port']);
  const kinds = ways.flatMap((way) => [{ name: way === 'page' ? 'published sample' : 'ABP by hand', way }, ...builds.map(({ name, at }) => ({ name, way, at }))]
    .map((kind) => ({ ...kind, name: `${kind.name}, ${way === 'page' ? 'in the page' : 'over a MessagePort, both ends'}` })));
  const many = quick ? 100_000 : 1_000_000;
  const remembering = quick ? 1 : 4;
  const ring = 10_000;
  /** The number of calls after which the record of ended calls is full. */
  const settled = 20_000;
  const crowd = quick ? 50 : 200;
  /** @type {{ title: string, each: number, before?: Step[], steps: Step[] }[]} */
  const scenarios = [
    { title: 'a call in flight', each: 10_000, steps: [['fly', 10_000]] },
    { title: 'a call that has ended and is remembered', each: remembering * ring, before: [['openSessions', remembering]], steps: [['callInAll', ring]] },
    { title: 'an idle session', each: crowd, steps: [['openSessions', crowd]] },
    { title: 'a session after 65 calls, beyond the idle one', each: crowd, before: [['openSessions', crowd]], steps: [['callInAll', 65]] },
    { title: `all growth from ${settled.toLocaleString('en')} to ${many.toLocaleString('en')} calls`.replaceAll(',', ' '), each: 1, before: [['call', settled]], steps: [['call', many - settled]] },
  ];
  const results = [];
  for (const { title, each, before = [], steps } of scenarios) {
    const rows = [];
    for (const kind of kinds) {
      // The whole million of calls takes minutes over a port.
      const shorter = each === 1 && kind.way === 'port';
      const done = shorter ? steps.map(([step, count]) => /** @type {Step} */ ([step, Math.round(count / 10)])) : steps;
      const { js, wasm } = await grown(bench, kind, before, done);
      rows.push({ name: kind.name, js: js / each, wasm: wasm / each, bytes: (js + wasm) / each, ...(shorter && { note: 'a tenth of the calls' }) });
    }
    results.push({ title, rows });
  }
  return results;
}

/** @typedef {['fly' | 'call' | 'openSessions' | 'callInAll', number]} Step */

/** @param {Bench} bench @param {object} kind @param {Step[]} before @param {Step[]} steps @returns {Promise<Usage>} */
async function grown(bench, kind, before, steps) {
  const page = await bench.newPage({ watchMemory: true });
  try {
    const client = await page.createCDPSession();
    const usage = async () => {
      for (let i = 0; i < 3; i += 1) await client.send('HeapProfiler.collectGarbage');
      const { usedSize, embedderHeapUsedSize = 0 } = /** @type {any} */ (await client.send('Runtime.getHeapUsage'));
      const wasm = await page.evaluate(() => /** @type {any} */ (globalThis).wasmBytes());
      return { js: usedSize + embedderHeapUsedSize, wasm };
    };
    const run = (/** @type {Step} */ [step, count]) => page.evaluate(async (name, given) => (await import(/** @type {any} */ ('/bench/in-page/memory.mjs')))[name](given), step, count);
    await page.evaluate(async (given) => (await import(/** @type {any} */ ('/bench/in-page/memory.mjs'))).setUp(given), kind);
    for (const step of before) await run(step);
    const start = await usage();
    for (const step of steps) await run(step);
    const end = await usage();
    return { js: end.js - start.js, wasm: end.wasm - start.wasm };
  } finally {
    await page.close();
  }
}

/** Runs in a page before anything else. Records the memories of the wasm modules that the page loads. */
export function watchMemory() {
  /** @type {WebAssembly.Memory[]} */
  const memories = [];
  const note = (/** @type {any} */ result) => {
    const { exports } = result.instance ?? result;
    memories.push(...Object.values(exports).filter((it) => it instanceof WebAssembly.Memory));
    return result;
  };
  for (const name of /** @type {const} */ (['instantiate', 'instantiateStreaming'])) {
    const original = /** @type {any} */ (WebAssembly[name]);
    /** @type {any} */ (WebAssembly)[name] = async (/** @type {any[]} */ ...given) => note(await original.apply(WebAssembly, given));
  }
  const wasmBytes = () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  Object.assign(globalThis, { wasmBytes });
}
