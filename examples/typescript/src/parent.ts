import { connectWindow } from 'caphost/agent';
import type { Caps } from './capabilities.ts';

const element = <Type extends Element>(selector: string): Type => {
  const found = document.querySelector<Type>(selector);
  if (!found) throw new Error(`The page has no ${selector}`);
  return found;
};
const [start, stop] = [element<HTMLButtonElement>('#start'), element<HTMLButtonElement>('#stop')];
const [bar, said] = [element<HTMLProgressElement>('#bar'), element<HTMLOutputElement>('#said')];

const frame = element<HTMLIFrameElement>('iframe').contentWindow;
if (!frame) throw new Error('The frame has no window');
const agent = await connectWindow<Caps>(frame, { agent: { name: 'Example parent', version: '1.0.0' } });

const { words, longest } = await agent.invoke('text.words', { texts: ['one two', 'three'] });
said.value = `${words} words, the longest is ${longest ?? 'none'}`;

start.onclick = async () => {
  const controller = new AbortController();
  stop.onclick = () => controller.abort('The user pressed Stop');
  start.disabled = true;
  stop.disabled = false;
  const response = await agent.call('primes.count', { below: 100_000_000 }, {
    signal: controller.signal,
    onProgress: ({ percentage }) => { bar.value = percentage ?? 0; },
  });
  start.disabled = false;
  stop.disabled = true;
  if (response.success) said.value = `${response.data.primes} primes`;
  else if (response.cancelled) said.value = `Stopped: ${response.metadata.stop}`;
  else said.value = `${response.error.code}: ${response.error.message}`;
};
start.disabled = false;
