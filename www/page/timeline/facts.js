/** @import { Call } from '../call-history.js' */
import { element } from '../dom.js';
import { duration } from '../format.js';

/**
 * Who, when and how long, as a list of terms.
 * @param {Call} call
 * @param {string} agent
 */
export function facts(call, agent) {
  /** @type {[string, string | undefined][]} */
  const rows = [
    ['Call id', call.callId],
    ['Agent', agent],
    ['Session', call.sessionId],
    ['Called by', call.parentCallId],
    ['Waited', call.startedAt === undefined ? undefined : duration(call.startedAt - call.queuedAt)],
    ['Ran', call.startedAt === undefined || call.endedAt === undefined ? undefined : duration(call.endedAt - call.startedAt)],
    ['Reason given', call.reason],
  ];
  const list = element('dl', { class: 'facts' });
  for (const [term, value] of rows) {
    if (value) list.append(element('div', {}, element('dt', {}, term), element('dd', {}, value)));
  }
  return list;
}
