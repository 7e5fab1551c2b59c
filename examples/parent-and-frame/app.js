import { createHost } from 'caphost';

const host = await createHost({ app: { id: 'counter', name: 'Counter', version: '1.0.0' } });

host.register('count.to', {
  description: 'Counts, about a hundred numbers a second',
  inputSchema: { type: 'object', properties: { end: { type: 'integer', minimum: 1 } }, required: ['end'] },
}, async ({ end }, { signal, progress }) => {
  for (let n = 1; n <= end; n += 1) {
    signal.throwIfAborted();
    progress({ progress: n, total: end });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return { counted: end };
});

host.acceptMessages();
