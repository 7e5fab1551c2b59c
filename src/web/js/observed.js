/**
 * What Rust tells of a host for whoever watches it.
 */
import { cancelResponse, progressInfo, response, stateName } from './envelope.js';
import { report } from './report.js';

export class Observed {
  /** @type {Set<(event: any) => void>} */
  observers = new Set();

  /**
   * @param {string} sessionId
   * @param {string} callId
   * @param {string | undefined} parentCallId
   * @param {string} capability
   * @param {number} number
   * @param {unknown} value
   * @param {number} duration
   * @param {string} [reason]
   */
  sawCall(sessionId, callId, parentCallId, capability, number, value, duration, reason) {
    const state = stateName(number);
    this.emit({
      type: 'call',
      callId,
      capability,
      sessionId,
      ...(parentCallId !== undefined && { parentCallId }),
      ...(state === 'queued' ? { params: value } : state !== 'running' && { response: response(number, value, duration) }),
      ...(reason !== undefined && { reason }),
      state,
    });
  }

  /**
   * @param {string} sessionId
   * @param {string} callId
   * @param {object} info
   */
  sawProgress(sessionId, callId, info) {
    this.emit({ type: 'progress', sessionId, callId, info: progressInfo(callId, info) });
  }

  /**
   * @param {string} sessionId
   * @param {string} callId
   * @param {string} [refusal]
   * @param {string} [reason]
   */
  sawCancel(sessionId, callId, refusal, reason) {
    const response = cancelResponse(callId, refusal);
    this.emit({ type: 'cancel', callId, sessionId, response, ...(reason !== undefined && { reason }) });
  }

  /**
   * @param {string} sessionId
   * @param {boolean} open
   * @param {string} name
   * @param {string} version
   */
  sawSession(sessionId, open, name, version) {
    this.emit({ type: 'session', state: open ? 'open' : 'closed', sessionId, agent: { name, version } });
  }

  /** @param {object} event */
  emit(event) {
    const timed = { ...event, time: Date.now() };
    for (const observer of this.observers) report(observer, timed);
  }
}
