import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLabWithGateway } from '../support/lab-gateway.mjs';

const lab = useLabWithGateway();

/**
 * The sample in the protocol's documentation: a call with a signal, and the three fields of its
 * response. The client is anything with `call`.
 */
const sample = `
  const controller = new AbortController();
  started().then(() => controller.abort());
  const result = await client.call('export.pdf', { html: '<h1>Report</h1>', options: { pageSize: 'a4' } }, { signal: controller.signal });
  if (result.cancelled) {
    return 'PDF generation was cancelled';
  } else if (result.success) {
    return 'PDF ready: ' + result.data.pageCount;
  } else {
    return 'Failed: ' + result.error.code;
  }`;

/** The client of the documentation, which uses only `window.abp`. */
const documented = `
  class AbpClient {
    async call(capability, params, { signal, ...options } = {}) {
      if (signal?.aborted) return { success: false, cancelled: true };
      const callId = options.callId ?? crypto.randomUUID();
      const onAbort = () => window.abp.cancel(callId, signal.reason?.message);
      signal?.addEventListener('abort', onAbort, { once: true });
      try {
        return await window.abp.call(capability, params, { ...options, callId });
      } finally {
        signal?.removeEventListener('abort', onAbort);
      }
    }
  }
  await window.abp.initialize(lab.INITIALIZE);
  return new AbpClient();`;

/** @type {Record<string, string>} */
const clients = {
  'the documented class over window.abp': documented,
  'window.abp itself': 'await window.abp.initialize(lab.INITIALIZE); return window.abp',
  'connectPort()': 'return lab.connect(host)',
  'connectWindow()': `
    const { contentWindow } = await lab.frame('/lab/');
    while (!contentWindow.lab) await lab.turn();
    return contentWindow.lab.agents.connectWindow(window, { origin: location.origin })`,
  'connectWebSocket()': 'return lab.agents.connectWebSocket(urls.agent)',
};

for (const [name, source] of Object.entries(clients)) {
  test(`the published sample client works unchanged with ${name}`, async () => {
    const seen = await lab.run(
      async (lab, source, sample, urls) => {
        const host = await lab.newHost();
        const make = (/** @type {any[]} */ ...given) => new /** @type {any} */ ((async () => {}).constructor)(...given);
        /** @type {string} */
        let mode = '';
        let aborted = 0;
        host.register('export.pdf', { inputSchema: { type: 'object', required: ['html'] } }, async (/** @type {any} */ _, /** @type {any} */ { signal }) => {
          if (mode === 'complete') return { pageCount: 3 };
          if (mode === 'fail') throw Object.assign(new Error('No fonts'), { code: 'PRECONDITION_FAILED' });
          return new Promise((_, reject) => signal.addEventListener('abort', () => {
            aborted += 1;
            reject(signal.reason);
          }));
        });
        host.expose(window);
        host.acceptMessages();
        await lab.join(host, urls.app);
        const client = await make('lab', 'host', 'urls', source)(lab, host, urls);
        const run = make('client', 'started', sample);
        const never = () => new Promise(() => {});
        const said = [];
        for (mode of ['complete', 'fail']) said.push(await run(client, never));
        mode = 'hold';
        const started = () => lab.event(host, (/** @type {any} */ it) => it.type === 'call' && it.state === 'running');
        said.push(await run(client, started));
        const already = await client.call('export.pdf', {}, { signal: AbortSignal.abort() });
        const before = host.stats().calls;
        const missing = await client.call('export.pdf', {}, {});
        // The documentation's client returns no more than this.
        delete already.metadata;
        return { said, aborted, already, sent: host.stats().calls - before, missing: missing.error.code, inFlight: host.stats().inFlight };
      },
      source,
      sample,
      lab.urls,
    );
    assert.deepEqual(seen, {
      said: ['PDF ready: 3', 'Failed: PRECONDITION_FAILED', 'PDF generation was cancelled'],
      aborted: 1,
      already: { success: false, cancelled: true },
      // The call that lacks its parameter was accepted, and then failed the check.
      sent: 1,
      missing: 'MISSING_PARAM',
      inFlight: 0,
    });
  });
}
