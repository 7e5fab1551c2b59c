/**
 * The app's connection to a gateway: many agents over one WebSocket, distinguished by `agent`. If the
 * gateway supports it, the agents survive a broken socket: a new socket takes its place in time.
 */
import { Files } from './files.js';
import { Lanes } from './lanes.js';
import { leave, takeLeft } from './left.js';
import { Offer } from './offer.js';

/** @import { Connection } from '../connection.js' */

/** Milliseconds between attempts once the wasm instance is lost. */
const LONGEST_PAUSE = 10_000;
/** The number of agents that have left and are remembered. */
const MOST_LEFT = 1_000;
/** The id of updates, by which a refused update is recognised. */
const UPDATE = 'update';
/** The close code of a socket that broke. */
const BROKEN = 1006;
/** The close code of a gateway that does not read a message of this size. */
const TOO_LARGE = 1009;

/**
 * The characters that wait in a socket before agents take turns. The gateway acknowledges that many at the
 * latest, and each acknowledgement lets more be sent: timers of hidden pages come too seldom.
 */
const BEHIND = 1 << 20;

let links = 0;

export class GatewayLink {
  /** @type {Map<string, Connection>} */
  #agents = new Map();
  /** @type {any} */
  #socket;
  /** The files that are read over the socket. @type {Files | undefined} */
  #files;
  /** Whether messages are sent and received over the socket. */
  #live = false;
  /** The messages to agents that wait until the socket has sent others. */
  #waiting = new Lanes();
  /** What survives a socket. Rust keeps and counts its messages under the number `delivery`. @type {{ token: string, grace: number, delivery: number } | undefined} */
  #session;
  /** The token of a session that was given up. The gateway may not know that yet. @type {string | undefined} */
  #replaces;
  /** @type {Partial<Record<'retry' | 'grace' | 'told', ReturnType<typeof setTimeout>>>} */
  #timers = {};
  /** The number of attempts since the last success. */
  #attempts = 0;
  /**
   * Whether any socket has ever opened, or the warning that none opens was given; and whether the
   * current one has opened.
   */
  #found = false;
  #open = false;
  #rust;
  #offer;
  #forgetChanges;
  #forgetWindow;
  #closed = false;
  #number = (links += 1);

  /**
   * @param {import('../shell.js').Shell} shell
   * @param {string} url
   * @param {{ token?: string, WebSocket?: any }} options
   * @param {any} socket the first one, opened already
   * @param {{ accept: typeof import('../accept.js').accept, fromText: (text: string) => any, log: typeof import('../errors.js').log, onWindow: typeof import('../on-window.js').onWindow, toText: (envelope: any) => string }} tools
   */
  constructor(shell, url, options, socket, tools) {
    this.shell = shell;
    this.url = url;
    this.options = options;
    this.tools = tools;
    this.#rust = shell.rust;
    this.#offer = new Offer(shell.capabilities);
    this.#forgetChanges = shell.capabilities.onChanged(() => this.#update());
    this.#use(socket);
    this.#forgetWindow = [tools.onWindow('pagehide', this.#leave), tools.onWindow('pageshow', this.#return)];
  }

  /** The capabilities have changed. */
  #update() {
    // Before the registration, there is nothing to update.
    if (!this.#live && !this.#session) return;
    const payload = this.#offer.update();
    if (payload) this.#send({ type: 'app/update', id: UPDATE, payload });
  }

  close = () => {
    this.#closed = true;
    for (const forget of this.#forgetWindow) forget();
    this.#forgetChanges();
    this.#end();
  };

  /** @param {string} [reason] */
  #end(reason) {
    this.#stopRetrying();
    this.#writeAll();
    this.#socket?.close(1000);
    this.#live = false;
    this.#forget(reason);
  }

  /** The user leaves the page: nobody should wait for it, neither while the browser keeps it nor while the next page loads. */
  #leave = () => {
    if (this.#session) leave(this.#key, this.#session.token);
    this.#end('The page was left');
    this.#socket = undefined;
    this.#files?.close();
    this.#state('disconnected');
  };

