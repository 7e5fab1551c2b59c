/**
 * The app's connection to a gateway: many agents over one WebSocket, told apart by `agent`.
 */
import { Connection } from './connection.js';
import { fromText, toText } from './json.js';

/** Milliseconds between attempts: doubled each time, and varied a little. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 10_000;

export class GatewayLink {
  /** @type {Map<string, Connection>} */
  #agents = new Map();
  /** @type {any} */
  #socket;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #attempts = 0;
  #registered = false;
  #closed = false;

  /**
   * @param {import('./host.js').Host} host
   * @param {string} url
   * @param {{ token?: string, WebSocket?: any }} options
   */
  constructor(host, url, options) {
    this.host = host;
    this.url = String(url);
    this.options = options;
    this.#connect();
  }

  /** The capabilities have changed. */
  update() {
    if (this.#registered) this.#send({ type: 'app/update', payload: { capabilities: this.#capabilities() } });
  }

  close = () => {
    this.#closed = true;
    clearTimeout(this.#timer);
    globalThis.removeEventListener?.('online', this.#retryNow);
    this.host.forget(this);
    this.#socket?.close(1000);
    this.#dropAgents();
  };

  #connect() {
    const Socket = this.options.WebSocket ?? globalThis.WebSocket;
    const socket = new Socket(this.url);
    this.#state('connecting');
    this.#socket = socket;
    socket.onopen = () => {
      const payload = { app: this.host.app, capabilities: this.#capabilities(), token: this.options.token };
      this.#send({ type: 'app/register', id: 'register', payload });
    };
    socket.onmessage = (/** @type {{ data: unknown }} */ event) => {
      const envelope = typeof event.data === 'string' ? fromText(event.data) : undefined;
      if (envelope && socket === this.#socket) this.#receive(envelope);
    };
    socket.onclose = () => {
      if (socket !== this.#socket) return;
      this.#registered = false;
      this.#dropAgents();
      this.#state('disconnected');
      if (!this.#closed) this.#retryLater();
    };
    // What went wrong is told by the close that follows.
    socket.onerror = () => {};
  }

  #retryLater() {
    const delay = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** this.#attempts) * (0.75 + Math.random() / 2);
    this.#attempts += 1;
    this.#timer = setTimeout(this.#retryNow, delay);
    globalThis.addEventListener?.('online', this.#retryNow);
  }

  #retryNow = () => {
    clearTimeout(this.#timer);
    globalThis.removeEventListener?.('online', this.#retryNow);
    this.#connect();
  };

  /** @param {any} envelope */
  #receive({ agent, ...envelope }) {
    if (envelope.type === 'app/registered') {
      this.#registered = true;
      this.#attempts = 0;
      this.#state('connected');
    } else if (envelope.type === 'app/refused') {
      // Unless the gateway says so, asking again would not help.
      this.#closed = envelope.payload?.error?.retryable !== true;
      this.#state('refused', envelope.payload?.error);
    } else if (typeof agent !== 'string' || envelope.type === 'error') {
      console.warn('caphost: the gateway says', envelope);
    } else if (envelope.type === 'agent/closed') {
      this.#agents.get(agent)?.close();
      this.#agents.delete(agent);
    } else {
      this.#agent(agent).receive(envelope);
    }
  }

  /** @param {string} agent */
  #agent(agent) {
    let connection = this.#agents.get(agent);
    if (!connection) {
      connection = new Connection(this.host, (envelope) => this.#send({ agent, ...envelope }));
      this.#agents.set(agent, connection);
    }
    return connection;
  }

  #dropAgents() {
    for (const connection of this.#agents.values()) connection.close();
    this.#agents.clear();
  }

  /** @param {any} envelope */
  #send(envelope) {
    if (this.#socket?.readyState !== 1) return;
    // A gateway that refuses a message for its size still reads how it begins: the payload is last.
    const { payload, ...head } = envelope;
    this.#socket.send(toText({ timestamp: Date.now(), ...head, payload }));
  }

  #capabilities() {
    return this.host.manifest().capabilities;
  }

  /**
   * @param {string} state
   * @param {unknown} [error]
   */
  #state(state, error) {
    this.host.emit({ type: 'gateway', state, url: this.url, ...(error ? { error } : {}) });
  }
}
