/** @import { Call } from '../call-history.js' */
import { element } from '../dom.js';
import { duration } from '../format.js';
import { preview } from '../preview.js';

/**
 * The details of a call: its agent, times, parameters and answer.
 * @param {Call} call
 * @param {string} agent
 */
export function details(call, agent) {
  const made = element('div', { class: 'details' }, facts(call, agent), code('Parameters', call.params));
  if (call.response) made.append(code('Response', preview(call.response, '  ')));
  return made;
}

/**
 * @param {Call} call
 * @param {string} agent
 */
function facts(call, agent) {
  const { startedAt, endedAt } = call;
  /** @type {[string, string | undefined][]} */
  const rows = [
    ['Agent', agent],
    ['Session', call.sessionId],
    ['Call id', call.callId],
    ['Called by', call.parentCallId],
    ['Waited', startedAt === undefined ? undefined : duration(startedAt - call.queuedAt)],
    ['Ran', startedAt === undefined || endedAt === undefined ? undefined : duration(endedAt - startedAt)],
    ['Reason given', call.reason],
  ];
  const list = element('dl', { class: 'facts' });
  for (const [term, value] of rows) {
    if (value) list.append(element('div', {}, element('dt', {}, term), element('dd', {}, value)));
  }
  return list;
}

/**
 * @param {string} title
 * @param {string} text
 */
function code(title, text) {
  return element('section', {}, element('h4', {}, title), element('pre', { class: 'code', tabindex: 0, 'aria-label': title }, text));
}
