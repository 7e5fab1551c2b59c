import { CapHostError, connectPort } from 'caphost/agent';

const said = document.getElementById('said');
const worker = new Worker('worker.js', { type: 'module' });
const agent = await connectPort(worker, { agent: { name: 'Example page', version: '1.0.0' } });

try {
  const call = agent.start('primes.below', { end: 100_000 });
  for await (const { percentage } of call) said.value = `${percentage} %`;
  said.value = `${await call.result} primes`;
  // The handler calls this function, and waits for what it returns.
  const list = await agent.as().primes.each({ end: 20, onPrime: (prime) => `<${prime}>` });
  said.value += `, ${list.join(' ')}`;
  // This call would take too long, so it is cancelled.
  await agent.invoke('primes.below', { end: 1e12 }, { signal: AbortSignal.timeout(500) });
} catch (error) {
  if (error.name === 'AbortError') said.value += `, and a call that was stopped (${error.stop}) after half a second`;
  else if (error instanceof CapHostError) said.value = `${error.code}: ${error.message}`;
  else throw error;
}
