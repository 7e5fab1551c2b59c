/** Code for any map of capabilities, such as hooks. */
import type { ABPResponse, CallParams, CapabilityOptions, DataOf, Handler, Host, NameOf, ParamsOf, Schema } from 'caphost';
import type { Agent, RunningCall } from 'caphost/agent';
import { z } from 'zod';

export function useCapability<Caps, Name extends keyof Caps & string>(
  host: Host<Caps>,
  name: Name,
  options: CapabilityOptions,
  handler: Handler<ParamsOf<Caps, Name>, DataOf<Caps, Name>, Caps>,
): () => boolean {
  return host.register(name, options, (params, context) => handler(params, context));
}

export function useCall<Caps, Name extends NameOf<Caps>>(agent: Agent<Caps>, name: Name, params: CallParams<Caps, Name>, signal: AbortSignal): Promise<ABPResponse<DataOf<Caps, Name>>> {
  return agent.call(name, params, { signal });
}

export async function useData<Caps, Name extends NameOf<Caps>>(agent: Agent<Caps>, name: Name, params: CallParams<Caps, Name>): Promise<DataOf<Caps, Name>> {
  const running: RunningCall<DataOf<Caps, Name>> = agent.start(name, params);
  await running.result;
  return agent.invoke(name, params);
}

type Caps = {
  'text.words': (params: { urls: string[]; locale?: string }) => { words: number };
  'app.reset': () => void;
};

export function used(host: Host<Caps>, any: Host, agent: Agent<Caps>): void {
  useCapability(host, 'text.words', {}, ({ urls, locale }) => ({ words: urls.length + (locale ?? '').length }));
  useCapability(any, 'whatever', {}, ({ urls }) => urls);
  void useCall(agent, 'text.words', { urls: [] }, AbortSignal.timeout(1)).then(({ data }) => data?.words.toFixed());
  // @ts-expect-error there is no such capability
  useCapability(host, 'text.word', {}, () => ({ words: 1 }));
  // @ts-expect-error that is not what it returns
  useCapability(host, 'text.words', {}, () => ({ words: 'many' }));
  // @ts-expect-error it has no such parameter
  useCapability(host, 'text.words', {}, ({ url }) => ({ words: url }));
}

export function schemasAgreeWithTheMap(host: Host<Caps>, schema: Schema): void {
  const urls = z.array(z.string());
  const outputSchema = z.object({ words: z.number() });
  const inputSchema = z.object({ urls, locale: z.string().default('en') });
  // The handler gets the parsed parameters.
  host.register('text.words', { inputSchema, outputSchema }, ({ urls, locale }) => ({ words: urls.length + locale.length }));
  host.register('text.words', { inputSchema: schema, outputSchema: { type: 'object' } }, ({ urls }) => ({ words: urls.length }));
  host.register('app.reset', { inputSchema: z.object({}) }, () => {});
  // @ts-expect-error agents send a list of texts, as the map says
  host.register('text.words', { inputSchema: z.object({ urls: z.string() }) }, () => ({ words: 1 }));
  // @ts-expect-error agents need not give a depth
  host.register('text.words', { inputSchema: z.object({ urls, depth: z.number() }) }, () => ({ words: 1 }));
  // @ts-expect-error the map promises a number
  host.register('text.words', { outputSchema: z.object({ words: z.string() }) }, () => ({ words: '1' }));
  // @ts-expect-error the handler returns something else
  host.register('text.words', { outputSchema }, () => ({ words: '1' }));
}
