import { CapHostError, createHost, type Abp, type ABPResponse, type Host, type Stop } from 'caphost';
import { connect, connectPort, connectWebSocket, connectWindow, type Agent, type CallAbortError, type Messenger } from 'caphost/agent';
import { attach } from 'caphost/automation';
import type { Page } from 'playwright-core';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(_?: T): void => {};

type Caps = {
  'text.words': (params: { urls: string[]; locale?: string }) => { words: number };
  'app.find': (params: { text?: string }) => Promise<string[]>;
  'app.reset': () => void;
  'app.zoom': (params?: { factor: number }) => number;
};

interface SameAsInterface {
  'app.reset': () => void;
}

export async function typedAgents(frame: Window, page: Page, port: MessagePort): Promise<void> {
  const agents: Agent<Caps>[] = [
    await connectWindow<Caps>(frame),
    await connectWindow<Caps>(document.querySelector('iframe')!.contentWindow),
    await connectPort<Caps>(port),
    await connectWebSocket<Caps>('ws://127.0.0.1:8787/abp'),
    await attach<Caps>(page),
  ];
  for (const agent of agents) {
    const response = await agent.call('text.words', { urls: ['/a.txt'] }, { timeout: 5 });
    holds<Same<typeof response, ABPResponse<{ words: number }>>>();
    if (response.success) response.data.words.toFixed();
    else if (response.cancelled) holds<Same<typeof response.metadata.stop, Stop>>();
    else response.error.code.at(0);

    const found = await agent.call('app.find');
    if (found.success) found.data.map((it) => it.length);
    await agent.call('app.reset');
    await agent.call('app.reset', {}, { timeout: 5 });

    await agent.call('app.zoom');
    await agent.call('app.zoom', { factor: 2 }, { timeout: 5 });
    (await agent.invoke('app.zoom')).toFixed();
    // @ts-expect-error a factor is a number
    await agent.call('app.zoom', { factor: '2' });

    // @ts-expect-error there is no such capability
    await agent.call('text.word', { urls: [] });
    // @ts-expect-error its parameters are required
    await agent.call('text.words');
    // @ts-expect-error urls are a list
    await agent.call('text.words', { urls: '/a.txt' });
    // @ts-expect-error there is no such parameter
    await agent.call('text.words', { urls: [], language: 'en' });
    // @ts-expect-error it takes no parameters
    await agent.call('app.reset', { hard: true });
    // @ts-expect-error milliseconds are a number
    await agent.call('app.reset', {}, { timeout: '5' });
  }
  const [first] = agents;
  // A function for any agent accepts this one.
  const any: Agent = first!;
  const byInterface = await connectPort<SameAsInterface>(port);
  await byInterface.call('app.reset');
  await any.call('whatever', { it: 1 });
}

type WithFunction = {
  'text.each': (params: { urls: string[]; onFile: (url: string) => number; done?: () => Promise<string> }) => { files: number };
};

export async function lentFunctions(port: MessagePort, host: Host<WithFunction>): Promise<void> {
  const agent = await connectPort<WithFunction>(port);
  const { files } = await agent.as().text.each({ urls: [], onFile: (url) => url.length });
  files.toFixed();
  // @ts-expect-error the function returns a number
  await agent.as().text.each({ urls: [], onFile: (url) => url });
  host.register('text.each', {}, async ({ urls, onFile, done }) => {
    const all: Promise<number>[] = urls.map((url) => onFile(url));
    // @ts-expect-error it is async for the handler
    onFile('/').toFixed();
    const said: string | undefined = await done?.();
    return { files: all.length + (said?.length ?? 0) };
  });
}

export function aResponse(response: ABPResponse<{ words: number }>): number {
  // @ts-expect-error there may be no data
  response.data.words.toFixed();
  // @ts-expect-error there may be no error
  response.error.code.at(0);
  const { success, data, error, cancelled } = response;
  if (success) return data.words;
  if (cancelled) return 0;
  return error.code.length;
}

