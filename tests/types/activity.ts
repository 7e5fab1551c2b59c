import { createHost, type CancelResponse, type Host } from 'caphost';
import { activityOf, type Activity, type ActivityCall, type ActivityTexts, type CapActivityElement } from 'caphost/activity';

type Caps = { 'text.words': (params: { urls: string[] }) => { words: number } };

export async function shown(): Promise<CapActivityElement> {
  const host = await createHost<Caps>({ app: { id: 'types', name: 'Types', version: '1.0.0' } });
  const element = document.createElement('cap-activity');
  element.host = host;
  element.texts = { stop: 'Anhalten', cancelled: { abandoned: 'Vielleicht' } };
  const texts: ActivityTexts = element.texts;
  console.log(texts.cancelled.dropped, texts.more(3));
  // @ts-expect-error there is no such text
  element.texts = { halt: 'Anhalten' };
  // @ts-expect-error that is no host
  element.host = 'host';
  return element;
}

export function followed(host: Host): () => void {
  const activity: Activity = activityOf(host);
  const { calls, subscribe, stop } = activity;
  return subscribe(() => {
    for (const call of calls()) if (call.state === 'running') void stop(call);
  });
}

export function said({ agent, progress, stop, ended, error, until, since }: ActivityCall): string {
  return [agent?.name, progress?.percentage?.toFixed(), stop, ended?.success, error?.code, (until ?? Date.now()) - since].join(' ');
}

export async function cancels(host: Host): Promise<CancelResponse[]> {
  // @ts-expect-error a call has an id
  await host.cancel();
  return [await host.cancel('mine'), await host.cancel('mine', { by: 'user', reason: 'enough', sessionId: 'session' })];
}
