import { launchPuppeteer } from '../../tests/e2e/support/browsers.mjs';
import { buildRustApp } from '../../tests/e2e/support/rust-app.mjs';
import { serveFiles } from '../../tests/e2e/support/static-server.mjs';

/**
 * The cost of a checkpoint for a computation in Rust, when it is not yet time to yield to the event loop.
 *
 * @returns {Promise<{ rows: import('./rounds.mjs').Row[], close: () => Promise<void> }>}
 */
export async function checkpoints() {
  const server = await serveFiles({ folders: { '/rust-app-build/': await buildRustApp('demo') } });
  const launched = await launchPuppeteer();
  const page = await launched.newPage();
  await page.goto(server.url('/rust-app/'));
  await page.waitForSelector('html[data-ready]');
  await page.evaluate(setUp);
  const group = 'a round of a loop in Rust';
  /** @param {string} name */
  const perRound = (name) => () => page.evaluate((it) => /** @type {any} */ (globalThis).bench(it), name);
  return {
    rows: [
      { group, name: 'empty', unit: 'ns', measure: perRound('rust.loop') },
      { group, name: 'a checkpoint, with its turn of the event loop every 8 ms', base: 'empty', unit: 'ns', measure: perRound('rust.checkpoints') },
    ],
    close: async () => {
      await launched.close();
      await server.close();
    },
  };
}

/** Runs in the page. */
async function setUp() {
  const { abp } = /** @type {any} */ (globalThis);
  await abp.initialize({ agent: { name: 'bench', version: '1' }, protocolVersion: '0.1', features: {} });
  const rounds = 500_000;
  /** @param {string} name @returns {Promise<number>} nanoseconds per round */
  const bench = async (name) => {
    const start = performance.now();
    const { success } = await abp.call(name, { rounds });
    if (!success) throw new Error(`${name} failed`);
    return ((performance.now() - start) * 1e6) / rounds;
  };
  Object.assign(globalThis, { bench });
}
