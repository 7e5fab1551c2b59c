/**
 * An app's list of its capabilities, as an agent asks for it.
 */
import { getA } from './read.js';

/** The type of the agent's message. A host answers with `…-result`. */
export const LIST = 'capabilities/list';

/** The default members of a capability. */
const UNSAID = { description: '', inputSchema: { type: 'object' }, outputSchema: {}, available: true, requirements: [], features: {} };

/** More names than any app has. A very short message can hold a very long array. */
const MAX_LISTED = 65_536;

/** @param {unknown} list @returns {list is any[]} */
const isList = (list) => Array.isArray(list) && list.length <= MAX_LISTED;

/** @param {unknown} list of an app's @returns {any[]} a copy; empty if it cannot be read */
export function listOf(list) {
  try {
    return isList(list) ? [...list] : [];
  } catch {
    return [];
  }
}

/** @param {unknown} it */
export const isNamed = (it) => getA('string', it, 'name') !== undefined;

/** @param {unknown} list @returns {boolean} whether it is a list of capabilities */
export const isListing = (list) => isList(list) && list.every(isNamed);

/**
 * @param {any[]} list the app's
 * @param {readonly any[]} known the session's summary of each capability
 * @returns {any[]} the Capability objects of the app
 */
export const complete = (list, known) => list.map((it) => ({ ...UNSAID, ...known.find(({ name }) => name === it.name), ...it }));
