/**
 * What Rust tells of a host for whoever watches it.
 */
import { callEnded, progressInfo, response, stateName } from './envelope.js';
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
   * @param {any} value what the call was made with, or how it has ended
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
      ...(state === 'queued' ? { params: value.params } : state !== 'running' && { response: response(number, value, duration) }),
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
   * @param {object} response
   * @param {string} [reason]
   */
  sawCancel(sessionId, callId, response, reason) {
    this.emit({ type: 'cancel', callId, sessionId, response, ...(reason !== undefined && { reason }) });
  }

  /**
   * The handler of a call that was abandoned has ended.
   *
   * @param {string} sessionId
   * @param {string} callId
   * @param {boolean} success
   * @param {number} after
   */
  sawEnd(sessionId, callId, success, after) {
    this.emit({ type: 'ended', sessionId, ...callEnded(callId, success, after) });
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
