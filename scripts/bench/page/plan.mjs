/**
 * The groups that are measured, and the targets for them.
 *
 * @typedef {object} Group
 * @property {string} id
 * @property {string} title
 * @property {string} base the contender that the others are compared with
 * @property {'page' | 'sockets' | 'puppeteer'} from the place that the calls come from
 *
 * @typedef {{ what: string, group: string, row: string, limit: number }} Target for a ratio; `row`: the name of the row, `name|base` or `beginning*`
 */

/** @type {Group[]} */
export const groups = [
  { id: 'inPage', from: 'page', base: 'published sample', title: 'A call in the page' },
  { id: 'inPageFull', from: 'page', base: 'published sample', title: 'A call in the page with an id, a signal and a timeout, whose handler takes its signal' },
  { id: 'inPageRust', from: 'page', base: 'a bare wasm async export', title: 'A call in the page of a handler in Rust' },
  { id: 'port', from: 'page', base: 'raw MessagePort', title: 'A round trip over a MessagePort' },
  { id: 'iframe', from: 'page', base: 'raw iframe', title: 'A round trip to an iframe' },
  { id: 'worker', from: 'page', base: 'raw worker', title: 'A round trip to a worker' },
  { id: 'sockets', from: 'sockets', base: 'raw echo through a relay', title: 'A round trip over WebSocket, from Node to the page' },
  { id: 'puppeteer', from: 'puppeteer', base: '`page.evaluate` of a function', title: 'A call through Puppeteer' },
  { id: 'cancelInPage', from: 'page', base: '`abort()` with a listener', title: 'A cancel in the page, until its call has stopped and answered' },
  { id: 'cancelPort', from: 'page', base: 'ABP by hand, both ends', title: 'A cancel over a MessagePort, until its call has stopped and answered' },
  { id: 'manyCancels', from: 'page', base: '', title: 'Cancels at once: the time of each' },
  { id: 'crowds', from: 'page', base: '', title: 'A call in a crowd' },
  { id: 'bursts', from: 'page', base: '', title: 'Calls of one turn: the time of each' },
];

/** @type {Target[]} */
export const targets = [
  { what: 'a call in the page, against the published sample', group: 'inPage', row: 'caphost', limit: 2 },
  { what: 'the same with id, signal and timeout', group: 'inPageFull', row: 'caphost', limit: 2 },
  { what: 'a handler in Rust, against a bare wasm async export', group: 'inPageRust', row: 'caphost', limit: 1.5 },
  { what: 'the same, against an export that reads the same types', group: 'inPageRust', row: 'caphost|a bare wasm async export with serde', limit: 1.5 },
  { what: 'a plain agent over a MessagePort, against raw', group: 'port', row: 'caphost: a plain agent, our host', limit: 1.6 },
  { what: 'our agent over a MessagePort, against raw', group: 'port', row: 'caphost: our agent, our host', limit: 1.35 },
  { what: 'a handler in a worker, against a raw worker', group: 'worker', row: 'caphost', limit: 1.3 },
  { what: 'through the gateway, against a raw relay', group: 'sockets', row: 'caphost, through the gateway', limit: 1.2 },
  { what: 'through Puppeteer, against `page.evaluate`', group: 'puppeteer', row: 'caphost, agent of `attach`', limit: 1.2 },
  { what: 'a cancel in the page, against `abort()`', group: 'cancelInPage', row: 'caphost', limit: 1.5 },
  { what: 'the largest crowd of cancels in the page, against each alone', group: 'manyCancels', row: 'caphost, in the page: *', limit: 1.2 },
  { what: 'the same over a MessagePort', group: 'manyCancels', row: 'caphost, over a MessagePort: *', limit: 1.2 },
  { what: 'a call in the page in a crowd, against alone', group: 'crowds', row: 'caphost, in the page*', limit: 1.5 },
  { what: 'the same over a MessagePort', group: 'crowds', row: 'caphost, over a MessagePort*', limit: 1.5 },
  // The limit is 30 ms where the build of November 2026 takes 46.
  { what: 'the first answer in a fresh page, against the build before', group: 'start', row: 'caphost: … and register, expose, initialize, first answer', limit: 0.65 },
];

/** The targets for memory, with limits in bytes. @type {{ what: string, title: string, row: string, limit: number }[]} */
const memoryTargets = [
  { what: 'bytes of a call in flight in the page', title: 'a call in flight', row: 'caphost, in the page', limit: 600 },
  { what: 'bytes of a call in flight over a MessagePort, both ends', title: 'a call in flight', row: 'caphost, over a MessagePort, both ends', limit: 600 },
  { what: 'bytes of a remembered call in the page', title: 'a call that has ended and is remembered', row: 'caphost, in the page', limit: 60 },
  { what: 'bytes of a remembered call over a MessagePort, both ends', title: 'a call that has ended and is remembered', row: 'caphost, over a MessagePort, both ends', limit: 60 },
];

/**
 * @typedef {{ what: string, limit: number, value: number, bytes: boolean, met: boolean }} Verdict `value`: a ratio, or bytes
 *
 * @param {Record<string, { rows: import('./statistics.mjs').Row[] }>} results by group
 * @param {import('./memory.mjs').Memory[]} memory
 * @returns {Verdict[]} the verdicts on everything that was measured
 */
export function verdicts(results, memory) {
  return [
    ...targets.flatMap(({ what, group, row, limit }) => verdict(what, limit, ratiosOf(results[group]?.rows ?? [], row), false)),
    ...memoryTargets.flatMap(({ what, title, row, limit }) => {
      const rows = memory.find((it) => it.title === title)?.rows ?? [];
      return verdict(what, limit, rows.filter(({ name }) => name === row).map(({ bytes }) => bytes), true);
    }),
  ];
}

/** @param {import('./statistics.mjs').Row[]} rows @param {string} row */
function ratiosOf(rows, row) {
  const [name = '', against] = row.split('|');
  const ours = rows.filter((it) => (name.endsWith('*') ? it.name.startsWith(name.slice(0, -1)) : it.name === name));
  const other = rows.find((it) => it.name === against);
  return ours.map((it) => (other ? it.median / other.median : it.ratio)).filter((ratio) => ratio !== undefined);
}

/** The verdict on the greatest of the values. @param {string} what @param {number} limit @param {number[]} values @param {boolean} bytes @returns {Verdict[]} */
function verdict(what, limit, values, bytes) {
  if (values.length === 0) return [];
  const value = Math.max(...values);
  return [{ what, limit, value, bytes, met: value <= limit }];
}
