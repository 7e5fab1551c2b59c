import { connectPort } from 'caphost/agent';
import { useCallback } from 'react';
import { useAction, useAgent, useCall } from './hooks.ts';

/** An agent in the page of the app. In a page around the app, `connect` would be `() => connectWindow(frame)`. */
export function Assistant({ host }) {
  const connect = useCallback(() => {
    const { port1, port2 } = new MessageChannel();
    host.acceptPort(port1);
    return connectPort(port2, { agent: { name: 'Assistant', version: '1.0.0' } });
  }, [host]);
  const agent = useAgent(connect);
  return agent ? <Calls agent={agent} /> : <p>Connecting…</p>;
}

function Calls({ agent }) {
  const count = useCall(agent, 'notes.count');
  const add = useAction(agent, 'notes.add');
  const exported = useAction(agent, 'notes.export');
  return (
    <section>
      <p>At first there were <output id="count">{count?.data}</output></p>
      <button id="add" onClick={() => add.start({ text: 'From the assistant' })}>Add a note</button>
      <button id="export" onClick={() => exported.start()} disabled={exported.running}>Export</button>
      <button id="stop" onClick={exported.stop} disabled={!exported.running}>Stop</button>
      <p><output id="said">{said(exported)}</output></p>
    </section>
  );
}

function said({ running, progress, response }) {
  if (running) return `${Math.round(progress?.percentage ?? 0)} %`;
  if (response?.cancelled) return `Stopped: ${response.metadata.stop}`;
  return response?.error?.message ?? (response ? `${response.data.pages} pages` : '');
}
