import { inPage, load, newHost } from './caphost.mjs';
import { occupy } from './growth.mjs';
import { attentive, echo, forever, hold, params } from './handlers.mjs';
import { plainAgent, plainHost } from './plain-abp.mjs';
import { publishedSample } from './sample.mjs';

/**
 * Which implementation's memory is measured, and over which transport. The window keeps everything
 * that is made here, so that the garbage collector does not take it.
 *
 * @typedef {{ way: 'page' | 'port', at?: string | undefined }} Kind without `at`: the sample
 */

const handlers = { echo, attentive, hold, forever };
/** @type {any[]} */
const kept = [];

/** @type {(() => Promise<import('./abp-calls.mjs').Caller>) | undefined} opens one more session on the same host */
let open;
/** @type {import('./abp-calls.mjs').Caller[]} */
const sessions = [];

/** @param {Kind} kind */
export async function setUp({ way, at }) {
  if (at === undefined) {
    open = async () => {
      if (way === 'page') {
        const abp = publishedSample(handlers);
        await abp.initialize();
        return abp;
      }
      const { port1, port2 } = new MessageChannel();
      kept.push(port1, port2);
      plainHost(port1, handlers);
      return plainAgent(port2);
    };
  } else {
    const library = await load(at);
    const host = await newHost(library);
    kept.push(host);
    open = async () => {
      if (way === 'page') return inPage(host);
      const { port1, port2 } = new MessageChannel();
      kept.push(port1, port2);
      host.acceptPort(port1);
      return library.connectPort(port2);
    };
  }
  await openSessions(1);
  // Makes the things that are made only once.
  await call(1);
}

/** @param {number} count */
export async function openSessions(count) {
  for (let i = 0; i < count; i += 1) if (open) sessions.push(await open());
}

/** Starts calls in the first session that stay in flight. @param {number} count */
export async function fly(count) {
  if (sessions[0]) await occupy(sessions[0], count);
}

/** Makes calls that end, in the first session. @param {number} count */
export const call = (count) => callIn(sessions.slice(0, 1), count);

/** Makes calls that end, in every session except the first. @param {number} each */
export const callInAll = (each) => callIn(sessions.slice(1), each);

/** @param {import('./abp-calls.mjs').Caller[]} callers @param {number} each */
async function callIn(callers, each) {
  const slice = 100;
  for (const caller of callers) {
    for (let i = 0; i < each; i += slice) {
      await Promise.all(Array.from({ length: Math.min(slice, each - i) }, () => caller.call('echo', params)));
    }
  }
}
