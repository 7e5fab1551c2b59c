/**
 * The calls of a host, as the host reports them, for components that show them.
 */

/** @import { ActivityCall } from '../../../../npm/activity.js' */
/** @import { AgentInfo, CancelResponse, Host, HostEvent } from '../../../../npm/index.js' */

/** Ended calls that are remembered. */
const REMEMBERED = 50;

/** Milliseconds between two notifications: about a frame. */
const PAUSE = 16;

/** The activities, shared by all components that show the same host. @type {WeakMap<Host, Activity>} */
const known = new WeakMap();

/**
 * The activity of a host. The host is watched from the first call of this function.
 *
 * @param {Host} host
 */
export function activityOf(host) {
  if (typeof host?.observe !== 'function') throw new TypeError('This is no host. A host is what createHost() gives once it is awaited');
  let activity = known.get(host);
  if (!activity) {
    activity = new Activity(host);
    known.set(host, activity);
  }
  return activity;
}

export class Activity {
  /** All calls, in the order in which they were made. @type {Map<string, ActivityCall>} */
  #calls = new Map();
  /** The keys of the ended calls. The first is forgotten first. @type {Set<string>} */
  #ended = new Set();
  /** The agents, by their sessions. @type {Map<string, AgentInfo>} */
  #agents = new Map();
  /** @type {Set<() => void>} */
  #listeners = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {readonly ActivityCall[] | undefined} */
  #snapshot;
  #host;
  /** What the capabilities that have been called say for people, by their names. @type {Map<string, Pick<ActivityCall, 'title' | 'annotations'>>} */
  #described = new Map();

  /** @param {Host} host */
  constructor(host) {
    this.#host = host;
    host.observe((event) => this.#saw(event));
  }

  // Functions rather than methods, so that hooks of frameworks can take them as they are.

  /** The same array until something changes. @returns {readonly ActivityCall[]} */
  calls = () => (this.#snapshot ??= Object.freeze([...this.#calls.values()]));

  /** @param {() => void} listener @returns {() => void} */
  subscribe = (listener) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  /** @param {ActivityCall} call @returns {Promise<CancelResponse>} */
  stop = ({ callId, sessionId }) => this.#host.cancel(callId, { by: 'user', sessionId });

  /** @param {Pick<ActivityCall, 'question'>} call @returns {boolean} whether it has waited for that */
  allow = ({ question }) => question !== undefined && this.#host.answer(question, true);

  /** @param {Pick<ActivityCall, 'question'>} call @returns {boolean} whether it has waited for that */
  deny = ({ question }) => question !== undefined && this.#host.answer(question, false);

  /** @param {HostEvent} event */
  #saw(event) {
    if (event.type === 'session') {
      if (event.state === 'open') this.#agents.set(event.sessionId, event.agent);
      else this.#agents.delete(event.sessionId);
    } else if (event.type === 'call') {
      this.#sawCall(event);
    } else if (event.type === 'confirm') {
      const { question, params } = event;
      const asks = question === undefined ? /** @type {const} */ ({ asks: 'agent' }) : /** @type {const} */ ({ asks: 'app', question });
      this.#change(keyOf(event.sessionId, event.callId), event.state === 'asked' ? { ...asks, params } : {});
    } else if (event.type === 'progress') {
      const key = keyOf(event.sessionId, event.callId);
      // Before that, it is the host that tells the agent of the wait for a person.
      if (this.#calls.get(key)?.state === 'running') this.#change(key, { progress: event.info });
    } else if (event.type === 'cancelling') {
      this.#change(keyOf(event.sessionId, event.callId), { stopping: true });
    } else if (event.type === 'capabilities') {
      this.#described.clear();
    } else if (event.type === 'ended') {
      const { success, after } = event;
      this.#change(keyOf(event.sessionId, event.callId), { ended: { success, after } });
    }
  }

  /** @param {import('../../../../npm/index.js').CallEvent} event */
  #sawCall(event) {
    const { callId, sessionId, capability, parentCallId, state, time } = event;
    const key = keyOf(sessionId, callId);
    if (!this.#calls.has(key)) {
      const agent = this.#agents.get(sessionId);
      this.#calls.set(key, { callId, sessionId, capability, state, since: time, stopping: false, ...this.#describedAs(capability), ...(agent && { agent }), ...(parentCallId !== undefined && { parentCallId }) });
    }
    if (state === 'queued') return this.#changed();
    if (state === 'running') return this.#change(key, { state });
    const { error, metadata } = event.response;
    this.#change(key, { state, until: time, stopping: false, ...(error && { error }), ...(state === 'cancelled' && { stop: metadata?.stop }) });
    this.#ended.add(key);
    if (this.#ended.size <= REMEMBERED) return undefined;
    const [first = ''] = this.#ended;
    this.#ended.delete(first);
    return void this.#calls.delete(first);
  }

  /** @param {string} capability */
  #describedAs(capability) {
    const known = this.#described.get(capability);
    if (known) return known;
    const { title, annotations } = this.#host.manifest().capabilities.find(({ name }) => name === capability) ?? {};
    const described = { ...(title !== undefined && { title }), ...(annotations && { annotations }) };
    this.#described.set(capability, described);
    return described;
  }

  /** @param {string} key @param {Partial<ActivityCall>} what the changed members */
  #change(key, what) {
    const call = this.#calls.get(key);
    if (!call) return;
    // A question lasts until the next step of its call.
    const { asks: _, question: __, params: ___, ...rest } = call;
    this.#calls.set(key, { ...rest, ...what });
    this.#changed();
  }

  #changed() {
    this.#snapshot = undefined;
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const listener of [...this.#listeners]) listener();
    }, PAUSE);
  }
}

/** A callId is unique in its session. @param {string} sessionId @param {string} callId */
export const keyOf = (sessionId, callId) => `${sessionId} ${callId}`;
