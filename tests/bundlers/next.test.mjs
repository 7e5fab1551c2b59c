/** An app of Next.js: a server component and a client component each import the package. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { run } from '../../scripts/command.mjs';
import { reads } from '../e2e/support/hands.mjs';
import { serveFiles } from '../e2e/support/static-server.mjs';
import { here, useWorkplace } from './workplace.mjs';

const place = useWorkplace();

/** A host and an agent, and the result of a call between them. @type {string} */
const double = `
import { createHost } from 'caphost';
import { connectPort } from 'caphost/agent';

export async function double(n) {
  const host = await createHost({ app: { id: 'next', name: 'Next', version: '1.0.0' } });
  host.register('double', undefined, ({ n }) => 2 * n);
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  const agent = await connectPort(port2);
  try {
    return await agent.invoke('double', { n });
  } finally {
    await agent.shutdown();
    host.close();
  }
}
`;

/** @type {Record<string, string>} */
const sources = {
  'package.json': '{ "type": "module", "private": true }',
  'double.js': double,
  'app/layout.jsx': 'export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html>; }',
  'app/page.jsx': `
import { Doubled } from './doubled.jsx';
import { double } from '../double.js';

export default async function Page() {
  return <><p id="server">{await double(2)}</p><Doubled n={21} /></>;
}
`,
  'app/doubled.jsx': `
'use client';
import { useEffect, useState } from 'react';
import { double } from '../double.js';

export function Doubled({ n }) {
  const [said, say] = useState('');
  useEffect(() => void double(n).then(say, (error) => say(String(error))), [n]);
  return <p id="client">{said}</p>;
}
`,
};

before(() => {
  for (const [path, source] of Object.entries(sources)) {
    mkdirSync(dirname(join(place.work, path)), { recursive: true });
    writeFileSync(join(place.work, path), source);
  }
});

/** @param {string} [more] of its configuration */
async function build(more = '') {
  writeFileSync(join(place.work, 'next.config.mjs'), `export default { output: 'export', turbopack: { root: ${JSON.stringify(here)} }, ${more} };`);
  const next = join(here, 'node_modules', 'next', 'dist', 'bin', 'next');
  return run(process.execPath, [next, 'build', place.work], { cwd: place.work, env: { NEXT_TELEMETRY_DISABLED: '1' }, quiet: true, timeoutMs: 200_000 });
}

test('Next.js: an error names the setting that the server needs', { timeout: 240_000 }, async () => {
  const { code, output } = await build();
  assert.notEqual(code, 0, output);
  assert.match(output, /The wasm of caphost is not at .*in Next\.js with serverExternalPackages: \['caphost'\]/);
});

test('Next.js builds it, for the server and for the client', { timeout: 240_000 }, async (t) => {
  const { code, output } = await build("serverExternalPackages: ['caphost']");
  assert.equal(code, 0, output);

  const server = await serveFiles({ folders: { '/': `${join(place.work, 'out')}/` } });
  t.after(() => server.close());
  const page = await place.browser.newPage();
  t.after(() => page.close());
  await page.goto(server.url('/index.html'));
  // The first is rendered by the server, the second is called by the page.
  await reads(page, '#server', '4');
  await reads(page, '#client', '42');
});
