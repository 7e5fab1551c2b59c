import 'caphost/activity';
import { createHost } from 'caphost';
import { primes, type Caps } from './capabilities.ts';
import primesWorker from './primes.ts?worker&url';
import { offerWords } from './words.ts';

const host = await createHost<Caps>({ app: { id: 'typed', name: 'Typed', version: '1.0.0' } });
offerWords(host);
host.registerWorker('primes.count', {
  description: 'Counts primes',
  inputSchema: primes.input,
  outputSchema: primes.output,
}, primesWorker);

const activity = document.querySelector('cap-activity');
if (activity) activity.host = host;
host.acceptMessages();
