import { type } from 'arktype';
import type { Host } from 'caphost';
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
