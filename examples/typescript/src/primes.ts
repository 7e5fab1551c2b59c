// Runs in a worker: it may compute without awaiting.
import type { WorkerHandlerOf } from 'caphost';
import type { Caps, primes } from './capabilities.ts';

/** Gets the parsed parameters: the schema has filled in defaults. */
export const count: WorkerHandlerOf<Caps, 'primes.count', typeof primes.input, typeof primes.output> = ({ below }, { cancelled, progress }) => {
  let found = 0;
  for (let n = 2; n < below; n += 1) {
    if (n % 10_000 === 0) {
      if (cancelled()) throw new Error('Stopped');
      progress({ progress: n, total: below });
    }
    let divisor = 2;
    while (divisor * divisor <= n && n % divisor !== 0) divisor += 1;
    if (divisor * divisor > n) found += 1;
  }
  return { primes: found };
};

// A bundler drops the exports of a worker, so the handler is the global `handler`.
Object.assign(globalThis, { handler: count });
