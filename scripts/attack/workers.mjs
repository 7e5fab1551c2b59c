import { spawn } from 'node:child_process';
import { again, envelope, open, request } from './sockets.mjs';

/** @typedef {import('./sockets.mjs').Target} Target */

/** The attack that needs a second worker, and a Redis that connects both. */
export const betweenWorkers = 'questions between workers';

/** The reason why an attack cannot run on this machine, or undefined if it can. @param {string} name @returns {Promise<string | undefined>} */
async function missing(name) {
  if (name !== betweenWorkers) return undefined;
  const server = spawn('redis-server', ['--version'], { stdio: 'ignore' });
  const isThere = await new Promise((resolve) => server.once('error', () => resolve(false)).once('exit', () => resolve(true)));
  return isThere ? undefined : 'there is no redis-server';
}

/** @typedef {{ name: string, why: string }} Skipped an attack that cannot run on this machine, with the reason */

/**
 * Which of these attacks can run on this machine, and which cannot.
 *
 * @param {string[]} wanted
 * @returns {Promise<{ names: string[], skipped: Skipped[] }>}
 */
export async function possible(wanted) {
  const all = await Promise.all(wanted.map(async (name) => ({ name, why: await missing(name) })));
  const skipped = all.flatMap(({ name, why }) => (why ? [{ name, why }] : []));
  return { names: wanted.filter((name) => !skipped.some((it) => it.name === name)), skipped };
}

/** A callId of the greatest length. */
const callId = 'ambiguous-'.padEnd(128, 'x');

/** How many runs each worker has under one id. */
const RUNS = 8;
/** How many questions are asked at once. */
const QUESTIONS = 500;

/** Attacks that make one worker ask another a lot. @type {Record<string, (target: Target) => Promise<void>>} */
export const workers = {
  [betweenWorkers]: async (target) => {
    const ports = [target.port, target.second ?? target.port];
    for (const port of ports) {
      for (let run = 0; run < RUNS; run += 1) {
        const socket = await open({ ...target, port }, '/abp?app=shop', { secret: target.secrets.agent });
        socket?.on('message', () => {});
        socket?.send(envelope('initialize', { agent: { name: 'm'.repeat(500), version: '1' }, protocolVersion: '0.1' }));
        socket?.send(envelope('capabilities/call', { capability: 'wait', params: {}, options: { callId } }, callId));
      }
    }
    const headers = { Authorization: `Bearer ${target.secrets.agent}` };
    await again(target, 100, async (round) => {
      const asked = { ...target, port: ports[round % ports.length] ?? target.port };
      await Promise.all(Array.from({ length: QUESTIONS }, () => request(asked, `GET /api/runs/${callId}`, headers)));
    });
  },
};
