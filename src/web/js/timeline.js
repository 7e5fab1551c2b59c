/**
 * The steps of every call of a host, for observers. Rust makes the events, except for events that
 * only JavaScript knows.
 */
import { later, report } from './errors.js';
import { progressInfo, response, stateName } from './to-agent.js';

/** The end states of a call, as to-agent.js numbers them. */
const FAILED = 1;

/** @param {any} call */
const keyOf = ({ sessionId, callId }) => `${sessionId} ${callId}`;

export class Timeline {
  /** @type {Set<(event: any) => void>} */
  #observers = new Set();
  /** The calls that were reported and have not ended. @type {Map<string, object>} */
  #open = new Map();
  /**
   * The events that were not reported yet. Observers are called after the answers.
   *
   * @type {[((event: any) => void)[], object][]}
   */
  #untold = [];

  /** Whether there are observers. */
  get watched() {
    return this.#observers.size > 0;
  }

  /** @param {(event: any) => void} observer */
  add(observer) {
    this.#observers.add(observer);
  }

  /** @param {(event: any) => void} observer */
  delete(observer) {
    this.#observers.delete(observer);
    if (!this.watched) this.#open.clear();
  }

  /** @param {object} event */
  emit(event) {
    const timed = { ...event, time: Date.now() };
    this.#untold.push([[...this.#observers], timed]);
    later(this.#tell);
  }

  /** Reports all events. If a job is ended from outside, the rest of its work is lost, including its own report. */
  #tell = () => {
    for (const [observers, event] of this.#untold.splice(0)) {
      // An observer may have been removed meanwhile.
      for (const observer of observers) if (this.#observers.has(observer)) report(observer, event);
    }
  };

  /** The wasm instance is lost, so the ends of calls are reported here. @param {object} error */
  fail(error) {
    for (const call of this.#open.values()) this.over(call, FAILED, error, NaN);
  }

  // The functions that Rust calls.

  /**
   * A call has been accepted, and waits for its turn.
   *
   * @param {object} call
   * @param {{ params: any }} given its parameters
   */
  queued(call, { params }) {
    this.#open.set(keyOf(call), call);
    this.emit({ type: 'call', ...call, params, state: 'queued' });
  }

  /** @param {object} call whose handler runs now */
  running(call) {
    this.#open.set(keyOf(call), call);
    this.emit({ type: 'call', ...call, state: 'running' });
  }

  /**
   * @param {object} call
   * @param {number} state in which it has ended
   * @param {unknown} value its data, its error, or how far it was seen to stop
   * @param {number} duration in milliseconds; NaN for a call that was refused
   * @param {string} [reason] why it was stopped
   */
  over(call, state, value, duration, reason) {
    this.#open.delete(keyOf(call));
    const ended = { type: 'call', ...call, response: response(state, value, duration), state: stateName(state) };
    this.emit(reason === undefined ? ended : { ...ended, reason });
  }

  /** @param {{ callId: string }} call @param {object} info of its handler's */
  progress(call, info) {
    this.emit({ type: 'progress', ...call, info: progressInfo(call.callId, info) });
  }

  /** @param {object} call that is asked to stop @param {string} [reason] */
  cancelling(call, reason) {
    this.emit({ type: 'cancelling', ...call, ...(reason !== undefined && { reason }) });
  }

  /** @param {object} call @param {object} answer to a cancel @param {string} [reason] */
  cancel(call, answer, reason) {
    this.emit({ type: 'cancel', ...call, response: answer, ...(reason !== undefined && { reason }) });
  }

  /** @param {object} call that was abandoned @param {object} end of its handler */
  ended(call, end) {
    this.emit({ type: 'ended', ...call, ...end });
  }

  /** @param {string} sessionId @param {boolean} open @param {string} name @param {string} version of its agent */
  session(sessionId, open, name, version) {
    this.emit({ type: 'session', state: open ? 'open' : 'closed', sessionId, agent: { name, version } });
  }
}
