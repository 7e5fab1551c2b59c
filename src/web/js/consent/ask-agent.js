/**
 * Asks a person through the agent that has called, where the app shows no calls that wait for consent.
 */
import { shown } from './visible.js';

/** @import { Shell } from '../shell.js' */

/** Characters of the parameters that the question shows. */
const MOST = 1000;

/**
 * @param {Shell} shell
 * @param {number} key of a call
 * @param {{ callId: string, capability: string }} call
 * @param {object} params
 */
export async function askAgent(shell, key, { callId, capability }, params) {
  const { title = capability } = shell.capabilities.find(capability) ?? {};
  const request = {
    method: 'elicitation/confirm',
    message: `Allow "${title}" in ${shell.app.name}?\n${shown(params, MOST)}`,
    callId,
    capability,
    requestedSchema: { type: 'object', properties: { confirmed: { type: 'boolean', title: `Allow "${title}"` } }, required: ['confirmed'] },
  };
  const answer = await shell.asks.agent(request, shell.rust.elicit, key);
  shell.rust.consent(shell.number, key, verdict(answer));
}

/**
 * Only an explicit yes is a yes.
 *
 * @param {any} answer an ABPResponse
 * @returns {number} 1 if a person has allowed the call, 2 if denied, 0 if no person was asked
 */
function verdict({ success, data, cancelled, error }) {
  if (success && (data === true || data?.confirmed === true)) return 1;
  return success || cancelled || error?.code === 'PERMISSION_DENIED' ? 2 : 0;
}
