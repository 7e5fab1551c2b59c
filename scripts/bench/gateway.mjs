import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../paths.mjs';

/**
 * @typedef {{ name: string, by: string, callsPerSecond: number, p50: number, p99: number }} Server times in microseconds
 * @typedef {{ runs: number, before: number, inFlight: number, after: number }} Memory in bytes
 * @typedef {{ rows: Server[], memory: Memory[] }} Figures
 */

const run = promisify(execFile);
/** The package of the MCP server that the gateway is compared with. */
const echo = join(root, 'scripts/bench/rmcp-echo');
const target = join(root, 'target/rmcp-echo');

/**
 * Runs the gateway's benchmark, which is a separate program: JavaScript is too slow to load the gateway.
 *
 * @returns {Promise<string>} Markdown
 */
export async function gatewayTable() {
  await run('cargo', ['build', '--locked', '--release', '--target-dir', target], { cwd: echo, maxBuffer: 1 << 24 });
  const options = ['--json', '--rmcp', join(target, 'release/rmcp-echo')];
  const args = ['bench', '--locked', '--package', 'caphost-gateway', '--bench', 'gateway', '--', ...options];
  const { stdout } = await run('cargo', args, { cwd: root, maxBuffer: 1 << 24 });
  return table(JSON.parse(stdout));
}

/** @param {Figures} figures the last row of each way of calling is the gateway's */
function table({ rows, memory: [memory] }) {
  if (!memory) throw new Error('the benchmark measured nothing');
  const ratio = (/** @type {number} */ of, /** @type {number} */ to) => `× ${(of / to).toFixed(2)}`;
  const lines = rows.map((row) => {
    const { name, by, callsPerSecond, p50, p99 } = row;
    const gateway = rows.findLast((other) => other.by === by) ?? row;
    const own = row === gateway;
    const rate = own ? '' : ratio(gateway.callsPerSecond, callsPerSecond);
    const times = own ? '' : `${ratio(gateway.p50, p50)}, ${ratio(gateway.p99, p99)}`;
    return `| ${name} | ${Math.round(callsPerSecond)} | ${Math.round(p50)} µs | ${Math.round(p99)} µs | ${rate} | ${times} |`;
  });
  const kilobytes = (/** @type {number} */ bytes) => `${Math.round(bytes / 1024)} kB`;
  const each = Math.round((memory.inFlight - memory.before) / memory.runs);
  return [
    '| | calls per second | median | 99 of 100 within | the gateway\'s throughput | its times |',
    '|---|--:|--:|--:|--:|--:|',
    ...lines,
    '',
    `Resident memory of the gateway: ${kilobytes(memory.before)}; with ${memory.runs} runs in flight ${kilobytes(memory.inFlight)}, ${each} bytes each; when they have ended ${kilobytes(memory.after)}.`,
  ].join('\n');
}
