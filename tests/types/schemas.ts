import { type } from 'arktype';
import type { Host } from 'caphost';
import type { Agent } from 'caphost/agent';
import * as v from 'valibot';
import { z } from 'zod';

export function typedBySchemas(host: Host): void {
  const input = z.object({ urls: z.array(z.string()), depth: z.number().default(1), since: z.string().transform((it) => new Date(it)) });
  host.register('zod', { inputSchema: input, outputSchema: z.object({ words: z.number() }) }, async ({ urls, depth, since }, { signal }) => {
    signal.throwIfAborted();
    return { words: urls.length * depth.toFixed().length * since.getTime() };
  });
  host.register('valibot', { inputSchema: v.object({ n: v.number(), deep: v.optional(v.boolean(), false) }) }, ({ n, deep }) => (deep === true ? n.toFixed() : n));
  host.register('arktype', { inputSchema: type({ name: 'string', 'age?': 'number' }) }, ({ name, age }) => name.length + (age ?? 0));
  host.register('json', { inputSchema: { type: 'object', properties: { a: { type: 'string' } } } }, ({ a }) => a);
  host.register('annotated', { inputSchema: { type: 'object' } }, ({ a }: { a: string }) => a.length);

  // @ts-expect-error it has no such parameter
  host.register('zod', { inputSchema: input }, ({ url }) => url);
  // @ts-expect-error depth is a number
  host.register('zod', { inputSchema: input }, ({ depth }) => depth.length);
  // @ts-expect-error that is not what it returns
  host.register('zod', { inputSchema: input, outputSchema: z.object({ words: z.number() }) }, () => ({ words: 'many' }));
  // @ts-expect-error n is a number
  host.register('valibot', { inputSchema: v.object({ n: v.number() }) }, ({ n }: { n: string }) => n);
  // @ts-expect-error name is a string
  host.register('arktype', { inputSchema: type({ name: 'string' }) }, ({ name }) => name.toFixed());
}

/** The first three are in the form of `caphost types`, the others as people may write them. */
type Caps = {
  written: (params: { text?: string | undefined; deep: { at?: number | undefined }[] }) => { longest?: string | undefined };
  byHand: (params: { text?: string; deep: { at?: number }[] }) => { longest?: string };
  list: (params: Record<string, unknown>) => { at?: number }[];
  page: (params: { since: string }) => { body: Uint8Array; size?: number };
};

export function optionalMembers(host: Host<Caps>, maybe: string | undefined, call: Agent<Caps>['call']): void {
  const ofZod = { inputSchema: z.object({ text: z.string().optional(), deep: z.array(z.object({ at: z.number().optional() })) }), outputSchema: z.object({ longest: z.string().optional() }) };
  host.register('written', ofZod, ({ text }) => ({ longest: text }));
  host.register('byHand', ofZod, ({ text }) => ({ longest: text }));
  const ofValibot = { inputSchema: v.object({ text: v.optional(v.string()), deep: v.array(v.object({ at: v.optional(v.number()) })) }), outputSchema: v.object({ longest: v.exactOptional(v.string()) }) };
  host.register('written', ofValibot, () => ({}));
  host.register('byHand', ofValibot, () => ({}));
  const ofArktype = { inputSchema: type({ 'text?': 'string', deep: type({ 'at?': 'number' }).array() }), outputSchema: type({ 'longest?': 'string' }) };
  host.register('written', ofArktype, () => ({}));
  host.register('byHand', ofArktype, () => ({}));
  host.register('list', { outputSchema: z.array(z.object({ at: z.number().optional() })) }, () => []);
  host.register('page', { outputSchema: z.object({ body: z.instanceof(Uint8Array), size: z.number().optional() }) }, () => ({ body: new Uint8Array() }));
  void call('written', { text: maybe, deep: [{ at: undefined }] });

  // @ts-expect-error the map promises a text
  host.register('written', { outputSchema: z.object({ longest: z.number().optional() }) }, () => ({}));
  // @ts-expect-error agents need not give it
  host.register('byHand', { inputSchema: z.object({ text: z.string() }) }, () => ({}));
  // @ts-expect-error a null is not as good as nothing
  host.register('byHand', { outputSchema: z.object({ longest: z.string().nullish() }) }, () => ({}));
}
