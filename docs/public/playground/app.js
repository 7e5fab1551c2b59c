/** The app of the playground: a host with four capabilities, and a list of its events. */
import '../caphost/activity.js';
import { createHost } from '../caphost/index.js';

const host = await createHost({ app: { id: 'playground', name: 'Playground', version: '1.0.0' } });
document.querySelector('cap-activity').host = host;

host.register('text.words', {
  title: 'Count words', description: 'Counts the words of a text',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}, ({ text }) => ({ words: text.split(/\s+/).filter(Boolean).length }));

const counting = { type: 'object', properties: { end: { type: 'integer', minimum: 1 } }, required: ['end'] };

host.register('count.to', {
  title: 'Count up', description: 'Counts, and stops as soon as it is told to', inputSchema: counting,
}, async ({ end }, { signal, progress }) => {
  for (let n = 1; n <= end; n += 1) {
    progress({ progress: n, total: end, stage: `At ${n}` });
    await new Promise((resolve) => setTimeout(resolve, 20));
    signal.throwIfAborted();
  }
  return { counted: end };
});

host.register('deaf.wait', {
  title: 'Work on', description: 'Hears that it is to stop, and works on for four seconds',
}, async (_params, { signal }) => {
  void signal.aborted;
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  return 'too late';
});

host.registerWorker('primes.below', {
  title: 'Count primes', description: 'Computes in a worker without ever awaiting: it is ended with its worker', inputSchema: counting,
}, 'primes.js');

/** The text for each kind of event. @type {Record<string, (event: any) => string>} */
const words = {
  call: ({ state, capability, response }) => `${capability}: ${[state, response?.metadata?.stop].filter(Boolean).join(', ')}`,
  progress: ({ info }) => `progress: ${Math.round(info.percentage ?? 0)} %`,
  cancelling: ({ reason }) => ['told to stop', reason].filter(Boolean).join(': '),
  cancel: ({ response }) => `cancel: { cancelled: ${response.cancelled}${response.metadata ? `, stop: ${response.metadata.stop}` : ''} }`,
  ended: ({ after }) => `the work has ended, ${Math.round(after)} ms after its call`,
  session: ({ state, agent }) => `session ${state}: ${agent.name}`,
};

const timeline = document.getElementById('timeline');
let latest;

host.observe((event) => {
  const said = words[event.type]?.(event);
  if (!said) return;
  const time = document.createElement('time');
  time.textContent = new Date(event.time).toISOString().slice(11, 23);
  const item = document.createElement('li');
  item.append(time, ` ${said}`);
  // Only the newest progress is shown.
  if (event.type === 'progress' && latest === 'progress') timeline.firstChild.remove();
  latest = event.type;
  timeline.prepend(item);
  if (timeline.children.length > 200) timeline.lastChild.remove();
});

// The agent in the frame has the same origin.
host.acceptMessages();
