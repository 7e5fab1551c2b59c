import init from './pkg/primes.js';

await init();

const abp = /** @type {NonNullable<typeof window.abp>} */ (window.abp);
await abp.initialize({ agent: { name: 'page', version: '1' }, protocolVersion: '0.1' });
const element = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (document.getElementById(id));
const say = (/** @type {string} */ text) => {
  element('said').textContent = text;
};
let calls = 0;

element('count').onclick = async () => {
  say('Counting…');
  const response = await abp.call('primes.count', { below: element('below').valueAsNumber }, { callId: `count-${calls += 1}` });
  if (response.success) say(`${response.data} primes`);
  else say(response.cancelled ? `Stopped: ${response.metadata?.stop}` : `${response.error?.message}`);
};
element('stop').onclick = () => abp.cancel(`count-${calls}`, 'Stopped by hand');
