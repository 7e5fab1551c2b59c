// Runs test files in the order given. `node --test` sorts them by name, and the longest come last.

import { createWriteStream } from 'node:fs';
import { run } from 'node:test';
import { spec, tap } from 'node:test/reporters';

/**
 * @typedef {object} Plan what is run; this program's only argument, as JSON
 * @property {string[]} files
 * @property {number} concurrency files at a time
 * @property {number} timeout milliseconds that a test may take
 * @property {string[]} testNamePatterns
 * @property {string} report where the results go, as TAP
 */

/** @type {Plan} */
const { report, ...plan } = JSON.parse(process.argv[2] ?? '');
const events = run(plan);
events.on('test:fail', ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1;
});
events.compose(new spec()).pipe(process.stdout);
events.compose(tap).pipe(createWriteStream(report));
