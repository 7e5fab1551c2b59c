import { describe, test } from 'node:test';
import { runInPage, vectorsWithout } from '../support/conformance.mjs';
import { inLab, useLab } from '../support/lab.mjs';

const lab = useLab();

/** Vectors without a session. They do not exist in JSON-RPC: a call opens a session, and shutdown ends everything. */
const beyondJsonRpc = ['Cancel without active session', 'Cancel after shutdown'];

/**
 * Removes reasons and the order of confirmations: a JSON-RPC cancel carries no reason and gets no confirmation.
 *
 * @param {import('../support/conformance.mjs').Vector} vector
 */
function withoutReasons({ steps, ...vector }) {
  const reasons = steps.flatMap(({ reason }) => reason ?? []);
  const unreasoned = (/** @type {string} */ key, /** @type {unknown} */ value) => (key === 'reason' && reasons.includes(value) ? 'The call was cancelled' : value);
  return { ...vector, steps: steps.filter(({ order }) => !order).map((step) => (step.with ? { ...step, with: JSON.parse(JSON.stringify(step.with, unreasoned)) } : step)) };
}

for (const [method, key] of [['$/cancel_request', 'requestId'], ['$/cancelRequest', 'id']]) {
  describe(`JSON-RPC on a MessagePort, cancelled with ${method}`, () => {
    for (const vector of vectorsWithout('signals').filter(({ name }) => !beyondJsonRpc.includes(name))) {
      test(vector.name, { timeout: 30_000 }, async () => {
        await lab.inPage(async (page) => {
          await inLab(page, async ({ newHost, rawPort }, method, key) => {
            const { jsonRpcDriver } = await import(`${location.origin}/conformance/json-rpc-driver.js`);
            Object.assign(globalThis, { driver: jsonRpcDriver(await rawPort(await newHost(), false), method, key) });
          }, method, key);
          await runInPage(page, withoutReasons(vector));
        });
      });
    }
  });
}
