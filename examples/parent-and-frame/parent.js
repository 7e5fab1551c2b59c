import { connectWindow } from 'caphost/agent';

const [start, stop, bar, said] = ['start', 'stop', 'bar', 'said'].map((id) => document.getElementById(id));
const frame = document.querySelector('iframe').contentWindow;
// The agent connects again when the frame is reloaded.
const agent = await connectWindow(frame, { agent: { name: 'Example parent', version: '1.0.0' }, reconnect: true });

start.onclick = async () => {
  const controller = new AbortController();
  stop.onclick = () => controller.abort('The user pressed Stop');
  start.disabled = true;
  stop.disabled = false;
  const response = await agent.call('count.to', { end: 1_000 }, {
    signal: controller.signal,
    onProgress: ({ percentage }) => (bar.value = percentage),
  });
  start.disabled = false;
  stop.disabled = true;
  if (response.success) said.value = `Counted to ${response.data.counted}`;
  else if (response.cancelled) said.value = `Stopped: ${response.metadata.stop}`;
  else said.value = `${response.error.code}: ${response.error.message}`;
};
start.dataset.ready = 'true';
