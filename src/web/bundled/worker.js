// Made of ../js by `npm run build`, and to be changed there.
"use strict";
(() => {
  // src/web/js/codes.js
  var RETRYABLE = [
    "NOT_INITIALIZED",
    "SESSION_EXPIRED",
    "SESSION_INVALID",
    "CAPABILITY_UNAVAILABLE",
    "PERMISSION_REQUIRED",
    "TIMEOUT",
    "RATE_LIMITED",
    "TRANSPORT_ERROR",
    "DISCONNECTED"
  ];

  // src/web/js/errors.js
  var problem = (code, message) => ({ code, message, retryable: RETRYABLE.includes(code) });
  var failure = (code, message) => ({ success: false, error: problem(code, message) });
  var CapHostError = class _CapHostError extends Error {
    /** Set explicitly, as minifiers shorten class names: Node prints this name. */
    static name = "CapHostError";
    name = _CapHostError.name;
    /** @type {any} a string */
    code;
    /** @type {any} a boolean */
    retryable;
    /** @param {AbpError} error */
    constructor(error) {
      super(error.message);
      Object.assign(this, error);
    }
  };
  function text(error) {
    try {
      return String(error?.message ?? error);
    } catch {
      return "it cannot be read";
    }
  }
  function report(callback, ...args) {
    try {
      callback?.(...args);
    } catch (error) {
      later(() => (globalThis.reportError ?? console.error)(error));
    }
  }
  var settled = Promise.resolve();
  var later = (work) => void settled.then(work).catch(() => {
  });
  var log = (how, ...what) => later(() => console[how](`caphost: ${what.shift()}`, ...what));

  // src/web/js/plain.js
  var kindOf = (it) => Object.prototype.toString.call(it).slice(8, -1);
  var isError = (it) => it instanceof Error ? !/^(Object|DOMException)$/.test(kindOf(it)) : kindOf(it) === "Error";
  var OF_ERRORS = (
    /** @type {const} */
    ["name", "message", "stack", "cause", "errors"]
  );
  function isPlain(item) {
    const prototype = Object.getPrototypeOf(item);
    return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
  }
  function hasOnlyElements(array) {
    const keys = Object.keys(array);
    return keys.length === array.length && (keys.length === 0 || keys[keys.length - 1] === String(keys.length - 1));
  }
  var VALUE = 24;
  var LEVELS = 8;
  var MEMBERS = 200;
  var members = 0;
  function simpleBytes(value) {
    members = MEMBERS;
    return pass(value, LEVELS);
  }
  var isSimple = (value) => simpleBytes(value) >= 0;
  function pass(value, levels) {
    switch (typeof value) {
      case "string":
        return VALUE + value.length + 2;
      case "object":
        return value === null ? VALUE + 1 : passObject(value, levels - 1);
      case "function":
      case "symbol":
      case "bigint":
        return -1;
      default:
        return VALUE + 1;
    }
  }
  function passObject(object, levels) {
    if (levels < 0) return -1;
    let bytes = VALUE + 1;
    if (Array.isArray(object)) {
      members -= object.length;
      if (members < 0 || !hasOnlyElements(object)) return -1;
      for (let at = 0; at < object.length; at += 1) {
        const more = pass(object[at], levels);
        if (more < 0) return -1;
        bytes += more;
      }
      return bytes;
    }
    if (!isPlain(object)) return -1;
    for (const key in object) {
      members -= 1;
      const more = members < 0 ? -1 : pass(object[key], levels);
      if (more < 0) return -1;
      bytes += key.length + 3 + more;
    }
    return bytes;
  }

  // src/web/js/inspect.js
  var LONG = 2 ** 19;

  // src/web/js/read.js
  function isObject(value) {
    try {
      return typeof value === "object" && value !== null && !Array.isArray(value);
    } catch {
      return false;
    }
  }
  var ROOT = Object.prototype;
  function bare(value, keys) {
    for (const key of keys) if (key in ROOT && isObject(value)) return (
      /** @type {any} */
      { __proto__: null, ...value }
    );
    return value;
  }
  function get(value, key) {
    try {
      if (!isObject(value)) return void 0;
      return key in ROOT && !Object.hasOwn(value, key) && value[key] === /** @type {any} */
      ROOT[key] ? void 0 : value[key];
    } catch {
      return void 0;
    }
  }
  function getA(type, value, key) {
    const found = get(value, key);
    return typeof found === type ? found : void 0;
  }

  // src/web/js/transfer.js
  var MOVABLE = ["ArrayBuffer", "ImageBitmap", "OffscreenCanvas", "AudioData", "VideoFrame"];
  var MOVED = ["ReadableStream", "WritableStream", "TransformStream", "MessagePort"];
  var existing = (names) => names.map((name) => (
    /** @type {any} */
    globalThis[name]
  )).filter((type) => typeof type === "function");
  var movable = existing(MOVABLE);
  var moved = existing(MOVED);
  var transferables = (payload, wants) => [...search(payload, wants).found];
  var NOTHING = { found: [], partial: false };
  function search(payload, wants) {
    if (isSimple(payload)) return NOTHING;
    let partial = false;
    const found = /* @__PURE__ */ new Set();
    const seen = /* @__PURE__ */ new Set();
    const stack = [payload];
    while (stack.length > 0) {
      const item = stack.pop();
      if (typeof item !== "object" || item === null || seen.has(item)) continue;
      seen.add(item);
      const isView = ArrayBuffer.isView(item);
      const owner = isView ? item.buffer : item;
      if (moved.some((type) => item instanceof type)) found.add(item);
      else if ((typeof wants === "function" ? wants(owner) : wants) && movable.some((type) => owner instanceof type)) found.add(owner);
      else if (isView) partial ||= isPart(item);
      else for (const it of membersOf(item)) stack.push(it);
    }
    return { found: [...found], partial };
  }
  function membersOf(item) {
    if (isRecord(item)) return Object.values(item);
    const members2 = [];
    if (isError(item)) members2.push(item.cause, item.errors);
    else if (isCollection(item)) item.forEach((it, key) => members2.push(it, key));
    return members2;
  }
  var isRecord = (item) => Array.isArray(item) || isPlain(item) || !built.some((type) => item instanceof type) && isOfApp(item, kindOf(item));
  var isOfApp = (item, kind) => kind === "Object" || Object.keys(item).length > 0 && typeof /** @type {any} */
  globalThis[kind] !== "function";
  var built = [Date, RegExp, Error, Boolean, Number, String];
  var isCollection = (item) => /^(Map|Set)$/.test(kindOf(item));
  var isLong = (value) => Array.isArray(value) && value.length > 1024 && Math.floor(Math.random() * value.length) in value;
  var isPart = (view) => view.byteLength < view.buffer.byteLength;
  function carry(message, post2, payload = message, wants, kept = []) {
    const { found, partial } = search(payload, wants);
    try {
      return post2(partial ? copyOf(message, [...found, ...kept]) : message, found);
    } catch (error) {
      if (!/^(DataClone|Type)Error$/.test(
        /** @type {any} */
        error?.name
      )) throw error;
      return post2(copyOf(message, kept), transferables(payload));
    }
  }
  function copyOf(value, kept = [], met = /* @__PURE__ */ new Map()) {
    if (typeof value !== "object" || value === null || met.has(value)) return met.get(value) ?? value;
    const inner = (it) => copyOf(it, kept, met);
    const made = (it) => (met.set(value, it), it);
    if (isLong(value)) {
      const copy = made(value.slice());
      for (let at = 0; at < copy.length; at += 1) if (at in copy) copy[at] = inner(copy[at]);
      return copy;
    }
    if (isRecord(value)) {
      const copy = made(Array.isArray(value) ? Object.assign(Array(value.length), value) : { ...value });
      for (const key of Object.keys(copy)) copy[key] = inner(copy[key]);
      return copy;
    }
    if (isError(value)) {
      const copy = made(Object.setPrototypeOf(new Error(), Object.getPrototypeOf(value)));
      for (const key of OF_ERRORS) {
        if (value[key] !== void 0) Object.defineProperty(
          copy,
          key,
          /** @type {any} */
          { __proto__: null, value: inner(value[key]), configurable: true, writable: true }
        );
      }
      return copy;
    }
    const Type = (
      /** @type {any} */
      globalThis[kindOf(value)]
    );
    if (isCollection(value)) {
      const copy = made(new Type());
      value.forEach((it, key) => copy.set ? copy.set(inner(key), inner(it)) : copy.add(inner(it)));
      return copy;
    }
    if (!ArrayBuffer.isView(value) || !isPart(value) || kept.includes(
      /** @type {any} */
      value.buffer
    )) return value;
    return made(new Type(new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice().buffer));
  }

  // src/web/js/snapshot.js
  var cloned = (value) => carry(value, clone);
  function clone(value, transfer) {
    if (typeof structuredClone === "function") return structuredClone(value, { transfer });
    ensureData(value, /* @__PURE__ */ new Set());
    return copyOf(value, transfer);
  }
  function ensureData(value, met) {
    if (typeof value === "function" || typeof value === "symbol") throw new TypeError(`A ${typeof value} cannot be cloned`);
    if (typeof value !== "object" || value === null || met.has(value)) return;
    met.add(value);
    for (const inner of Object.values(value)) ensureData(inner, met);
  }

  // src/web/js/failure.js
  var FIELDS = ["code", "message", "retryable", "retryAfter", "details", "alternatives"];
  var MOST = 64;
  var CAUSES = 4;
  var messageOf = (error) => getA("string", error, "message") ?? (TEXTS.includes(typeof error) ? String(error) : "The capability failed");
  var TEXTS = ["string", "number", "bigint", "boolean"];
  function codeOf(error) {
    const code = getA("string", error, "code");
    return code && code.length <= 128 ? code : void 0;
  }
  function copyIfAny(value) {
    try {
      return cloned(value);
    } catch {
      return void 0;
    }
  }
  function detailsOf(error, fit) {
    const own = fit(get(error, "details"));
    if (own !== void 0) return own;
    try {
      if (Array.isArray(error)) return fit(partOf(error, fit, CAUSES));
      const more = about(error, fit, CAUSES);
      if (Object.keys(more).length > 0) return fit(more);
    } catch {
    }
    return void 0;
  }
  function about(error, fit, causes) {
    if (typeof error !== "object" || error === null) return {};
    const own = Object.keys(error);
    const keys = isError2(error) ? /* @__PURE__ */ new Set([...OF_ERRORS2, ...own]) : own;
    const found = [...keys].slice(0, MOST).map((key) => {
      const it = get(error, key);
      const isField = key === "code" ? it === codeOf(error) : FIELDS.includes(key);
      const isLeft = isField || isError2(error) && !OF_ERRORS2.includes(key) && !TEXTS.includes(typeof it);
      return [key, isLeft ? void 0 : partOf(it, fit, causes)];
    });
    return Object.fromEntries(found.filter(([, it]) => it !== void 0 && it !== "Error" && it !== CapHostError.name));
  }
  function partOf(it, fit, causes) {
    if (Array.isArray(it)) return it.some(isError2) ? it.slice(0, MOST).map((one) => partOf(one, fit, causes)) : fit(it);
    if (!isError2(it)) return fit(it);
    const code = codeOf(it);
    return causes > 0 ? { ...code && { code }, message: messageOf(it), ...about(it, fit, causes - 1) } : void 0;
  }
  var OF_ERRORS2 = ["name", "errors", "cause"];
  var isError2 = (it) => /Error$|^DOMException$/.test(kindOf(it));

  // src/web/js/workers/numbers.js
  var STEP = { signal: 0, flag: 1, terminate: 2, none: 3 };

  // src/web/js/signal.js
  var NO_SIGNAL = "signal must be an AbortSignal";
  function underSignal(signal, abort, call) {
    if (signal == null) return call();
    const onAbort = () => abort(reasonText(signal.reason));
    let aborted;
    try {
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) aborted = { reason: reasonText(signal.reason) };
    } catch {
      return Promise.resolve(failure("INVALID_PARAMS", NO_SIGNAL));
    }
    return call(aborted).then((response) => {
      report(() => signal.removeEventListener("abort", onAbort));
      return response;
    });
  }
  var MAX_REASON = 4096;
  var reasonOf = (reason) => typeof reason === "string" ? reason.slice(0, MAX_REASON) : void 0;
  function reasonText(reason) {
    try {
      if (!/Error|DOMException/.test(Object.prototype.toString.call(reason))) return reasonOf(reason);
      const { message } = (
        /** @type {Error} */
        reason
      );
      return message === AbortSignal.abort().reason.message ? void 0 : reasonOf(message);
    } catch {
      return void 0;
    }
  }

  // src/web/js/workers/worker.js
  var FRAME = 16;
  var scope = globalThis;
  var served = scope[/* @__PURE__ */ Symbol.for("caphost.served")] = Object.assign(/* @__PURE__ */ new Map(), { lost });
  var flag;
  var current;
  var panic;
  var asked = 0;
  var asks = /* @__PURE__ */ new Map();
  var { close, Worker: Native } = scope;
  var post = scope.postMessage.bind(scope);
  function lost(message) {
    panic ??= message;
    later(() => current ? current.lose(message) : say(["unusable", `It has failed: ${message}`]));
  }
  var token;
  var say = (message, transfer = []) => post([token, ...message], transfer);
  scope.close = () => {
    say(["closed"]);
    close.call(scope);
  };
  var doubt = () => say(["unproven"]);
  if (Native) {
    scope.Worker = class Worker extends Native {
      /** @param {any[]} given */
      constructor(...given) {
        doubt();
        super(...given);
      }
    };
  }
  var Call = class {
    /** @type {AbortController | undefined} */
    #controller;
    /** The last step of the stop that has reached the handler. @type {number | undefined} */
    #step;
    /** Set when the stop has arrived by a message. @type {{ reason?: string } | undefined} */
    #stopped;
    /** @type {Set<any> | undefined} */
    #moved;
    /** The latest progress that was not sent yet. @type {object | undefined} */
    #progress;
    #saidAt = -FRAME;
    #over = false;
    /** @param {number} serial @param {string} name of the capability @param {string} callId @param {Served} [served] */
    constructor(serial, name, callId, served2) {
      this.name = name;
      this.serial = serial;
      this.callId = callId;
      this.served = served2;
    }
    get signal() {
      if (!this.#controller) {
        this.#controller = new AbortController();
        this.#abort();
      }
      return this.#controller.signal;
    }
    /** Whether the handler was told to stop, or has seen that it must stop. */
    get told() {
      return this.#stopped !== void 0 || this.#step !== void 0;
    }
    /** A handler that calls this learns of the stop. */
    cancelled() {
      if (flag && Atomics.load(flag, 0) === this.serial) this.#step ??= STEP.flag;
      else if (this.#stopped) this.#step ??= STEP.signal;
      return this.#step !== void 0;
    }
    /** @param {object} info */
    progress(info) {
      if (typeof info !== "object" || info === null) throw new TypeError("Progress is an object");
      const waits = this.#progress !== void 0;
      this.#progress = { ...info };
      if (performance.now() - this.#saidAt >= FRAME) this.#tell();
      else if (!waits) setTimeout(() => this.#tell(), FRAME);
    }
    #tell() {
      const info = this.#progress;
      this.#progress = void 0;
      if (info === void 0 || this.#over) return;
      this.#saidAt = performance.now();
      try {
        say(["progress", this.serial, info]);
      } catch (error) {
        log("warn", "progress that cannot be sent is dropped:", error);
      }
    }
    /** Marks objects that are moved with the data. @param {Iterable<any>} objects */
    transfer(objects) {
      this.#moved ??= /* @__PURE__ */ new Set();
      for (const it of objects) this.#moved.add(it);
    }
    /** @param {string} capability @param {object} [params] @param {any} [options] */
    call(capability, params = {}, options = {}) {
      const { signal, timeout, callId, progressToken } = bare(options ?? {}, ["signal", "timeout", "callId", "progressToken"]);
      const number = asked += 1;
      return underSignal(
        signal,
        (reason) => say(["abort", this.serial, number, reason]),
        (aborted) => this.#ask("call", number, capability, params, { timeout, callId, progressToken }, aborted)
      );
    }
    /** @param {string} what @param {any[]} payload @returns {Promise<any>} an ABPResponse */
    ask(what, ...payload) {
      return this.#ask(what, asked += 1, ...payload);
    }
    /** @param {string} what @param {number} number of the request @param {any[]} payload @returns {Promise<any>} an ABPResponse */
    async #ask(what, number, ...payload) {
      if (this.#over && what === "call") return failure("PRECONDITION_FAILED", "The call that made this one has ended");
      if (this.#over) return { success: false, cancelled: true, metadata: { stop: "never-started" } };
      try {
        carry([what, this.serial, number, ...payload], say, payload);
      } catch (error) {
        return failure("INVALID_PARAMS", `It cannot be sent: ${text(error)}`);
      }
      return new Promise((resolve) => void asks.set(number, resolve));
    }
    /** The message about the stop has arrived. @param {string} [reason] */
    stop(reason) {
      this.#stopped = { reason };
      this.#abort();
      this.guard(this.served?.stop);
    }
    #abort() {
      if (!this.#controller || !this.#stopped) return;
      this.#step ??= STEP.signal;
      this.#controller.abort(new DOMException(this.#stopped.reason ?? "The call was cancelled", "AbortError"));
    }
    /** The future of a handler in Rust was dropped because of the stop. */
    dropped() {
      this.#step ??= STEP.signal;
      this.end("dropped");
    }
    /** The future of a handler in Rust can go on. */
    schedule() {
      void Promise.resolve().then(() => current === this && this.guard(this.served?.poll));
    }
    /** After a trap the module is in an unknown state: the worker runs no more calls. @param {(() => void) | undefined} work into wasm */
    guard(work) {
      try {
        if (panic === void 0) return work?.();
        this.lose(panic);
      } catch (error) {
        this.lose(panic ?? text(error));
      }
      return void 0;
    }
    /** @param {string} why */
    lose(why) {
      this.end("lost", { code: "INTERNAL_ERROR", message: `The capability has failed: ${why}` });
    }
    /**
     * @param {'done' | 'failed' | 'dropped' | 'lost'} how
     * @param {any} [value]
     * @param {boolean} [fresh] whether nobody else has a reference to its parts
     */
    end(how, value, fresh = false) {
      if (this.#over) return;
      this.#tell();
      try {
        carry([how, this.serial, value, this.#step], say, value, fresh || ((it) => this.#moved?.has(it)));
      } catch (error) {
        const unfit = how === "done" ? { code: "OPERATION_FAILED", message: `The capability returned data that cannot be sent: ${text(error)}` } : { ...value, details: void 0 };
        if (how === "done" && !this.told) log("error", `${this.name} (call ${this.callId}) has failed:`, unfit.message);
        say(["failed", this.serial, unfit, this.#step]);
      }
      this.#over = true;
      current = void 0;
    }
  };
  var Context = class {
    #call;
    /** @param {Call} call */
    constructor(call) {
      this.#call = call;
      this.cancelled = () => call.cancelled();
    }
    get callId() {
      return this.#call.callId;
    }
    get signal() {
      return this.#call.signal;
    }
    /** @type {WorkerContext['progress']} */
    get progress() {
      return (info) => this.#call.progress(info);
    }
    /** @type {WorkerContext['call']} */
    get call() {
      return (...given) => this.#call.call(...given);
    }
    /** @type {WorkerContext['elicit']} */
    get elicit() {
      return (request) => this.#call.ask("elicit", request);
    }
    /** @type {WorkerContext['transfer']} */
    get transfer() {
      return (...objects) => this.#call.transfer(objects);
    }
  };
  async function run(handler, params, call) {
    try {
      call.end("done", await handler(params, new Context(call)));
    } catch (error) {
      const failed = failureOf(error);
      if (typeof failed.code !== "string" && !call.told) log("error", `${call.name} (call ${call.callId}) has failed:`, error);
      call.end("failed", failed);
    }
  }
  var failureOf = (error) => ({
    code: getA("string", error, "code"),
    message: messageOf(error),
    retryable: getA("boolean", error, "retryable"),
    retryAfter: getA("number", error, "retryAfter"),
    alternatives: copyIfAny(get(error, "alternatives")),
    details: detailsOf(error, copyIfAny)
  });
  var hold = (name) => new Promise((resolve) => {
    const none = () => resolve(false);
    const held = () => new Promise(() => resolve(true));
    if (navigator.locks) navigator.locks.request(name, held).catch(doubt).then(none);
    else none();
  });
  async function load(url, type) {
    if (type === "classic") scope.importScripts(url);
    const main = type !== "classic" && (await import(url)).default || scope.handler;
    if (typeof main !== "function") throw new TypeError(type === "classic" ? "it sets no function `handler`" : "its default export is not a function. If a bundler has dropped that, set the global `handler`");
    if (type !== "wasm") return main;
    await main();
    return void 0;
  }
  var receive = async ([lock, shared, secret]) => {
    flag = shared;
    token = secret;
    receive = ([url, type]) => begin(url, type);
    say(["locked", await hold(lock)]);
  };
  scope.addEventListener("message", (event) => {
    if (!event.isTrusted) return;
    event.stopImmediatePropagation();
    receive(event.data);
  }, true);
  scope.addEventListener("messageerror", () => say(["unread", current?.serial, [...asks.keys()]]), true);
  async function begin(url, type) {
    try {
      const handler = await load(url, type);
      receive = ([what, number, ...rest]) => receiveMore(what, number, rest, handler);
      say(["ready"]);
    } catch (error) {
      const short = url.replace(/^(data:.{35}).+/, "$1…").slice(0, 200);
      const hint = /^data:(?!\w+\/javascript)/.test(url) ? ". A bundler has inlined a TypeScript file: import it with ?worker&url" : "";
      const fetched = url.startsWith("data:") || !(error?.name === "NetworkError" || error instanceof TypeError && /dynamically imported|importing a module/i.test(error.message));
      say(["unusable", `${short} cannot be loaded: ${text(error).replaceAll(url, short).slice(0, 500)}${hint}`, !fetched]);
    }
  }
  function receiveMore(what, number, said, handler) {
    if (what === "answer") {
      asks.get(number)?.(said[0]);
      asks.delete(number);
    } else if (what === "run") {
      const [name, callId, params] = said;
      const own = handler ? void 0 : served.get(name);
      const call = current = new Call(number, name, callId, own);
      if (handler) void run(handler, params, call);
      else if (own) call.guard(() => own.start(params, call));
      else call.end("failed", { code: "CAPABILITY_UNAVAILABLE", message: `The module serves no "${name}": call worker::serve or worker::serve_sync with that name in its start function` });
    } else if (current?.serial === number) current.stop(said[0]);
  }
})();
