import { connectPort, connectWebSocket, connectWindow, type ABPResponse, type Agent, type CancelResponse, type Messenger } from 'caphost/agent';
import { attach, type ConnectError } from 'caphost/automation';
import type { Frame as PlaywrightFrame, Page as PlaywrightPage } from 'playwright-core';
import type { Frame as PuppeteerFrame, Page as PuppeteerPage } from 'puppeteer-core';

export async function anAgent(frame: HTMLIFrameElement, worker: Worker, puppeteer: PuppeteerPage, playwright: PlaywrightPage): Promise<void> {
  const agents: Agent[] = [
    await connectWindow(frame.contentWindow!, { origin: 'https://app.example', agent: { name: 'types', version: '1' } }),
    await connectWindow(window.opener as Window),
    await connectPort(new MessageChannel().port1, { liveness: 1000, onNotification: (event, data) => console.log(event.length, data) }),
    await connectPort(worker),
    await connectWebSocket('ws://127.0.0.1:8787/abp', { token: 'secret', onElicitation: async (request, { signal }) => (signal.aborted ? undefined : request) }),
    await connectWebSocket(new URL('ws://127.0.0.1:8787/abp'), { WebSocket }),
    await attach(puppeteer),
    await attach(playwright, { reconnect: true, onConnection: (state) => void (state satisfies 'connecting' | 'connected') }),
    await connectPort(() => new MessageChannel().port1, { reconnect: true }),
    await connectPort(async () => new MessageChannel().port1),
    await attach(playwright, { connectTimeout: 5000, grace: 100, signal: AbortSignal.timeout(10_000) }),
  ];
  for (const agent of agents) {
    const controller = new AbortController();
    const response: ABPResponse<{ html: string }> = await agent.call<{ html: string }>('convert.markdownToHtml', { markdown: '# Hi' }, {
      signal: controller.signal,
      timeout: 1000,
      callId: 'mine',
      onProgress: ({ percentage = 0, stage }) => console.log(percentage.toFixed(), stage?.length),
      transfer: [new ArrayBuffer(1)],
    });
    if (response.success) console.log(response.data?.html.length);
    else if (response.cancelled) console.log('stopped');
    else console.log(response.error?.code === 'DISCONNECTED', response.error?.retryAfter);
    const confirmation: CancelResponse = await agent.cancel('mine', 'no longer needed');
    console.log(confirmation.cancelled, confirmation.reason?.length, agent.sessionId?.length, agent.app.name);
    console.log(agent.capabilities.filter(({ available }) => available).map(({ name }) => name));
    await agent.shutdown({ reason: 'done' });
    const how: 'shutdown' | 'disconnected' | 'failed' = await agent.closed;
    console.log(how);
  }
}

export async function aRefusal(messenger: Messenger): Promise<string> {
  try {
    await connectWebSocket('', { transport: messenger });
    return '';
  } catch (error) {
    return (error as ConnectError).code;
  }
}

export async function mistakes(agent: Agent): Promise<void> {
  // @ts-expect-error a capability has a name
  await agent.call(7);
  // @ts-expect-error parameters are an object
  await agent.call('x', 'y');
  // @ts-expect-error milliseconds are a number
  await agent.call('x', {}, { timeout: '1 s' });
  // @ts-expect-error a cancel needs a callId
  await agent.cancel();
  // @ts-expect-error that is no page
  await attach({});
}

export async function frames(puppeteer: PuppeteerFrame, playwright: PlaywrightFrame): Promise<Agent[]> {
  return [await attach(puppeteer), await attach(playwright, { terminate: false })];
}
