/** @import { ABPResponse, CallEvent, CallState, CancelEvent, CancelResponse, CancellingEvent, EndedEvent, HostEvent, LateEnd, ProgressInfo, ProgressEvent } from './types/protocol.js' */
import { ResultBudget } from './result-budget.js';
import { preview } from './preview.js';

/**
 * @typedef {object} Call
 * @property {string} key unique across sessions, and across later uses of the same callId
 * @property {string} callId
 * @property {string} capability
 * @property {string} sessionId
 * @property {string | undefined} parentCallId
 * @property {CallState} state
 * @property {number} queuedAt unix milliseconds, like the other times
 * @property {number | undefined} startedAt
 * @property {number | undefined} endedAt
 * @property {string} params a preview; the parameters themselves are not kept
 * @property {ProgressInfo | undefined} progress
 * @property {ABPResponse | undefined} response without its data once `released`
 * @property {boolean} received `response` is the caller's copy
 * @property {boolean} released the data was dropped to keep memory bounded
 * @property {boolean} cancelling the call was asked to stop and has not ended
 * @property {string | undefined} reason the caller's reason for the cancel, if it gave one
 * @property {CancelResponse[]} confirmations
 * @property {LateEnd | undefined} ended how the handler of an abandoned call ended later
 */

/** @typedef {Record<CallState, number>} Counts */

const MAX_CONFIRMATIONS = 4;
const MAX_TEXT = 2_000;

/** The calls of a host, from its events: the newest `limit` calls in detail, and the counts of all calls. */
export class CallHistory {
  /** The calls, newest last. @type {Map<string, Call>} */
  calls = new Map();
  /** The names of agents by session. @type {Map<string, string>} */
  agents = new Map();
  /** @type {Counts} */
  counts = { queued: 0, running: 0, completed: 0, cancelled: 0, failed: 0 };

  /** The calls in flight, by session and callId, whether in `calls` or not. @type {Map<string, { key: string, state: CallState, queuedAt: number }>} */
  #active = new Map();
  #serial = 0;
  #budget = new ResultBudget();
  #changed;
  #limit;

  /**
   * @param {(call: Call, removed: boolean) => void} changed
   * @param {number} [limit]
   */
  constructor(changed, limit = 100) {
    this.#changed = changed;
    this.#limit = limit;
  }

  /** @param {HostEvent} event */
  take(event) {
    if (event.type === 'call') this.#call(event);
    else if (event.type === 'progress') this.#progress(event);
    else if (event.type === 'cancelling') this.#cancelling(event);
    else if (event.type === 'cancel') this.confirm(event);
    else if (event.type === 'ended') this.#ended(event);
    else if (event.type === 'session' && event.state === 'open') this.#agent(event.sessionId, event.agent?.name);
  }

  /** @param {string} sessionId */
  agentOf(sessionId) {
    return this.agents.get(sessionId) ?? 'unnamed agent';
  }

  /**
   * The newest call that a session made under this callId.
   * @param {string} sessionId
   * @param {string} callId
   * @returns {Call | undefined}
   */
  find(sessionId, callId) {
    const active = this.#active.get(address(sessionId, callId));
    if (active) return this.calls.get(active.key);
    return this.#newest((call) => call.callId === callId && call.sessionId === sessionId);
  }

  /** Forgets every call that has ended. */
  clearEnded() {
    for (const call of [...this.calls.values()]) if (call.endedAt !== undefined) this.#remove(call);
  }

  /** @param {Pick<CancelEvent, 'sessionId' | 'callId' | 'response' | 'reason'>} confirmed */
  confirm({ sessionId, callId, response, reason }) {
    const call = this.find(sessionId, callId);
    if (!call) return;
    call.confirmations = [...call.confirmations, response].slice(-MAX_CONFIRMATIONS);
    if (typeof reason === 'string') call.reason ??= reason.slice(0, MAX_TEXT);
    this.#changed(call, false);
  }