  /** @param {{ persisted: boolean }} event the page is shown, and was perhaps left before */
  #return = ({ persisted }) => {
    if (!persisted || this.#closed) return;
    this.#attempts = 0;
    this.#retryNow();
  };

  /** The key of this app's sessions with this gateway in this tab. */
  get #key() {
    return `${this.shell.app.id} ${this.url}`;
  }

  /** @param {any} socket */
  #use(socket) {
    this.#socket = socket;
    this.#files?.close();
    this.#files = new Files((type, payload) => socket === this.#socket && this.#post(type, payload), (frame) => socket.send(frame));
    this.#open = false;
    socket.onopen = () => this.#opened();
    socket.onmessage = (/** @type {{ data: unknown }} */ { data }) => {
      if (socket === this.#socket && typeof data === 'string') this.#receiveText(data);
    };
    socket.onclose = (/** @type {{ code?: number, reason?: string }} */ { code, reason }) => this.#lost(socket, code, reason);
    // If the browser refuses to connect, there may be no close event: for a blocked port in WebKit, for
    // a violation of the page's Content-Security-Policy in Chromium. After a socket has opened, a close
    // event always comes.
    socket.onerror = () => {
      if (!this.#live) this.#lost(socket, BROKEN);
    };
    if (socket.readyState === 1) this.#opened();
    else if (socket.readyState === 3) this.#lost(socket, BROKEN);
  }

  #opened() {
    this.#found = this.#open = true;
    const session = this.#session;
    const received = session && this.#rust.received(session.delivery);
    // A lost instance does not know what has arrived.
    if (received === undefined) return this.#register();
    this.#post('app/resume', { resume: session?.token, received, token: this.options.token });
  }

  #register() {
    if (this.#session) this.#replaces = this.#forget();
    const payload = { app: this.shell.app, capabilities: this.#offer.all(), token: this.options.token };
    this.#replaces ??= takeLeft(this.#key);
    // People recognise the tab by its title.
    const title = globalThis.document?.title;
    this.#post('app/register', { ...payload, title, resume: true, files: true, replaces: this.#replaces });
  }

  /**
   * @param {any} socket
   * @param {number} [code]
   * @param {string} [reason]
   */
  #lost(socket, code, reason) {
    if (socket !== this.#socket) return;
    // The next registration would be too large, too.
    if (code === TOO_LARGE && this.#open && !this.#live && !this.#session) {
      this.#refused({ code: 'INVALID_PARAMS', message: `The descriptions and schemas of its capabilities are too large: ${reason}`, retryable: false });
    }
    // A gateway that closes the connection has ended the session.
    const over = !this.#session || (this.#live && code !== BROKEN);
    this.#socket = undefined;
    this.#files?.close();
    this.#live = false;
    this.#stop('told');
    if (over) this.#forget();
    else this.#writeAll();
    // What waited may have been more than the session can keep.
    if (this.#session) this.#timers.grace ??= setTimeout(this.#giveUp, this.#session.grace);
    if (!this.#found && !this.#closed) this.#warn(socket);
    const error = { code: 'DISCONNECTED', message: `The connection to ${this.url} failed`, retryable: true };
    this.#state('disconnected', this.#open || this.#closed ? undefined : { error });
    if (!this.#closed) this.#retryLater();
  }

  /** Warns in the console: the browser tells the reason only to the developer, and the page shows nothing. @param {any} socket */
  #warn(socket) {
    this.#found = true;
    // In Node, the socket knows the status of a server that answers, but not with a WebSocket.
    const status = /response: \d+/.exec(socket.cause?.message ?? '')?.[0];
    if (status) return this.tools.log('warn', `${this.url} cannot be connected to: a server answers there, but not as a gateway does at this path (${status}). Apps connect to /abp/app`);
    const origin = globalThis.location?.origin;
    return this.tools.log('warn', `${this.url} cannot be connected to. Is the gateway running${origin ? `, and does it allow this page? If not: caphost serve --allow-origin ${origin}. The page's Content-Security-Policy must allow it too: connect-src` : '?'}`);
  }

  #retryLater() {
    const pause = this.#rust.pauseOf(this.#attempts, this.#session?.grace ?? Infinity, Math.random());
    this.#attempts += 1;
    this.#timers.retry = setTimeout(this.#retryNow, pause ?? LONGEST_PAUSE);
    globalThis.addEventListener?.('online', this.#retryNow);
  }

  #retryNow = () => {
    this.#stopRetrying();
    this.#state('connecting');
    this.#use(new (this.options.WebSocket ?? globalThis.WebSocket)(this.url));
  };

  #stopRetrying() {
    this.#stop('retry');
    globalThis.removeEventListener?.('online', this.#retryNow);
  }

  /** The session can no longer be resumed. Its agents have been told, or will be told with the next registration. */
  #giveUp = () => {
    this.#replaces = this.#forget();
    // The answer of the old socket would come too late.
    const socket = this.#socket;
    if (socket?.readyState !== 1) return;
    socket.close(1000);
    this.#lost(socket);
  };

  /** Ends the session, and the work for its agents. @param {string} [reason] @returns the session's token */
  #forget(reason = 'The connection to the gateway was lost') {
    this.#stop('grace');
    this.#waiting.clear();
    const token = this.#giveBack();
    for (const connection of this.#agents.values()) connection.close(reason);
    this.#agents = new Map();
    return token;
  }

  /** The session cannot be resumed any more: no message is kept for it. @returns the session's token */
  #giveBack() {
    this.#stop('told');
    const session = this.#session;
    if (session) this.#rust.endDelivery(session.delivery);
    this.#session = undefined;
    return session?.token;
  }

  /** @param {string} data */
  #receiveText(data) {
    const envelope = this.tools.fromText(data);
    if (envelope && this.#receiveOwn(envelope)) return this.#writeWaiting();
    // Counts first: whatever the message causes, it has arrived.
    if (this.#live) this.#count(data.length);
    if (envelope) this.#receive(envelope);
    this.#writeWaiting();
  }

  /** @param {any} envelope @returns {boolean} whether it belongs to the connection itself, whose messages are not counted */
  #receiveOwn({ type, id, payload }) {
    if (type === 'app/registered') {
      const resume = payload?.resume;
      this.#session = resume && { ...resume, delivery: this.#rust.beginDelivery() };
      this.#replaces = undefined;
      this.#offer.differences = payload?.updates === 'differences';
      this.#begin();
      // Sends the changes since the gateway's request.
      this.#update();
    } else if (type === 'app/resumed') {
      if (!this.#acknowledged(payload)) this.#giveUp();
      else this.#begin(this.#rust.kept(this.#session?.delivery));
    } else if (type === 'app/lost') {
      this.#forget();
      this.#register();
    } else if (type === 'app/refused') {
      this.#refused(payload?.error);
    } else if (type === 'error' && id === 'register') {
      // A server that answers like this knows only agents. It may name the path of apps itself.
      const error = payload?.error ?? payload;
      const said = String(error?.message);
      this.#refused({ ...error, message: said.includes('/abp/app') ? said : `${said}. Apps connect to /abp/app`, retryable: false });
      this.#socket?.close(1000);
    } else if (type === 'app/ack') {
      this.#acknowledged(payload);
    } else if (String(type).startsWith('file/')) {
      this.#files?.receive(type, payload ?? {});
    } else {
      return false;
    }
    return true;
  }

  /** @param {any} error why the gateway does not take the app */
  #refused(error) {
    // Without `retryable`, another attempt would not help.
    this.#closed = error?.retryable !== true;
    this.tools.log('warn', `${this.url} refuses this app: ${error?.message}`);
    this.#forget();
    this.#state('refused', error && { error });
  }

  /** @param {string[]} [lacking] the messages of a continued session that the gateway has not received */
  #begin(lacking) {
    this.#stop('grace');
    this.#attempts = 0;
    this.#live = true;
    for (const text of lacking ?? []) this.#socket.send(text);
    this.#state('connected', lacking && { resumed: true });
  }

  /** @param {any} payload how many messages the gateway says it has received @returns {boolean | undefined} whether that is possible */
  #acknowledged(payload) {
    return this.#session && this.#rust.acknowledged(this.#session.delivery, Number(payload?.received));
  }

  /** @param {number} size */
  #count(size) {
    if (!this.#session) return;
    const wait = this.#rust.arrived(this.#session.delivery, size);
    if (wait === 0) this.#acknowledge();
    else if (wait > 0) this.#timers.told = setTimeout(this.#acknowledge, wait);
  }

  #acknowledge = () => {
    this.#stop('told');
    const received = this.#live && this.#session && this.#rust.received(this.#session.delivery);
    if (typeof received === 'number') this.#post('app/ack', { received });
  };

  /** @param {any} envelope */
  #receive({ agent, ...envelope }) {
    if (envelope.type === 'app/superseded') {
      this.#state('superseded');
    } else if (typeof agent !== 'string' || envelope.type === 'error') {
      if (envelope.id === UPDATE) this.#offer.refused();
      const error = envelope.payload?.error ?? envelope.payload;
      this.tools.log('warn', `the gateway says: ${error?.message ?? this.tools.toText(envelope)}`);
    } else if (envelope.type === 'agent/closed') {
      this.#left(this.#agents.get(agent));
      this.#agents.delete(agent);
    } else {
      this.#agent(agent).receive(envelope);
    }
  }

  /** The gateway is still told how the work of a departed agent ends. @param {Connection} [connection] */
  #left(connection) {
    if (!connection) return;
    const { left } = this.shell;
    connection.close();
    left.set(connection.number, connection);
    for (const [oldest] of left) if (left.size > MOST_LEFT) left.delete(oldest);
  }

  /** @param {string} agent */
  #agent(agent) {
    const agents = this.#agents;
    let connection = agents.get(agent);
    if (!connection) {
      // The next session may give this agent's name to another agent.
      const post = (/** @type {object} */ envelope) => agents === this.#agents && this.#send({ agent, ...envelope });
      const messenger = { abp: true, lasting: true, from: [this.#number], onmessage: undefined, onclose: undefined, post, close() {} };
      connection = this.tools.accept(this.shell, messenger).connect();
      agents.set(agent, connection);
    }
    return connection;
  }

  /** @param {any} envelope */
  #send(envelope) {
    if (!this.#live && !this.#session) return;
    // The payload comes last: a gateway that refuses a message for its size still reads the beginning.
    const { payload, ...head } = envelope;
    const text = this.tools.toText({ timestamp: Date.now(), ...head, payload });
    if (head.agent && (!this.#waiting.isEmpty || this.#isBehind())) this.#waiting.add(head.agent, text);
    else this.#write(text);
  }

  /** Whether the socket makes messages wait. Without a session, no acknowledgement would let them go on. */
  #isBehind() {
    return this.#live && this.#session && this.#socket.bufferedAmount > BEHIND;
  }

  /** Sends what has waited, as far as the socket is not behind. */
  #writeWaiting() {
    while (!this.#waiting.isEmpty && !this.#isBehind()) this.#writeNext();
  }

  #writeAll() {
    while (!this.#waiting.isEmpty) this.#writeNext();
  }

  #writeNext() {
    this.#write(this.#waiting.next() ?? '');
  }

  /** @param {string} text */
  #write(text) {
    const kept = this.#session && this.#rust.keep(this.#session.delivery, text, text.length);
    if (this.#live) {
      if (kept === false) this.#replaces = this.#giveBack();
      if (this.#socket.readyState === 1) this.#socket.send(text);
      if (kept === false) this.#writeAll();
    } else if (!kept) {
      this.#giveUp();
    }
  }

  /**
   * Sends a message that is not counted.
   *
   * @param {string} type
   * @param {any} payload
   */
  #post(type, payload) {
    if (this.#socket?.readyState === 1) this.#socket.send(this.tools.toText({ type, id: type.slice(4), timestamp: Date.now(), payload }));
  }

  /** @param {'retry' | 'grace' | 'told'} timer */
  #stop(timer) {
    clearTimeout(this.#timers[timer]);
    delete this.#timers[timer];
  }

  /**
   * @param {string} state
   * @param {object} [more]
   */
  #state(state, more) {
    this.shell.timeline.emit({ type: 'gateway', state, url: this.url, ...more });
  }
}
