// A process of its own, so that the work of attacking does not hold up whoever is measured. Sends a
// count of what was tried and refused when it is told to stop.

import { setMaxListeners } from 'node:events';
import { log } from './log.mjs';
import { agents, apps } from './users.mjs';
import { strangers } from './strangers.mjs';
import { workers } from './workers.mjs';

/** Every attack by its name. */
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
  // Whoever started this is gone.
  process.once('disconnect', () => process.exit());
}
