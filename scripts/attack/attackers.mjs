// The process that attacks. It is a separate process, so that its work does not slow down the
// honest app and agent. When it is told to stop, it sends how many attempts were made and how many
// were refused.

import { setMaxListeners } from 'node:events';
import { log } from './log.mjs';
import { agents, apps } from './users.mjs';
import { strangers } from './strangers.mjs';
import { workers } from './workers.mjs';

/** All attacks by name. */
export const attacks = { ...strangers, ...agents, ...apps, ...log, ...workers };

/**
 * @typedef {{ port: number, second?: number, from: string, secrets: { agent: string, app: string }, names: string[] }} Order
 * @typedef {Record<string, { tried: number, refused: number }>} Counts
 */

if (process.send) {
  process.once('message', (/** @type {Order} */ { names, ...where }) => {
    const end = new AbortController();
    setMaxListeners(0, end.signal);
    /** @type {Counts} */
    const counts = {};
    for (const name of names) {
      const own = { tried: 0, refused: 0 };
      counts[name] = own;
      const target = { ...where, signal: end.signal, count: (/** @type {'tried' | 'refused'} */ what) => { own[what] += 1; } };
      void attacks[name]?.(target);
    }
    process.once('message', () => {
      end.abort();
      process.send?.(counts, () => process.exit());
    });
  });
  // The parent process is gone.
  process.once('disconnect', () => process.exit());
}
