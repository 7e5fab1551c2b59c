// Made of ../js by `npm run build`, and to be changed there.

// src/web/js/gateway/files.js
var PIECE = 256 << 10;
var Files = class {
  /** What is being read, by its number. @type {Map<number, Reading>} */
  #readings = /* @__PURE__ */ new Map();
  #post;
  #send;
  /**
   * @param {(type: string, payload: any) => void} post sends a message
   * @param {(frame: Uint8Array) => void} send sends a binary frame
   */
  constructor(post, send) {
    this.#post = post;
    this.#send = send;
  }
  /** @param {string} type of a message of the gateway @param {any} payload */
  receive(type, { file, url, bytes }) {
    const reading = this.#readings.get(file);
    if (type === "file/read") void this.#read(file, String(url), new Reading(bytes));
    else if (type === "file/more") reading?.allow(bytes);
    else if (type === "file/stop") reading?.stop();
  }
  /** The socket is lost. */
  close() {
    for (const reading of this.#readings.values()) reading.stop();
  }
  /** @param {number} file @param {string} url @param {Reading} reading */
  async #read(file, url, reading) {
    this.#readings.set(file, reading);
    let error;
    try {
      await this.#give(file, url, reading);
    } catch (thrown) {
      error = String(thrown);
    }
    this.#readings.delete(file);
    if (!reading.signal.aborted) this.#post("file/ended", { file, error });
    reading.stop();
  }
  /** @param {number} file @param {string} url @param {Reading} reading */
  async #give(file, url, reading) {
    if (!url.startsWith("blob:")) throw new TypeError("This is no file of the page");
    const { body, headers } = await fetch(url, { signal: reading.signal });
    const size = headers.get("content-length");
    this.#post("file/found", { file, size: size === null ? void 0 : Number(size), mimeType: headers.get("content-type") ?? void 0 });
    const reader = body?.getReader();
    for (; ; ) {
      await reading.room();
      const { done, value } = await reader?.read() ?? { done: true };
      if (done) return;
      for (let at = 0; at < value.length; ) {
        const most = Math.min(await reading.room(), PIECE);
        const piece = value.subarray(at, at + most);
        const frame = new Uint8Array(4 + piece.length);
        new DataView(frame.buffer).setUint32(0, file);
        frame.set(piece, 4);
        this.#send(frame);
        reading.allow(-piece.length);
        at += piece.length;
      }
    }
  }
};
var Reading = class {
  #allowed;
  #abort = new AbortController();
  #wake = () => {
  };
  /** @param {number} allowed */
  constructor(allowed) {
    this.#allowed = allowed;
  }
  get signal() {
    return this.#abort.signal;
  }
  /** @param {number} bytes */
  allow(bytes) {
    this.#allowed += bytes;
    this.#wake();
  }
  stop() {
    this.#abort.abort();
    this.#wake();
  }
  /** Waits until the gateway has asked for bytes. @returns {Promise<number>} how many; rejects if the gateway wants no more */
  async room() {
    while (!(this.#allowed > 0)) {
      this.signal.throwIfAborted();
      await new Promise((wake) => this.#wake = () => wake(void 0));
    }
    this.signal.throwIfAborted();
    return this.#allowed;
  }
};

// src/web/js/gateway/queue.js
var Queue = class {
  /** @type {Link<T> | undefined} */
  #first;
  /** @type {Link<T> | undefined} */
  #last;
  get first() {
    return this.#first?.item;
  }
  /** @param {T} item */
  push(item) {
    const link = { item };
    if (this.#first && this.#last) this.#last.next = link;
    else this.#first = link;
    this.#last = link;
  }
  /** Takes out the first item. */
  shift() {
    const link = this.#first;
    this.#first = link?.next;
    return link?.item;
  }
};

// src/web/js/gateway/lanes.js
var QUANTUM = 4 << 10;
var Lanes = class {
  /** By agent. None is empty. @type {Map<string, Lane>} */
  #lanes = /* @__PURE__ */ new Map();
  /** The same in the order of their turns. @type {Queue<Lane>} */
  #turns = new Queue();
  get isEmpty() {
    return this.#lanes.size === 0;
  }
  /** @param {string} agent @param {string} text */
  add(agent, text) {
    let lane = this.#lanes.get(agent);
    if (!lane) {
      lane = { agent, texts: new Queue(), credit: QUANTUM };
      this.#lanes.set(agent, lane);
      this.#turns.push(lane);
    }
    lane.texts.push(text);
  }
  /** Takes out the next message. @returns {string | undefined} */
  next() {
    for (let lane; lane = this.#turns.first; ) {
      const length = lane.texts.first?.length ?? 0;
      if (length <= lane.credit || this.#lanes.size === 1) {
        lane.credit = Math.max(0, lane.credit - length);
        const text = lane.texts.shift();
        if (lane.texts.first === void 0) {
          this.#lanes.delete(lane.agent);
          this.#turns.shift();
        }
        return text;
      }
      lane.credit += QUANTUM;
      this.#turns.shift();
      this.#turns.push(lane);
    }
    return void 0;
  }
  clear() {
    this.#lanes.clear();
    this.#turns = new Queue();
  }
};

// src/web/js/gateway/left.js
function inTab(work) {
  try {
    return work(sessionStorage) ?? void 0;
  } catch {
    return void 0;
  }
}
var PREFIX = "caphost.left ";
var leave = (key, token) => void inTab((storage) => storage.setItem(PREFIX + key, token));
var takeLeft = (key) => inTab((storage) => {
  const token = storage.getItem(PREFIX + key);
  storage.removeItem(PREFIX + key);
  return token;
});

// src/web/js/gateway/offer.js
var Offer = class {
  #capabilities;
  /** By name; undefined if the gateway's state is unknown. @type {Map<string, any> | undefined} */
  #told;
  /** Whether the gateway accepts differences. */
  differences = false;
  /** @param {Capabilities} capabilities */
  constructor(capabilities) {
    this.#capabilities = capabilities;
  }
  /** All capabilities, for the gateway, which knows them from now on. */
  all() {
    this.#told = new Map(this.#capabilities.documents().map((document) => [document.name, document]));
    return this.#entries([...this.#told.values()]);
  }
  /** The changes to tell the gateway of; undefined if there are none. */
  update() {
    const before = this.#told;
    if (!before) return { capabilities: this.all() };
    const now = this.#capabilities.documents();
    const added = now.filter((document) => document !== before.get(document.name));
    const left = new Map(now.map((document) => [document.name, document]));
    const removed = [...before].filter(([name, document]) => document !== left.get(name)).map(([name]) => name);
    if (added.length + removed.length === 0) return void 0;
    if (!this.differences) return { capabilities: this.all() };
    this.#told = left;
    return { ...removed.length && { removed }, ...added.length && { added: this.#entries(added) } };
  }
  /** The gateway has refused an update, so its state differs from what it was told. */
  refused() {
    this.#told = void 0;
  }
  /** @param {any[]} documents */
  #entries(documents) {
    return documents.map((document) => this.#capabilities.entry(document));
  }
};

// src/web/js/gateway/link.js
var LONGEST_PAUSE = 1e4;
var MOST_LEFT = 1e3;
var UPDATE = "update";
var BROKEN = 1006;
var TOO_LARGE = 1009;
var BEHIND = 1 << 20;
var links = 0;
var GatewayLink = class {
  /** @type {Map<string, Connection>} */
  #agents = /* @__PURE__ */ new Map();
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
  #number = links += 1;
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
    this.#forgetWindow = [tools.onWindow("pagehide", this.#leave), tools.onWindow("pageshow", this.#return)];
  }
  /** The capabilities have changed. */
  #update() {
    if (!this.#live && !this.#session) return;
    const payload = this.#offer.update();
    if (payload) this.#send({ type: "app/update", id: UPDATE, payload });
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
    this.#socket?.close(1e3);
    this.#live = false;
    this.#forget(reason);
  }
  /** The user leaves the page: nobody should wait for it, neither while the browser keeps it nor while the next page loads. */
  #leave = () => {
    if (this.#session) leave(this.#key, this.#session.token);
    this.#end("The page was left");
    this.#socket = void 0;
    this.#files?.close();
    this.#state("disconnected");
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
    socket.onmessage = ({ data }) => {
      if (socket === this.#socket && typeof data === "string") this.#receiveText(data);
    };
    socket.onclose = ({ code, reason }) => this.#lost(socket, code, reason);
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
    if (received === void 0) return this.#register();
    this.#post("app/resume", { resume: session?.token, received, token: this.options.token });
  }
  #register() {
    if (this.#session) this.#replaces = this.#forget();
    const payload = { app: this.shell.app, capabilities: this.#offer.all(), token: this.options.token };
    this.#replaces ??= takeLeft(this.#key);
    const title = globalThis.document?.title;
    this.#post("app/register", { ...payload, title, resume: true, files: true, replaces: this.#replaces });
  }
  /**
   * @param {any} socket
   * @param {number} [code]
   * @param {string} [reason]
   */
  #lost(socket, code, reason) {
    if (socket !== this.#socket) return;
    if (code === TOO_LARGE && this.#open && !this.#live && !this.#session) {
      this.#refused({ code: "INVALID_PARAMS", message: `The descriptions and schemas of its capabilities are too large: ${reason}`, retryable: false });
    }
    const over = !this.#session || this.#live && code !== BROKEN;
    this.#socket = void 0;
    this.#files?.close();
    this.#live = false;
    this.#stop("told");
    if (over) this.#forget();
    else this.#writeAll();
    if (this.#session) this.#timers.grace ??= setTimeout(this.#giveUp, this.#session.grace);
    if (!this.#found && !this.#closed) this.#warn(socket);
    const error = { code: "DISCONNECTED", message: `The connection to ${this.url} failed`, retryable: true };
    this.#state("disconnected", this.#open || this.#closed ? void 0 : { error });
    if (!this.#closed) this.#retryLater();
  }
  /** Warns in the console: the browser tells the reason only to the developer, and the page shows nothing. @param {any} socket */
  #warn(socket) {
    this.#found = true;
    const status = /response: \d+/.exec(socket.cause?.message ?? "")?.[0];
    if (status) return this.tools.log("warn", `${this.url} cannot be connected to: a server answers there, but not as a gateway does at this path (${status}). Apps connect to /abp/app`);
    const origin = globalThis.location?.origin;
    return this.tools.log("warn", `${this.url} cannot be connected to. Is the gateway running${origin ? `, and does it allow this page? If not: caphost serve --allow-origin ${origin}. The page's Content-Security-Policy must allow it too: connect-src` : "?"}`);
  }
  #retryLater() {
    const pause = this.#rust.pauseOf(this.#attempts, this.#session?.grace ?? Infinity, Math.random());
    this.#attempts += 1;
    this.#timers.retry = setTimeout(this.#retryNow, pause ?? LONGEST_PAUSE);
    globalThis.addEventListener?.("online", this.#retryNow);
  }
  #retryNow = () => {
    this.#stopRetrying();
    this.#state("connecting");
    this.#use(new (this.options.WebSocket ?? globalThis.WebSocket)(this.url));
  };
  #stopRetrying() {
    this.#stop("retry");
    globalThis.removeEventListener?.("online", this.#retryNow);
  }
  /** The session can no longer be resumed. Its agents have been told, or will be told with the next registration. */
  #giveUp = () => {
    this.#replaces = this.#forget();
    const socket = this.#socket;
    if (socket?.readyState !== 1) return;
    socket.close(1e3);
    this.#lost(socket);
  };
  /** Ends the session, and the work for its agents. @param {string} [reason] @returns the session's token */
  #forget(reason = "The connection to the gateway was lost") {
    this.#stop("grace");
    this.#waiting.clear();
    const token = this.#giveBack();
    for (const connection of this.#agents.values()) connection.close(reason);
    this.#agents = /* @__PURE__ */ new Map();
    return token;
  }
  /** The session cannot be resumed any more: no message is kept for it. @returns the session's token */
  #giveBack() {
    this.#stop("told");
    const session = this.#session;
    if (session) this.#rust.endDelivery(session.delivery);
    this.#session = void 0;
    return session?.token;
  }
  /** @param {string} data */
  #receiveText(data) {
    const envelope = this.tools.fromText(data);
    if (envelope && this.#receiveOwn(envelope)) return this.#writeWaiting();
    if (this.#live) this.#count(data.length);
    if (envelope) this.#receive(envelope);
    this.#writeWaiting();
  }
  /** @param {any} envelope @returns {boolean} whether it belongs to the connection itself, whose messages are not counted */
  #receiveOwn({ type, id, payload }) {
    if (type === "app/registered") {
      const resume = payload?.resume;
      this.#session = resume && { ...resume, delivery: this.#rust.beginDelivery() };
      this.#replaces = void 0;
      this.#offer.differences = payload?.updates === "differences";
      this.#begin();
      this.#update();
    } else if (type === "app/resumed") {
      if (!this.#acknowledged(payload)) this.#giveUp();
      else this.#begin(this.#rust.kept(this.#session?.delivery));
    } else if (type === "app/lost") {
      this.#forget();
      this.#register();
    } else if (type === "app/refused") {
      this.#refused(payload?.error);
    } else if (type === "error" && id === "register") {
      const error = payload?.error ?? payload;
      const said = String(error?.message);
      this.#refused({ ...error, message: said.includes("/abp/app") ? said : `${said}. Apps connect to /abp/app`, retryable: false });
      this.#socket?.close(1e3);
    } else if (type === "app/ack") {
      this.#acknowledged(payload);
    } else if (String(type).startsWith("file/")) {
      this.#files?.receive(type, payload ?? {});
    } else {
      return false;
    }
    return true;
  }
  /** @param {any} error why the gateway does not take the app */
  #refused(error) {
    this.#closed = error?.retryable !== true;
    this.tools.log("warn", `${this.url} refuses this app: ${error?.message}`);
    this.#forget();
    this.#state("refused", error && { error });
  }
  /** @param {string[]} [lacking] the messages of a continued session that the gateway has not received */
  #begin(lacking) {
    this.#stop("grace");
    this.#attempts = 0;
    this.#live = true;
    for (const text of lacking ?? []) this.#socket.send(text);
    this.#state("connected", lacking && { resumed: true });
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
    this.#stop("told");
    const received = this.#live && this.#session && this.#rust.received(this.#session.delivery);
    if (typeof received === "number") this.#post("app/ack", { received });
  };
  /** @param {any} envelope */
  #receive({ agent, ...envelope }) {
    if (envelope.type === "app/superseded") {
      this.#state("superseded");
    } else if (typeof agent !== "string" || envelope.type === "error") {
      if (envelope.id === UPDATE) this.#offer.refused();
      const error = envelope.payload?.error ?? envelope.payload;
      this.tools.log("warn", `the gateway says: ${error?.message ?? this.tools.toText(envelope)}`);
    } else if (envelope.type === "agent/closed") {
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
      const post = (envelope) => agents === this.#agents && this.#send({ agent, ...envelope });
      const messenger = { abp: true, lasting: true, from: [this.#number], onmessage: void 0, onclose: void 0, post, close() {
      } };
      connection = this.tools.accept(this.shell, messenger).connect();
      agents.set(agent, connection);
    }
    return connection;
  }
  /** @param {any} envelope */
  #send(envelope) {
    if (!this.#live && !this.#session) return;
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
    this.#write(this.#waiting.next() ?? "");
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
    this.shell.timeline.emit({ type: "gateway", state, url: this.url, ...more });
  }
};
export {
  GatewayLink
};
