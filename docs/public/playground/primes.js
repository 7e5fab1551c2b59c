/** Runs in a worker. It never awaits, so only the end of its worker stops it early. */
export default ({ end }) => {
  let primes = 0;
  for (let n = 2; n < end; n += 1) {
    let prime = true;
    for (let d = 2; d * d <= n && prime; d += 1) prime = n % d !== 0;
    if (prime) primes += 1;
  }
  return { primes };
};
