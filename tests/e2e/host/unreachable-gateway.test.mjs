import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { freePort } from '../support/free-port.mjs';
import { startGateway } from '../support/gateway.mjs';
import { inLab, useLab } from '../support/lab.mjs';

const lab = useLab();
/** @type {Awaited<ReturnType<typeof startGateway>>} */
let gateway;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway?.stop());

/** @type {[string, () => Promise<string>][]} */
const places = [
  ['does not allow this page', async () => gateway.wsUrl],
  ['is not there', async () => `ws://127.0.0.1:${await freePort()}`],
];
for (const [what, place] of places) {
  test(`a gateway that ${what} is reported once in the console, and in each event`, async () => {
    await lab.begun;
    const url = `${await place()}/abp/app`;
    const page = await lab.page();
    try {
      /** @type {string[]} */
      const warnings = [];
      page.on('console', (message) => {
        if (message.text().startsWith('caphost:')) warnings.push(message.text());
      });
      const errors = await inLab(page, async ({ newHost }, url) => {
        const host = await newHost();
        /** @type {any[]} */
        const lost = [];
        await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
          host.observe((/** @type {any} */ { type, state, error }) => type === 'gateway' && state === 'disconnected' && lost.push(error) === 3 && resolve());
          host.connectGateway(url);
        });
        host.close();
        return lost;
      }, url);
      assert.deepEqual(errors, Array(3).fill({ code: 'DISCONNECTED', message: `The connection to ${url} failed`, retryable: true }));
      await page.evaluate('0');
      assert.deepEqual(warnings, [`caphost: ${url} cannot be connected to. Is the gateway running, and does it allow this page? If not: caphost serve --allow-origin ${lab.server.origin}. The page's Content-Security-Policy must allow it too: connect-src`]);
    } finally {
      await page.close();
    }
  });
}