export async function aTypedHost(): Promise<Host<Caps>> {
  const host = await createHost<Caps>({ app: { id: 'types', name: 'Types', version: '1.0.0' } });
  host.register('text.words', { concurrency: 2 }, async ({ urls, locale = 'en' }, { signal, call }) => {
    const found = await call('app.find', { text: locale }, { signal });
    return { words: found.success ? found.data.length : urls.length };
  });
  host.register('app.find', {}, ({ text }) => [text ?? '']);
  host.register('app.reset', undefined, () => {});
  host.register('app.zoom', {}, ({ factor }) => {
    holds<Same<typeof factor, number | undefined>>();
    return factor ?? 1;
  });
  host.unregister('app.reset');
  // @ts-expect-error there is no such capability
  host.register('text.word', {}, () => {});
  // @ts-expect-error that is not what it returns
  host.register('text.words', {}, () => ({ word: 1 }));
  // @ts-expect-error it has no such parameter
  host.register('app.find', {}, ({ query }) => [query]);
  // @ts-expect-error there is no such option
  host.register('app.find', { concurrent: 2 }, () => []);
  // @ts-expect-error there is no such capability
  host.register('app.reset', {}, async (_params, { call }) => void (await call('app.lost')));
  return host;
}

export async function aPage(): Promise<string | null | undefined> {
  const abp = window.abp as Abp<Caps>;
  const response = await abp.call('text.words', { urls: [] }, { progressToken: 1 });
  if (response.success) response.data.words.toFixed();
  // @ts-expect-error there is no such capability
  await abp.call('text.word', { urls: [] });
  // @ts-expect-error a page need not have one
  void window.abp.initialize;
  return window.abp?.sessionId;
}

export function whatWasThrown(error: CapHostError): boolean {
  // @ts-expect-error it is what was thrown
  error.code = 'TIMEOUT';
  return error instanceof Error && error.retryable && error.code === 'DISCONNECTED';
}

export async function invoked(agent: Agent<Caps>, other: Agent): Promise<void> {
  const { words } = await agent.invoke('text.words', { urls: [] }, { signal: AbortSignal.any([AbortSignal.timeout(1000)]) });
  holds<Same<typeof words, number>>();
  const running = agent.start('app.find', { text: 'x' });
  for await (const { percentage } of running) percentage?.toFixed();
  holds<Same<Awaited<typeof running.result>, string[]>>();
  const pages: number = (await other.invoke<{ pages: number }>('export.pdf', { html: '' })).pages;
  const [first] = await other.listCapabilities();
  console.log(pages, first?.inputSchema, (await agent.describeCapability('app.find'))?.description, (await running.cancel('enough')).cancelled);
  // @ts-expect-error nobody knows what is in a schema
  console.log(first?.inputSchema.properties);
  const api = agent.as();
  holds<Same<Awaited<ReturnType<typeof api.text.words>>['words'], number>>();
  const found: string[] = await api.app.find({ text: 'x' }, { timeout: 1_000 });
  await api.app.reset();
  console.log(found, await other.as().any.name({ at: 'all' }), (await other.as<Caps>().text.words({ urls: [] })).words);
  // @ts-expect-error its parameters are required
  await api.text.words();
  // @ts-expect-error there is no such capability
  api.text.word;
  // @ts-expect-error its parameters are required
  await agent.invoke('text.words');
  // @ts-expect-error there is no such capability
  agent.start('text.word', {});
}

export async function disposed(): Promise<void> {
  await using host = await createHost<Caps>({ app: { id: 'types', name: 'Types', version: '1.0.0' } });
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  await using agent = await connectPort<Caps>(port2);
  await agent.invoke('app.reset');
}

export function aReason(error: unknown): unknown {
  if (error instanceof DOMException && error.name === 'AbortError') return (error as CallAbortError).stop;
  return error instanceof CapHostError ? [error.code, error.details] : error;
}

export async function ownTransport(host: Host, socket: RTCDataChannel): Promise<Agent<Caps>> {
  const messenger: Messenger = { post: (envelope) => socket.send(JSON.stringify(envelope)), close: () => socket.close() };
  socket.onmessage = ({ data }: MessageEvent<string>) => messenger.onmessage?.(JSON.parse(data));
  socket.onclose = () => messenger.onclose?.();
  const stop: () => void = host.accept(messenger);
  stop();
  // @ts-expect-error that is no messenger
  await connect({ post() {} });
  return connect<Caps>(async () => messenger, { liveness: 1000, grace: 10 });
}
