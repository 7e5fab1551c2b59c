// Made of ../js by `npm run build`, and to be changed there.

// src/web/js/workers/numbers.js
var STOP = { neverStarted: 0, dropped: 1, returned: 2, terminated: 3, abandoned: 4 };
var STEP = { signal: 0, flag: 1, terminate: 2, none: 3 };

// src/web/js/workers/thread.js
var LOST = "The worker has crashed, has run out of memory, or has closed itself";
var Thread = class {
  /** @type {Job | undefined} */
  #job;
  /** The number of the current call, so that messages about an earlier call are ignored. */
  #serial = 0;
  /** Whether its end proves nothing: it has started workers of its own, or released its lock. */
  #unproven = false;
  /** Whether it has loaded its module. */
  #ready = false;
  /** Whether it runs no more calls. */
  ended = false;
  /** The shared memory in which a computing worker sees that its call must stop. @type {Int32Array | undefined} */
  #flag;
  #worker;
  #module;
  #lock;
  #unlock = new AbortController();
  /**
   * Settles when no code of the app runs in the worker. Already settled before the worker has its lock.
   * Undefined if that cannot be proven.
   *
   * @type {Promise<void> | undefined}
   */
  #gone = Promise.resolve();
  #free;
  #kit;
  /** The numbers of the handler's unanswered requests. @type {Set<number>} */
  #asked = /* @__PURE__ */ new Set();
  /** Stops the calls that the current call has made. @type {AbortController[]} */
  #asks = [];
  /**
   * @param {Module} module
   * @param {(thread: Thread) => void} free called when a call has ended in it, or it has itself
   * @param {Kit} kit
   */
  constructor(module, free, kit) {
    const { url, type, script } = module;
    this.#module = [url, type];
    this.#free = free;
    this.#kit = kit;
    this.#lock = `caphost.worker.${kit.ids.next()}`;
    if (globalThis.crossOriginIsolated && globalThis.SharedArrayBuffer) this.#flag = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(script, { type: type === "classic" ? type : "module", name: `caphost ${url}` });
    const token = Math.random();
    worker.onmessage = ({ data }) => Array.isArray(data) && data[0] === token && this.#receive(data);
    worker.onmessageerror = () => this.#refuse("OPERATION_FAILED", "What the worker said cannot be read");
    worker.onerror = () => this.#refuse("BROWSER_ERROR", `No worker: ${script} cannot be loaded, or the policy of the page forbids it (worker-src)`);
    worker.postMessage([this.#lock, this.#flag, token]);
    this.#worker = worker;
  }
  /**
   * @param {Job} job
   * @returns {Ender}
   */
  run(job) {
    this.#job = job;
    this.#serial += 1;
    this.#asks = [];
    if (this.#ready) this.#start(job);
    const mine = (work) => this.#job === job && work();
    return {
      stop: (reason) => mine(() => this.#stop(job, reason)),
      terminate: () => mine(() => this.#terminate(job))
    };
  }
  #post = (message, moved) => this.#worker.postMessage(message, moved);
  /** @param {Job} job */
  #start({ name, params, context, reject }) {
    const { abpError, text, carry } = this.#kit;
    try {
      carry(["run", this.#serial, name, context.callId, params], this.#post, params, true);
    } catch (error) {
      this.#job = void 0;
      reject(abpError("INVALID_PARAMS", `The parameters cannot be sent to the worker: ${text(error)}`));
      this.#free(this);
    }
  }
  /** @param {Job} job @param {string} [reason] */
  #stop(job, reason) {
    if (!this.#ready) return this.#terminate(job, STOP.neverStarted);
    if (this.#flag) Atomics.store(this.#flag, 0, this.#serial);
    return this.#worker.postMessage(["stop", this.#serial, reason]);
  }
  /** @param {Job} job @param {number} stop how far the call counts as stopped once the worker is gone */
  #terminate(job, stop = STOP.terminated) {
    this.#end();
    if (this.#gone) void this.#gone.then(() => job.stopped(this.#unproven ? STOP.abandoned : stop), () => {
    });
    else job.stopped(STOP.abandoned);
  }
  /** Ends the worker without waiting: its call fails, or is abandoned if it was told to stop. @param {string} why */
  release(why) {
    this.#job?.stopped(STOP.abandoned);
    this.#refuse("BROWSER_ERROR", why);
    this.#unlock.abort();
  }
  /** The worker cannot continue: its call, if it has one, fails. @param {string} code @param {string} message @param {boolean} [retryable] unless the code says so */
  #refuse(code, message, retryable) {
    const job = this.#job;
    if (job?.context.stopped) return this.#terminate(job);
    this.#end();
    const error = this.#kit.abpError(code, message);
    return job?.reject(Object.assign(error, { retryable: retryable ?? error.retryable }));
  }
  #end() {
    if (this.ended) return;
    this.ended = true;
    this.#job = void 0;
    this.#worker.onerror = null;
    this.#worker.terminate();
    this.#free(this);
  }
  /** No code of the app has run in the worker so far. @param {boolean} locked whether it holds its lock */
  #load(locked) {
    this.#gone = void 0;
    this.#worker.onerror = null;
    if (locked && navigator.locks) {
      this.#gone = navigator.locks.request(this.#lock, { signal: this.#unlock.signal }, () => {
      });
      this.#gone.then(() => this.#refuse("OPERATION_FAILED", LOST), () => {
      });
    }
    this.#worker.postMessage(this.#module);
  }
  #begin() {
    this.#ready = true;
    if (this.#job) this.#start(this.#job);
  }
  /** @param {any[]} message the kind of message, the number of the call, and further parts */
  #receive(message) {
    const [, what, about, first, second] = message;
    const job = this.#job;
    if (what === "unproven") this.#unproven = true;
    else if (this.ended) return;
    else if (what === "locked") this.#load(about);
    else if (what === "ready") this.#begin();
    else if (what === "unusable") this.#refuse("CAPABILITY_UNAVAILABLE", about, first);
    else if (what === "unread") this.#unread(about, first);
    else if (what === "closed") this.#gone || this.#refuse("OPERATION_FAILED", LOST);
    else if (!job || about !== this.#serial) return;
    else if (what === "progress") job.context.progress(first);
    else if (what === "elicit") this.#answer(first, job.context.elicit(second));
    else if (what === "abort") this.#asks[first]?.abort(second);
    else if (what === "call") this.#call(job, message);
    else this.#settle(job, what, first, second);
  }
  /** The handler calls another capability. @param {Job} job @param {any[]} message */
  #call({ context }, [, , , number, capability, params, options, aborted]) {
    const ask = this.#asks[number] = new AbortController();
    if (aborted) ask.abort(aborted.reason);
    this.#answer(number, context.call(capability, params, { ...options, signal: ask.signal }));
  }
  /** @param {number} number of the handler's request @param {Promise<any>} response */
  #answer(number, response) {
    const { text, carry } = this.#kit;
    this.#asked.add(number);
    void response.then((it) => {
      this.#asked.delete(number);
      if (this.ended) return;
      try {
        carry(["answer", number, it], this.#post, it);
      } catch (error) {
        this.#fail(number, `sent to the worker: ${text(error)}`);
      }
    });
  }
  /** @param {number} number of the handler's request @param {string} how why there is no answer */
  #fail(number, how) {
    this.#worker.postMessage(["answer", number, { success: false, error: { code: "OPERATION_FAILED", message: `The answer cannot be ${how}`, retryable: false } }]);
  }
  /**
   * The worker cannot read a message: its call, or one of the answers that it waits for.
   *
   * @param {number | undefined} serial of the call that runs in it
   * @param {number[]} asks the numbers of the requests that it waits for
   */
  #unread(serial, asks) {
    if (this.#job && serial !== this.#serial) this.#refuse("INVALID_PARAMS", "The worker cannot read the parameters");
    else for (const number of asks) if (!this.#asked.has(number)) this.#fail(number, "read by the worker");
  }
  /**
   * The handler of a call has ended, and the worker takes the next one.
   *
   * @param {Job} job
   * @param {string} how
   * @param {any} value
   * @param {number} [step] of its stop that has reached it
   */
  #settle(job, how, value, step) {
    this.#job = void 0;
    if (step !== void 0) job.reached(step);
    if (how === "done") job.resolve(value);
    else if (how === "dropped") job.stopped(STOP.dropped);
    else job.reject(value);
    if (how === "lost") this.#end();
    else this.#free(this);
  }
};

