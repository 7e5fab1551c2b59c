import { oneByOne } from '../sampling.mjs';
import { calls, hold, stop } from './abp-calls.mjs';
import { inPage, load, newHost } from './caphost.mjs';
import { attentive, echo, forever, hold as holdHandler, params } from './handlers.mjs';
import { publishedSample } from './sample.mjs';

/**
 * @typedef {import('../sampling.mjs').Contender} Contender
 * @typedef {import('./abp-calls.mjs').Caller} Caller
 * @typedef {{ name: string, at: string }[]} Builds
 */

async function sample() {
  const abp = publishedSample({ echo, attentive, hold: holdHandler, forever });
  await abp.initialize();
  return abp;
}

/**
 * One call alone, and the same call in a crowd of calls in flight or of capabilities. All
 * contenders share one heap, so garbage collection of a large heap affects them alike.
 *
 * @param {Builds} builds
 * @param {{ inFlight: number, capabilities: number }} crowd
 * @returns {Promise<Contender[]>}
 */
export async function crowds(builds, crowd) {
  const many = (/** @type {number} */ count) => count.toLocaleString('en').replaceAll(',', ' ');
  const [busy, wide] = [`, ${many(crowd.inFlight)} in flight`, `, ${many(crowd.capabilities)} capabilities`];
  /** @type {Contender[]} */
  const list = [];
  const add = (/** @type {string} */ name, /** @type {Caller} */ caller, suffix = '') =>
    void list.push(suffix ? { ...calls(name + suffix, caller), base: name } : calls(name, caller));

  const name = 'published sample';
  add(name, await sample());
  const crowded = await sample();
  await occupy(crowded, crowd.inFlight);
  add(name, crowded, busy);

  for (const { name: build, at } of builds) {
    const library = await load(at);
    /** @type {[string, (host: any) => Promise<Caller>][]} */
    const ways = [[`${build}, in the page`, inPage], [`${build}, over a MessagePort`, (host) => overPort(library, host)]];
    for (const [way, connect] of ways) {
      add(way, await connect(await newHost(library)));
      const occupied = await connect(await newHost(library));
      await occupy(occupied, crowd.inFlight);
      add(way, occupied, busy);
      const host = await newHost(library);
      registerMany(host, crowd.capabilities);
      add(way, await connect(host), wide);
    }
  }
  return list;
}

/** @param {any} library @param {any} host @returns {Promise<Caller>} */
export function overPort(library, host) {
  const { port1, port2 } = new MessageChannel();
  host.acceptPort(port1);
  return library.connectPort(port2);
}

/** @param {any} host @param {number} count */
export function registerMany(host, count) {
  for (let i = 0; i < count; i += 1) host.register(`some.capability-${i}`, { description: `The capability ${i}` }, echo);
}

/** Starts calls that never end. @param {Caller} caller @param {number} count */
export async function occupy(caller, count) {
  const slice = 1000;
  for (let i = 0; i < count; i += slice) {
    for (let j = 0; j < slice; j += 1) void caller.call('forever', params);
    // The echo waits until ports have delivered the calls.
    await caller.call('echo', params);
  }
}

/**
 * The time per cancel, one after the other and many at once.
 *
 * @param {Builds} builds
 * @param {number[]} sizes
 * @returns {Promise<Contender[]>}
 */
export async function manyCancels(builds, sizes) {
  /** @type {[string, Caller][]} */
  const callers = [['published sample', await sample()]];
  for (const { name, at } of builds) {
    const library = await load(at);
    callers.push([`${name}, in the page`, await inPage(await newHost(library))]);
    callers.push([`${name}, over a MessagePort`, await overPort(library, await newHost(library))]);
  }
  return callers.flatMap(([name, caller]) => {
    const alone = `${name}: each alone`;
    return [
      { name: alone, exactly: 16, measure: aloneMs(caller), check: async () => void (await aloneMs(caller)(1)) },
      ...sizes.map((size) => ({
        name: `${name}: ${size.toLocaleString('en').replaceAll(',', ' ')} at once`,
        base: alone,
        exactly: size,
        measure: (/** @type {number} */ count) => atOnceMs(caller, count),
        check: async () => void (await atOnceMs(caller, 2)),
      })),
    ];
  });
}

/**
 * The time per call, for few and for many calls of one turn. Their handler answers at once.
 *
 * @param {Builds} builds
 * @returns {Promise<Contender[]>}
 */
export async function bursts(builds) {
  /** @type {[string, Caller][]} */
  const callers = [['published sample', await sample()]];
  for (const { name, at } of builds) {
    const library = await load(at);
    callers.push([`${name}, in the page`, await inPage(await newHost(library))]);
    callers.push([`${name}, over a MessagePort`, await overPort(library, await newHost(library))]);
  }
  return callers.flatMap(([name, caller]) => BURSTS.map((size) => ({
    name: `${name}: ${size.toLocaleString('en').replaceAll(',', ' ')} in one turn`,
    base: `${name}: ${BURSTS[0]} in one turn`,
    exactly: size,
    measure: (/** @type {number} */ count) => burstMs(caller, count),
    check: async () => void (await burstMs(caller, 2)),
  })));
}

const BURSTS = [100, 16_000];

/** @param {Caller} caller @param {number} count */
async function burstMs(caller, count) {
  const start = performance.now();
  const responses = await Promise.all(Array.from({ length: count }, () => caller.call('echo', params)));
  const time = performance.now() - start;
  const failed = responses.find(({ success }) => !success);
  if (failed) throw new Error(`a call of ${count} in one turn: ${JSON.stringify(failed)}`);
  return time;
}

/** @param {Caller} caller @returns {(count: number) => Promise<number>} the time of a call with no other call in flight */
const aloneMs = (caller) => async (count) => {
  let time = 0;
  for (let i = 0; i < count; i += 1) {
    const [held] = await hold(caller, 1);
    if (held) time += await oneByOne(() => stop(caller, held.callId, held.answer))(1);
  }
  return time;
};

/** @param {Caller} caller @param {number} count */
async function atOnceMs(caller, count) {
  const held = await hold(caller, count);
  const start = performance.now();
  await Promise.all(held.map(({ callId, answer }) => stop(caller, callId, answer)));
  return performance.now() - start;
}

/**
 * Registers capabilities either before or after the host is exposed on this window and connected to
 * an agent at a port. The clock stops when both ways would list all capabilities.
 *
 * @param {string} at
 * @param {number} count
 * @param {boolean} exposed
 * @returns {Promise<number>} milliseconds
 */
export async function registering(at, count, exposed) {
  const library = await load(at);
  const host = await newHost(library);
  const open = async () => {
    host.expose(window);
    return overPort(library, host);
  };
  if (exposed) await open();
  const start = performance.now();
  registerMany(host, count);
  if (!exposed) await open();
  // Waits for the work at the end of the turn, and for the messages that it sends.
  await new Promise((resolve) => setTimeout(resolve));
  const time = performance.now() - start;
  const listed = (await /** @type {any} */ (window).abp.listCapabilities?.())?.length ?? host.documents().length;
  if (listed < count) throw new Error(`${listed} capabilities instead of ${count}`);
  return time;
}