  /** @param {CancellingEvent} event */
  #cancelling({ sessionId, callId }) {
    const call = this.find(sessionId, callId);
    if (!call || isFinal(call.state)) return;
    call.cancelling = true;
    this.#changed(call, false);
  }

  /** @param {EndedEvent} event */
  #ended({ sessionId, callId, success, after }) {
    const call = this.find(sessionId, callId);
    if (!call) return;
    call.ended = { success, after };
    this.#changed(call, false);
  }

  /**
   * Stores the response as the caller has it. The host's copy may have lost its buffers, because
   * buffers move to a caller that asks for that.
   * @param {string} sessionId
   * @param {string} callId
   * @param {ABPResponse} response
   */
  receive(sessionId, callId, response) {
    const call = this.find(sessionId, callId);
    if (call?.endedAt === undefined) return;
    call.received = true;
    this.#respond(call, response);
    this.#changed(call, false);
  }

  /** @param {CallEvent} event */
  #call(event) {
    const at = address(event.sessionId, event.callId);
    let active = this.#active.get(at);
    if (!active) {
      active = { key: `${at} ${++this.#serial}`, state: event.state, queuedAt: event.time };
      this.#active.set(at, active);
    } else {
      this.counts[active.state] -= 1;
      active.state = event.state;
    }
    this.counts[event.state] += 1;
    if (isFinal(event.state)) this.#active.delete(at);
    // A call that was removed while it was in flight returns with its next event.
    const call = this.calls.get(active.key) ?? this.#add(active.key, event, active.queuedAt);
    call.state = event.state;
    if (event.state === 'running') call.startedAt = event.time;
    if (isFinal(event.state)) this.#end(call, event);
    this.#changed(call, false);
  }

  /**
   * @param {string} key
   * @param {CallEvent} event
   * @param {number} queuedAt
   * @returns {Call}
   */
  #add(key, event, queuedAt) {
    if (this.calls.size >= this.#limit) this.#remove(this.#dispensable());
    /** @type {Call} */
    const call = {
      key,
      callId: event.callId,
      capability: event.capability,
      sessionId: event.sessionId,
      parentCallId: event.parentCallId,
      state: event.state,
      queuedAt,
      startedAt: undefined,
      endedAt: undefined,
      params: event.state === 'queued' ? previewOf(event.params) : 'not kept',
      progress: undefined,
      response: undefined,
      received: false,
      released: false,
      cancelling: false,
      reason: undefined,
      confirmations: [],
      ended: undefined,
    };
    this.calls.set(key, call);
    return call;
  }

  /** Returns the oldest call that has ended, or else the oldest queued call. A running call stays, so that its Cancel button is within reach. */
  #dispensable() {
    const calls = [...this.calls.values()];
    const found = calls.find((call) => call.endedAt !== undefined) ?? calls.find((call) => call.state === 'queued');
    return /** @type {Call} */ (found ?? calls[0]);
  }

  /**
   * @param {Call} call
   * @param {CallEvent} event
   */
  #end(call, event) {
    call.endedAt = event.time;
    call.cancelling = false;
    if (typeof event.reason === 'string') call.reason ??= event.reason.slice(0, MAX_TEXT);
    this.#respond(call, event.response);
  }

  /**
   * @param {Call} call
   * @param {ABPResponse | undefined} response
   */
  #respond(call, response) {
    call.response = response;
    for (const other of this.#budget.keep(call)) this.#changed(other, false);
  }

  /** @param {Call} call */
  #remove(call) {
    this.calls.delete(call.key);
    this.#budget.forget(call);
    this.#changed(call, true);
  }

  /** @param {ProgressEvent} event */
  #progress({ callId, sessionId, info }) {
    const call = this.#newest(
      (call) => call.callId === callId && call.endedAt === undefined && (!sessionId || call.sessionId === sessionId),
    );
    if (!call) return;
    call.progress = info;
    this.#changed(call, false);
  }

  /**
   * @param {string} sessionId
   * @param {string | undefined} name
   */
  #agent(sessionId, name) {
    this.agents.set(sessionId, (name ?? 'unnamed agent').slice(0, 80));
    // The names of agents are kept after the session, for the calls that are still shown, but not
    // forever.
    if (this.agents.size > 5 * this.#limit) {
      const oldest = this.agents.keys().next().value;
      if (oldest !== undefined) this.agents.delete(oldest);
    }
  }

  /** @param {(call: Call) => boolean} wanted */
  #newest(wanted) {
    /** @type {Call | undefined} */
    let found;
    for (const call of this.calls.values()) if (wanted(call)) found = call;
    return found;
  }
}

/** Returns the state to show. @param {Call} call */
export function shownState({ state, cancelling }) {
  return cancelling ? 'cancelling' : state;
}

/** @param {CallState} state */
export function isFinal(state) {
  return state !== 'queued' && state !== 'running';
}

/**
 * @param {string} sessionId
 * @param {string} callId
 */
function address(sessionId, callId) {
  return `${sessionId} ${callId}`;
}

/** @param {unknown} params an object of the agent: reading it may run its getters */
function previewOf(params) {
  try {
    return params === undefined ? 'none' : preview(params, '  ');
  } catch {
    return 'unreadable';
  }
}
