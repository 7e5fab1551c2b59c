import { describe, test } from 'node:test';
import { runVector, vectors } from '../support/conformance.mjs';
import { inLab, useLab } from '../support/lab.mjs';

const lab = useLab();

/** Without a session there is nothing to say in JSON-RPC: a call opens one, and shutdown ends all. */
const beyondJsonRpc = ['Cancel without active session', 'Cancel after shutdown'];

/** A cancel has no answer of its own, what came of it is told by the call's; nor a place for a reason. @param {any[]} steps */
function withoutConfirmations(steps) {
  const reasons = steps.flatMap(({ reason }) => reason ?? []);
  const unreasoned = (/** @type {string} */ key, /** @type {unknown} */ value) => (key === 'reason' && reasons.includes(value) ? 'The call was cancelled' : value);
  const cancels = new Set(steps.flatMap(({ cancel, as }) => (cancel && as ? [as] : [])));
  return steps
    .filter(({ order }) => !order)
    .map((step) => ({ ...step, ...(step.with?.data?.reason && { with: JSON.parse(JSON.stringify(step.with, unreasoned)) }) }))
    .map((step) => (step.cancel || cancels.has(step.settles) ? { ...step, with: undefined } : step));
}

/** As an ABPResponse. @param {any} answer */
function response({ result, error }) {
  if (result) return { success: true, ...result };
  if (error.code === -32800) return { success: false, cancelled: true };
  return { success: false, error: { ...error.data, message: error.message } };
}

for (const [method, key] of [['$/cancel_request', 'requestId'], ['$/cancelRequest', 'id']]) {
  describe(`JSON-RPC on a MessagePort, cancelled with ${method}`, () => {
    for (const vector of vectors().filter(({ name }) => !beyondJsonRpc.includes(name))) {
      test(vector.name, async () => {
        const page = await lab.page();
        try {
          await inLab(page, async ({ newHost, rawPort }) => {
            Object.assign(globalThis, { raw: await rawPort(await newHost(), false) });
          });
          const post = (/** @type {any} */ message) => page.evaluate((it) => /** @type {any} */ (globalThis).raw.post(it), { jsonrpc: '2.0', ...message });
          let last = 0;
          const request = async (/** @type {string} */ method, /** @type {any} */ params, /** @type {unknown} */ id = (last += 1)) => {
            await post({ id, method, params });
            return page.evaluate((id) => /** @type {any} */ (globalThis).raw.hear((/** @type {any} */ it) => it.id === id), id);
          };
          /** The requests' ids, by the callIds they came with. @type {Map<unknown, number>} */
          const ids = new Map();
          const call = async (/** @type {string} */ capability, /** @type {unknown} */ params, /** @type {any} */ options) => {
            const id = (last += 1);
            // The first with a callId is the one it names.
            if (options?.callId !== undefined && !ids.has(options.callId)) ids.set(options.callId, id);
            return response(await request('_capabilities/call', { capability, params, options }, id));
          };
          const driver = {
            call,
            cancel: (/** @type {string} */ callId) => post({ method, params: { [/** @type {string} */ (key)]: ids.get(callId) ?? 'never' } }),
            shutdown: () => request('shutdown', undefined),
            unordered: true,
          };
          await runVector({ ...vector, steps: withoutConfirmations(vector.steps) }, driver, '');
        } finally {
          await page.close();
        }
      });
    }
  });
}
