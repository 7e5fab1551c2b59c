import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useLabWithGateway } from '../support/lab-gateway.mjs';

const lab = useLabWithGateway();

/** The ways in which an agent connects to the host, as source for the page. @type {Record<string, string>} */
const wires = {
  'a MessagePort': 'return lab.rawPort(host)',
  'a MessagePort, for an agent of ours': 'return lab.connect(host)',
  'a WebSocket': 'return lab.rawSocket(urls.agent)',
  'a WebSocket, for an agent of ours': 'return lab.agents.connectWebSocket(urls.agent)',
};

for (const [wire, source] of Object.entries(wires)) {
  test(`a call that completes while its cancel is on its way over ${wire} gives its result, and the cancel says so`, async () => {
    const seen = await lab.run(
      async (lab, source, urls) => {
        const host = await lab.newHost();
        await lab.join(host, urls.app);
        const caller = await new /** @type {any} */ ((async () => {}).constructor)('lab', 'host', 'urls', source)(lab, host, urls);
        const call = caller.call('test.hold', {}, { callId: 'close' });
        await caller.call('test.started', { callId: 'close' });
        /** @type {string[]} */
        const order = [];
        const release = caller.call('test.release', { callId: 'close' });
        // Agents of this package send a call at the end of the current task.
        await undefined;
        const cancel = caller.cancel('close');
        const answers = [call.then((/** @type {any} */ it) => (order.push('call'), it)), cancel.then((/** @type {any} */ it) => (order.push('cancel'), it))];
        const [response, confirmation] = await Promise.all(answers);
        await release;
        return { order, success: response.success, data: response.data, confirmation };
      },
      source,
      lab.urls,
    );
    assert.deepEqual(seen, {
      order: ['call', 'cancel'],
      success: true,
      data: { released: true },
      confirmation: { callId: 'close', cancelled: false, reason: 'Operation already completed' },
    });
  });
}
