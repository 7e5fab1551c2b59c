// A closed host or agent does not keep a Node process from ending.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { root } from '../../scripts/paths.mjs';

/** @param {string} between what happens before the host is closed */
const script = (between) => `
  import { createHost } from 'caphost';
  import { connectPort } from 'caphost/agent';
  const host = await createHost({ app: { id: 'x', name: 'X', version: '1' } });
  host.register('x', {}, () => 7);
  const { port1, port2 } = new MessageChannel();
  const release = host.acceptPort(port1);
  ${between}
  await host.close();
  console.log('closed');`;

for (const [what, between] of Object.entries({
  'nobody has come over the port': '',
  'an agent has come and gone': 'const agent = await connectPort(port2); await agent.invoke("x"); await agent.shutdown();',
  'an agent has gone, long after it came': 'const agent = await connectPort(port2); for (let i = 0; i < 5; i += 1) { gc(); await new Promise((resolve) => setTimeout(resolve, 10)); } await agent.shutdown();',
  'an agent is there': 'const agent = await connectPort(port2); await agent.invoke("x");',
  'the port was given back': 'release();',
})) {
  test(`Node ends once the host is closed, when ${what}`, () => {
    const { stdout, error } = spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '--eval', script(between)], { cwd: root, encoding: 'utf8', timeout: 20_000 });
    assert.equal(error, undefined);
    assert.equal(stdout, 'closed\n');
  });
}
