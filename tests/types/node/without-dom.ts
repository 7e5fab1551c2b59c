/** The package's types work in Node without the types of a page. */
import { createHost, type WorkerHandler } from 'caphost';
import { connectPort, connectWebSocket, type Agent, type CallAbortError } from 'caphost/agent';
import { attach, type AutomatedPage } from 'caphost/automation';
import { Worker, parentPort } from 'node:worker_threads';

type Caps = { 'text.words': (params: { urls: string[] }) => { words: number } };

export const moves: WorkerHandler<{ bytes: ArrayBuffer }, ArrayBuffer> = ({ bytes }, { transfer }) => {
  transfer(bytes);
  return bytes;
};

export async function connected(page: AutomatedPage): Promise<Agent<Caps>[]> {
  const host = await createHost<Caps>({ app: { id: 'types', name: 'Types', version: '1.0.0' } });
  host.acceptPort(new Worker('./agent.js'));
  if (parentPort) host.acceptPort(parentPort);
  return [
    await connectPort<Caps>(new Worker('./app.js'), { liveness: 1000 }),
    await connectWebSocket<Caps>('ws://127.0.0.1:8787/abp'),
    await attach<Caps>(page),
  ];
}

export const howFar = (error: CallAbortError): string => error.stop;
