// If the log cannot be written, its lines are lost, and nothing else fails.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHost } from 'caphost';
import { connectWebSocket } from 'caphost/agent';
import { gatewayBinary, root } from '../../../scripts/paths.mjs';

/** The ways in which a shell sets up standard error before it starts the gateway. */
const errors = {
  'a reader that has gone': 'exec "$0" "$@"',
  'a full disk': 'exec "$0" "$@" 2>/dev/full',
  // The shell holds the reading end too, so the pipe is open, but nobody reads it. It is full from the
  // beginning.
  'a pipe that nobody reads': 'mkfifo "$FIFO" && exec 2<>"$FIFO" && head -c 65536 /dev/zero >&2 && exec "$0" "$@"',
};

/** @param {keyof typeof errors} where @param {string[]} args */
async function start(where, args) {
  const folder = await mkdtemp(join(tmpdir(), 'caphost-log-'));
  const child = spawn('sh', ['-c', errors[where], gatewayBinary, 'serve', '--port', '0', ...args], {
    cwd: root,
    env: { ...process.env, FIFO: join(folder, 'fifo') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (where === 'a reader that has gone') child.stderr.destroy();
  const ended = once(child, 'exit').finally(() => rm(folder, { recursive: true }));
  const [line] = await once(createInterface(child.stdout), 'line', { signal: AbortSignal.timeout(15_000) }).catch((error) => {
    child.kill('SIGKILL');
    throw error;
  });
  const url = /(http:\S+?)\/?$/.exec(line)?.[1] ?? '';
  return { url, child, ended };
}

/** Asks for a page. @param {string} url */
async function get(url) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(5000) });
  return { status: answer.status, text: await answer.text() };
}

for (const where of /** @type {(keyof typeof errors)[]} */ (Object.keys(errors))) {
  for (const [level, format] of /** @type {const} */ ([['error', 'text'], ['warn', 'json'], ['info', 'text'], ['info', 'json'], ['debug', 'text'], ['trace', 'json']])) {
    test(`standard error is ${where}, at ${level} in ${format}: nothing but lines is lost`, { timeout: 60_000 }, async () => {
      const { url, child, ended } = await start(where, ['--log', level, '--log-format', format]);
      // If something waits forever, the test's timeout reports it.
      const alive = setInterval(() => {}, 1000);
      const wsUrl = url.replace(/^http/, 'ws');
      const host = await createHost({ app: { id: 'lab', name: 'Lab', version: '1' } });
      /** How many handlers are running that end only by a cancel. */
      let held = 0;
      host.register('echo', { description: 'Says the same', inputSchema: { type: 'object' } }, async (params) => params);
      host.register('hold', { description: 'Waits for its cancel', inputSchema: { type: 'object' } }, (_, { signal }) => {
        held += 1;
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            held -= 1;
            reject(signal.reason);
          }, { once: true });
        });
      });
      const connected = new Promise((/** @type {(value: void) => void} */ resolve) => {
        host.observe((event) => {
          if (event.type === 'gateway' && event.state === 'connected') resolve();
        });
      });
      const until = async (/** @type {() => boolean} */ is) => {
        for (let wait = 0; wait < 500 && !is(); wait += 1) await sleep(10);
        assert.ok(is());
      };
      const newAgent = () => connectWebSocket(`${wsUrl}/abp?app=lab`);
      try {
        host.connectGateway(`${wsUrl}/abp/app`);
        await connected;
        const agents = await Promise.all(Array.from({ length: 6 }, newAgent));
        await Promise.all(agents.map(async (agent, who) => {
          for (let i = 0; i < 100; i += 1) {
            const answered = await agent.call('echo', { who, i });
            assert.deepEqual(answered.data, { who, i });
          }
          const calls = Array.from({ length: 20 }, (_, i) => agent.call('hold', {}, { callId: `hold ${who} ${i}` }));
          const cancels = await Promise.all(calls.map((_, i) => agent.cancel(`hold ${who} ${i}`, 'enough')));
          assert.ok(cancels.every(({ cancelled }) => cancelled));
          assert.ok((await Promise.all(calls)).every((answer) => 'cancelled' in answer && answer.cancelled === true));
        }));
        assert.equal(held, 0);
        // When an agent leaves, the gateway notices, and its calls end.
        const [leaver, ...others] = agents;
        const left = leaver?.call('hold');
        await until(() => held === 1);
        await leaver?.shutdown();
        await left;
        await until(() => held === 0);
        // The gateway warns of this request.
        const foreign = await fetch(`${url}/api/runs`, { headers: { Origin: 'https://a.example' }, signal: AbortSignal.timeout(5000) });
        assert.equal(foreign.status, 403);
        for (const page of ['healthz', 'readyz']) assert.equal((await get(`${url}/${page}`)).status, 200);
        const late = await newAgent();
        assert.equal((await late.call('echo', {})).success, true);
        const lost = /^caphost_log_lines_lost_total (\d+)$/m.exec((await get(`${url}/metrics`)).text)?.[1];
        // A pipe may be read later. Lines wait for that until there are too many. There is no line at `error`.
        const waits = level === 'error' || (where === 'a pipe that nobody reads' && level !== 'trace');
        assert.ok(waits ? lost === '0' : Number(lost) > 0, `lines lost: ${lost}`);
        await Promise.all([late, ...others].map((agent) => agent.shutdown()));
        host.close();
        const asked = performance.now();
        child.kill('SIGTERM');
        const [code] = await Promise.race([ended, sleep(5000, ['still running'], { ref: false })]);
        assert.equal(code, 0);
        assert.ok(performance.now() - asked < 3000);
      } finally {
        clearInterval(alive);
        host.close();
        child.kill('SIGKILL');
        await ended;
      }
    });
  }
}
