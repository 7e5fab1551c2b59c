/** The agent of the playground: it calls the app in the page around it. */
import { connectWindow } from '../caphost/agent.js';

const [form, capability, about, params, call, cancel, progress, confirmation, response] =
  ['form', 'capability', 'about', 'params', 'call', 'cancel', 'progress', 'confirmation', 'response'].map((id) => document.getElementById(id));

/** The initial parameters of each capability. @type {Record<string, object>} */
const samples = { 'text.words': { text: 'Every call can be cancelled' }, 'count.to': { end: 500 }, 'deaf.wait': {}, 'primes.below': { end: 1e9 } };

const shown = (value) => JSON.stringify(value, undefined, 2);

try {
  const agent = await connectWindow(parent, { agent: { name: 'Frame agent', version: '1.0.0' } });
  const offered = await agent.listCapabilities();
  capability.append(...offered.map(({ name }) => new Option(name)));
  capability.onchange = () => {
    about.textContent = offered.find(({ name }) => name === capability.value)?.description ?? '';
    params.value = JSON.stringify(samples[capability.value] ?? {});
  };
  // Makes a first call, so that there is an answer to see before the reader makes a call.
  response.textContent = `text.words: ${shown(await agent.call('text.words', samples['text.words']))}`;
  capability.value = 'count.to';
  capability.onchange();
  call.disabled = false;

  form.onsubmit = async (event) => {
    event.preventDefault();
    const callId = crypto.randomUUID();
    progress.value = 0;
    confirmation.textContent = response.textContent = '';
    cancel.onclick = async () => {
      // Proof that a worker has ended takes two seconds.
      confirmation.textContent = 'cancel: waiting for the confirmation…';
      confirmation.textContent = `cancel: ${shown(await agent.cancel(callId, 'The reader pressed Cancel'))}`;
    };
    try {
      const running = agent.call(capability.value, JSON.parse(params.value), { callId, onProgress: ({ percentage }) => (progress.value = percentage ?? 0) });
      [call.disabled, cancel.disabled] = [true, false];
      response.textContent = `call: ${shown(await running)}`;
    } catch (error) {
      response.textContent = String(error);
    }
    [call.disabled, cancel.disabled] = [false, true];
  };
} catch (error) {
  about.textContent = error.message;
}