// src/web/js/workers/workers.js
var SCRIPT = new URL("./worker.js", import.meta.url).href;
var STOPPED = "The call was stopped";
var FUNCTIONS = "The parameters hold a function, and the handler runs in a worker of the app, which gets no functions";
var LEFT = "The page was left or frozen, and its workers have ended";
var Workers = class {
  /** The pools, by the modules that they run. @type {Map<string, Pool>} */
  #pools = /* @__PURE__ */ new Map();
  /** The user has left the page, or the page is frozen, so nothing starts. */
  #left = false;
  #shell;
  #kit;
  /** @param {Shell} shell @param {Kit} kit */
  constructor(shell, kit) {
    this.#shell = shell;
    this.#kit = kit;
    if (shell.closed) return;
    this.#listen("addEventListener");
    shell.capabilities.onChanged(() => void Promise.resolve().then(this.#tidy));
  }
  /** A page that is left or frozen keeps no workers. A page that is only hidden continues to work. @param {'addEventListener' | 'removeEventListener'} how */
  #listen(how) {
    const { document } = globalThis;
    for (const type of ["pagehide", "freeze"]) (type === "freeze" ? document : globalThis)?.[how]?.(type, this.#leave);
    for (const type of ["pageshow", "resume", "visibilitychange"]) (type === "pageshow" ? globalThis : document)?.[how]?.(type, this.#shown);
  }
  /** Keeps a worker in reserve, if the capability wants that. @param {Spec} spec */
  warm(spec) {
    const pool = this.#pool(spec);
    if (!this.#left) pool.shown();
  }
  /**
   * Runs a call. Tells Rust how the call stops, if it must stop.
   *
   * @param {Spec} spec
   * @param {any} params
   * @param {Context} context
   * @returns {Promise<unknown>}
   */
  run(spec, params, context) {
    const { rust, number } = this.#shell;
    const { key } = context;
    let told = false;
    const ran = new Promise((resolve, reject) => {
      const stopped = (stop) => void rust.stopped(number, key, stop);
      const reached = (step) => {
        told = true;
        rust.reached(number, key, step);
      };
      if (context.stopped) stopped(STOP.neverStarted);
      else if (this.#shell.running.given(key)?.borrowed) reject(this.#kit.abpError("NOT_SUPPORTED", FUNCTIONS));
      else if (this.#left) reject(this.#kit.abpError("BROWSER_ERROR", LEFT));
      else context.ender = this.#pool(spec).run({ name: spec.name, params, context, resolve, reject, stopped, reached });
    });
    const { finish } = spec;
    if (!finish) return ran;
    return ran.then((data) => {
      if (told) throw STOPPED;
      const terminate = () => {
        void rust.reached(number, key, STEP.none);
        void rust.stopped(number, key, STOP.abandoned);
      };
      context.ender = { stop: () => {
      }, terminate };
      return finish(data, context);
    });
  }
  /** The host is closed. */
  close() {
    this.#listen("removeEventListener");
    this.#release("The host was closed");
  }
  #leave = () => {
    this.#left = true;
    this.#release(LEFT);
  };
  /** @param {string} why */
  #release(why) {
    for (const pool of this.#pools.values()) pool.release(why);
  }
  #shown = ({ type }) => {
    if (type !== "visibilitychange" || !isHidden()) this.#left = false;
    if (!this.#left) for (const pool of this.#pools.values()) pool.shown();
  };
  /** Capabilities have been added or removed: ends the workers that no capability uses. */
  #tidy = () => {
    const documents = new Set(this.#shell.capabilities.documents());
    for (const [key, pool] of this.#pools) if (!pool.keep(documents)) this.#pools.delete(key);
  };
  /** @param {Spec} spec */
  #pool(spec) {
    const key = spec.key ??= `${spec.type} ${spec.script} ${spec.url}`;
    let pool = this.#pools.get(key);
    if (!pool) this.#pools.set(key, pool = new Pool({ ...spec, script: spec.script || SCRIPT }, this.#kit));
    if (!pool.specs.has(spec) && this.#shell.capabilities.find(spec.name) === spec.document) pool.add(spec);
    return pool;
  }
};
var isHidden = () => globalThis.document?.hidden;
var Pool = class {
  /** @type {Set<Thread>} */
  #busy = /* @__PURE__ */ new Set();
  /** @type {Thread[]} */
  #idle = [];
  /** The capabilities that use the pool. @type {Set<Spec>} */
  specs = /* @__PURE__ */ new Set();
  /** Whether any of them wants a worker in reserve. */
  #warm = false;
  /** The number of workers to keep: the highest number that any of them wants. */
  #most = 0;
  #module;
  #kit;
  /** @param {Module} module @param {Kit} kit */
  constructor(module, kit) {
    this.#module = module;
    this.#kit = kit;
  }
  /** @param {Job} job */
  run(job) {
    try {
      const thread = this.#idle.pop() ?? new Thread(this.#module, this.#free, this.#kit);
      this.#busy.add(thread);
      const ender = thread.run(job);
      this.#reserve();
      return ender;
    } catch (error) {
      const { abpError, text } = this.#kit;
      job.reject(abpError(globalThis.Worker ? "BROWSER_ERROR" : "NOT_SUPPORTED", `No worker can be started here: ${text(error)}`));
      return void 0;
    }
  }
  get #size() {
    return this.#idle.length + this.#busy.size;
  }
  /** @param {Spec} spec */
  add(spec) {
    this.specs.add(spec);
    this.#count();
  }
  #count() {
    const specs = [...this.specs];
    this.#warm = specs.some((it) => it.warm);
    this.#most = Math.max(0, ...specs.map(({ pool }) => pool)) + Number(this.#warm);
  }
  /** @param {Set<any>} documents of the capabilities there are @returns {boolean} whether any of them uses it, or a call runs in it */
  keep(documents) {
    for (const spec of this.specs) if (!documents.has(spec.document)) this.specs.delete(spec);
    this.#count();
    while (this.#size > this.#most && this.#idle.length > 0) this.#idle.pop()?.release("");
    return this.specs.size + this.#busy.size > 0;
  }
  /** A call in a worker has ended, or the worker itself has ended. @param {Thread} thread */
  #free = (thread) => {
    const worked = this.#busy.delete(thread);
    if (thread.ended) {
      this.#idle = this.#idle.filter((it) => it !== thread);
      if (worked) this.#reserve();
      return;
    }
    if (this.#size < this.#most && !isHidden()) this.#idle.push(thread);
    else thread.release("");
  };
  /** Keeps a worker in reserve, which is ready by the time a call needs it. */
  #reserve() {
    if (this.#idle.length > 0 || !this.#warm || isHidden()) return;
    try {
      this.#idle.push(new Thread(this.#module, this.#free, this.#kit));
    } catch {
    }
  }
  /** The page has become visible or hidden. */
  shown() {
    if (isHidden()) for (const thread of this.#idle) thread.release("");
    else this.#reserve();
  }
  /** @param {string} why */
  release(why) {
    const all = [...this.#busy, ...this.#idle];
    this.#busy.clear();
    this.#idle = [];
    for (const thread of all) thread.release(why);
  }
};
export {
  Workers
};
