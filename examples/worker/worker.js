import { createHost } from '/caphost/index.js';

const host = await createHost({ app: { id: 'primes', name: 'Primes', version: '1.0.0' } });

host.register('primes.below', { description: 'Counts the primes below a number' }, async ({ end }, { signal, progress }) => {
  let primes = 0;
  for (let n = 2; n < end; n += 1) {
    let prime = true;
    for (let d = 2; d * d <= n && prime; d += 1) prime = n % d !== 0;
    if (prime) primes += 1;
    if (n % 10_000 === 0) {
      progress({ progress: n, total: end });
      // The worker receives a cancel here.
      await new Promise((resolve) => setTimeout(resolve));
      signal.throwIfAborted();
    }
  }
  return primes;
});

host.register('primes.each', { description: 'Gives each prime below a number to a function' }, async ({ end, onPrime }) => {
  const said = [];
  for (let n = 2; n < end; n += 1) {
    if ([...Array(n).keys()].slice(2).every((d) => n % d !== 0)) said.push(await onPrime(n));
  }
  return said;
});

host.acceptPort(self);
