/** Handlers that are defined apart from their registration, in workers and elsewhere. */
import type { Handler, HandlerOf, Host, WorkerHandler, WorkerHandlerOf } from 'caphost';
import { z } from 'zod';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(_?: T): void => {};

type Caps = {
  'text.words': (params: { urls: string[]; since?: string }) => { words: number };
  'export.pdf': (params: { html: string }) => { url: string };
};

const inputSchema = z.object({ urls: z.array(z.string()), since: z.string().default('1970-01-01').transform((it) => new Date(it)) });
const outputSchema = z.object({ words: z.number() });

export const words: HandlerOf<Caps, 'text.words'> = async ({ urls, since }, { call, signal }) => {
  holds<Same<typeof since, string | undefined>>();
  const response = await call('export.pdf', { html: urls.join() }, { signal });
  return { words: response.success ? response.data.url.length : 0 };
};
export const parsed: HandlerOf<Caps, 'text.words', typeof inputSchema, typeof outputSchema> = ({ urls, since }) => ({ words: urls.length + since.getTime() });

const inWorker: WorkerHandlerOf<Caps, 'text.words'> = async ({ urls }, { call, cancelled }) => {
  // @ts-expect-error there is no such capability
  await call('export.doc', {});
  return { words: cancelled() ? 0 : urls.length };
};
export const parsedInWorker: WorkerHandlerOf<Caps, 'text.words', typeof inputSchema> = ({ since }) => ({ words: since.getTime() });
export default inWorker;

holds<Same<HandlerOf<Caps, 'export.pdf'>, Handler<{ html: string }, { url: string }, Caps>>>();
holds<Same<WorkerHandlerOf<Caps, 'export.pdf'>, WorkerHandler<{ html: string }, { url: string }, Caps>>>();

// @ts-expect-error that is not what it returns
export const wrong: WorkerHandlerOf<Caps, 'text.words'> = () => ({ words: 'many' });

export function registered(host: Host<Caps>, any: Host): void {
  host.register('text.words', {}, words);
  host.register('text.words', { inputSchema, outputSchema }, parsed);
  host.registerWorker('text.words', { inputSchema, outputSchema, concurrency: 2 }, '/words.js', { pool: 2 });
  host.registerWorker('text.words', undefined, new URL('./words.js', import.meta.url));
  host.registerWorker('export.pdf', {}, '/pdf.js', {
    finish: async ({ blob }: { blob: Blob }, { call }) => {
      await call('text.words', { urls: [] });
      return { url: URL.createObjectURL(blob) };
    },
  });
  any.registerWorker('whatever', { inputSchema }, '/whatever.js', { finish: () => 7 });

  // @ts-expect-error there is no such capability
  host.registerWorker('text.word', {}, '/words.js');
  // @ts-expect-error agents send a list of texts, as the map says
  host.registerWorker('text.words', { inputSchema: z.object({ urls: z.string() }) }, '/words.js');
  // @ts-expect-error the map promises a number
  host.registerWorker('text.words', { outputSchema: z.object({ words: z.string() }) }, '/words.js');
  // @ts-expect-error that is not what it returns
  host.registerWorker('export.pdf', {}, '/pdf.js', { finish: () => ({ href: '' }) });
  // @ts-expect-error there is no such capability
  host.registerWorker('export.pdf', {}, '/pdf.js', { finish: async (_data, { call }) => void (await call('export.doc', {})) });
  // @ts-expect-error there is no such option
  host.registerWorker('export.pdf', { concurrent: 2 }, '/pdf.js');
}
