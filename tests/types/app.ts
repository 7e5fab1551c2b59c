import { createHost, type Abp, type CallContext, type Handler, type Host, type HostEvent, type HostOptions, type WorkerHandler } from 'caphost';

interface PdfParams {
  html: string;
  options?: { pageSize: 'letter' | 'a4' };
}
interface Pdf {
  pdf: ArrayBuffer;
  pageCount: number;
}

const exportPdf: Handler<PdfParams, Pdf> = async ({ html, options }, { signal, progress }) => {
  progress({ progress: 1, total: 2, stage: options?.pageSize ?? 'letter' });
  const response = await fetch('/print', { method: 'POST', body: html, signal });
  return { pdf: await response.arrayBuffer(), pageCount: 1 };
};

export const hash: WorkerHandler<{ bytes: ArrayBuffer }, ArrayBuffer | undefined> = ({ bytes }, { cancelled, transfer, progress }) => {
  progress({ progress: 1 });
  transfer(bytes);
  return cancelled() ? undefined : bytes;
};

export async function anApp(worker: Worker): Promise<Host> {
  const options: HostOptions = {
    app: { id: 'types', name: 'Types', version: '1.0.0', description: 'For the type checker' },
    maxRemembered: 100,
    maxInFlight: 10,
    maxInFlightBytes: 1 << 20,
    maxSessions: 2,
    maxRequestsPerSecond: 50,
    maxMessageBytes: 1 << 20,
    maxDepth: 16,
  };
  const host = await createHost(options);
  host.register('export.pdf', {
    description: 'Prints a page',
    inputSchema: { type: 'object', properties: { html: { type: 'string' } }, required: ['html'] },
    outputSchema: true,
    concurrency: 2,
    requirements: [{ type: 'network', met: true }],
    features: { pageSizes: ['letter', 'a4'] },
    experimental: true,
    alternatives: ['export.html'],
  }, exportPdf);
  host.register('sum', {}, ({ numbers }: { numbers: number[] }) => numbers.reduce((sum, it) => sum + it, 0));
  host.register('parent', undefined, async (_params: unknown, context: CallContext) => {
    const child = await context.call<Pdf>('export.pdf', { html: '' }, { timeout: 1000, signal: AbortSignal.timeout(5) });
    const answer = await context.elicit<{ yes: boolean }>({ message: `Print ${child.data?.pageCount ?? 0} pages for ${context.callId}?` });
    return answer.data?.yes;
  });
  host.registerWorker('hash', { description: 'Hashes', settleGrace: 20 }, new URL('./hash.js', import.meta.url));
  host.registerWorker('hash.old', undefined, '/hash-old.js', { settleGrace: 100, pool: 1, warm: false, type: 'classic', script: '/worker.js' });
  host.registerWorker('report', undefined, '/report.js', { finish: ({ blob }: { blob: Blob }) => ({ url: URL.createObjectURL(blob) }) });
  const gone: boolean = host.unregister('sum');
  host.expose();
  host.expose({});
  host.acceptMessages();
  host.acceptMessages({ allowedOrigins: ['https://agent.example'] });
  host.acceptPort(worker);
  host.acceptPort(new MessageChannel().port1);
  host.connectGateway('ws://127.0.0.1:8787/abp/app', { token: 'secret' });
  host.notify('app/saved', { gone });
  const stop = host.observe(seen);
  host.register('notes.clear', { confirm: 'destructive', annotations: { destructiveHint: true } }, () => {});
  host.registerWorker('notes.pack', { confirm: 'always' }, './pack.js');
  const hide: () => void = host.confirmHere();
  const waited: boolean = host.answer(7, true);
  if (waited) hide();
  const { cancelled, reason } = await host.cancelCall('session', 'call', 'the user closed it');
  const names: string[] = host.manifest().capabilities.map(({ name }) => name);
  console.log(cancelled, reason?.length, names, host.documents()[0]?.requirements.length, host.stats().inFlight, host.app.id);
  stop();
  return host;
}

function seen(event: HostEvent): string {
  switch (event.type) {
    case 'call':
      if (event.state === 'queued') return `${event.capability} ${String(event.params)}`;
      if (event.state === 'running') return event.parentCallId ?? '';
      return `${event.response.success} ${event.reason ?? ''}`;
    case 'confirm':
      return event.question === undefined ? event.capability : `${event.question.toFixed()} ${event.state} ${String(event.params)}`;
    case 'progress':
      return event.info.operationId;
    case 'cancelling':
      return event.reason ?? event.callId;
    case 'cancel':
      return event.response.metadata?.stop ?? event.response.callId;
    case 'ended':
      return `${event.callId} ${event.success} ${event.after.toFixed()}`;
    case 'session':
      return event.agent.name;
    case 'gateway':
      if (event.state === 'connected' && event.resumed) return 'again';
      return event.state === 'refused' ? (event.error?.code ?? '') : event.url;
    case 'capabilities':
      return event.time.toFixed();
  }
}

export async function inThePage(abp: Abp): Promise<boolean> {
  const { sessionId, features } = await abp.initialize({ agent: { name: 'types', version: '1' }, protocolVersion: '0.1' });
  const response = await abp.call<Pdf>('export.pdf', { html: '' }, { callId: 'mine', timeout: 5 });
  const [first, second] = [await abp.cancel('mine', 'why'), await abp.cancel({ callId: 'mine' })];
  const { supported } = await abp.supports('export.pdf');
  await abp.shutdown();
  return supported && features.progress && first.cancelled && second.cancelled && response.data?.pageCount === sessionId.length;
}

export async function mistakes(host: Host, abp: Abp): Promise<void> {
  // @ts-expect-error an app has a version
  await createHost({ app: { id: 'types', name: 'Types' } });
  // @ts-expect-error limits are numbers
  await createHost({ app: { id: 'a', name: 'b', version: 'c' }, maxDepth: '16' });
  // @ts-expect-error there is no such rule
  host.register('sometimes', { confirm: 'sometimes' }, () => {});
  // @ts-expect-error there is no such limit
  await createHost({ app: { id: 'a', name: 'b', version: 'c' }, maxPatience: 16 });
  // @ts-expect-error a handler is a function
  host.register('name', {}, 'handler');
  // @ts-expect-error the host adds the operationId
  host.register('name', {}, (_params, { progress }) => progress({ operationId: 'mine', progress: 1 }));
  // @ts-expect-error nobody knows what an agent answers
  host.register('name', {}, async (_params, { elicit }) => (await elicit({})).data.yes);
  // @ts-expect-error origins are a list
  host.acceptMessages({ allowedOrigins: 'https://agent.example' });
  // @ts-expect-error that is no port
  host.acceptPort({});
  // @ts-expect-error there is one protocol version
  await abp.initialize({ agent: { name: 'types', version: '1' }, protocolVersion: '1.0' });
}
