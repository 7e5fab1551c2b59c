/** TypeScript accepts the output of `caphost types`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { run } from '../../../scripts/command.mjs';
import { gatewayBinary, root } from '../../../scripts/paths.mjs';
import { startGateway } from '../support/gateway.mjs';

/** @param {...string} args */
const types = async (...args) => (await promisify(execFile)(gatewayBinary, ['types', ...args])).stdout;

/** Compiles files in the strict project of tests/types. @param {import('node:test').TestContext} t @param {Record<string, string>} files */
async function compiles(t, files) {
  const folder = mkdtempSync(join(root, 'target', 'typed-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, name), code);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: '../../tests/types/tsconfig.json', include: ['*.ts'] }));
  const { code, output } = await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '--project', folder], { quiet: true, timeoutMs: 60_000 });
  assert.equal(code, 0, output);
}

test('the map of a manifest types agents and hosts', { timeout: 90_000 }, async (t) => {
  const folder = mkdtempSync(join(root, 'target', 'manifest-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const node = { type: 'object', properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } }, required: ['name'] };
  const manifest = {
    abp: '0.1',
    app: { id: 'my-app', name: 'My app', version: '1.0.0' },
    capabilities: [
      {
        name: 'text.words',
        description: 'Counts */ words',
        inputSchema: { type: 'object', properties: { urls: { type: 'array', items: { type: 'string' } }, 'per page': { type: 'boolean', default: false } }, required: ['urls'], additionalProperties: false },
        outputSchema: { type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] },
      },
      { name: 'tree.copy', inputSchema: { properties: { from: { $ref: '#/$defs/node' } }, $defs: { node } }, outputSchema: { $ref: '#/$defs/all', $defs: { node, all: { type: 'object', additionalProperties: { anyOf: [{ $ref: '#/$defs/all' }, { $ref: '#/$defs/node' }] } } } } },
      { name: 'app.reset', inputSchema: { type: 'object', additionalProperties: false }, outputSchema: { type: 'null' } },
      { name: 'shape.move', inputSchema: { type: 'object', properties: { by: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], minItems: 1, items: false }, kind: { enum: ['circle', 'square'] } }, required: ['by'], oneOf: [{ required: ['id'] }, { properties: { path: { const: '/' } }, required: ['path'] }] } },
      { name: 'any' },
    ],
  };
  const file = join(folder, 'abp.json');
  writeFileSync(file, JSON.stringify(manifest));
  const caps = await types(file);
  assert.equal(await types(file), caps);
  await compiles(t, {
    'caps.ts': caps,
    'use.ts': `
      import { createHost, type Host } from 'caphost';
      import type { Agent } from 'caphost/agent';
      import { z } from 'zod';
      import type { Caps } from './caps.js';

      export async function use(agent: Agent<Caps>): Promise<number> {
        const response = await agent.call('text.words', { urls: ['/'], 'per page': true });
        if (response.success) response.data.words.toFixed();
        const copied = await agent.call('tree.copy', { from: { name: 'a', children: [{ name: 'b' }] } });
        if (copied.success) Object.values(copied.data).length.toFixed();
        await agent.call('text.words', { urls: [], 'per page': undefined });
        await agent.call('tree.copy');
        await agent.call('app.reset');
        await agent.call('shape.move', { by: [1], kind: 'circle', id: 7 });
        await agent.call('shape.move', { by: [1, 2], path: '/' });
        const any = await agent.call('any', { whatever: 1 });
        // @ts-expect-error nobody knows what it is
        if (any.success) any.data.length;
        // @ts-expect-error its parameters are required
        await agent.call('text.words');
        // @ts-expect-error there is no such capability
        await agent.call('text.word', { urls: [] });
        // @ts-expect-error there is no such parameter
        await agent.call('text.words', { urls: [], perPage: true });
        // @ts-expect-error urls are a list
        await agent.call('text.words', { urls: '/' });
        // @ts-expect-error there is no such kind
        await agent.call('shape.move', { by: [1], kind: 'line', id: 7 });
        // @ts-expect-error it takes two numbers at most
        await agent.call('shape.move', { by: [1, 2, 3], id: 7 });
        // @ts-expect-error a child has a name
        await agent.call('tree.copy', { from: { name: 'a', children: [{}] } });
        return (await agent.invoke('text.words', { urls: [] })).words;
      }

      export async function offer(): Promise<Host<Caps>> {
        const host = await createHost<Caps>({ app: { id: 'my-app', name: 'My app', version: '1.0.0' } });
        host.register('text.words', {}, ({ urls }) => ({ words: urls.length }));
        const inputSchema = z.object({ urls: z.array(z.string()), 'per page': z.boolean().optional() });
        host.register('text.words', { inputSchema, outputSchema: z.object({ words: z.number() }), replace: true }, ({ urls }) => ({ words: urls.length }));
        // @ts-expect-error that is not what it returns
        host.register('text.words', {}, () => ({ word: 1 }));
        return host;
      }`,
  });
});

test("the map of the demo's manifest compiles", { timeout: 90_000 }, async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.stop());
  const caps = await types(`${gateway.url}/abp.json`, '--name', 'Demo');
  assert.match(caps, /^export type Demo = \{$/m);
  await compiles(t, {
    'demo.ts': caps,
    'use.ts': `
      import type { Agent } from 'caphost/agent';
      import type { Demo } from './demo.js';

      export const html = async (agent: Agent<Demo>): Promise<unknown> => agent.invoke('convert.markdownToHtml', { markdown: '# It works' });
      // @ts-expect-error it takes markdown
      export const wrong = async (agent: Agent<Demo>): Promise<unknown> => agent.invoke('convert.markdownToHtml', { text: '' });`,
  });
});
