// Made of ../js by `npm run build`, and to be changed there.

// src/web/js/envelope.js
var metadataOf = (stop) => typeof stop === "string" ? { stop } : { ...stop, took: rounded(stop.took) };
var cancelled = (stop) => ({ success: false, cancelled: true, metadata: metadataOf(stop) });
var lateEnd = (success, after) => ({ success, after: rounded(after) });
var errorOf = (code2, message, retryable, retryAfter, details) => ({
  code: code2,
  message,
  retryable,
  ...details !== void 0 && { details },
  ...retryAfter >= 0 && { retryAfter }
});
var rounded = (milliseconds) => Math.round(milliseconds * 1e3) / 1e3;
var cancelConfirmation = (callId, stop, ended) => ({
  callId,
  cancelled: true,
  metadata: { ...metadataOf(stop), ...ended && { ended } }
});
var cancelResponse = (callId, reason, error) => ({
  callId,
  cancelled: false,
  ...reason && { reason },
  ...error && { error }
});

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
var problem = (code2, message) => ({ code: code2, message, retryable: RETRYABLE.includes(code2) });
var invalid = (message) => problem("INVALID_PARAMS", message);
var failure = (code2, message) => ({ success: false, error: problem(code2, message) });
var Refusal = class {
  /** @param {AbpError} error the error to answer with */
  constructor(error) {
    this.error = error;
  }
};
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
var thrown = (error) => new CapHostError(error);
var abpError = (code2, message) => thrown(problem(code2, message));
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
var BAD_CALL_ID = /* @__PURE__ */ Object.assign(
  /* @__PURE__ */ invalid("Bad callId: it is a string of 1 to 128 printable characters"),
  { details: { path: "callId" } }
);

// src/web/js/events.js
var CAPABILITIES_CHANGED = "notifications/capabilities/list_changed";
var CALL_ENDED = "notifications/call/ended";
var ELICITATION_WITHDRAWN = "notifications/elicitation/withdrawn";
var HOST_CLOSED = "notifications/host/closed";
var LIFE_ASKED = "notifications/life/asked";
var LIFE_LOCK = "notifications/life/lock";
var LARGE_MESSAGE = "notifications/life/large";

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
function bareTree(value) {
  if (Reflect.ownKeys(ROOT).length <= OF_ROOT || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (
    /** @type {any} */
    value.map(bareTree)
  );
  const copy = (
    /** @type {any} */
    { __proto__: null }
  );
  for (const [key, inner] of Object.entries(value)) Object.defineProperty(
    copy,
    key,
    /** @type {any} */
    { __proto__: null, value: bareTree(inner), enumerable: true }
  );
  return copy;
}
var OF_ROOT = 12;
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
var MAX_NAME = 256;
var isId = (value) => typeof value === "string" || typeof value === "number";
function originOf(text2) {
  try {
    const { origin } = new URL(text2);
    return origin === "null" || /[*%]/.test(origin) ? void 0 : origin;
  } catch {
    return void 0;
  }
}
var isAmount = (value) => typeof value === "number" && value >= 0;
var MILLISECONDS = "it is a number of milliseconds, not negative";
var told = /* @__PURE__ */ new Set();
function warnOfUnknown(where, options, known4) {
  for (const name of Object.keys(options ?? {})) {
    const what = `${where}: unknown option "${name}"`;
    if (known4.includes(name) || told.has(what)) continue;
    told.add(what);
    log("warn", `${what}. Known are ${known4.join(", ")}`);
  }
}

// src/web/js/listing.js
var LIST = "capabilities/list";
var UNSAID = { description: "", inputSchema: { type: "object" }, outputSchema: {}, available: true, requirements: [], features: {} };
var MAX_LISTED = 65536;
var isList = (list) => Array.isArray(list) && list.length <= MAX_LISTED;
function listOf(list) {
  try {
    return isList(list) ? [...list] : [];
  } catch {
    return [];
  }
}
var isNamed = (it) => getA("string", it, "name") !== void 0;
var isListing = (list) => isList(list) && list.every(isNamed);
var complete = (list, known4) => list.map((it) => ({ ...UNSAID, ...known4.find(({ name }) => name === it.name), ...it }));

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
  return call(aborted).then((response2) => {
    report(() => signal.removeEventListener("abort", onAbort));
    return response2;
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

// src/web/js/from-app.js
function receiveFromApp(rust, agent, shell, envelope) {
  const [type, id, payload] = ["type", "id", "payload"].map((name) => get(envelope, name));
  try {
    receivePayload(rust, agent, shell, type, id, payload);
  } catch {
    receivePayload(rust, agent, shell, type, id, void 0);
  }
}
function receivePayload(rust, agent, shell, type, id, payload) {
  switch (type) {
    case "capabilities/call-result":
      return callResult(rust, agent, shell, keyOf(id), payload);
    case "capabilities/cancel-result":
      return cancelResult(rust, agent, shell, keyOf(id), payload);
    case "error":
      return rust.refused(agent, shell, keyOf(id), responseOf(payload));
    case `${LIST}-result`:
      return rust.listed(agent, shell, keyOf(id), listing(payload));
    case "shutdown-result":
      return rust.shutDown(agent, shell);
    case "progress": {
      const operation = get(payload, "operationId");
      const named = typeof operation === "string" || typeof operation === "number";
      return named ? rust.progress(agent, shell, nameOf(String(operation)), payload) : rust.heard(agent, shell);
    }
    case "notification": {
      const data = get(payload, "data");
      const callId = get(payload, "event") === CALL_ENDED ? getA("string", data, "callId") : void 0;
      return callId === void 0 ? rust.heard(agent, shell) : rust.ended(agent, shell, nameOf(callId), ...readEnd(data));
    }
    default:
      return rust.heard(agent, shell);
  }
}
function callResult(rust, agent, shell, key, payload) {
  const success = getA("boolean", payload, "success");
  const cancelled2 = get(payload, "cancelled");
  const error = success === false ? errorOf2(get(payload, "error")) : void 0;
  const response2 = { ...payload, ...error && { error }, ...cancelled2 && { cancelled: false } };
  rust.called(agent, shell, key, response2, success, flag(cancelled2), nameOf(error?.code), ...cancelled2 ? readStop(get(payload, "metadata")) : UNSAID2);
}
function receiveCompleted(rust, agent, shell, id, response2) {
  rust.called(agent, shell, keyOf(id), response2, true, void 0, void 0, void 0, void 0, NaN);
}
function cancelResult(rust, agent, shell, key, payload) {
  const [callId, given2, metadata] = ["callId", "error", "metadata"].map((name) => get(payload, name));
  const call = callId == null ? void 0 : nameOf(String(callId));
  const error = isObject(given2) ? given2 : void 0;
  const code2 = nameOf(getA("string", error, "code"));
  const [cancelled2, reason] = [getA("boolean", payload, "cancelled"), reasonOf(get(payload, "reason"))];
  rust.cancelled(agent, shell, key, call, cancelled2, reason, error, code2, ...readStop(metadata), ...readEnd(get(metadata, "ended")));
}
function listing(payload) {
  const error = get(payload, "error");
  if (error != null) return { error };
  const capabilities = get(payload, "capabilities");
  return isListing(capabilities) ? { capabilities: capabilities.map((it) => ({ ...it })) } : void 0;
}
function errorOf2(given2) {
  const code2 = getA("string", given2, "code") || "OPERATION_FAILED";
  const message = getA("string", given2, "message") || typeof given2 === "string" && given2 || "The app did not say what went wrong";
  return { ...problem(code2, message), ...membersOf(given2), code: code2, message };
}
function membersOf(given2) {
  try {
    return { ...isObject(given2) && given2 };
  } catch {
    return {};
  }
}
var responseOf = (payload) => typeof get(payload, "success") === "boolean" ? { ...payload } : void 0;
var flag = (value) => typeof value === "boolean" ? value : void 0;
var nameOf = (name) => name?.slice(0, MAX_NAME + 1);
var UNSAID2 = [];
var readStop = (metadata) => [nameOf(getA("string", metadata, "stop")), nameOf(getA("string", metadata, "step")), getA("number", metadata, "took") ?? NaN];
var readEnd = (end2) => [getA("boolean", end2, "success"), getA("number", end2, "after") ?? NaN];
function keyOf(id) {
  if (typeof id !== "number" && !(typeof id === "string" && /^\d{1,10}$/.test(id))) return 0;
  const key = Number(id);
  return Number.isInteger(key) && key > 0 && key < 2 ** 32 ? key : 0;
}

// src/web/js/guard.js
var settled2 = Promise.resolve();
var Instance = class {
  /** Why the instance is lost. @type {unknown} */
  trap;
  /** The message of the panic. */
  said = "";
  /** Whether all guards have been told. */
  #told = false;
  /** Whether a job is scheduled that tells them, if there is a trap. */
  watched = false;
  /** Weak references, so that an unused agent can be garbage collected. @type {Set<WeakRef<Guard>>} */
  guards = /* @__PURE__ */ new Set();
  watch() {
    settled2.then(() => this.#look());
    this.watched = true;
  }
  #look() {
    this.watched = false;
    if (this.#told || this.trap === void 0) return;
    this.#told = true;
    for (const guard2 of this.guards) report(guard2.deref()?.onTrap);
    log("error", "the wasm instance is lost, its calls are settled with INTERNAL_ERROR:", this.trap);
  }
};
var shared = new Instance();
var separate = /* @__PURE__ */ new Map();
var entered;
var depth = 0;
var instanceOf = (handle) => separate.get(handle) ?? shared;
var isLost = () => shared.trap !== void 0;
var entry = (owner, name, instance) => (a, b, c, d, e, f, g, h, i, j, k, l, m) => {
  if (!instance.watched) instance.watch();
  if (instance.trap !== void 0) return void 0;
  const outer = entered;
  entered = instance;
  depth += 1;
  try {
    return owner[name](a, b, c, d, e, f, g, h, i, j, k, l, m);
  } catch (error) {
    instance.trap ??= error ?? "The wasm instance is lost";
    return void 0;
  } finally {
    entered = outer;
    depth -= 1;
    if (depth === awaited) standStill();
  }
};
var guard = (work) => (
  /** @type {any} */
  entry({ work }, "work", shared)
);
var guardDepth = () => depth;
var awaited = -1;
var AWAITED = 500;
function awaitEnd(at) {
  awaited = at;
}
function standStill() {
  for (const end2 = performance.now() + AWAITED; awaited >= 0 && performance.now() < end2; ) ;
  awaited = -1;
}
function unwound() {
  depth = 0;
  entered = void 0;
  for (const instance of [shared, ...separate.values()]) instance.watched = false;
}
var known = /* @__PURE__ */ new WeakMap();
function guarded(handle) {
  let functions = known.get(handle);
  if (functions) return functions;
  functions = {};
  for (const name of Object.getOwnPropertyNames(handle)) {
    if (typeof handle[name] !== "function") continue;
    functions[name] = entry(handle, name, instanceOf(handle));
  }
  known.set(handle, functions);
  return functions;
}
function panicked(message, place) {
  const instance = entered ?? shared;
  instance.said ||= `: ${message}`;
  instance.trap ??= new Error(`${message} (${place})`);
  instance.watch();
}
var cancelsFirst = (pending, isCancel) => [...pending].sort((a, b) => Number(isCancel(b)) - Number(isCancel(a)));
function oneWay(target, names) {
  for (const name of names) {
    const method = target[name];
    target[name] = function(a, b, c, d, e, f) {
      const result = method.call(this, a, b, c, d, e, f);
      if (entered?.trap !== void 0) throw entered.trap;
      return result;
    };
  }
}
var Guard = class {
  #instance;
  /**
   * @param {any} handle the functions of the wasm half
   * @param {() => void} onTrap called once, when the instance is lost
   */
  constructor(handle, onTrap) {
    this.onTrap = onTrap;
    const { guards } = this.#instance = instanceOf(handle);
    for (const guard2 of guards) if (!guard2.deref()) guards.delete(guard2);
    guards.add(new WeakRef(this));
  }
  /** Why the instance is lost, if it is. */
  get trap() {
    return this.#instance.trap;
  }
  /** The answer once the instance is lost. @param {string} what the text that says what has failed */
  lost(what) {
    return problem("INTERNAL_ERROR", what + this.#instance.said);
  }
};

// src/web/js/platform.js
var clock = globalThis.performance;
var asyncDispose = Symbol.asyncDispose ?? /* @__PURE__ */ Symbol.for("Symbol.asyncDispose");
var now = () => clock.now();
var settled3 = Promise.resolve();
var soon = (callback) => void settled3.then(callback);
var uniqueName = () => crypto.getRandomValues(new Uint32Array(4)).join("-");
var array = () => [];
var push = (array2, element) => void array2.push(element);
var textAt = (array2, index) => Array.isArray(array2) && typeof array2[index] === "string" ? array2[index] : void 0;
function abortWith(controller, reason) {
  controller.abort(new DOMException(reason ?? "The call was cancelled", "AbortError"));
}
var tasks = [];
var channel;
function inNextTask(callback) {
  if (!channel) {
    channel = new MessageChannel();
    channel.port1.onmessage = guard(() => tasks.shift()?.());
  }
  tasks.push(callback);
  channel.port2.postMessage(0);
}

// src/web/js/ids.js
var LENGTH = 36;
var known2 = /* @__PURE__ */ new WeakMap();
var Ids = class {
  #rust;
  /** The ids that Rust made last, one after the other. */
  #texts = "";
  #place = 0;
  /** @param {any} rust the functions of the wasm half */
  constructor(rust) {
    this.#rust = rust;
  }
  /** @returns {number} the place of an id that nobody else has. Rust knows the place until the next is taken */
  take() {
    this.#place += 1;
    if (this.#place * LENGTH >= this.#texts.length) {
      this.#texts = this.#rust.ids() ?? uniqueName();
      this.#place = 0;
    }
    return this.#place;
  }
  /** @param {number} place of the id that was taken last */
  textAt(place) {
    return this.#texts.slice(place * LENGTH, (place + 1) * LENGTH);
  }
  /**
   * Gives a call an id, if it has none.
   *
   * @param {{ callId?: string }} call
   * @returns {number} the place of the id; negative if the call had an id
   */
  name(call) {
    if (call.callId !== void 0) return -1;
    const place = this.take();
    call.callId = this.textAt(place);
    return place;
  }
  /** @returns {string} an id that nobody else has: a UUID (version 4) */
  next() {
    return this.textAt(this.take());
  }
};
function idsOf(rust) {
  const ids = known2.get(rust) ?? new Ids(rust);
  known2.set(rust, ids);
  return ids;
}

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
function hasOnlyElements(array2) {
  const keys = Object.keys(array2);
  return keys.length === array2.length && (keys.length === 0 || keys[keys.length - 1] === String(keys.length - 1));
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

// src/web/js/invoke.js
var Caller = class {
  /**
   * @param {string} _capability
   * @param {object} [_params]
   * @param {CallOptions} [_options]
   * @returns {{ callId: string, response: Promise<any> }} of the call: its id, and its ABPResponse
   */
  begin(_capability, _params, _options) {
    throw new TypeError("An agent defines how it calls");
  }
  /**
   * Calls a capability, and returns its data. Rejects with a CapHostError, or with an AbortError if the
   * call was cancelled.
   *
   * @param {string} capability
   * @param {object} [params]
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  invoke(capability, params, options) {
    if (!isSimple(params) && holdsFunction(params)) return (
      /** @type {any} */
      this.lend(params, (lent, transfer) => this.invoke(capability, lent, { ...options, transfer }), options?.transfer)
    );
    return resultOf(this.begin(capability, params, options), options);
  }
  /**
   * Starts a call and follows its progress.
   *
   * @param {string} capability
   * @param {object} [params]
   * @param {CallOptions} [options]
   */
  start(capability, params, options) {
    return new RunningCall(this, capability, params, options);
  }
  /**
   * The capabilities as methods, by the parts of their names: `api.text.words(params, options)` invokes
   * `text.words`.
   *
   * @returns {any}
   */
  as() {
    return methods(this, "");
  }
  async [asyncDispose]() {
    await /** @type {any} */
    this.shutdown();
  }
};
var methods = (caller, name) => new Proxy(() => {
}, {
  // An object with a method `then` would be a promise.
  get: (_, part) => typeof part === "symbol" || part === "then" ? void 0 : methods(caller, name ? `${name}.${part}` : part),
  apply: (_, __, [params, options]) => caller.invoke(name, params, options)
});
function holdsFunction(value, seen = /* @__PURE__ */ new Set()) {
  if (typeof value === "function") return true;
  if (typeof value !== "object" || value === null || seen.has(value) || !(Array.isArray(value) || isPlain(value))) return false;
  seen.add(value);
  return Object.values(value).some((it) => holdsFunction(it, seen));
}
var RunningCall = class {
  /** The latest progress that has not been read. @type {any} */
  #latest;
  #ended = false;
  /** The readers that wait for new progress. @type {Set<() => void>} */
  #waiting = /* @__PURE__ */ new Set();
  #agent;
  /**
   * @param {any} agent
   * @param {string} capability
   * @param {object} [params]
   * @param {CallOptions} [options]
   */
  constructor(agent, capability, params, options) {
    this.#agent = agent;
    const onProgress = (info) => {
      this.#latest = info;
      this.#wake();
      get(options, "onProgress")?.(info);
    };
    const begun = agent.begin(capability, params, { ...options, onProgress });
    this.callId = begun.callId;
    this.result = resultOf(begun, options);
    const end2 = () => {
      this.#ended = true;
      this.#wake();
    };
    this.result.then(end2, end2);
  }
  #wake() {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
  /** @param {unknown} [reason] @returns {Promise<any>} a CancelResponse */
  cancel(reason) {
    return this.#agent.cancel(this.callId, reason);
  }
  /** Yields the newest progress until the call has ended, and throws the error that the result rejects with. */
  async *[Symbol.asyncIterator]() {
    let seen;
    while (true) {
      const latest = this.#latest;
      if (latest !== void 0 && latest !== seen) {
        seen = latest;
        yield latest;
      } else if (this.#ended) {
        await this.result;
        return;
      } else await new Promise((resolve2) => this.#waiting.add(() => resolve2()));
    }
  }
};
async function resultOf({ callId, response: coming }, options) {
  const response2 = await coming;
  if (response2.success) return get(response2, "data");
  if (get(response2, "cancelled")) throw abortError(callId, response2.metadata?.stop, get(options, "signal"));
  throw new CapHostError(response2.error);
}
function abortError(callId, stop, signal) {
  const reason = signal?.aborted ? signal.reason : void 0;
  const error = new DOMException("The call was cancelled", "AbortError");
  return Object.assign(error, { callId, stop, reason });
}

// src/web/js/on-window.js
var all = /* @__PURE__ */ new Set();
var watching;
function onWindow(type, listener) {
  if (globalThis.MutationObserver) (watching ??= new MutationObserver(() => all.forEach(add))).observe(document, { childList: true });
  const mine = [type, listener];
  all.add(mine);
  add(mine);
  return () => {
    all.delete(mine);
    globalThis.removeEventListener?.(type, listener);
  };
}
var add = (it) => globalThis.addEventListener?.(...it);

// src/web/js/transfer.js
var MOVABLE = ["ArrayBuffer", "ImageBitmap", "OffscreenCanvas", "AudioData", "VideoFrame"];
var MOVED = ["ReadableStream", "WritableStream", "TransformStream", "MessagePort"];
var existing = (names) => names.map((name) => (
  /** @type {any} */
  globalThis[name]
)).filter((type) => typeof type === "function");
var movable = existing(MOVABLE);
var moved = existing(MOVED);
var given = /* @__PURE__ */ new WeakSet();
var give = (...objects) => objects.forEach((it) => given.add(it));
var isGiven = (it) => given.has(it);
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
    else for (const it of membersOf2(item)) stack.push(it);
  }
  return { found: [...found], partial };
}
function membersOf2(item) {
  if (isRecord(item)) return Object.values(item);
  const members3 = [];
  if (isError(item)) members3.push(item.cause, item.errors);
  else if (isCollection(item)) item.forEach((it, key) => members3.push(it, key));
  return members3;
}
var isRecord = (item) => Array.isArray(item) || isPlain(item) || !built.some((type) => item instanceof type) && isOfApp(item, kindOf(item));
var isOfApp = (item, kind) => kind === "Object" || Object.keys(item).length > 0 && typeof /** @type {any} */
globalThis[kind] !== "function";
var built = [Date, RegExp, Error, Boolean, Number, String];
var isCollection = (item) => /^(Map|Set)$/.test(kindOf(item));
var isLong = (value) => Array.isArray(value) && value.length > 1024 && Math.floor(Math.random() * value.length) in value;
var isPart = (view) => view.byteLength < view.buffer.byteLength;
function carry(message, post, payload = message, wants, kept = []) {
  const { found, partial } = search(payload, wants);
  try {
    return post(partial ? copyOf(message, [...found, ...kept]) : message, found);
  } catch (error) {
    if (!/^(DataClone|Type)Error$/.test(
      /** @type {any} */
      error?.name
    )) throw error;
    return post(copyOf(message, kept), transferables(payload));
  }
}
var toAgent = (envelope, post) => carry(envelope, post, envelope.payload, envelope.type === "capabilities/call-result" && isGiven);
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

// src/web/js/questions.js
var Questions = class {
  /** @type {Map<unknown, AbortController>} */
  #open = /* @__PURE__ */ new Map();
  /**
   * @param {import('./messenger.js').Messenger} messenger
   * @param {((request: any, context: { signal: AbortSignal }) => any) | undefined} answer
   */
  constructor(messenger, answer2) {
    this.messenger = messenger;
    this.answer = answer2;
  }
  /**
   * @param {any} id
   * @param {any} request
   */
  async ask(id, request) {
    const controller = new AbortController();
    this.#open.set(id, controller);
    const payload = await this.#answerTo(request, controller.signal);
    if (!this.#open.delete(id)) return;
    const envelope = { type: "elicitation/response", id, timestamp: Date.now(), payload };
    try {
      carry(envelope, (message, moved2) => this.messenger.post(message, moved2));
    } catch (error) {
      this.messenger.post({ ...envelope, payload: failure("OPERATION_FAILED", `The answer cannot be sent: ${error}`) });
    }
  }
  /**
   * @param {any} request
   * @param {AbortSignal} signal fires when the answer is no longer wanted
   * @returns {Promise<any>} an ABPResponse
   */
  async #answerTo(request, signal) {
    if (!this.answer) return failure("NOT_SUPPORTED", "The agent answers no questions");
    try {
      const answer2 = await this.answer(request, { signal });
      return typeof answer2?.success === "boolean" ? answer2 : { success: true, data: answer2 };
    } catch (error) {
      return failure(getA("string", error, "code") ?? "OPERATION_FAILED", text(error));
    }
  }
  /** @param {unknown} id */
  withdraw(id) {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }
  close() {
    for (const id of [...this.#open.keys()]) this.withdraw(id);
  }
};

// src/web/js/short.js
var SHORT = 2;
var CALL = 1;
var RESULT = 2;
var NEXT = 3;
var PROGRESS = 1;
var TRANSFER = 2;
var announcing = (initialize) => ({ ...initialize, payload: { ...initialize.payload, short: SHORT } });
var takesShort = (payload) => payload?.short === SHORT;
var opensShort = (message) => (message?.type === "initialize" || message?.type === "initialize-result") && takesShort(message.payload);
var announcement = (type, id) => [NEXT, type, id];
var foretold = ({ type, id, payload }) => isSimple(payload) ? void 0 : announcement(type, id);
function nextOf(message) {
  if (!Array.isArray(message) || message[0] !== NEXT || message.length !== 3) return void 0;
  return { type: message[1], id: message[2], timestamp: 0, payload: {} };
}
function shortCall(id, { capability, params, options: { callId, timeout, progressToken, transfer } }) {
  const flags = (progressToken === void 0 ? 0 : PROGRESS) | (transfer ? TRANSFER : 0);
  if (flags) return [CALL, id, capability, params, callId, timeout, flags];
  return timeout === void 0 ? [CALL, id, capability, params, callId] : [CALL, id, capability, params, callId, timeout];
}
var isShortCall = (message) => message[0] === CALL && message.length >= 5 && message.length <= 7;
var tokenOf = (call) => typeof call[6] === "number" && call[6] & PROGRESS ? call[4] : void 0;
var longCall = ([, id, capability, params, callId]) => ({ type: "capabilities/call", id, timestamp: 0, payload: { capability, params, callId } });
var shortResult = (id, data, duration) => [RESULT, id, data, duration];
var isShortResult = (message) => message[0] === RESULT && message.length === 4;
var longResult = ([, id, data, duration]) => ({ type: "capabilities/call-result", id, timestamp: 0, payload: completed(data, duration) });
var completed = (data, duration) => ({ success: true, data, metadata: { duration } });

// src/web/js/snapshot.js
function snapshot(params, transfer = []) {
  const plain = transfer.length === 0 ? small(params) : void 0;
  return plain ? { params: plain.copy, transfer: void 0 } : carry({ params, transfer }, (it) => clone(it, transfer), params, false, transfer);
}
var copied = (params) => small(params)?.copy ?? cloned(params);
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
var members2 = 0;
function small(value) {
  if (typeof value !== "object" || value === null) return void 0;
  members2 = MEMBERS;
  const holder = [value];
  const bytes = take(holder, 0, LEVELS, []);
  return bytes < 0 ? void 0 : { copy: holder[0], bytes };
}
function take(holder, key, levels, met) {
  const value = holder[key];
  if (typeof value !== "object" || value === null) return simpleBytes(value);
  if (levels === 0 || met.includes(value)) return -1;
  met.push(value);
  let bytes = VALUE + 1;
  if (Array.isArray(value)) {
    const { length } = value;
    members2 -= length;
    if (members2 < 0 || !hasOnlyElements(value)) return -1;
    const copy2 = holder[key] = Array(length);
    for (let at = 0; at < length; at += 1) {
      copy2[at] = value[at];
      const more = take(copy2, at, levels - 1, met);
      if (more < 0) return -1;
      bytes += more;
    }
    return bytes;
  }
  if (!isPlain(value)) return -1;
  const copy = holder[key] = { ...value };
  if (Object.getOwnPropertySymbols(copy).length > 0) return -1;
  for (const name of Object.keys(copy)) {
    members2 -= 1;
    const more = members2 < 0 ? -1 : take(copy, name, levels - 1, met);
    if (more < 0) return -1;
    bytes += name.length + 3 + more;
  }
  return bytes;
}

// src/web/js/timer.js
var Timer = class {
  /** @type {any} */
  #timer;
  /** The time when it fires, as of `performance.now()`. */
  #due = Infinity;
  #work;
  /** @param {() => void} work arms the timer again */
  constructor(work) {
    this.#work = work;
  }
  /** @param {number} at the earliest deadline, in the time of `performance.now()`; infinite for none */
  arm(at) {
    if (at < this.#due) {
      clearTimeout(this.#timer);
      this.#due = at;
      const milliseconds = Math.min(Math.max(0, Math.ceil(at - now())), 2147483647);
      this.#timer = setTimeout(this.#fire, milliseconds);
    } else if (at === Infinity) {
      this.#timer?.unref?.();
    } else this.#timer?.ref?.();
  }
  stop() {
    clearTimeout(this.#timer);
    this.#timer = void 0;
    this.#due = Infinity;
  }
  #fire = () => {
    this.#timer = void 0;
    this.#due = Infinity;
    this.#work();
  };
};

// src/web/js/agent.js
var CALL2 = "capabilities/call";
var KNOWN = ["signal", "timeout", "callId", "onProgress", "transfer", "progressToken"];
var unreachable = new FinalizationRegistry(([rust, number]) => rust.forget(number));
var LOST = "The agent has failed and cannot go on";
var Agent = class extends Caller {
  #rust;
  #ids;
  #number;
  #guard;
  /** @type {Map<number, Pending>} */
  #pending = /* @__PURE__ */ new Map();
  #timer = new Timer(() => this.#rust.tick(this.#number, this.#shell));
  /** Whether there are calls that the next microtask sends. */
  #flushing = false;
  /** @type {any} */
  #messenger;
  #options;
  /** @type {any} */
  #questions;
  /** @type {(how: string) => void} */
  #close = () => {
  };
  #lending;
  /** Whether the app accepts functions in parameters. */
  #accepts = false;
  /** @type {import('./again/reconnect.js').Again | undefined} until this agent is over */
  #again;
  /** The functions that Rust calls. None of them throws. */
  #shell = {
    /** @param {number} key @param {number} timeout NaN for none */
    sendCall: (key, timeout) => {
      const pending = this.#pending.get(key);
      if (!pending) return;
      const { payload, transfer } = pending;
      pending.payload = pending.transfer = void 0;
      if (timeout >= 0) payload.options.timeout = timeout;
      this.#post(key, CALL2, payload, transfer);
    },
    /** @param {number} key @param {string} callId @param {string} [reason] */
    sendCancel: (key, callId, reason) => this.#post(key, "capabilities/cancel", { callId, ...reason !== void 0 && { reason } }),
    /** @param {number} key */
    sendList: (key) => this.#post(key, LIST, {}),
    /** @param {number} key @param {string} [reason] */
    sendShutdown: (key, reason) => this.#post(key, "shutdown", { ...reason !== void 0 && { reason } }),
    /** @param {number} key @param {any} response */
    settle: (key, response2) => {
      const pending = this.#pending.get(key);
      this.#pending.delete(key);
      report(pending?.release);
      pending?.resolve(response2);
    },
    /** @param {number} key @param {object} error */
    fail: (key, error) => this.#shell.settle(key, { success: false, error: this.#explained(error) }),
    /** @param {number} key @param {unknown} stop how far it was seen */
    stopped: (key, stop) => this.#shell.settle(key, cancelled(stop)),
    /** @param {number} key @param {unknown} stop @param {object} [ended] */
    confirm: (key, stop, ended) => this.#shell.settle(key, cancelConfirmation(this.#pending.get(key)?.callId, stop, ended)),
    /** @param {number} key @param {string} [reason] @param {object} [error] */
    refuse: (key, reason, error) => this.#shell.settle(key, cancelResponse(this.#pending.get(key)?.callId, reason, this.#explained(error))),
    /** @param {number} key @param {any} info */
    progress: (key, info) => report(this.#pending.get(key)?.onProgress, info),
    /** @param {number} at the earliest deadline, in the time of `performance.now()`; infinite for none */
    arm: (at) => this.#timer.arm(at),
    /** The connection is lost, and this agent connects again. */
    lost: () => {
      this.#part();
      this.#again?.lost();
    },
    /** @param {boolean} disconnected rather than shut down */
    ended: (disconnected) => this.#end(disconnected ? "disconnected" : "shutdown")
  };
  /**
   * @param {any} handle the functions of the wasm half
   * @param {import('./messenger.js').Messenger} messenger over which the session was opened
   * @param {any} session the payload of the initialize-result
   * @param {import('./open.js').OpenOptions} options
   * @param {import('./again/reconnect.js').Again} [again] connects this agent again
   * @param {() => Promise<typeof import('./callbacks/lend.js')>} [lending] loads the part for functions in parameters
   */
  constructor(handle, messenger, session, options, again, lending) {
    super();
    this.#rust = guarded(handle);
    this.#guard = new Guard(handle, () => this.#lost());
    this.#ids = idsOf(this.#rust);
    const { grace = NaN, liveness = Infinity } = options;
    this.#number = this.#rust.open(grace, liveness, session.life !== void 0, again !== void 0);
    oneWay(this.#shell, ["sendCall", "sendCancel", "sendList", "sendShutdown", "progress", "lost", "ended"]);
    unreachable.register(this, [this.#rust, this.#number]);
    this.#options = options;
    this.#again = again;
    this.#lending = lending;
    this.closed = new Promise((resolve2) => {
      this.#close = resolve2;
    });
    this.#adopt(messenger, session);
    again?.begin(session.app, (next, its) => {
      if (!next) return this.#rust.giveUp(this.#number, this.#shell);
      this.#adopt(next, its);
      return this.#rust.reconnected(this.#number, this.#shell, its.life !== void 0);
    });
    this.#stay = onWindow("pagehide", this.#leave);
    if (this.#guard.trap !== void 0) this.#lost();
  }
  /**
   * Uses a session that was opened over that messenger.
   *
   * @param {import('./messenger.js').Messenger} messenger
   * @param {any} session the payload of the initialize-result
   */
  #adopt(messenger, session) {
    this.#messenger = messenger;
    this.#questions = new Questions(messenger, this.#options.onElicitation);
    this.sessionId = session.sessionId;
    this.app = session.app;
    this.features = session.features;
    this.#accepts = session.callbacks === true;
    this.capabilities = listOf(session.capabilities).filter(isNamed);
    messenger.onmessage = (envelope) => this.#receive(envelope);
    messenger.onresult = (id, data, duration) => receiveCompleted(this.#rust, this.#number, this.#shell, id, completed(data, duration));
    messenger.onclose = this.#disconnected;
    messenger.onsuspect = (certain) => this.#rust.suspect(this.#number, this.#shell, certain);
    messenger.onexpect = (bytes) => this.#rust.expect(this.#number, this.#shell, bytes);
  }
  /** Whether this agent is connected, once it is or will not be any more. @returns {Promise<boolean>} */
  get ready() {
    return this.#again?.ready ?? Promise.resolve(this.sessionId !== null);
  }
  /**
   * Calls a capability. Never rejects.
   *
   * @param {string} capability
   * @param {object} [params]
   * @param {CallOptions} [options]
   * @returns {Promise<any>} an ABPResponse
   */
  call(capability, params, options) {
    return this.begin(capability, params, options).response;
  }
  /**
   * Does the same, and says which id the call has, whether it can be made or not.
   *
   * @param {string} capability
   * @param {object} [params]
   * @param {CallOptions} [options]
   * @returns {{ callId: string, response: Promise<any> }}
   */
  begin(capability, params = {}, options = {}) {
    let callId;
    const response2 = new Promise((resolve2) => {
      try {
        callId = this.#call(resolve2, capability, params, options ?? {});
      } catch (error) {
        resolve2(failure("INVALID_PARAMS", `The call cannot be made: ${text(error)}`));
      }
    });
    return { callId: callId ?? this.#ids.next(), response: response2 };
  }
  /**
   * @param {(response: any) => void} resolve
   * @param {string} capability
   * @param {object} params
   * @param {CallOptions} given
   * @returns {string | undefined} its id, if it has one
   */
  #call(resolve2, capability, params, given2) {
    const options = bare(given2, KNOWN);
    if (!isObject(options)) return void resolve2(failure("INVALID_PARAMS", "options must be an object"));
    warnOfUnknown("call", options, KNOWN);
    const { signal, timeout = Infinity, callId, onProgress, transfer } = options;
    const unfit = problemWith(capability, params, { signal, timeout, callId, onProgress, transfer });
    if (unfit) {
      resolve2(failure("INVALID_PARAMS", unfit));
      return callId;
    }
    const aborted = signal?.aborted === true;
    const sent = aborted ? { params } : snapshot(params, Array.isArray(transfer) ? transfer : void 0);
    const asked2 = { __proto__: null, callId };
    const place = this.#ids.name(asked2);
    const key = this.#rust.call(this.#number, (callId ?? "").slice(0, MAX_NAME), place, timeout, aborted);
    if (!key) {
      resolve2({ success: false, error: key === 0 ? BAD_CALL_ID : this.#guard.lost(LOST) });
      return callId;
    }
    if (onProgress) asked2.progressToken = asked2.callId;
    if (transfer) asked2.transfer = true;
    const payload = { capability, params: sent.params, options: asked2 };
    const pending = { resolve: resolve2, payload, transfer: sent.transfer, onProgress, release: void 0 };
    if (signal && !aborted) {
      const abort = () => this.#rust.abort(this.#number, this.#shell, key, reasonText(signal.reason));
      signal.addEventListener(
        "abort",
        abort,
        /** @type {any} */
        { __proto__: null, once: true }
      );
      pending.release = () => signal.removeEventListener("abort", abort);
    }
    this.#pending.set(key, pending);
    if (!this.#flushing) {
      this.#flushing = true;
      soon(this.#flush);
    }
    return asked2.callId;
  }
  /**
   * Calls a capability, whose parameters hold functions.
   *
   * @param {object} params
   * @param {(params: object, transfer: object[]) => Promise<any>} invoke
   * @param {CallOptions['transfer']} transfer
   * @returns {Promise<any>}
   */
  async lend(params, invoke, transfer) {
    if (this.sessionId === null) await this.ready;
    const part = await this.#lending?.();
    return part?.lend(this, this.#accepts, params, (lent, port) => invoke(lent, [...Array.isArray(transfer) ? transfer : [], port]), { abpError, carry, isPlain });
  }
  #flush = () => {
    this.#flushing = false;
    this.#rust.flush(this.#number, this.#shell);
  };
  /**
   * Cancels any call of this session. Never rejects.
   *
   * @param {string} callId
   * @param {unknown} [reason] for logs and the handler: a string, or an Error
   * @returns {Promise<any>} a CancelResponse
   */
  cancel(callId, reason) {
    return new Promise((resolve2) => {
      const key = typeof callId === "string" ? this.#rust.cancel(this.#number, callId.slice(0, MAX_NAME), reasonText(reason)) : 0;
      if (!key) return resolve2(refusal(callId, key === 0 ? BAD_CALL_ID : this.#guard.lost(LOST)));
      this.#pending.set(key, { resolve: resolve2, callId });
      return this.#rust.drive(this.#number, this.#shell);
    });
  }
  /** @returns {Promise<any[]>} the Capability objects of the app */
  async listCapabilities() {
    if (this.sessionId === null) await this.ready;
    const known4 = this.capabilities;
    const { capabilities, error } = await new Promise((resolve2) => {
      const key = this.#rust.list(this.#number);
      if (!key) return resolve2({ error: this.#guard.lost(LOST) });
      this.#pending.set(key, { resolve: resolve2 });
      return this.#rust.drive(this.#number, this.#shell);
    });
    if (!capabilities) throw thrown(errorOf2(error));
    return complete(capabilities, known4);
  }
  /** @param {string} name @returns {Promise<any>} its Capability object; null if there is none */
  async describeCapability(name) {
    return (await this.listCapabilities()).find((it) => it.name === name) ?? null;
  }
  /**
   * Ends the session: the app cancels the calls in flight and answers them.
   *
   * @param {{ reason?: string }} [params]
   * @returns {Promise<void>} settles when nothing is pending any more
   */
  async shutdown(params) {
    this.#rust.shutdown(this.#number, this.#shell, reasonText(params?.reason));
    await this.closed;
  }
  /**
   * @param {number} key
   * @param {string} type
   * @param {any} payload
   * @param {Transferable[]} [transfer]
   */
  #post(key, type, payload, transfer) {
    try {
      const { postCall } = this.#messenger;
      const bytes = postCall && type === CALL2 ? postCall(key, payload, transfer) : this.#messenger.post({ type, id: String(key), timestamp: Date.now(), payload }, transfer);
      if (typeof bytes === "number" && bytes > 0) this.#rust.uploads(this.#number, this.#shell, key, bytes);
    } catch (error) {
      this.#rust.unsendable(this.#number, this.#shell, key, `The message cannot be sent: ${text(error)}`);
    }
  }
  /** @param {any} envelope */
  #receive(envelope) {
    receiveFromApp(this.#rust, this.#number, this.#shell, envelope);
    const [type, payload] = [get(envelope, "type"), get(envelope, "payload")];
    if (type === "elicitation/request") this.#questions.ask(get(envelope, "id"), payload);
    else if (type === "notification") this.#notified(getA("string", payload, "event"), get(payload, "data"));
  }
  /** @param {string | undefined} event @param {any} data */
  #notified(event, data) {
    if (event === void 0) return void 0;
    if (event.startsWith("notifications/life/")) return this.#messenger.life?.receive?.(event, data, this.#messenger);
    if (event === HOST_CLOSED) return this.#disconnected();
    if (event === ELICITATION_WITHDRAWN) return this.#questions.withdraw(get(data, "id"));
    if (event === CAPABILITIES_CHANGED) {
      const come = [...listOf(get(data, "added")), ...listOf(get(data, "changed"))];
      const gone = /* @__PURE__ */ new Set([...come, ...listOf(get(data, "removed"))]);
      const kept = this.capabilities.filter(({ name }) => !gone.has(name));
      this.capabilities = [...kept, ...come.map((name) => ({ name, available: true }))];
    }
    return report(this.#options.onNotification, event, data);
  }
  /** Adds the transport's knowledge of why nobody answered to an error of ours. @param {any} error */
  #explained(error) {
    const { stuck } = this.#messenger;
    return stuck && error?.code === "TIMEOUT" ? { ...error, message: `${error.message}. ${stuck}` } : error;
  }
  #disconnected = () => void this.#rust.disconnected(this.#number, this.#shell);
  #stay;
  /**
   * The user leaves the page, and nothing else would tell the app: a port simply becomes silent. If the
   * page comes back, the session ends as a lost connection, because nobody has asked for a shutdown.
   */
  #leave = () => {
    if (this.sessionId === null) return;
    report(() => this.#messenger.post({ type: "shutdown", timestamp: Date.now(), payload: { reason: "The page of the agent was left" } }));
    this.#disconnected();
  };
  /** The session is over. */
  #part() {
    const messenger = this.#messenger;
    this.sessionId = null;
    this.#questions.close();
    messenger.onmessage = messenger.onclose = void 0;
    report(() => messenger.close());
  }
  /** @param {string} how */
  #end(how) {
    this.#timer.stop();
    this.#stay();
    if (this.sessionId !== null) this.#part();
    this.#again?.end();
    this.#again = void 0;
    this.#close(how);
  }
  /** The wasm instance is lost. */
  #lost() {
    const pending = cancelsFirst(this.#pending.values(), ({ callId }) => callId !== void 0);
    this.#pending.clear();
    const error = this.#guard.lost(LOST);
    for (const { callId, release, resolve: resolve2 } of pending) {
      report(release);
      resolve2(callId === void 0 ? { success: false, error } : refusal(callId, error));
    }
    if (this.sessionId !== null || this.#again) this.#end("failed");
  }
};
var refusal = (callId, error) => cancelResponse(callId, error.message, error);
function problemWith(capability, params, { signal, timeout, callId, onProgress, transfer }) {
  if (typeof capability !== "string") return "capability must be a string";
  if (typeof params !== "object" || params === null || Array.isArray(params)) return "params must be an object";
  if (callId !== void 0 && typeof callId !== "string") return "callId must be a string";
  if (timeout !== void 0 && !isAmount(timeout)) return "timeout must be a number of milliseconds, not negative";
  if (signal != null && typeof signal.addEventListener !== "function") return NO_SIGNAL;
  if (onProgress !== void 0 && typeof onProgress !== "function") return "onProgress must be a function";
  if (transfer !== void 0 && transfer !== true && !Array.isArray(transfer)) return "transfer must be an array";
  return void 0;
}

// src/web/js/life/signs.js
var ANSWER = "life/answer";
var PREFIX = "caphost.life.";
function holdLock(id) {
  const name = PREFIX + id;
  return new Promise((resolve2) => {
    const held = () => new Promise((release) => resolve2({ name, release: () => release() }));
    const none = () => resolve2(void 0);
    const { locks } = globalThis.navigator ?? {};
    if (locks) locks.request(name, held).catch(none);
    else none();
  });
}
function watchLock(name, gone, found) {
  const stop = new AbortController();
  const { signal } = stop;
  const watch = async () => {
    const { locks } = navigator;
    const { held } = await locks.query();
    if (!held?.some((it) => it.name === name)) return;
    found?.();
    await locks.request(
      /** @type {string} */
      name,
      { mode: "shared", signal },
      () => signal.aborted || gone()
    );
  };
  if (typeof name === "string" && name.startsWith(PREFIX)) watch().catch(() => {
  });
  return () => stop.abort();
}

// src/web/js/life/of-agent.js
var LifeOfAgent = class _LifeOfAgent {
  #held;
  /** @type {(() => void)[]} */
  #stops = [];
  /** @param {Awaited<ReturnType<typeof holdLock>>} held */
  constructor(held) {
    this.#held = held;
    this.announced = held ? { lock: held.name, worker: !globalThis.document } : {};
  }
  /** @param {string} id a unique id */
  static async begin(id) {
    return new _LifeOfAgent(await holdLock(id));
  }
  /**
   * @param {string} event of the host
   * @param {any} data
   * @param {import('../messenger.js').Messenger} messenger
   */
  receive(event, data, messenger) {
    if (event === LIFE_ASKED) messenger.post({ type: ANSWER, timestamp: Date.now(), payload: {} });
    else if (event === LIFE_LOCK) this.#stops.push(watchLock(data?.lock, () => messenger.onclose?.()));
  }
  end() {
    this.#held?.release();
    for (const stop of this.#stops) stop();
  }
};

// src/web/js/json.js
var toText = (envelope) => textOf(envelope, (_, value) => encode(value));
var textOf = (value, each) => JSON.stringify(value, function(key, written) {
  return each(key, unpatched(this[key], written));
});
function unpatched(value, written) {
  if (typeof value !== "object" || value === null) return written;
  const isDate = Object.prototype.toString.call(value) === "[object Date]";
  if (value === written && !isDate) return written;
  const { toJSON } = value;
  if (toJSON && !COMMON.some((it) => it.prototype.toJSON === toJSON)) return written;
  if (!isDate) return value;
  return isNaN(value) ? null : value.toISOString();
}
var COMMON = [Date, Array, Object, String, Number, Boolean];
var asJson = (envelope) => JSON.parse(toText(envelope));
function fromText(text2) {
  try {
    return JSON.parse(text2);
  } catch {
    return void 0;
  }
}
var EXPRESSED = ["Object", "Array", "Number", "String", "Boolean"];
function expressed(value) {
  if (typeof value !== "object" || value === null) return value;
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (!EXPRESSED.includes(kind)) throw new TypeError(`JSON has nothing for a ${kind}`);
  return value;
}
function encode(value) {
  const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : void 0;
  if (!bytes) return expressed(value);
  return { content: toBase64(bytes), mimeType: "application/octet-stream", encoding: "base64", size: bytes.length };
}
function toBase64(bytes) {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += 32768) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 32768)));
  }
  return btoa(pieces.join(""));
}

// src/web/js/messenger.js
function problemWithMessenger(messenger) {
  const lacks = ["post", "close"].find((name) => typeof messenger?.[name] !== "function");
  return lacks && `A messenger has the functions post and close, and this has no ${lacks}`;
}

// src/web/js/open.js
var DOUBT = 500;
var TIMES = (
  /** @type {const} */
  ["connectTimeout", "grace", "liveness"]
);
var CALLED = (
  /** @type {const} */
  ["onNotification", "onElicitation", "onConnection"]
);
var KNOWN2 = [...TIMES, ...CALLED, "signal", "reconnect", "agent", "requestedCapabilities", "allowedRequests", "origin", "token", "WebSocket", "transport", "terminate"];
function problemWithOptions(options) {
  warnOfUnknown("connect", options, KNOWN2);
  const bad2 = TIMES.find((name) => options[name] !== void 0 && !isAmount(options[name]));
  const idle = CALLED.find((name) => options[name] !== void 0 && typeof options[name] !== "function");
  if (bad2) return `${bad2} must be a number of milliseconds, not negative`;
  if (options.signal != null && typeof options.signal.addEventListener !== "function") return NO_SIGNAL;
  return idle && `${idle} must be a function`;
}
function open(handle, messenger, options, begin) {
  const { agent = { name: "caphost", version: "0.1" }, requestedCapabilities, allowedRequests, onElicitation } = options;
  const { connectTimeout = 1e4, signal } = options;
  const id = idsOf(guarded(handle)).next();
  const features = { notifications: true, progress: true, elicitation: onElicitation !== void 0 };
  const payload = {
    agent,
    protocolVersion: "0.1",
    features,
    ...requestedCapabilities !== void 0 && { requestedCapabilities },
    ...allowedRequests !== void 0 && { agentCapabilities: { allowedRequests } },
    ...messenger.life && { life: messenger.life.announced }
  };
  return new Promise((resolve2, reject) => {
    let again;
    let asked2 = 0;
    const ask = (pause) => {
      asked2 += 1;
      try {
        messenger.post({ type: "initialize", id, timestamp: Date.now(), payload });
        if (messenger.forgetful) again = setTimeout(() => ask(Math.min(1.5 * pause, 1e3)), pause);
      } catch (error) {
        fail(abpError("INVALID_PARAMS", `initialize cannot be sent: ${error}`));
      }
    };
    const settle = () => {
      clearTimeout(timer);
      clearTimeout(again);
      signal?.removeEventListener("abort", callOff);
    };
    const fail = (error) => {
      settle();
      messenger.close();
      reject(error);
    };
    const giveUp = (error, reason) => {
      try {
        if (asked2) messenger.post({ type: "shutdown", timestamp: Date.now(), payload: { reason } });
      } catch {
      }
      fail(error);
    };
    const callOff = () => giveUp(signal?.reason, "Called off");
    const timer = setTimeout(
      () => giveUp(abpError("TIMEOUT", `No app answered within ${connectTimeout} ms${messenger.hint ?? ""}`), "Not answered in time"),
      Math.min(connectTimeout, 2147483647)
      // The longest time of a timer.
    );
    if (signal?.aborted) return callOff();
    signal?.addEventListener("abort", callOff);
    messenger.onmessage = (envelope) => {
      if (get(envelope, "id") !== id) return;
      clearTimeout(again);
      const [type, payload2] = [get(envelope, "type"), get(envelope, "payload")];
      const [error, sessionId] = [get(payload2, "error"), get(payload2, "sessionId")];
      if (error) {
        const why = thrown(errorOf2(error));
        if (asked2 > 1 && why.code === "ALREADY_INITIALIZED") again = setTimeout(fail, DOUBT, why);
        else fail(why);
      } else if (type !== "initialize-result" || typeof sessionId !== "string") {
        fail(abpError("TRANSPORT_ERROR", "The app did not answer with an initialize-result"));
      } else {
        settle();
        try {
          resolve2(begin(payload2));
        } catch (error2) {
          fail(abpError("TRANSPORT_ERROR", `The initialize-result of the app cannot be read: ${text(error2)}`));
        }
      }
    };
    messenger.onclose = (error) => fail(error ?? abpError("DISCONNECTED", "The app disconnected"));
    ask(25);
  });
}

// src/web/js/port.js
var ANSWERS = /* @__PURE__ */ new Map([["capabilities/call", "capabilities/call-result"], ["elicitation/request", "elicitation/response"]]);
function read(port, messenger, readShort, unreadable2) {
  let short = messenger.short === true;
  let next;
  const receive2 = (message) => {
    next = void 0;
    if (short && Array.isArray(message)) {
      if (readShort(message)) return void 0;
      next = nextOf(message);
      if (next) return void 0;
    } else if (opensShort(message) && !isExtension(port)) short = messenger.short = true;
    return messenger.onmessage?.(message);
  };
  const gone = () => messenger.onclose?.();
  const lost = () => {
    if (!next) return messenger.onunreadable ? messenger.onunreadable() : gone();
    const { type, id } = next;
    const answer2 = ANSWERS.get(type);
    const said = { type: answer2 ?? type, id, timestamp: Date.now(), payload: failure("TRANSPORT_ERROR", unreadable2) };
    next = void 0;
    return answer2 ? messenger.post(said) : messenger.onmessage?.(said);
  };
  return { receive: receive2, stop: listenTo(port, receive2, lost, gone) };
}
var isExtension = (port) => typeof port.onMessage?.addListener === "function";
function ensurePort(port, where) {
  const isWindow = port?.window === port && port?.closed !== void 0;
  if (isWindow || typeof port?.postMessage !== "function" || !(isExtension(port) || port.addEventListener || port.on)) {
    throw abpError("INVALID_PARAMS", `${where}(port): port must be a MessagePort, a Worker or an extension port`);
  }
}
function listenTo(port, receive2, lost, gone) {
  const stops = [];
  const on = (target, [add2 = "", remove = ""], ...what) => {
    target?.[add2](...what);
    stops.push(() => target?.[remove](...what));
  };
  if (port.onMessage) {
    on(port.onMessage, ["addListener", "removeListener"], receive2);
    on(port.onDisconnect, ["addListener", "removeListener"], gone);
  } else {
    const { addEventListener: addEventListener2 } = port;
    const how = addEventListener2 ? ["addEventListener", "removeEventListener"] : ["on", "off"];
    on(port, how, "message", addEventListener2 ? ({ data }) => receive2(data) : receive2);
    on(port, how, "messageerror", lost);
    on(port, how, addEventListener2 ? "close" : "exit", gone);
    port.start?.();
  }
  return () => {
    for (const stop of stops) stop();
  };
}

// src/web/js/agent-port.js
function portMessenger(port, ours = false, short = false) {
  ensurePort(port, "connectPort");
  const extension = isExtension(port);
  const post = (envelope, transfer) => {
    const { type, id, payload } = envelope;
    if (messenger.short && type === "capabilities/call") return send(shortCall(Number(id), payload), transfer, isSimple(payload) ? void 0 : announcement(type, Number(id)));
    return send(type === "initialize" ? announcing(envelope) : envelope, transfer, messenger.short ? foretold(envelope) : void 0);
  };
  const postCall = (key, payload, transfer) => {
    const type = "capabilities/call";
    if (!messenger.short) return post({ type, id: String(key), timestamp: Date.now(), payload }, transfer);
    return send(shortCall(key, payload), transfer, transfer && announcement(type, key));
  };
  const send = (message, transfer, before) => {
    if (before) port.postMessage(before);
    if (transfer && transfer.length > 0) port.postMessage(message, transfer);
    else port.postMessage(message);
  };
  const messenger = {
    // A MessagePort keeps messages until somebody listens. A worker does not, and neither does the port
    // of an extension that wakes up.
    forgetful: !port.start,
    short,
    onmessage: void 0,
    onclose: void 0,
    onresult: void 0,
    post: extension ? (envelope) => port.postMessage(asJson(envelope)) : post,
    postCall: extension ? void 0 : postCall,
    close() {
      messenger.life?.end?.();
      stop();
      messenger.onmessage = messenger.onresult = messenger.onclose = void 0;
      if (ours) port.close();
    }
  };
  const readShort = (message) => {
    if (!isShortResult(message)) return false;
    const { onresult } = messenger;
    if (onresult) onresult(message[1], message[2], message[3]);
    else messenger.onmessage?.(longResult(message));
    return true;
  };
  const { stop } = read(port, messenger, readShort, "The message of the app could not be read");
  return messenger;
}

// src/web/js/socket.js
var source = () => globalThis.WebSocket;
function defaultSocket() {
  const Socket = source();
  if (!Socket) throw abpError("NOT_SUPPORTED", "There is no WebSocket here: install `ws`, or pass the option `WebSocket`");
  return Socket;
}

// src/web/js/connect.js
var LIVENESS = 3e4;
async function connect({ load, reconnecting, lending }, messenger, given2) {
  const options = bare(given2 ?? {}, KNOWN2);
  const unfit = problemWithOptions(options);
  if (unfit) throw abpError("INVALID_PARAMS", unfit);
  options.signal?.throwIfAborted();
  const [handle, part] = await Promise.all([load(), options.reconnect && reconnecting?.()]);
  options.signal?.throwIfAborted();
  const again = part ? new part.Again(handle, messenger, options, { abpError, log, madeBy, open, report, rust: guarded(handle) }) : void 0;
  const made = await madeBy(messenger);
  return open(handle, made, options, (session) => new Agent(handle, made, session, options, again, lending));
}
async function madeBy(messenger) {
  const made = typeof messenger === "function" ? await madeNow(messenger) : messenger;
  const odd = problemWithMessenger(made);
  if (odd) throw abpError("INVALID_PARAMS", odd);
  return made;
}
async function madeNow(make) {
  try {
    return await make();
  } catch (error) {
    throw getA("string", error, "code") === void 0 ? abpError("INVALID_PARAMS", `There is no messenger: ${text(error)}`) : error;
  }
}
async function connectNearby(parts, make, options, about2) {
  const shown2 = async () => {
    const life = await LifeOfAgent.begin(uniqueName());
    try {
      return Object.assign(await make(), { life });
    } catch (error) {
      life.end();
      throw error;
    }
  };
  return connect(parts, Object.assign(shown2, about2), { liveness: LIVENESS, ...options });
}
async function connectWindow(parts, win, options) {
  if (!globalThis.document) throw abpError("NOT_SUPPORTED", "connectWindow works in a page. Elsewhere use connectPort, connectWebSocket or connect");
  if (typeof win?.postMessage !== "function") throw abpError("INVALID_PARAMS", win === null ? "the frame has no window: it is not in the document" : "connectWindow takes a window, such as iframe.contentWindow");
  const [{ windowMessenger: windowMessenger2 }] = await Promise.all([parts.windows(), parts.load()]);
  const tools = { abpError, announcing, onWindow, originOf, portMessenger, takesShort };
  return connectNearby(parts, () => windowMessenger2(win, get(options, "origin"), tools), options, { isOver: () => win.closed });
}
async function connectPort(parts, port, options) {
  const made = typeof port === "function";
  return connectNearby(parts, async () => portMessenger(made ? await port() : port), options, { once: !made });
}
async function connectWebSocket(parts, url, options) {
  const { token, transport, WebSocket } = bare(options ?? {}, KNOWN2);
  const given2 = { liveness: LIVENESS, ...options };
  if (transport) return connect(parts, transport, given2);
  const Socket = WebSocket ?? defaultSocket();
  const [{ openSocket: openSocket2, socketMessenger: socketMessenger2 }] = await Promise.all([parts.sockets(), parts.load()]);
  const tools = { abpError, fromText, get, getA, largeMessage: LARGE_MESSAGE, toText };
  return connect(parts, () => socketMessenger2(openSocket2(url, token, Socket, tools), tools), given2);
}

// src/web/js/sockets/socket.js
var OPENING = 0;
var OPEN = 1;
var LARGE = 65536;
function socketMessenger(socket, { abpError: abpError2, fromText: fromText2, get: get2, getA: getA2, largeMessage, toText: toText2 }) {
  const waiting = [];
  let opened = false;
  const messenger = {
    // A gateway tells the agent about a message that takes its time.
    life: { announced: { large: true } },
    onmessage: void 0,
    onclose: void 0,
    post(envelope) {
      const text2 = toText2(envelope);
      if (socket.readyState === OPEN) socket.send(text2);
      else if (socket.readyState === OPENING) waiting.push(text2);
      return text2.length > LARGE ? new Blob([text2]).size : 0;
    },
    close() {
      messenger.onmessage = messenger.onclose = void 0;
      socket.close();
    }
  };
  const end2 = (how, cause = void 0) => {
    const error = abpError2("DISCONNECTED", `The connection to ${shown(socket.url)} ${how}`);
    messenger.onclose?.(cause ? Object.assign(error, { cause }) : error);
  };
  socket.addEventListener("open", () => {
    opened = true;
    for (const text2 of waiting.splice(0)) socket.send(text2);
  });
  socket.addEventListener("message", ({ data }) => {
    const envelope = typeof data === "string" ? fromText2(data) : void 0;
    const told2 = get2(envelope, "payload");
    if (get2(told2, "event") === largeMessage) messenger.onexpect?.(getA2("number", get2(told2, "data"), "bytes") ?? 0);
    else if (envelope !== void 0) messenger.onmessage?.(envelope);
  });
  socket.addEventListener("close", ({ code: code2, reason = "" }) => {
    const how = opened ? "was closed" : "failed: nobody answered there, or the gateway refused it";
    end2(`${how} (${code2}${reason && ": "}${reason})`);
  });
  socket.addEventListener("error", ({ error }) => {
    const origin = globalThis.location?.origin;
    const why = error?.code ?? getA2("string", error, "message");
    const said = `failed${why ? `: ${why}` : ""}. `;
    if (/response: \d/.test(why ?? "")) end2(`${said}A server answers there, but not as a gateway does at this path. Agents connect to /abp`, error);
    else if (!opened) end2(`${said}Is the gateway running${origin ? `, does it allow ${origin}, and does the connect-src of this page allow it` : ""}? Agents connect to /abp`, error);
  });
  return messenger;
}
var shown = (url) => String(url).replace(/([?&]token=)[^&#]*/, "$1…");
function openSocket(url, token, Socket, { abpError: abpError2 }) {
  try {
    return new Socket(String(url), token === void 0 ? [] : ["abp", `caphost.token.${token}`]);
  } catch (error) {
    throw abpError2("INVALID_PARAMS", `Cannot connect to ${url}: ${error instanceof Error ? error.message : error}`);
  }
}

// src/web/js/windows/window.js
var LOOK_EVERY = 300;
function windowMessenger(win, given2, { abpError: abpError2, announcing: announcing2, onWindow: onWindow2, originOf: originOf2, portMessenger: portMessenger2, takesShort: takesShort2 }) {
  const origin = given2 ?? location.origin;
  const named = origin === "*" ? "*" : originOf2(origin);
  if (named === void 0) throw abpError2("INVALID_PARAMS", `origin must be like 'https://app.example', not ${origin}`);
  let target = named;
  let expected = named;
  const stop = new AbortController();
  const { signal } = stop;
  const offered = [];
  let port;
  let opening;
  let plain = false;
  let looking;
  const messenger = {
    // A window that is still loading receives nothing.
    forgetful: true,
    hint: ` at ${named}: ${given2 ? `is ${location.origin} in its allowedOrigins?` : "no origin was given, so this page's own was used; pass { origin } for an app of another"}`,
    onmessage: void 0,
    onclose: void 0,
    onsuspect: void 0,
    post(envelope, transfer = []) {
      if (port) port.post(envelope, transfer);
      else if (envelope.type === "initialize") offer(envelope);
      else {
        for (const it of offered) it.postMessage(envelope);
        win.postMessage(envelope, { targetOrigin: target, transfer });
      }
    },
    close() {
      messenger.onmessage = messenger.onclose = messenger.onsuspect = void 0;
      messenger.life?.end?.();
      stop.abort();
      for (const off of offs) off();
      retract();
      clearInterval(looking);
      port?.close();
    }
  };
  const gone = () => messenger.onclose?.();
  const offer = (initialize) => {
    opening = initialize.id;
    looking ??= setInterval(() => win.closed && gone(), LOOK_EVERY);
    const { port1, port2 } = new MessageChannel();
    offered.push(port1);
    port1.onmessage = ({ data }) => adopt(port1, data);
    win.postMessage(announcing2(initialize), { targetOrigin: target, transfer: [port2] });
  };
  const retract = (kept) => {
    for (const other of offered.splice(0)) if (other !== kept) other.close();
  };
  const adopt = (answered, envelope) => {
    if (port || plain) return;
    answered.onmessage = null;
    retract(answered);
    port = portMessenger2(answered, true, takesShort2(envelope?.payload));
    port.onmessage = (next) => messenger.onmessage?.(next);
    port.onresult = (id, data, duration) => messenger.onresult?.(id, data, duration);
    messenger.postCall = port.postCall;
    port.onclose = gone;
    watchFrame(win, signal, gone, () => messenger.onsuspect?.(true));
    messenger.onmessage?.(envelope);
  };
  const offs = [onWindow2("message", ({ source: source2, origin: from, data }) => {
    if (port || source2 !== win || expected !== "*" && from !== expected) return;
    if (!plain) {
      if (opening === void 0 || data?.id !== opening || !isAnswer(data)) return;
      if (from === "null") return;
      plain = true;
      retract();
      expected = target = from;
      watchFrame(win, signal, gone, () => messenger.onsuspect?.(false));
    }
    messenger.onmessage?.(data);
  }), onWindow2("messageerror", ({ source: source2 }) => plain && source2 === win && gone())];
  return messenger;
}
var isAnswer = ({ type }) => type === "initialize-result" || type === "error";
function watchFrame(win, signal, gone, suspect) {
  const frame = [...document.querySelectorAll("iframe")].find((it) => it.contentWindow === win);
  const known4 = frame?.contentDocument;
  let loaded = known4?.readyState === "complete";
  frame?.addEventListener("load", () => {
    if (loaded || known4 && frame.contentDocument !== known4) return gone();
    loaded = true;
    return frame.contentDocument && frame.contentDocument === known4 ? void 0 : suspect();
  }, { signal });
}

// src/web/js/in-rust.js
var WAYS = { page: connectHere, port: connectPort, window: connectWindow, gateway: connectWebSocket };
async function connectFromRust(handle, way, to, options) {
  const parts = {
    load: async () => handle,
    sockets: async () => ({ openSocket, socketMessenger }),
    windows: async () => ({ windowMessenger })
  };
  return WAYS[way]?.(parts, to, options);
}
async function connectHere(parts, host, options) {
  const ours = end(() => theirs);
  const theirs = end(() => ours);
  host.accept(theirs);
  return connect(parts, ours, options);
}
function end(other) {
  return {
    onmessage: void 0,
    onclose: void 0,
    post: (envelope) => other().onmessage?.(envelope),
    close: () => other().onclose?.()
  };
}

// src/web/js/schema/examine.js
var TYPES = ["null", "boolean", "object", "array", "number", "string", "integer"];
var ONE = ["additionalProperties", "unevaluatedProperties", "propertyNames", "additionalItems", "unevaluatedItems", "contains", "not", "if", "then", "else", "contentSchema"];
var SEVERAL = ["allOf", "anyOf", "oneOf", "prefixItems"];
var NAMED = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
var isText = (it) => typeof it === "string";
var isNumber = (it) => typeof it === "number";
var differ = (them) => new Set(them).size === them.length;
var isNames = (it) => Array.isArray(it) && it.every(isText) && differ(it);
var isAnchor = (it) => isText(it) && /^[a-z_][\w.-]*$/i.test(it);
var RULES = [
  ["a text", isText, "$schema $ref $dynamicRef $recursiveRef $comment format title description contentEncoding contentMediaType"],
  ["true or false", (it) => typeof it === "boolean", "uniqueItems deprecated readOnly writeOnly $recursiveAnchor"],
  ["a name of letters, digits, - _ and .", isAnchor, "$anchor $dynamicAnchor"],
  // Drafts up to 7 write an anchor as an `$id`.
  ["an address without a fragment", (it) => isText(it) && (/^[^#]*#?$/.test(it) || it[0] === "#" && isAnchor(it.slice(1))), "$id"],
  ["a number", isNumber, "minimum maximum exclusiveMinimum exclusiveMaximum"],
  ["a number above 0", (it) => isNumber(it) && it > 0, "multipleOf"],
  ["a whole number from 0", (it) => isAmount(it) && it % 1 === 0, "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains"],
  ["a list of names that differ", isNames, "required"],
  ["a list of at least one value", (it) => Array.isArray(it) && it.length, "enum"],
  ["a list", Array.isArray, "examples"],
  ["lists of names that differ", (it) => isObject(it) && Object.values(it).every(isNames), "dependentRequired"],
  ["an object", isObject, "$vocabulary"]
];
var OTHERS = "type pattern items const default";
var KNOWN3 = /* @__PURE__ */ new Set([...ONE, ...SEVERAL, ...NAMED, ...OTHERS.split(" "), ...RULES.flatMap(([, , keywords]) => keywords.split(" "))]);
function examine(schema, { at: start = "#", odd, isExpression = isPattern, enter: enter2, outer: first } = {}) {
  const seen = /* @__PURE__ */ new Set();
  const visit = (schema2, at, outer) => {
    if (typeof schema2 === "boolean" || seen.has(schema2)) return;
    seen.add(schema2);
    const expect = (right, rule) => {
      if (!right) throw new Error(`${at}: ${rule}`);
    };
    const given2 = (keyword, fits, rule) => expect(schema2[keyword] === void 0 || fits(schema2[keyword]), `${keyword} must be ${rule}`);
    expect(isObject(schema2), "a schema must be an object, true or false");
    const names = Object.keys(schema2);
    if (odd && names[0] !== void 0 && !names.some((name) => KNOWN3.has(name) || /^(\$|x-)/.test(name))) odd(at, names[0]);
    for (const [rule, fits, keywords] of RULES) for (const keyword of keywords.split(" ")) given2(keyword, fits, rule);
    const types = [schema2.type ?? []].flat();
    const strange = types.find((it) => !TYPES.includes(it));
    expect(strange === void 0, `there is no type ${JSON.stringify(strange)}`);
    given2("type", () => types.length && differ(types), "a type, or a list of some that differ");
    given2("pattern", (it) => isText(it) && isExpression(it), "a regular expression");
    const inner = enter2?.(schema2, outer);
    const within = (it, where) => visit(it, `${at}/${where}`, inner);
    for (const keyword of ONE) if (schema2[keyword] !== void 0) within(schema2[keyword], keyword);
    if (schema2.items !== void 0) for (const it of [schema2.items].flat()) within(it, "items");
    for (const keyword of SEVERAL) {
      given2(keyword, (it) => Array.isArray(it) && it.length, "a list of schemas, at least one");
      schema2[keyword]?.forEach((it, n) => within(it, `${keyword}/${n}`));
    }
    for (const keyword of NAMED) {
      given2(keyword, isObject, "an object of schemas");
      for (const [name, it] of Object.entries(schema2[keyword] ?? {})) {
        expect(keyword !== "patternProperties" || isExpression(name), `not a regular expression: ${name}`);
        if (keyword !== "dependencies" || !isNames(it)) within(it, `${keyword}/${name}`);
      }
    }
  };
  refuseLibraries(schema, start, /* @__PURE__ */ new Set());
  visit(schema, start, first);
}
function refuseLibraries(it, at, seen) {
  if (Object(it) !== it || seen.has(it)) return;
  const remedy = seen.size ? "give one such schema of all properties, as z.object({ … }), or a JSON Schema here, as z.toJSONSchema(…)" : "give z.toJSONSchema(…)";
  seen.add(it);
  const standard = it["~standard"];
  if (standard) throw new Error(`${at}: this is a schema of ${standard.vendor ?? "a library"}, and no JSON Schema: ${remedy}`);
  for (const [name, inner] of Object.entries(it)) refuseLibraries(inner, `${at}/${name}`, seen);
}
function isPattern(text2) {
  try {
    return new RegExp(text2, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

// src/web/js/schema/references.js
var HOME = "schema:/";
var OLD = /draft-0[3-7]/;
var METASCHEMAS = /^https?:\/\/json-schema\.org\/draft(-0[67]|\/20(19-09|20-12))\/schema$/;
var IN_PLACE = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
function resolve(root, odd) {
  const targets = /* @__PURE__ */ new Map();
  const alone = /* @__PURE__ */ new Set();
  const resources = /* @__PURE__ */ new Map();
  const known4 = /* @__PURE__ */ new Map([[HOME, root]]);
  const name = (address, schema) => {
    if (known4.has(address)) throw new Error(`two parts of the schema have the name ${JSON.stringify(address)}`);
    known4.set(address, schema);
  };
  const enter2 = (schema, outer) => {
    const { $id = "#", $ref, $schema, $anchor, $dynamicAnchor, $recursiveAnchor } = schema;
    const old = $schema === void 0 ? outer.old : OLD.test($schema);
    const hides = old && $ref !== void 0;
    if (hides) alone.add(schema);
    const isHome = !hides && $id[0] !== "#";
    const base = isHome ? withoutFragment(urlOf($id, outer.base)) : outer.base;
    const resource = isHome || old !== outer.old ? { base, old, dynamic: /* @__PURE__ */ new Map() } : outer;
    if (isHome) name(base, schema);
    for (const anchor of [$anchor, $dynamicAnchor, $id[0] === "#" && $id.slice(1)]) if (anchor) name(`${base}#${anchor}`, schema);
    const dynamic = $recursiveAnchor === true ? "" : $dynamicAnchor;
    if (dynamic !== void 0) resource.dynamic.set(dynamic, schema);
    resources.set(schema, resource);
    return resource;
  };
  const targetOf = (keyword, reference, resource) => {
    const url = urlOf(reference, resource.base);
    const address = withoutFragment(url);
    const fragment = decodeURIComponent(url.slice(address.length + 1));
    if (!known4.has(address) && fragment === "" && METASCHEMAS.test(address)) return {};
    const [first, ...steps] = fragment.split("/");
    let schema = known4.get(first ? `${address}#${fragment}` : address);
    for (const step of first ? [] : steps) {
      const name2 = step.replaceAll("~1", "/").replaceAll("~0", "~");
      schema = Object.hasOwn(Object(schema), name2) ? schema[name2] : void 0;
    }
    if (schema === void 0) throw new Error(`there is nothing at ${JSON.stringify(reference)}, and no schema is fetched`);
    if (!resources.has(schema)) examine(schema, { at: reference, enter: enter2, outer: resource });
    const { $dynamicAnchor, $recursiveAnchor } = schema;
    const isDynamic = keyword === "$dynamicRef" ? $dynamicAnchor === fragment : keyword === "$recursiveRef" && $recursiveAnchor === true;
    return isDynamic ? { schema, name: fragment } : { schema };
  };
  const followed = /* @__PURE__ */ new Set();
  const way = /* @__PURE__ */ new Set();
  const follow = (schema, reference) => {
    if (way.has(schema)) throw new Error(`the reference ${JSON.stringify(reference)} leads to itself`);
    if (typeof schema !== "object" || followed.has(schema)) return;
    followed.add(schema);
    way.add(schema);
    for (const { schema: target, name: name2 } of targets.get(schema) ?? []) {
      const others2 = name2 === void 0 ? [] : [...resources.values()].map(({ dynamic }) => dynamic.get(name2));
      for (const it of [target, ...others2]) follow(it, schema.$ref ?? schema.$dynamicRef);
    }
    for (const it of [...IN_PLACE.flatMap((keyword) => schema[keyword] ?? []), ...Object.values(schema.dependentSchemas ?? {})]) follow(it, reference);
    way.delete(schema);
  };
  examine(root, { odd, enter: enter2, outer: { base: HOME, old: false, dynamic: /* @__PURE__ */ new Map() } });
  for (const [schema, resource] of resources) {
    for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
      if (schema[keyword] !== void 0) targets.set(schema, [...targets.get(schema) ?? [], targetOf(keyword, schema[keyword], resource)]);
    }
  }
  for (const schema of targets.keys()) follow(schema);
  return { targets, alone, resources };
}
function urlOf(reference, base) {
  try {
    return new URL(reference, base).href;
  } catch {
    throw new Error(`${JSON.stringify(reference)} is no address`);
  }
}
var withoutFragment = (url) => url.split("#", 1)[0] ?? "";

// src/web/js/descriptor.js
function problemWithApp(app) {
  const bad2 = ["id", "name", "version"].find((field) => !isName(app?.[field]));
  return bad2 && `app.${bad2} must be a string of 1 to 256 characters`;
}
function problemWithCapability(name, options) {
  if (!isName(name)) return "register: name must have 1 to 256 characters";
  if (!isObject(options)) return `${name}: options must be an object`;
  warnOfUnknown("register", options, OF_CAPABILITIES);
  const { concurrency } = options;
  if (concurrency !== void 0 && !(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 1e9)) {
    return `${name}: concurrency must be a whole number from 1`;
  }
  if (!isGrace(options.settleGrace)) return `${name}: ${GRACE}`;
  for (const [field, kind] of Object.entries(KINDS)) {
    const value = options[field];
    if (value !== void 0 && (Array.isArray(value) ? "array" : typeof value) !== kind) return `${name}: ${field} must be of type ${kind}`;
  }
  const { inputSchema, outputSchema, annotations, confirm } = options;
  if (confirm !== void 0 && !["always", "destructive"].includes(confirm)) return `${name}: confirm must be always or destructive`;
  warnOfUnknown(`${name}: annotations`, annotations, HINTS);
  const hint = HINTS.find((it) => !["boolean", "undefined"].includes(typeof annotations?.[it]));
  if (hint) return `${name}: annotations.${hint} must be true or false`;
  for (const [which, schema] of Object.entries({ inputSchema, outputSchema })) {
    const odd = (at, found) => log("warn", `${name}: ${which}${at.slice(1)} has "${found}" and no keyword of JSON Schema, so everything fits it: properties belong in { type: 'object', properties: { … } }`);
    try {
      if (schema !== void 0) resolve(bareTree(schema), odd);
    } catch (error) {
      return `${name}: ${which} is invalid: ${text(error)}`;
    }
  }
  const { type = "object" } = bareTree(inputSchema ?? {});
  return [type].flat().includes("object") ? void 0 : `${name}: inputSchema must be of an object, which parameters are, not of type ${type}`;
}
function problemWithWorker(name, { pool, warm, type, finish }) {
  if (!(Number.isInteger(pool) && pool >= 1 && pool <= 64)) return `${name}: pool must be a whole number from 1 to 64`;
  if (typeof warm !== "boolean") return `${name}: warm must be true or false`;
  if (!["module", "classic", "wasm"].includes(type)) return `${name}: type must be module, classic or wasm`;
  return finish !== void 0 && typeof finish !== "function" && `${name}: finish must be a function`;
}
var EXTRAS = ["title", "annotations", "confirm", "experimental", "deprecated", "deprecationMessage", "alternatives"];
var KINDS = {
  title: "string",
  description: "string",
  available: "boolean",
  experimental: "boolean",
  deprecated: "boolean",
  deprecationMessage: "string",
  requirements: "array",
  alternatives: "array",
  features: "object",
  annotations: "object",
  replace: "boolean",
  confirm: "string"
};
var HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
var OF_CAPABILITIES = [...Object.keys(KINDS), "inputSchema", "outputSchema", "concurrency", "settleGrace"];
var GRACE = "settleGrace must be a number of milliseconds, finite and not negative";
var isGrace = (grace) => grace === void 0 || isAmount(grace) && grace < Infinity;
var isName = (value) => typeof value === "string" && value !== "" && value.length <= MAX_NAME;
function describe(name, options) {
  const { description = "", inputSchema = { type: "object" }, outputSchema = {}, requirements = [], features = {} } = options;
  const available = options.available !== false;
  const document2 = { name, description, inputSchema, outputSchema, available, requirements, features };
  for (const key of EXTRAS) {
    if (options[key] !== void 0) document2[key] = options[key];
  }
  return frozen(document2);
}
var confirms = ({ confirm, annotations }) => confirm === "destructive" ? annotations?.readOnlyHint !== true && annotations?.destructiveHint !== false : confirm !== void 0;
function frozen(value) {
  const text2 = textOf(value, (key, inner) => {
    if (typeof inner === "function" || typeof inner === "symbol") throw new TypeError(`"${key}" is a ${typeof inner}`);
    return inner;
  });
  return JSON.parse(text2, (_, inner) => Object.freeze(inner));
}
var LIMITS = ["maxRemembered", "maxInFlight", "maxInFlightBytes", "maxSessions", "maxRequestsPerSecond", "maxMessageBytes", "maxDepth"];
var OF_HOST = [...LIMITS, "liveness", "app", "settleGrace", "cancelUndeclared"];

// src/web/js/inspect.js
var Unfit = class {
  /** @param {string} why */
  constructor(why) {
    this.why = why;
  }
};
function measure(value, depth2, size) {
  try {
    const bytes = simpleBytes(value);
    if (bytes >= 0 && isWithin(bytes, depth2, size)) return bytes;
    const left = weighAll(value, depth2, size);
    return left >= 0 ? size - left + VALUE * values + binary : `is larger than ${size} characters`;
  } catch (error) {
    if (!(error instanceof Unfit)) return "cannot be read";
    return error === TOO_DEEP ? `is cyclic, or nested more than ${depth2} levels deep` : error.why;
  }
}
var isWithin = (bytes, depth2, size) => bytes <= size && LEVELS <= depth2;
function inspect(value, depth2, size) {
  const measured = measure(value, depth2, size);
  return typeof measured === "string" ? measured : void 0;
}
var values = 0;
var binary = 0;
var buffers = /* @__PURE__ */ new Set();
function hold(owner, bytes) {
  if (bytes > 0 && !buffers.has(owner)) {
    buffers.add(owner);
    binary += bytes;
  }
}
var MANY = 2048;
var LARGE2 = { values: 32, characters: 1024 };
var known3 = /* @__PURE__ */ new Map();
var TOO_DEEP = /* @__PURE__ */ new Unfit("is nested too deep");
function weighAll(value, levels, left) {
  values = 0;
  binary = 0;
  asked = 0;
  try {
    return weigh(value, levels, left);
  } finally {
    known3.clear();
    buffers.clear();
  }
}
function weigh(value, levels, left) {
  values += 1;
  switch (typeof value) {
    case "string":
      return left - value.length - 2;
    case "object":
      return value === null ? left - 1 : weighObject(value, levels, left - 1);
    case "function":
    case "symbol":
      throw new Unfit(`holds a ${typeof value}`);
    case "bigint":
      return left - digitsOf(value, left);
    default:
      return left - 1;
  }
}
function weighObject(object, levels, left) {
  if (levels === 0) throw TOO_DEEP;
  if (values <= MANY) return weighInside(object, levels, left);
  const before = known3.get(object);
  if (before !== void 0 && before.levels <= levels) return left - before.weight;
  const at = values;
  const rest = weighInside(object, levels, left);
  const isLarge = values - at >= LARGE2.values || left - rest >= LARGE2.characters;
  if (rest >= 0 && isLarge) known3.set(object, { levels, weight: left - rest });
  return rest;
}
function weighInside(object, levels, left) {
  if (Array.isArray(object)) return weighArray(object, levels - 1, left);
  if (isPlain(object)) return weighProperties(object, Object.keys(object), levels - 1, left);
  if (!ArrayBuffer.isView(object)) return weighOther(object, levels - 1, left);
  hold(object.buffer, object.buffer.byteLength);
  return left;
}
function weighProperties(object, keys, levels, left) {
  for (let at = 0; at < keys.length && left >= 0; at += 1) {
    const key = (
      /** @type {string} */
      keys[at]
    );
    left = weigh(object[key], levels, left - key.length - 3);
  }
  return left;
}
function weighArray(array2, levels, left) {
  const { length } = array2;
  if (length <= left && isWhole(array2)) {
    for (let at = 0; at < length && left >= 0; at += 1) left = weigh(array2[at], levels, left);
    return left;
  }
  return length <= left ? weighProperties(array2, Object.keys(array2), levels, left - length) : -1;
}
function weighOther(object, levels, left) {
  const kind = kindOf(object);
  if (kind === "Map") {
    Map.prototype.forEach.call(object, (value, key) => {
      if (left >= 0) left = weigh(value, levels, weigh(key, levels, left));
    });
  } else if (kind === "Set") {
    Set.prototype.forEach.call(object, (value) => {
      if (left >= 0) left = weigh(value, levels, left);
    });
  } else if (kind === "DOMException" || isError(object)) left = weighProperties(object, OF_ERRORS, levels, left);
  else if (kind === "RegExp") left = weigh(object.source, levels, left);
  else if (kind === "String" || kind === "BigInt") return weigh(object.valueOf(), levels, left);
  else if (kind.endsWith("Buffer")) hold(object, object.byteLength);
  else if (kind.startsWith("Image")) hold(object, 4 * object.width * object.height);
  return weighProperties(object, Object.keys(object), levels, left);
}
var SHORT2 = 1024;
var LONG = 2 ** 19;
var asked = 0;
function isWhole(array2) {
  const { length } = array2;
  if (length > SHORT2 && (asked += length) > LONG) return Math.floor(Math.random() * length) in array2;
  return hasOnlyElements(array2);
}
function digitsOf(number, left) {
  let bits = 64;
  while (bits <= 4 * left && BigInt.asIntN(bits, number) !== number) bits *= 2;
  return bits / 4;
}

// src/web/js/failure.js
var MAX_TEXT = 65536;
var FIELDS = ["code", "message", "retryable", "retryAfter", "details", "alternatives"];
var MOST = 64;
var CAUSES = 4;
var messageOf = (error) => getA("string", error, "message") ?? (TEXTS.includes(typeof error) ? String(error) : "The capability failed");
var TEXTS = ["string", "number", "bigint", "boolean"];
function codeOf(error) {
  const code2 = getA("string", error, "code");
  return code2 && code2.length <= 128 ? code2 : void 0;
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
  const code2 = codeOf(it);
  return causes > 0 ? { ...code2 && { code: code2 }, message: messageOf(it), ...about(it, fit, causes - 1) } : void 0;
}
var OF_ERRORS2 = ["name", "errors", "cause"];
var isError2 = (it) => /Error$|^DOMException$/.test(kindOf(it));
function failureOf(error, { depth: depth2, size } = { depth: 32, size: 2 * MAX_TEXT }) {
  const code2 = codeOf(error) ?? "OPERATION_FAILED";
  const message = messageOf(error).slice(0, Math.min(MAX_TEXT, Math.max(size - code2.length, 0)));
  const left = Math.min(MAX_TEXT, size - code2.length - message.length);
  const within = (depth3, beside) => (it) => {
    const copy = copyIfAny(it);
    return inspect([copy, beside], depth3 + 1, left) === void 0 ? copy : void 0;
  };
  const alternatives = within(1)(get(error, "alternatives"));
  return {
    code: code2,
    message,
    retryable: getA("boolean", error, "retryable"),
    retryAfter: getA("number", error, "retryAfter"),
    details: detailsOf(error, within(Math.min(32, depth2), alternatives)),
    alternatives
  };
}

// src/web/js/part.js
var FIRST_PAUSE = 250;
var LONGEST_PAUSE = 1e4;
var TRIES = 4;
async function loadPart(load, goesOn = (_, tries) => tries < TRIES) {
  for (let tries = 1, pause = FIRST_PAUSE; ; tries += 1, pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    try {
      return await load();
    } catch (error) {
      if (!goesOn(error, tries)) throw error;
    }
    await new Promise((resolve2) => setTimeout(resolve2, pause));
  }
}
function once(load) {
  let loading;
  return () => loading ??= loadPart(load).catch((error) => {
    loading = void 0;
    throw error;
  });
}

// src/web/js/json-rpc.js
var KIT = { toText, inspect, problem };
function isJsonRpc(message) {
  if (typeof message === "string") return message.includes('"jsonrpc"');
  try {
    return get(Array.isArray(message) ? message[0] : message, "jsonrpc") === "2.0" || get(message, "direction") === "client-to-server";
  } catch {
    return false;
  }
}
var JsonRpc = class {
  #connection;
  #first;
  /** @type {import('./json-rpc/peer.js').Peer | undefined} */
  #peer;
  /** @type {Promise<import('./json-rpc/peer.js').Peer> | undefined} */
  #loading;
  /** @param {Connection} connection @param {any} first the agent's first message */
  constructor(connection, first) {
    this.#connection = connection;
    this.#first = first;
  }
  /** @param {any} message the agent's. Messages that wait for the code are received one after the other in one job */
  receive(message) {
    if (this.#connection.local && typeof message === "object") {
      try {
        message = copied(message);
      } catch (error) {
        return report(() => (
          /** @type {any} */
          this.#connection.messenger.post({ jsonrpc: "2.0", id: null, error: { code: -32600, message: `The message cannot be read: ${text(error)}` } })
        ));
      }
    }
    this.#loading ??= loadPart(() => import("./peer.js")).then(({ Peer }) => this.#peer = new Peer(this.#connection, this.#first, KIT));
    this.#loading.then(
      // The transport may throw.
      (peer) => report(() => peer.receive(message)),
      ({ message: why }) => {
        this.#loading = void 0;
        report(() => refuseAll(this.#connection.messenger, message, why));
      }
    );
    return void 0;
  }
  /** @param {any} envelope the host's */
  post(envelope) {
    (this.#peer ?? this.#connection.messenger).post(envelope);
  }
};
function refuseAll(messenger, given2, message) {
  const wrapped = get(given2, "direction") && given2;
  const inner = wrapped ? wrapped.payload : given2;
  const said = typeof inner === "string" ? fromText(inner) : inner;
  const refuse2 = (it) => isId(get(it, "id")) && get(it, "method") !== void 0 ? [{ jsonrpc: "2.0", id: it.id, error: { code: -32603, message } }] : [];
  const answers = Array.isArray(said) ? said.flatMap(refuse2) : refuse2(said);
  if (answers.length === 0) return;
  const answer2 = Array.isArray(said) ? answers : answers[0];
  if (wrapped) messenger.post({ channel: wrapped.channel, type: "mcp", direction: "server-to-client", payload: answer2 });
  else messenger.post(typeof given2 === "string" ? toText(answer2) : answer2);
}

// src/web/js/borrowed.js
var MEMBER = "caphost/callbacks";
var holdsFunctions = (params) => MEMBER in params;
function borrow(params, { depth: depth2, size }) {
  const { port, paths } = Object(params[MEMBER]);
  delete params[MEMBER];
  if (!Array.isArray(paths) || !paths.every((path) => Array.isArray(path) && path.length > 0)) throw new Refusal(invalid(`Bad params["${MEMBER}"]: it is {port, paths}`));
  if (!(port instanceof MessagePort)) throw new Refusal(invalid(`Bad params.${paths[0]?.join(".")}: it is a function, and the transport of this agent carries only JSON`));
  const waiting = /* @__PURE__ */ new Map();
  let asked2 = 0;
  let over = false;
  const rejectAll = (why) => {
    for (const { reject } of waiting.values()) reject(abpError("CANCELLED", why));
    waiting.clear();
  };
  const lent = (place) => (...args) => {
    const answered = new Promise((resolve2, reject) => {
      if (over) throw abpError("CANCELLED", ENDED);
      asked2 += 1;
      carry([asked2, place, args], (message, moved2) => port.postMessage(message, moved2), args);
      waiting.set(asked2, { resolve: resolve2, reject });
    });
    answered.catch(() => {
    });
    return answered;
  };
  paths.forEach((path, place) => put(params, path, lent(place)));
  port.onmessage = ({ data }) => {
    if (!Array.isArray(data)) return;
    const [number, returned, value] = data;
    const it = waiting.get(number);
    waiting.delete(number);
    const unfit = inspect(value, depth2, size);
    if (unfit) it?.reject(abpError("INVALID_PARAMS", `The answer of a function of the agent ${unfit}`));
    else if (returned) it?.resolve(value);
    else if (number) it?.reject(Object.assign(new Error(), value, { message: text(value) }));
    else rejectAll(UNREADABLE);
  };
  port.onmessageerror = () => rejectAll(UNREADABLE);
  return {
    end() {
      if (over) return;
      over = true;
      port.postMessage(0);
      port.close();
      rejectAll(ENDED);
    }
  };
}
var ENDED = "The call has ended, and its functions with it";
var UNREADABLE = "A value that a function of the agent got or returned could not be read";
function put(target, [name = "", ...rest], value) {
  if (!Object.hasOwn(Object(target), name)) throw new Refusal(invalid(`Bad params["${MEMBER}"]: a path leads nowhere`));
  if (rest.length > 0) put(target[name], rest, value);
  else target[name] = value;
}

// src/web/js/from-agent.js
var TEXT = "it is a string";
var FLAG = "it is a boolean";
function readEnvelope(envelope) {
  if (!isObject(envelope)) throw new Refusal(invalid("A message is an object {type, id, timestamp, payload}"));
  const { type, id, payload } = bare(envelope, ENVELOPE);
  if (typeof type !== "string") throw bad("type", "a message has a type, which is a string");
  ensureId(id);
  if (type !== "shutdown" && TYPES2.has(type) && !isObject(payload)) throw bad("payload", "the payload is an object");
  return { type, id, payload };
}
function ensureId(id) {
  if (id !== void 0 && !isId(id)) throw bad("id", "an id is a string or a number");
}
var TYPES2 = /* @__PURE__ */ new Set(["initialize", "shutdown", "capabilities/call", "capabilities/cancel", "capabilities/list", "elicitation/response"]);
var unknownType = (type) => new Refusal(problem("NOT_IMPLEMENTED", `There is no message type "${clipped(type)}"`));
function readInitialize(payload) {
  const { agent, protocolVersion, features = {}, requestedCapabilities, agentCapabilities = NONE } = bare(payload, INITIALIZE);
  if (!isObject(agent)) throw bad("agent", "the agent is {name, version}");
  const { name, version } = bare(agent, AGENT);
  if (typeof name !== "string") throw bad("agent.name", TEXT);
  if (typeof version !== "string") throw bad("agent.version", TEXT);
  if (typeof protocolVersion !== "string") throw bad("protocolVersion", TEXT);
  if (!isObject(features)) throw bad("features", "it is an object of booleans");
  const { notifications = true, progress = true, elicitation = false } = bare(features, FEATURES);
  for (const [feature, on] of Object.entries({ notifications, progress, elicitation })) {
    if (typeof on !== "boolean") throw bad(`features.${feature}`, FLAG);
  }
  const capabilities = namesOf("requestedCapabilities", requestedCapabilities);
  if (!isObject(agentCapabilities)) throw bad("agentCapabilities", "it is {allowedRequests}");
  const requests = namesOf("agentCapabilities.allowedRequests", bare(agentCapabilities, CAPABILITIES).allowedRequests);
  if (protocolVersion !== "0.1") {
    throw new Refusal(problem("NOT_SUPPORTED", `Protocol version "${clipped(protocolVersion)}" is not supported; this host speaks "0.1"`));
  }
  return { name: name.slice(0, MAX_NAME), version: version.slice(0, MAX_NAME), notifications, progress, elicitation, capabilities, requests };
}
var MAX_NAMES = 4096;
function namesOf(path, list) {
  if (list === void 0) return void 0;
  const names = Array.isArray(list) && list.length <= MAX_NAMES ? [...list] : [0];
  if (!names.every((it) => typeof it === "string")) throw bad(path, `it is an array of names, ${MAX_NAMES} at most`);
  return names.map((it) => it.slice(0, MAX_NAME + 1));
}
function readCall(payload) {
  const { capability, options = NONE, params = {}, callId: beside } = bare(payload, CALL3);
  if (typeof capability !== "string") throw bad("capability", "it is the name of one");
  if (!isObject(options)) throw bad("options", "it is an object");
  const { timeout = Infinity, progressToken: token, callId = beside } = bare(options, OPTIONS);
  return callOf(capability, params, callId, timeout, token);
}
function callOf(capability, params, callId, timeout, token) {
  if (typeof capability !== "string") throw bad("capability", "it is the name of one");
  if (!isAmount(timeout)) throw bad("options.timeout", MILLISECONDS);
  if (token !== void 0 && !isId(token)) throw bad("options.progressToken", TEXT);
  if (!isObject(params)) throw bad("params", "parameters are an object");
  if (capability.length > MAX_NAME) throw new Refusal(problem("UNKNOWN_CAPABILITY", `There is no capability "${clipped(capability)}…"`));
  return { callId: callId === void 0 ? callId : callIdOf(callId), capability, params, timeout, token, by: 0 };
}
var ENVELOPE = ["type", "id", "payload"];
var AGENT = ["name", "version"];
var FEATURES = ["notifications", "progress", "elicitation"];
var CAPABILITIES = ["allowedRequests"];
var INITIALIZE = ["agent", "protocolVersion", "features", "requestedCapabilities", "agentCapabilities"];
var CALL3 = ["capability", "options", "params", "callId"];
var OPTIONS = ["timeout", "progressToken", "callId"];
var CANCEL = ["callId", "reason"];
var NONE = Object.freeze({});
function readCancel(payload) {
  const { callId, reason } = bare(payload, CANCEL);
  return { callId: callIdOf(callId), reason: reasonOf(reason) };
}
function questionOf(id) {
  const number = Number(/^elicitation-(\d{1,10})$/.exec(String(id))?.[1]);
  return number < 2 ** 32 ? number : 0;
}
function callIdOf(callId) {
  if (typeof callId !== "string" || callId.length > MAX_NAME) throw new Refusal(BAD_CALL_ID);
  return callId;
}
var bad = (path, rule) => new Refusal({ ...invalid(`Bad ${path}: ${rule}`), details: { path } });
var clipped = (text2) => text2.slice(0, 64);

// src/web/js/taken.js
function check({ depth: depth2, size }, message, around = 2) {
  const bytes = measure(message, depth2 + around, size);
  if (typeof bytes === "string") throw new Refusal(invalid(`The message ${bytes}`));
  return bytes;
}
function copyOf2(shell, given2) {
  try {
    return (
      /** @type {T} */
      copied(given2)
    );
  } catch (error) {
    check(shell, { payload: { given: given2 } });
    throw new Refusal(invalid(`The call cannot be made: ${text(error)}`));
  }
}
var LARGE3 = 1 << 16;
function dataOf({ depth: depth2, size }, given2, wants, around = 0) {
  const measured = (it) => measure(it, depth2 + around, size);
  let data;
  let found;
  try {
    const taken = small(given2);
    if (taken && isWithin(taken.bytes, depth2 + around, size)) return { data: taken.copy, unfit: void 0 };
    data = taken?.copy;
  } catch {
  }
  try {
    found = measured(data ?? given2);
    if (data === void 0 && typeof given2 === "object" && given2 !== null) {
      if (found === "cannot be read") data = copyIfAny(given2);
      else if (typeof found === "number") data = copyForSending(given2, found > LARGE3, wants);
      if (data) found = measured(data);
    }
  } catch {
    found = "cannot be read";
  }
  return { data: data ?? given2, unfit: typeof found === "string" ? found : void 0 };
}
function copyForSending(given2, isLarge, wants) {
  try {
    if (!isLarge) return carry(given2, (it, transfer) => structuredClone(it, { transfer }), given2, wants);
  } catch {
  }
  return copyOf(given2, transferables(given2, wants));
}
function tellIfFit(shell, what, given2, tell, around) {
  const { data, unfit } = dataOf(shell, given2, void 0, around);
  if (unfit) log("warn", `${what} is dropped: it ${unfit}`);
  else tell(data);
}
function notify(shell, name, data) {
  const event = String(name);
  tellIfFit(shell, `the notification ${event.slice(0, 64)}`, { event, data }, (it) => shell.rust.notify(shell.number, it.event, it.data), 1);
}

// src/web/js/states.js
var STATES = ["completed", "failed", "cancelled"];

// src/web/js/to-agent.js
var stateName = (state) => STATES[state];
var hasCompleted = (state) => stateName(state) === "completed";
var callEnded = (callId, success, after) => ({ callId, ...lateEnd(success, after) });
function response(state, value, duration) {
  const name = stateName(state);
  if (name === "cancelled") return cancelled(value);
  const ended = name === "failed" ? { success: false, error: value } : { success: true, data: value };
  if (duration >= 0) ended.metadata = { duration: rounded(duration) };
  return ended;
}
var summaries = (documents) => documents.map((document2) => {
  const summary = {};
  for (const field of ["name", "available", "experimental", "deprecated"]) {
    const value = get(document2, field);
    if (value !== void 0) summary[field] = value;
  }
  return summary;
});
var progressOf = (progress, total, stage, status, estimatedRemaining) => ({
  progress,
  total,
  ...stage !== void 0 && { stage },
  ...status !== void 0 && { status },
  ...estimatedRemaining !== void 0 && { estimatedRemaining }
});
function progressInfo(operationId, info) {
  const { percentage, progress, total } = info;
  const share = () => Math.round(progress / total * 1e8) / 1e6;
  const known4 = [progress, total].every((it) => typeof it === "number") && total > 0;
  return {
    ...info,
    operationId,
    ...typeof percentage !== "number" && known4 && { percentage: Math.min(100, Math.max(0, share())) }
  };
}
function refusal2(type, callId, error) {
  if (typeof callId === "string") callId = callId.slice(0, 128);
  else if (typeof callId !== "number") callId = null;
  if (type === "capabilities/cancel") return [`${type}-result`, cancelResponse(callId, error.message, error)];
  if (type === "initialize" || type === "capabilities/list") return [`${type}-result`, { error }];
  return [type === "capabilities/call" ? `${type}-result` : "error", { success: false, error }];
}

// src/web/js/receive.js
var NO_SESSION = problem("NOT_INITIALIZED", "There is no session: call initialize first");
function receive(connection, envelope, aborted) {
  try {
    receiveMessage(connection, envelope, readEnvelope(envelope), aborted);
  } catch (error) {
    refuse(connection, envelope, reasonFor(error));
  }
}
function receiveCall(connection, message) {
  try {
    const id = message[1];
    ensureId(id);
    const call = callOf(message[2], message[3], message[4], message[5] === void 0 ? Infinity : message[5], tokenOf(message));
    const bytes = typeof id === "number" ? check(connection.shell, call.params, 0) : check(connection.shell, message, 1);
    enter(connection, id, call, bytes);
  } catch (error) {
    refuse(connection, longCall(message), reasonFor(error));
  }
}
var reasonFor = (error) => error instanceof Refusal ? error.error : invalid(`The message cannot be read: ${text(error)}`);
function enter(connection, id, call, bytes, aborted) {
  const { shell, number } = connection;
  const { rust } = shell;
  call.by = number;
  const given2 = call.callId ?? "";
  const place = shell.ids.name(call);
  if (holdsFunctions(call.params)) call.borrowed = borrow(call.params, shell);
  connection.expect(id, call);
  const unfit = rust.call(shell.number, number, id, given2, place, call.capability, call, call.timeout, call.token, bytes, connection.alone, aborted !== void 0, aborted?.reason);
  if (unfit) throw new Refusal(BAD_CALL_ID);
}
function receiveMessage(connection, envelope, { type, id, payload }, aborted) {
  const { shell, number } = connection;
  const { rust } = shell;
  switch (type) {
    case "capabilities/call": {
      const call = readCall(payload);
      if (connection.local) call.params = copyOf2(shell, call.params);
      enter(connection, id, call, check2(connection, envelope, call), aborted);
      break;
    }
    case "capabilities/cancel": {
      const cancel = readCancel(payload);
      const { callId, reason } = cancel;
      check2(connection, envelope, cancel);
      connection.expect(id, { type, callId });
      if (rust.cancel(shell.number, number, id, callId, reason)) throw new Refusal(BAD_CALL_ID);
      break;
    }
    case "initialize": {
      const params = readInitialize(payload);
      check2(connection, envelope, params);
      connection.expect(id, { type });
      rust.initialize(shell.number, number, id, params);
      break;
    }
    case "shutdown": {
      const reason = reasonOf(get(payload, "reason"));
      check2(connection, envelope, reason);
      connection.expect(id, { type });
      rust.shutdown(shell.number, number, id, reason);
      break;
    }
    case ANSWER:
      rust.heard(shell.number, number);
      break;
    case "capabilities/list": {
      rust.heard(shell.number, number);
      if (!rust.sessionId(shell.number, number)) throw new Refusal(NO_SESSION);
      shell.post(number, "capabilities/list-result", id, { capabilities: shell.capabilities.documents(number) });
      break;
    }
    case "elicitation/response": {
      const said = connection.local ? copyOf2(shell, payload) : payload;
      check2(connection, envelope, said);
      answer(connection, questionOf(id), said);
      break;
    }
    default:
      throw unknownType(type);
  }
}
function answer({ shell, number }, question, payload) {
  if (get(payload, "success") === true) return shell.rust.answered(shell.number, number, question, get(payload, "data"));
  const cancelled2 = get(payload, "cancelled") === true && { code: "CANCELLED" };
  const error = cancelled2 || (get(payload, "error") ?? { message: "The agent did not answer the question" });
  return shell.rust.unanswered(shell.number, number, question, failureOf(error));
}
var check2 = ({ shell, local }, envelope, payload) => check(shell, local ? { payload } : envelope);
function refuse(connection, envelope, error) {
  const { shell, number } = connection;
  shell.rust.heard(shell.number, number);
  const type = get(envelope, "type");
  if (type === "error") return;
  const needsSession = type === "capabilities/call" || type === "capabilities/cancel";
  const first = needsSession && !shell.rust.sessionId(shell.number, number) ? NO_SESSION : error;
  const [id, callId] = [get(envelope, "id"), get(get(envelope, "payload"), "callId")];
  const [kind, payload] = refusal2(type, callId, first);
  shell.post(number, kind, isId(id) ? id : null, payload);
}

// src/web/js/connection.js
var LOST2 = "The host has failed and cannot go on";
var CLOSED = problem("NOT_INITIALIZED", "The host is closed");
var LEFT = "The page was left";
var UNREADABLE2 = "A message of the agent could not be read";
var REQUESTS = ["initialize", "shutdown", "capabilities/call", "capabilities/cancel"];
var Connection = class {
  /** @type {Map<unknown, Request>} */
  #pending = /* @__PURE__ */ new Map();
  #open;
  /** @type {unknown} */
  #opener;
  /** Whether each message comes in a job of its own, in which no code of the app runs. */
  alone;
  /** Called when the session was shut down. @type {(() => void) | undefined} */
  onover;
  /** Called when the agent is gone without a word. @type {(() => void) | undefined} */
  onlost;
  /** The agent's announcement of how it gives signs of life. @type {any} */
  life;
  /** Stops waiting for the end of the agent's lock. @type {(() => void) | undefined} */
  unwatch;
  /** Undefined until the first message, and null for an agent that speaks ABP. @type {JsonRpc | null | undefined} */
  #dialect;
  /**
   * @param {import('./shell.js').Shell} shell
   * @param {import('./messenger.js').Messenger} messenger
   */
  constructor(shell, messenger) {
    this.shell = shell;
    this.messenger = messenger;
    this.local = messenger.local === true;
    this.alone = messenger.alone === true;
    if (messenger.abp) this.#dialect = null;
    const [origin = 0, window = 0] = messenger.from ?? [];
    this.number = shell.rust.connect(shell.number, origin, window) ?? 0;
    this.#open = this.number > 0;
    if (this.#open) shell.connections.set(this.number, this);
  }
  /**
   * @param {any} message an agent's, in the dialect of its first
   * @param {import('./signal.js').Aborted} [aborted] of a call made in the page
   */
  receive(message, aborted) {
    if (this.#dialect === void 0) this.#choose(message);
    if (this.#dialect) this.#dialect.receive(message);
    else this.receiveEnvelope(message, aborted);
  }
  /** @param {any} message the first that shows the dialect */
  #choose(message) {
    if (isJsonRpc(message)) {
      this.#dialect = new JsonRpc(this, message);
      this.alone = false;
    } else if (getA("string", message, "type") !== void 0) this.#dialect = null;
  }
  /**
   * @param {any} envelope any ABP message of an agent
   * @param {import('./signal.js').Aborted} [aborted] of a call made in the page
   */
  receiveEnvelope(envelope, aborted) {
    if (this.shell.guard.trap) return this.#answerAtOnce(envelope, this.shell.guard.lost(LOST2));
    if (!this.#open) return this.#answerAtOnce(envelope, CLOSED);
    if (get(envelope, "type") === "initialize") {
      this.life = get(get(envelope, "payload"), "life");
      const id = get(envelope, "id");
      if (isUuid(id) && id === this.#opener) return void 0;
      this.#opener = id;
    }
    return receive(this, envelope, aborted);
  }
  /** @param {any[]} message a call of the agent in its short form */
  receiveCall(message) {
    if (this.shell.guard.trap || !this.#open) this.receiveEnvelope(longCall(message));
    else receiveCall(this, message);
  }
  /** Whether the agent accepts short messages. */
  get short() {
    return this.messenger.short === true && !this.#dialect;
  }
  /** @param {any} envelope the host's, in ABP */
  #post(envelope) {
    (this.#dialect ?? this.messenger).post(envelope);
  }
  /**
   * Passes a request on to Rust, which answers it unless the instance is lost.
   *
   * @param {string | number | undefined} id
   * @param {Request} request
   */
  expect(id, request) {
    if (id !== void 0) this.#pending.set(id, request);
  }
  /** A request is answered. @param {unknown} id */
  #settle(id) {
    this.#pending.get(id)?.borrowed?.end();
    this.#pending.delete(id);
  }
  /** No request will be answered. */
  #settleAll() {
    for (const id of [...this.#pending.keys()]) this.#settle(id);
  }
  /** @param {Envelope} envelope the host's message */
  deliver(envelope) {
    try {
      this.#post(envelope);
    } catch (error) {
      this.#sendInstead(envelope, text(error));
    }
    if (envelope.id !== void 0) this.#settle(envelope.id);
    if (envelope.type === "error" && isQuestion(envelope.id)) this.answer(envelope.id, envelope.payload);
  }
  /**
   * Does the same for the response of a call that has completed.
   *
   * @param {any} id
   * @param {unknown} data
   * @param {number} duration
   */
  deliverResult(id, data, duration) {
    try {
      this.messenger.postResult?.(id, data, duration);
    } catch (error) {
      this.#sendInstead(longResult([0, id, data, duration]), text(error));
    }
    this.#settle(id);
  }
  /**
   * The answer to a question.
   *
   * @param {unknown} id
   * @param {unknown} payload
   */
  answer(id, payload) {
    this.receiveEnvelope({ type: "elicitation/response", id, timestamp: Date.now(), payload });
  }
  /**
   * Tells the waiting party about an envelope that cannot be sent. An error is sent without its
   * details.
   *
   * @param {Envelope} envelope
   * @param {string} why
   */
  #sendInstead(envelope, why) {
    const { type, id, payload } = envelope;
    const { details, ...error } = Object(payload?.error);
    if (details !== void 0) return this.deliver({ ...envelope, payload: { ...payload, error } });
    const data = type === "capabilities/call-result";
    const failed = failure("OPERATION_FAILED", `${data ? "The capability returned data that" : `The ${type}`} cannot be sent: ${why}`);
    if (data) {
      const { capability, callId } = Object(this.#pending.get(id));
      log("error", `${capability} (call ${callId}) has failed:`, failed.error.message);
    }
    if (type === "elicitation/request") this.answer(id, failed);
    else if (id === void 0) log("warn", failed.error.message);
    else this.#trySend({ ...envelope, payload: data ? failed : { error: failed.error } });
  }
  /** The session was shut down. An agent that speaks JSON-RPC may open another session at once. */
  over() {
    if (!this.#dialect) this.onover?.();
  }
  /** The host ends the session: the calls in flight are cancelled and answered. @param {string} reason */
  giveUp(reason) {
    this.onover = void 0;
    this.receiveEnvelope({ type: "shutdown", payload: { reason } });
  }
  /** The host goes away. Not every transport can report that by itself. @param {string} [reason] the reason that handlers get */
  leave(reason = "The host has let go of the agent") {
    this.shell.rust.giveUp(this.shell.number, this.number);
    this.#trySend({ type: "notification", timestamp: Date.now(), payload: { event: HOST_CLOSED } });
    this.close(reason);
  }
  /** @param {Envelope} envelope */
  #trySend(envelope) {
    try {
      this.#post(envelope);
    } catch {
    }
  }
  /** Answers every request that a lost instance can no longer answer. */
  answerLost() {
    const pending = cancelsFirst(this.#pending, ([, { type }]) => type === "capabilities/cancel");
    this.#settleAll();
    for (const [id, { type = "capabilities/call", callId }] of pending) this.#refuse(type, id, callId, this.shell.guard.lost(LOST2));
  }
  /**
   * @param {any} envelope
   * @param {typeof CLOSED} error
   */
  #answerAtOnce(envelope, error) {
    const [type, id, payload] = ["type", "id", "payload"].map((name) => get(envelope, name));
    if (isId(id) && REQUESTS.includes(type)) this.#refuse(type, id, get(payload, "callId"), error);
  }
  /**
   * @param {string} type
   * @param {unknown} id
   * @param {unknown} callId
   * @param {typeof CLOSED} error
   */
  #refuse(type, id, callId, error) {
    const [kind, payload] = type === "shutdown" ? [`${type}-result`, { error }] : refusal2(type, callId, error);
    this.#trySend({ type: kind, id, timestamp: Date.now(), payload });
  }
  /** The transport is gone. @param {string} [reason] the reason that handlers get */
  close(reason = "The agent disconnected") {
    if (!this.#open) return;
    this.#open = false;
    this.unwatch?.();
    this.#settleAll();
    const { connections, rust, number } = this.shell;
    rust.disconnect(number, this.number, reason);
    const forget = () => void connections.delete(this.number);
    if (this.local) soon(forget);
    else forget();
  }
};
var isUuid = (id) => typeof id === "string" && /^[0-9a-f-]{36}$/i.test(id);
var isQuestion = (id) => typeof id === "string" && id.startsWith("elicitation-");

// src/web/js/accept.js
function accept(shell, messenger, hold2 = () => {
}) {
  let connection;
  let forget;
  const connect2 = () => {
    if (connection) return connection;
    connection = new Connection(shell, messenger);
    if (!connection.number) return connection;
    if (!messenger.lasting) connection.onover = messenger.single ? close : part;
    if (messenger.watched) {
      connection.onlost = lose2;
      forget = onWindow("pagehide", () => lose2(LEFT));
    }
    hold2(close, true);
    return connection;
  };
  const part = (reason) => {
    forget?.();
    hold2(close, messenger.kept === true);
    connection?.close(reason);
    connection = void 0;
    messenger.short = false;
  };
  const leave = (reason) => {
    connection?.leave(reason);
    part();
  };
  const end2 = (reason) => {
    leave(reason);
    hold2(close, false);
    messenger.onmessage = messenger.oncall = messenger.onclose = messenger.onunreadable = void 0;
  };
  const close = (reason) => {
    end2(reason);
    messenger.close();
  };
  const lose2 = (reason = "The agent disconnected") => messenger.single ? close(reason) : leave(reason);
  messenger.onmessage = (message, aborted) => connect2().receive(message, aborted);
  messenger.oncall = (call) => connect2().receiveCall(call);
  messenger.onclose = (reason) => {
    part(reason);
    end2();
  };
  messenger.onunreadable = () => {
    connection?.giveUp(UNREADABLE2);
    lose2();
  };
  if (messenger.kept) hold2(close, true);
  return {
    /** The connection of the current session, which is made if there is none. */
    connect: connect2,
    /** Ends the session, and closes the messenger. */
    close,
    /** Ends the session, and leaves the transport open. */
    release() {
      end2();
      messenger.release?.();
    }
  };
}
function messengerOfApp(transport) {
  const messenger = {
    local: true,
    objects: true,
    kept: true,
    onmessage: void 0,
    onclose: void 0,
    post: (envelope) => toAgent(envelope, (message, moved2) => transport.post(message, moved2)),
    close() {
      transport.onmessage = transport.onclose = void 0;
      transport.close();
    }
  };
  transport.onmessage = (message) => messenger.onmessage?.(message);
  transport.onclose = () => {
    transport.onmessage = transport.onclose = void 0;
    messenger.onclose?.();
  };
  return messenger;
}

// src/web/js/claim.js
function claim(target, what, replace, release) {
  const mark2 = markOf(what);
  const root = target.document?.documentElement;
  const before = target[mark2];
  if (before && !replace && before.root === root) {
    throw abpError("INVALID_PARAMS", `This ${target.window === target ? "window" : what} has a host already: close it first, or pass { replace: true }`);
  }
  report(before?.release);
  const mine = { root, release };
  Reflect.defineProperty(
    target,
    mark2,
    /** @type {any} */
    { __proto__: null, value: mine, configurable: true }
  );
  return () => {
    if (target[mark2] === mine) delete target[mark2];
  };
}
var isClaimed = (target, what, release) => target[markOf(what)]?.release === release;
var markOf = (what) => /* @__PURE__ */ Symbol.for(`caphost.${what}`);

// src/web/js/accept-port.js
function acceptPort(shell, port, hold2, { replace, initialize, from } = {}) {
  ensurePort(port, "acceptPort");
  const extension = isExtension(port);
  const release = () => accepted.release();
  const unclaim = claim(port, "port", replace, release);
  const post = (message, moved2) => moved2.length > 0 ? port.postMessage(message, moved2) : port.postMessage(message);
  const messenger = {
    from,
    alone: !extension,
    objects: !extension,
    kept: extension,
    single: initialize !== void 0,
    watched: true,
    short: false,
    onmessage: void 0,
    oncall: void 0,
    onclose: void 0,
    post(envelope) {
      if (extension) return port.postMessage(asJson(envelope));
      const before = messenger.short && foretold(envelope);
      if (before) port.postMessage(before);
      return toAgent(envelope, post);
    },
    postResult(id, data, duration) {
      const message = shortResult(id, data, duration);
      if (!isSimple(data)) port.postMessage(announcement("capabilities/call-result", id));
      else {
        try {
          return port.postMessage(message);
        } catch {
        }
      }
      return carry(message, post, data, isGiven);
    },
    release() {
      unclaim();
      stop();
    },
    close() {
      messenger.release?.();
      if (extension) port.disconnect?.();
      else if (port instanceof MessagePort) port.close();
    }
  };
  const readShort = (message) => {
    const isCall = isShortCall(message);
    if (isCall) messenger.oncall?.(message);
    return isCall;
  };
  const accepted = accept(shell, messenger, hold2);
  const { receive: receive2, stop } = read(port, messenger, readShort, UNREADABLE2);
  if (initialize) {
    receive2(initialize);
    if (messenger.onmessage && !shell.rust.sessionId(shell.number, accepted.connect().number)) accepted.close();
  }
  return release;
}
function idles(port, release) {
  const [known4, mine] = [new WeakRef(port), new WeakRef(release)];
  return () => {
    const left = known4.deref();
    if (left?.start && isClaimed(left, "port", mine.deref())) left.unref?.();
  };
}

// src/web/js/accept-messages.js
var LOOK_EVERY2 = 500;
var MAX_CHANNELS = 64;
var MAX_PORTS = 1024;
var MAX_TOLD = 32;
function acceptMessages(shell, { allowedOrigins: given2 = ownOrigin(), replace }, stopped) {
  const allowedOrigins = originsOf(given2);
  const stop = () => {
    for (const undo of undos.splice(0)) undo();
    onHide();
    clearInterval(looking);
    stopped();
  };
  const undos = [claim(globalThis, "window", replace, () => stop())];
  const told2 = /* @__PURE__ */ new Set();
  const peers = /* @__PURE__ */ new Map();
  let windows = 0;
  let looking;
  const onMessage = (event) => {
    const { source: source2, origin, data, ports } = event;
    const known4 = peers.get(source2);
    if (known4 && known4.origin !== origin) forget(source2);
    if (!source2 || !(isForUs(data) || isJsonRpc(data))) return;
    if (!allowedOrigins.includes(origin)) return tell(origin, `it is not in allowedOrigins: ${allowedOrigins}`);
    if (origin === "null" && !(data.type === "initialize" && ports[0])) return tell(origin, "it needs a MessagePort");
    const peer = known4?.origin === origin ? known4 : greet(source2, origin);
    if (data.type === "initialize" && ports[0]) {
      const isNew = !peer.ports.has(data.id) && peer.ports.size < MAX_PORTS;
      if (isNew && (data.id === void 0 || isId(data.id) && String(data.id).length <= MAX_NAME)) adopt(ports[0], data, peer);
      return;
    }
    if (peer.plain.size >= MAX_CHANNELS && !peer.plain.has(data.channel)) return;
    const messenger = peer.plain.get(data.channel) ?? messengerOf(source2, peer);
    peer.plain.set(data.channel, messenger);
    messenger.onmessage?.(data);
  };
  const tell = (origin, why) => {
    if (told2.has(origin) || told2.size >= MAX_TOLD) return;
    told2.add(origin);
    log("warn", `ignored a message from ${origin}: ${why}`);
  };
  const messengerOf = (source2, { origin, from, closers }) => {
    const post = (message, transfer) => source2.postMessage(message, { targetOrigin: origin, transfer });
    const messenger = { from, lasting: true, onmessage: void 0, onclose: void 0, post: (envelope) => toAgent(envelope, post), close() {
    } };
    accept(shell, messenger, (close, held) => void closers[held ? "add" : "delete"](close));
    return messenger;
  };
  const greet = (source2, origin) => {
    const from = [allowedOrigins.indexOf(origin) + 1, windows += 1];
    const peer = { origin, from, plain: /* @__PURE__ */ new Map(), ports: /* @__PURE__ */ new Map(), closers: /* @__PURE__ */ new Set() };
    peers.set(source2, peer);
    looking ??= setInterval(look, LOOK_EVERY2);
    return peer;
  };
  const adopt = (port, initialize, peer) => {
    const { id } = initialize;
    const hold2 = (close, held) => void (held ? peer.ports.set(id, close) : peer.ports.delete(id));
    acceptPort(shell, port, hold2, { initialize, from: peer.from });
  };
  const forget = (source2, reason) => {
    const peer = peers.get(source2);
    peers.delete(source2);
    for (const messenger of peer?.plain.values() ?? []) messenger.onclose?.(reason);
    for (const close of peer?.ports.values() ?? []) close(reason);
  };
  const look = () => {
    for (const source2 of peers.keys()) if (source2.closed) forget(source2);
    if (peers.size === 0) {
      clearInterval(looking);
      looking = void 0;
    }
  };
  const onLost = ({ source: source2, origin }) => {
    const peer = peers.get(source2);
    if (peer?.origin !== origin) return;
    for (const messenger of peer.plain.values()) messenger.onunreadable?.();
    peer.plain.clear();
  };
  const onHide = () => {
    for (const { closers } of peers.values()) for (const close of closers) close(LEFT);
    for (const source2 of peers.keys()) forget(source2, LEFT);
  };
  const announce = (target, origin, channel2) => {
    if (origin === void 0 || origin === "null" || !allowedOrigins.includes(origin)) return;
    target.postMessage({ channel: channel2, type: "mcp", direction: "server-to-client", payload: "mcp-server-ready" }, origin);
  };
  undos.push(onWindow("message", onMessage), onWindow("messageerror", onLost), onWindow("pagehide", onHide));
  announce(globalThis, location.origin, "mcp-default");
  announce(parent, location.ancestorOrigins?.[0], "mcp-iframe");
  return stop;
}
function originsOf(given2) {
  const refuse2 = (it) => {
    throw abpError("INVALID_PARAMS", `allowedOrigins must be an array such as ['https://app.example']: ${it} is no origin`);
  };
  return Array.isArray(given2) ? given2.map((it) => it === "null" ? it : typeof it === "string" && originOf(it) || refuse2(it)) : refuse2(given2);
}
var ownOrigin = () => [globalThis.location.origin].filter((origin) => origin !== "null");
function isForUs(data) {
  if (typeof data !== "object" || data === null || typeof data.type !== "string") return false;
  return TYPES2.has(data.type) || data.id !== void 0 && "timestamp" in data && "payload" in data && !isFromApp(data.type);
}
function isFromApp(type) {
  return type.endsWith("-result") || ["notification", "progress", "elicitation/request", "error"].includes(type);
}

// src/web/js/requests.js
var Requests = class {
  /** @type {Map<unknown, (payload: any) => void>} */
  #waiting = /* @__PURE__ */ new Map();
  #next = 0;
  /**
   * @param {import('./shell.js').Shell} shell
   * @param {(envelope: import('./messenger.js').Envelope) => void} unasked gets the messages that are not answers
   */
  constructor(shell, unasked) {
    this.connection = accept(shell, {
      abp: true,
      lasting: true,
      local: true,
      short: true,
      onmessage: void 0,
      onclose: void 0,
      post: (envelope) => this.#settle(envelope.id, envelope.payload) || unasked(envelope),
      postResult: (id, data, duration) => void this.#settle(id, completed(data, duration)),
      close() {
      }
    }).connect();
  }
  /** @param {unknown} id @param {unknown} payload @returns {boolean} whether the answer was waited for */
  #settle(id, payload) {
    const resolve2 = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve2?.(payload);
    return resolve2 !== void 0;
  }
  /**
   * @param {string} type
   * @param {unknown} payload
   * @param {() => void} [answered] called when the answer has arrived
   * @param {import('./signal.js').Aborted} [aborted] of a call
   * @returns {Promise<any>} the payload of the answer
   */
  request(type, payload, answered, aborted) {
    return new Promise((resolve2) => {
      const id = this.#next += 1;
      const settle = (answer2) => {
        answered?.();
        resolve2(answer2);
      };
      this.#waiting.set(id, answered ? settle : resolve2);
      this.connection.receive({ type, id, payload }, aborted);
    });
  }
};

// src/web/js/running.js
var mark;
function callsWithThread(shell, by) {
  const ids = [];
  const own = mark?.shell === shell && !mark.ended && mark.given.by === by;
  let it = own ? mark?.given : void 0;
  for (; it; it = it.within) ids.push(it.callId);
  return ids;
}
var heldFor = () => mark ? performance.now() - (mark.seen ??= performance.now()) : 0;
function endMarked(callId = mark?.given.callId) {
  if (!mark) return false;
  const inside = guardDepth() > mark.depth;
  awaitEnd(inside ? mark.depth : -1);
  for (let it = inside ? void 0 : mark; it; it = it.outer) it.ended = callId;
  return !inside;
}
var hasThread = () => mark !== void 0;
function settleTerminated() {
  if (!mark) return;
  unwound();
  for (let ended = (
    /** @type {typeof mark | undefined} */
    mark
  ); ended; ended = ended.outer) {
    mark = void 0;
    ended.shell.terminated(ended.key, ended.ended);
  }
}
var Running = class {
  /** The contexts, by the keys of their calls. @type {Map<number, Context>} */
  #contexts = /* @__PURE__ */ new Map();
  #shell;
  /** @param {Shell} shell */
  constructor(shell) {
    this.#shell = shell;
  }
  get size() {
    return this.#contexts.size;
  }
  /**
   * @param {number} key
   * @param {(params: any, context: Context) => unknown} handler
   * @param {Given} given
   */
  start(key, handler, given2) {
    const context = new Context(this.#shell, key, given2);
    this.#contexts.set(key, context);
    const outer = mark;
    this.enter(key, given2);
    let result;
    let thenable = false;
    let thrown2;
    try {
      result = handler(given2.params, context);
      thenable = isThenable(result);
      if (thenable) Promise.resolve(result).then((data) => this.#settle(key, context, data), (error) => this.#fail(key, context, error));
    } catch (error) {
      thrown2 = { error };
    }
    mark = outer;
    if (thrown2) this.#fail(key, context, thrown2.error);
    else if (!thenable) this.#settle(key, context, result);
  }
  /**
   * From now on, the handler of a call has the thread.
   *
   * @param {number} key
   * @param {Given} given
   */
  enter(key, given2) {
    mark = { shell: this.#shell, key, given: given2, outer: mark, depth: guardDepth() };
  }
  /** The last handler no longer has the thread. */
  leave() {
    mark = mark?.outer;
  }
  /** The parameters of a call whose JavaScript handler runs. @param {number} key */
  given(key) {
    const context = this.#contexts.get(key);
    return context && Context.givenTo(context);
  }
  /**
   * @param {number} key
   * @param {Context} context
   * @param {unknown} error
   */
  #fail(key, context, error) {
    const { rust, number } = this.#shell;
    if (context.stopped) return rust.rejected(number, key);
    if (getA("string", error, "code") === void 0 && !context.ender) this.#log(context, error);
    return this.#shell.fail(key, false, error);
  }
  /**
   * @param {number} key
   * @param {Context} context
   * @param {unknown} returned
   */
  #settle(key, context, returned) {
    const { rust, number } = this.#shell;
    const { data, unfit } = dataOf(this.#shell, returned, isGiven);
    if (!unfit) return rust.settle(number, key, data, context.told);
    const why = `The capability returned data that cannot be sent: it ${unfit}`;
    if (!context.stopped) this.#log(context, why);
    return rust.unfit(number, key, why, context.told);
  }
  /** @param {Context} context @param {unknown} error why its call has failed */
  #log(context, error) {
    const { capability = "a handler", callId } = Context.givenTo(context);
    log("error", `${capability} (call ${callId}) has failed:`, error);
  }
  /**
   * Tells a handler to stop.
   *
   * @param {number} key
   * @param {string} [reason]
   */
  stop(key, reason) {
    const context = this.#contexts.get(key);
    if (!context?.ender) this.#contexts.delete(key);
    context?.stop(reason);
  }
  /** Ends the worker that runs a handler. @param {number} key */
  terminate(key) {
    this.#contexts.get(key)?.ender?.terminate();
  }
  /** @param {number} key of a call that is over */
  forget(key) {
    this.#contexts.delete(key);
  }
  /** @param {string} reason the reason that all handlers get */
  stopAll(reason) {
    for (const context of this.#contexts.values()) {
      context.stop(reason);
      context.ender?.terminate();
    }
    this.#contexts.clear();
  }
};
var Context = class {
  /** @type {AbortController | undefined} */
  #controller;
  /** @type {{ reason?: string } | undefined} */
  #stopped;
  #shell;
  /** Ends the handler, if it runs in a worker. @type {Ender | undefined} */
  ender;
  #given;
  /** Not a member, as it must be hidden from the handler. @param {Context} context */
  static givenTo(context) {
    return context.#given;
  }
  /**
   * @param {Shell} shell
   * @param {number} key
   * @param {Given} given
   */
  constructor(shell, key, given2) {
    this.#shell = shell;
    this.key = key;
    this.#given = given2;
    this.callId = given2.callId;
  }
  /** Whether the handler has read its signal, and so knows of a cancel. */
  get told() {
    return this.#controller !== void 0;
  }
  /** Whether the call was cancelled. */
  get stopped() {
    return this.#stopped !== void 0;
  }
  /** Fires when the call is cancelled. Made on first use, as most handlers never need it. */
  get signal() {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#stopped) abortWith(this.#controller, this.#stopped.reason);
    }
    return this.#controller.signal;
  }
  // Functions rather than methods, so that a handler can take them out of the context. Made on first
  // use, as most handlers never need them.
  /** The function that takes a ProgressInfo without its operationId. */
  get progress() {
    return (info) => {
      if (typeof info !== "object" || info === null) throw new TypeError("Progress is an object");
      const { rust, number } = this.#shell;
      tellIfFit(this.#shell, `progress of the call ${this.callId}`, info, (copy) => rust.progress(number, this.key, copy));
    };
  }
  /** Calls another capability as a child of this call. Returns the promise of an ABPResponse. */
  get call() {
    return (capability, params = {}, options) => {
      const payload = { capability, params, options: Object(options) };
      return this.#shell.asks.call(this.key, payload, get(options, "signal"));
    };
  }
  /** Gives objects away: they are moved with the data instead of copied. */
  get transfer() {
    return give;
  }
  /** Asks the agent a question. Returns the promise of an ABPResponse. */
  get elicit() {
    return (request) => this.#shell.asks.agent(request, this.#shell.rust.elicit, this.key);
  }
  /**
   * The call was cancelled.
   *
   * @param {string} [reason]
   */
  stop(reason) {
    this.#stopped = { reason };
    this.#given.borrowed?.end();
    if (this.#controller) abortWith(this.#controller, reason);
    this.ender?.stop(reason);
  }
};
var isThenable = (value) => typeof value?.then === "function";

// src/web/js/in-page.js
function exposeAbp(shell, target, replace) {
  const unclaim = claim(target, "object", replace, () => link?.remove());
  const requests = new Requests(shell, (envelope) => void callBack(target, envelope, connection));
  const { connection } = requests;
  const request = (...args) => requests.request(...args);
  const abp = {
    // For automation: whether the code of a call has the thread, or had it when its job was ended, and
    // which call.
    [/* @__PURE__ */ Symbol.for("caphost.thread")]: {
      get calls() {
        return callsWithThread(shell, connection.number);
      },
      get held() {
        return hasThread();
      },
      get heldFor() {
        return heldFor();
      },
      end: endMarked,
      /** In a task of its own, nothing else is on the stack, and its microtasks are not lost with another job. */
      settled: () => new Promise((resolve2) => setTimeout(() => {
        settleTerminated();
        resolve2(void 0);
      }))
    },
    protocolVersion: "0.1",
    app: shell.app,
    get sessionId() {
      return shell.rust.sessionId(shell.number, connection.number) ?? null;
    },
    get initialized() {
      return this.sessionId !== null;
    },
    async initialize(params) {
      const result = await request("initialize", params);
      const error = get(result, "error");
      if (error) throw thrown(error);
      return result;
    },
    async shutdown(params) {
      await request("shutdown", params);
    },
    /** @param {string} capability @param {object} [params] @param {any} [options] */
    call(capability, params, options) {
      const called = isObject(options) && Object.keys(options).find((name) => typeof get(options, name) === "function");
      if (called) return Promise.resolve(failure("INVALID_PARAMS", `Bad options.${called}: window.abp takes no functions; progress goes to window.__abp_progress`));
      const signal = get(options, "signal");
      if (signal == null) return request("capabilities/call", { capability, params, options });
      let rest;
      try {
        rest = { ...options, signal: void 0 };
      } catch (error) {
        return Promise.resolve(failure("INVALID_PARAMS", `The options cannot be read: ${text(error)}`));
      }
      rest.callId ??= shell.ids.next();
      let open2 = true;
      return underSignal(
        signal,
        (reason) => void (open2 && abp.cancel(rest.callId, reason)),
        (aborted) => request("capabilities/call", { capability, params, options: rest }, () => open2 = false, aborted)
      );
    },
    /** @param {string | { callId: string, reason?: string }} call @param {string} [reason] */
    cancel(call, reason) {
      const given2 = typeof call === "object" ? call : { callId: call, reason };
      return request("capabilities/cancel", { callId: get(given2, "callId"), reason: reasonText(get(given2, "reason")) });
    },
    async listCapabilities() {
      return shell.capabilities.documents(connection.number);
    },
    async describeCapability(name) {
      return shell.capabilities.find(name, connection.number) ?? null;
    },
    async supports(name) {
      const found = shell.capabilities.find(name, connection.number);
      if (!found) return { supported: false, available: false, reason: `There is no capability "${String(name).slice(0, 64)}"` };
      const { available, requirements, features, alternatives } = found;
      return { supported: true, available, requirements, features, ...alternatives && { alternatives } };
    },
    notify(event, data) {
      notify(shell, event, data);
    },
    notifyProgress(info) {
      tellIfFit(shell, "progress", info, (copy) => {
        const operation = get(copy, "operationId");
        if (operation !== void 0) shell.rust.notifyProgress(shell.number, operation, copy);
      });
    },
    elicit(request2) {
      return shell.asks.agent(request2, shell.rust.ask, connection.number);
    }
  };
  Object.freeze(abp);
  Object.defineProperty(
    target,
    "abp",
    /** @type {any} */
    { __proto__: null, value: abp, configurable: true, enumerable: true, writable: false }
  );
  const link = linkManifest(shell, target.document);
  const onHide = () => {
    connection.giveUp(LEFT);
    shell.rust.giveUp(shell.number, connection.number);
  };
  const forget = onWindow("pagehide", onHide);
  return () => {
    forget();
    unclaim();
    if (target.abp === abp) delete target.abp;
    link?.remove();
    connection.close();
  };
}
async function callBack(target, { type, id, payload }, connection) {
  await void 0;
  try {
    if (type === "progress") await target.__abp_progress?.(payload);
    else if (type === "notification") {
      const changed = payload.event === CAPABILITIES_CHANGED && target.__abp_capabilities_changed;
      if (changed) await changed(payload.data);
      else await target.__abp_notification?.(payload);
    } else if (type === "elicitation/request") {
      const ask = target.__abp_elicitation;
      const answer2 = ask ? await ask({ ...payload, id }) : failure("NOT_SUPPORTED", "No __abp_elicitation is exposed");
      connection.answer(id, typeof answer2?.success === "boolean" ? answer2 : { success: true, data: answer2 });
    }
  } catch (error) {
    if (type === "elicitation/request") connection.answer(id, failure("OPERATION_FAILED", text(error)));
  }
}
function linkManifest(shell, document2) {
  if (!document2?.head || document2.querySelector('link[rel="abp-manifest"]')) return void 0;
  const link = document2.createElement("link");
  link.rel = "abp-manifest";
  const update = () => {
    link.href = `data:application/json,${encodeURIComponent(toText(shell.capabilities.manifest()))}`;
  };
  update();
  document2.head.append(link);
  const stop = shell.capabilities.onChanged(update);
  return {
    remove() {
      stop();
      link.remove();
    }
  };
}

// src/web/js/standard-schema.js
var DIALECT = "draft-2020-12";
var loadChecks = once(() => import("./checks.js"));
var KIT2 = { abpError, invalid, log, text };
function standardOf(schema) {
  const standard = (typeof schema === "function" || isObject(schema)) && /** @type {any} */
  schema["~standard"];
  return standard && standard.version === 1 && typeof standard.validate === "function" ? standard : void 0;
}
function withJsonSchemas(name, options) {
  const input = standardOf(options?.inputSchema);
  const output = standardOf(options?.outputSchema);
  if (!input && !output) return { options };
  const plain = { ...options };
  if (input) plain.inputSchema = jsonSchemaOf(input, "input", `${name}: inputSchema`);
  if (output) plain.outputSchema = jsonSchemaOf(output, "output", `${name}: outputSchema`);
  return { options: plain, standard: input, output };
}
function answering(name, output, handler) {
  void loadChecks().catch(() => {
  });
  return (params, context) => {
    const parsed = async (data) => (await loadChecks()).parse(name, output, data, context, KIT2);
    return Promise.resolve(handler(params, context)).then(parsed);
  };
}
function jsonSchemaOf({ jsonSchema }, side, where) {
  let why = "its library gives no JSON Schema";
  try {
    const schema = jsonSchema?.[side]({ target: DIALECT });
    if (schema) return JSON.parse(textOf(schema, (_, inner) => inner));
  } catch (error) {
    why = text(error);
  }
  log("warn", `${where}: agents are not told what it says, because ${why}`);
  return side === "input" ? { type: "object" } : {};
}

// src/web/js/host.js
var OF_WORKERS = ["settleGrace", "pool", "warm", "type", "script", "finish"];
var Host = class {
  /** @type {Set<() => void>} */
  #closers = /* @__PURE__ */ new Set();
  /** @type {import('./workers/workers.js').Workers | undefined} */
  #workers;
  /** @type {Parameters<typeof accept>[2]} */
  #hold = (close, held) => void this.#closers[held ? "add" : "delete"](close);
  /** The statistics of a closed host. @type {object | undefined} */
  #lastStats;
  /** @param {Shell} shell */
  constructor(shell) {
    this.shell = shell;
  }
  /**
   * @param {string} name
   * @param {any} description
   * @param {(params: any, context: Context) => unknown} handler
   * @returns {() => boolean} removes the capability; false if it is already gone
   */
  register(name, description, handler) {
    refuseIf(typeof handler !== "function" && `${text(name)}: handler must be a function`);
    return this.#register(name, description ?? {}, handler);
  }
  /**
   * @param {string} name
   * @param {any} description
   * @param {string | URL} module has the handler
   * @param {any} [options]
   * @returns {() => boolean} removes the capability; false if it is already gone
   */
  registerWorker(name, description, module, options) {
    const worker = options ?? {};
    refuseIf(!isObject(worker) && `${text(name)}: the options of its workers must be an object`);
    warnOfUnknown("registerWorker", worker, OF_WORKERS);
    const { settleGrace, pool = 2, warm = true, type = "module", script, finish } = bare(worker, OF_WORKERS);
    refuseIf(problemWithWorker(text(name), { pool, warm, type, finish }));
    if (script) urlOf2(script);
    const spec = { name, url: urlOf2(module), type, pool, warm, finish, script };
    const loading = () => loadPart(() => import("./workers.js")).then(({ Workers }) => this.#workers ??= new Workers(this.shell, { ...KIT3, ids: this.shell.ids }));
    const run2 = (params, context) => {
      if (this.#workers) return this.#workers.run(spec, params, context);
      const { rust, number } = this.shell;
      context.ender = { stop: () => void rust.stopped(number, context.key, 0), terminate: () => {
      } };
      return loading().then((it) => it.run(spec, params, context));
    };
    const given2 = description ?? {};
    const unregister = this.#register(name, isObject(given2) ? { ...given2, concurrency: given2.concurrency ?? pool, settleGrace: given2.settleGrace ?? settleGrace } : given2, run2, spec);
    if (warm) void loading().then((it) => it.warm(spec), () => {
    });
    return unregister;
  }
  /**
   * @param {string} name
   * @param {any} description
   * @param {(params: any, context: Context) => unknown} handler
   * @param {import('./workers/workers.js').Spec} [spec] the workers of the handler, if it runs in workers
   */
  #register(name, description, handler, spec) {
    this.#ensureOpen();
    const { shell } = this;
    const { options, standard, output } = withJsonSchemas(name, bare(description, OF_CAPABILITIES));
    refuseIf(problemWithCapability(name, options));
    let document2;
    try {
      document2 = describe(name, options);
    } catch (error) {
      refuseIf(`${name}: the description is not valid JSON: ${text(error)}`);
    }
    if (options.replace) this.unregister(name);
    const added = shell.rust.register(shell.number, name, options, shell.settleGrace, spec ? PROOF : NaN, document2, output ? answering(name, output, handler) : handler);
    refuseIf(!added && (added === void 0 ? "The host has failed" : `"${name}" is registered already`));
    if (spec) spec.document = document2;
    shell.capabilities.added(document2, standard);
    return () => shell.capabilities.find(name) === document2 && this.unregister(name);
  }
  /** @param {string} name */
  unregister(name) {
    const { shell } = this;
    const removed = Boolean(shell.rust.unregister(shell.number, String(name)));
    if (removed) shell.capabilities.removed(String(name));
    return removed;
  }
  /**
   * Puts `abp` on the window, or on another object.
   *
   * @param {any} target
   * @param {{ webmcp?: boolean, replace?: boolean }} [options] `webmcp`: the capabilities are tools of the
   *   browser, too; `replace`: instead of another host
   */
  expose(target = globalThis, options = {}) {
    const { webmcp, replace } = bare(options, ["webmcp", "replace"]);
    this.#ensureOpen();
    this.#closers.add(exposeAbp(this.shell, target, replace));
    if (webmcp) this.#exposeTools(target.document?.modelContext ?? target.navigator?.modelContext);
  }
  /** @param {any} browser its `modelContext`, if it has one */
  #exposeTools(browser) {
    if (!browser) return;
    const exposed = loadPart(() => import("./expose-tools.js"), () => !this.shell.closed).then(({ exposeTools }) => {
      if (this.shell.closed) return void 0;
      return exposeTools(this.shell, browser, { requests: new Requests(this.shell, () => {
      }), underSignal, ids: this.shell.ids, toText, log });
    }, () => void 0);
    this.#closers.add(() => void exposed.then((close) => close?.()));
  }
  /**
   * @param {{ allowedOrigins?: string[], replace?: boolean }} [options]
   * @returns {() => void} stops serving
   */
  acceptMessages(options = {}) {
    this.#ensureOpen();
    if (!globalThis.location) throw abpError("NOT_SUPPORTED", "acceptMessages works in a page. Elsewhere use acceptPort, accept or connectGateway");
    warnOfUnknown("acceptMessages", options, ["allowedOrigins", "replace"]);
    const stop = acceptMessages(this.shell, bare(options, ["allowedOrigins", "replace"]), () => void this.#closers.delete(stop));
    this.#closers.add(stop);
    return stop;
  }
  /**
   * @param {any} port a MessagePort, a Worker, the inside of a worker, or an extension's port
   * @param {{ replace?: boolean }} [options]
   * @returns {() => void} releases it
   */
  acceptPort(port, options = {}) {
    this.#ensureOpen();
    const release = acceptPort(this.shell, port, this.#hold, { replace: get(options, "replace") });
    this.#closers.add(idles(port, release));
    return release;
  }
  /**
   * @param {any} messenger a transport of the app's own
   * @returns {() => void} ends its session, and closes it
   */
  accept(messenger) {
    this.#ensureOpen();
    refuseIf(problemWithMessenger(messenger));
    return accept(this.shell, messengerOfApp(messenger), this.#hold).close;
  }
  /**
   * @param {string} url
   * @param {{ token?: string, WebSocket?: any }} [given]
   */
  connectGateway(url, given2 = {}) {
    const options = bare(given2, ["token", "WebSocket"]);
    this.#ensureOpen();
    const to = String(url);
    const Socket = options.WebSocket ?? defaultSocket();
    let socket;
    try {
      socket = new Socket(to);
    } catch (error) {
      throw thrown(invalid(`Cannot connect to ${to}: ${text(error)}`));
    }
    this.shell.timeline.emit({ type: "gateway", state: "connecting", url: to });
    let close = () => socket.close(1e3);
    this.#closers.add(() => close());
    const goesOn = (error) => {
      if (this.shell.closed) return false;
      this.shell.timeline.emit({ type: "gateway", state: "disconnected", url: to, error: problem("TRANSPORT_ERROR", `It could not be loaded: ${text(error)}`) });
      return true;
    };
    loadPart(() => import("./link.js"), goesOn).then(({ GatewayLink }) => {
      if (this.shell.closed) return;
      ({ close } = new GatewayLink(this.shell, to, { ...options, WebSocket: Socket }, socket, { accept, fromText, log, onWindow, toText }));
    }, () => {
    });
  }
  /** The manifest of the registered capabilities. */
  manifest() {
    return this.shell.capabilities.manifest();
  }
  /** @returns {any[]} the Capability objects of the registered capabilities */
  documents() {
    return this.shell.capabilities.documents();
  }
  /**
   * Sends a notification of the app to every agent that accepts notifications.
   *
   * @param {string} event
   * @param {unknown} [data]
   */
  notify(event, data) {
    notify(this.shell, event, data);
  }
  /**
   * The app cancels a call of one of its agents.
   *
   * @param {string} sessionId
   * @param {string} callId
   * @param {string} [reason]
   */
  async cancelCall(sessionId, callId, reason) {
    return this.#cancel(String(sessionId), callId, reason);
  }
  /**
   * Does the same without the session, or on behalf of a named party.
   *
   * @param {string} callId
   * @param {{ by?: string, reason?: string, sessionId?: string }} [options]
   */
  async cancel(callId, options = {}) {
    const { by = "app", reason = `Stopped by the ${by}`, sessionId } = bare(options, ["by", "reason", "sessionId"]);
    return this.#cancel(sessionId ? String(sessionId) : void 0, callId, reason);
  }
  /**
   * @param {string | undefined} sessionId
   * @param {string} callId
   * @param {unknown} reason
   */
  #cancel(sessionId, callId, reason) {
    return this.shell.asks.cancel(sessionId, callId, typeof reason === "string" ? reason : void 0);
  }
  /**
   * The app shows people the calls that wait for consent, so that no agent is asked.
   *
   * @returns {() => void} ends this
   */
  confirmHere() {
    const { rust, number } = this.shell;
    let on = true;
    rust.showConsents(number, on);
    return () => {
      if (on) rust.showConsents(number, on = false);
    };
  }
  /**
   * A person has allowed or denied a call.
   *
   * @param {number} question of the event `confirm`
   * @param {boolean} allow
   * @returns {boolean} whether the call has waited for that
   */
  answer(question, allow) {
    return this.shell.rust.consent(this.shell.number, question, allow === true ? 1 : 2) ?? false;
  }
  /**
   * @param {(event: any) => void} listener called with every step of every call
   * @returns {() => void} removes the listener
   */
  observe(listener) {
    refuseIf(typeof listener !== "function" && "observe: listener must be a function");
    const { rust, number, timeline } = this.shell;
    timeline.add(listener);
    rust.watch(number, true);
    return () => {
      timeline.delete(listener);
      if (!timeline.watched) rust.watch(number, false);
    };
  }
  /** The numbers of held objects and the counters. */
  stats() {
    const { rust, number, running } = this.shell;
    return { ...this.#lastStats ?? rust.stats(number), contexts: running.size };
  }
  /** Ends every session: the calls in flight are cancelled and answered. */
  close() {
    const { shell } = this;
    if (shell.closed) return;
    shell.closed = true;
    for (const connection of shell.connections.values()) connection.giveUp("The host was closed");
    shell.rust.giveUp(shell.number, 0);
    for (const close of [...this.#closers]) close();
    this.#closers.clear();
    this.#workers?.close();
    shell.disarm();
    this.#lastStats = shell.rust.stats(shell.number);
    shell.rust.release(shell.number);
  }
  async [asyncDispose]() {
    this.close();
  }
  #ensureOpen() {
    refuseIf(this.shell.closed && "The host is closed");
  }
};
var KIT3 = { abpError, text, carry };
var PROOF = 2500;
function urlOf2(url) {
  try {
    if (typeof url === "string" || isObject(url)) return new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href ?? import.meta.url).href;
  } catch {
  }
  throw thrown(invalid(`${text(url)} is not a valid URL`));
}
function refuseIf(unfit) {
  if (unfit) throw thrown(invalid(unfit));
}

// src/web/js/asks.js
var FAILED = "The host has failed";
var Asks = class {
  /** @type {Map<number, (response: any) => void>} */
  #waiting = /* @__PURE__ */ new Map();
  #shell;
  /** @param {Shell} shell */
  constructor(shell) {
    this.#shell = shell;
  }
  /**
   * A handler calls another capability.
   *
   * @param {number} parent
   * @param {{ capability: string, params: object, options: object }} payload
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>} an ABPResponse
   */
  call(parent2, payload, signal) {
    const { ids, rust, number } = this.#shell;
    let child = 0;
    return underSignal(
      signal,
      (reason) => rust.cancelKey(number, child, reason),
      (aborted) => {
        try {
          const call = readCall(payload);
          call.params = copyOf2(this.#shell, call.params);
          check(this.#shell, { payload: call });
          const from = this.#shell.running.given(parent2);
          call.by = from?.by ?? 0;
          if (from) call.within = { callId: from.callId, within: from.within };
          return this.#answer(() => {
            const given2 = call.callId ?? "";
            const place = ids.name(call);
            child = rust.callFrom(number, parent2, given2, place, call.capability, call, call.timeout, call.token);
            return child;
          }, aborted);
        } catch (error) {
          return Promise.resolve(error instanceof Refusal ? { success: false, error: error.error } : failure("INVALID_PARAMS", `The call cannot be made: ${text(error)}`));
        }
      }
    );
  }
  /**
   * A handler, or the app, asks an agent.
   *
   * @param {any} request
   * @param {(host: number, of: number, request: any, timeout: number) => number | undefined} method
   * @param {number} of the call or the connection that asks
   * @returns {Promise<any>} an ABPResponse
   */
  async agent(request, method, of) {
    const shell = this.#shell;
    let unfit = isObject(request) ? void 0 : "is no object";
    try {
      if (!unfit) request = copyOf2(shell, request);
    } catch (error) {
      unfit = inspect(request, shell.depth, shell.size) ?? `cannot be sent: ${text(error)}`;
    }
    const timeout = get(request, "timeout") ?? Infinity;
    if (!isAmount(timeout)) unfit ??= `has a bad timeout: ${MILLISECONDS}`;
    unfit ??= inspect(request, shell.depth, shell.size);
    if (unfit) return failure("INVALID_PARAMS", `The request ${unfit}`);
    return this.#answer(() => method(shell.number, of, request, timeout));
  }
  /**
   * The app cancels a call of one of its agents.
   *
   * @param {string | undefined} session without a session, the call of any agent
   * @param {string} callId
   * @param {string} [reason]
   * @returns {Promise<any>} a CancelResponse
   */
  cancel(session, callId, reason) {
    const { rust, number } = this.#shell;
    return new Promise((resolve2) => {
      const key = rust.cancelCall(number, session, typeof callId === "string" ? callId.slice(0, MAX_NAME) : "", reason);
      if (!key) return resolve2(cancelResponse(callId, void 0, this.#noSuchSession(key)));
      this.#waiting.set(key, (response2) => resolve2({ ...response2, callId }));
      return rust.drive(number);
    });
  }
  /** @param {number | undefined} key undefined when the instance is lost */
  #noSuchSession(key) {
    if (key === void 0) return this.#shell.guard.lost(FAILED);
    return this.#shell.closed ? problem("NOT_INITIALIZED", "The host is closed") : problem("SESSION_INVALID", "There is no such session");
  }
  /**
   * @param {() => number | undefined} ask gives the key: 0 when the callId cannot be one, or the
   *   host is closed
   * @param {import('./signal.js').Aborted} [aborted] of a call
   * @returns {Promise<any>}
   */
  #answer(ask, aborted) {
    return new Promise((resolve2) => {
      const key = ask();
      if (!key) {
        return resolve2({ success: false, error: key === 0 && !this.#shell.closed ? BAD_CALL_ID : this.#shell.guard.lost("The host has failed or is closed") });
      }
      this.#waiting.set(key, resolve2);
      const { rust, number } = this.#shell;
      return aborted ? rust.cancelKey(number, key, aborted.reason) : rust.drive(number);
    });
  }
  /**
   * @param {number} key
   * @param {any} response
   */
  settle(key, response2) {
    const resolve2 = this.#waiting.get(key);
    this.#waiting.delete(key);
    resolve2?.(response2);
  }
  /** The wasm instance is lost. */
  fail() {
    for (const resolve2 of this.#waiting.values()) resolve2({ success: false, error: this.#shell.guard.lost(FAILED) });
    this.#waiting.clear();
  }
};

// src/web/js/validators.js
var loadCompile = once(() => import("./compile.js"));
var Validators = class {
  /** @type {Map<string, Entry>} */
  #byName = /* @__PURE__ */ new Map();
  /** @param {(key: number, verdict: Verdict | null) => void} report */
  constructor(report2) {
    this.report = report2;
  }
  /**
   * @param {string} name
   * @param {any} schema a valid schema
   * @param {import('./standard-schema.js').Standard} [standard] checks in its place
   */
  set(name, schema, standard) {
    const entry2 = { name, schema, standard };
    if (!standard && schema?.type === "object" && Object.keys(schema).length === 1) return this.delete(name);
    this.#byName.set(name, entry2);
    this.#prepare(entry2).catch(() => {
    });
  }
  /** @param {string} name */
  delete(name) {
    this.#byName.delete(name);
  }
  /**
   * Reports the verdict, at once or when it is known.
   *
   * @param {number} key
   * @param {string} name
   * @param {{ params: any }} given the object from which the handler gets its parameters
   */
  check(key, name, given2) {
    const entry2 = this.#byName.get(name);
    if (!entry2) return this.report(key, null);
    const verdict = entry2.check ? run(entry2.check, given2) : this.#prepare(entry2).then((check3) => run(check3, given2), notLoaded);
    return verdict instanceof Promise ? void verdict.then((late) => this.report(key, late)) : this.report(key, verdict);
  }
  /** @param {Entry} entry @returns {Promise<Check>} rejects when the code for the check cannot be loaded */
  async #prepare(entry2) {
    const { name, schema, standard } = entry2;
    if (standard) {
      const { checkBy } = await loadChecks();
      return entry2.check ??= checkBy(name, standard, KIT2);
    }
    const { compile } = await loadCompile();
    return entry2.check ??= checkOf(compile, name, schema);
  }
};
function notLoaded(error) {
  log("error", "the schema validator could not be loaded:", error);
  return problem("INTERNAL_ERROR", `The schema validator could not be loaded: ${text(error)}`);
}
function checkOf(compile, name, schema) {
  const own = bareTree(schema);
  const { check: check3, warnings } = compile(own, resolve(own), examine);
  for (const warning of warnings) log("warn", `${name}: inputSchema: ${warning}`);
  return check3;
}
function run(check3, given2) {
  try {
    const verdict = check3(given2.params, given2);
    return verdict instanceof Promise ? verdict.catch(unreadable) : verdict;
  } catch (error) {
    return unreadable(error);
  }
}
var unreadable = (error) => invalid(`The parameters cannot be checked: ${error}`);

// src/web/js/capabilities.js
var Capabilities = class {
  /** @type {Set<() => void>} */
  #listeners = /* @__PURE__ */ new Set();
  /** Whether they have changed in this turn of the event loop. */
  #untold = false;
  #shell;
  /** @param {Shell} shell */
  constructor(shell) {
    this.#shell = shell;
    this.validators = new Validators((key, verdict) => {
      if (verdict) shell.fail(key, true, verdict);
      else shell.rust.checked(shell.number, key);
    });
  }
  /** @param {number} [by] the connection of the agent whose session can see them @returns {any[]} the Capability objects of the registered capabilities, by name */
  documents(by = 0) {
    return this.#shell.rust.documents(this.#shell.number, by) ?? [];
  }
  /** @param {unknown} name @param {number} [by] @returns {any} its Capability object, if there is one */
  find(name, by) {
    return this.documents(by).find((it) => it.name === name);
  }
  /** The manifest of the registered capabilities. */
  manifest() {
    return { abp: "0.1", app: this.#shell.app, capabilities: this.documents().map(this.entry) };
  }
  /** @param {any} document @returns {any} its entry in the manifest */
  entry({ name, title, annotations, confirm, description, inputSchema, outputSchema }) {
    return { name, ...title !== void 0 && { title }, description, ...annotations && { annotations }, ...confirm && { confirm }, inputSchema, outputSchema };
  }
  /**
   * @param {any} document the Capability object, registered from JavaScript or from Rust
   * @param {import('./standard-schema.js').Standard} [standard] the check of its parameters, in place of the document's schema
   */
  added({ name, inputSchema }, standard) {
    this.validators.set(name, inputSchema, standard);
    this.#changed();
  }
  /** @param {string} name */
  removed(name) {
    this.validators.delete(name);
    this.#changed();
  }
  /** Listeners are called once, at the end of the turn, as an app may register thousands of capabilities. */
  #changed() {
    if (this.#untold) return;
    this.#untold = true;
    soon(() => {
      this.#untold = false;
      if (this.#shell.closed) return;
      this.#shell.timeline.emit({ type: "capabilities" });
      for (const listener of this.#listeners) report(listener);
    });
  }
  /**
   * @param {() => void} listener called once for each turn in which the set of capabilities has changed
   * @returns {() => void} removes the listener
   */
  onChanged(listener) {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
};

// src/web/js/life/of-agents.js
var LifeOfAgents = class {
  #shell;
  #held;
  /**
   * @param {Shell} shell whose `liveness` is how long an agent may be gone before that is noticed
   * @param {string} id a unique id
   */
  constructor(shell, id) {
    this.#shell = shell;
    this.#held = globalThis.document ? void 0 : holdLock(id);
  }
  /**
   * @param {Connection} connection of an agent that has announced it
   * @param {any} life its announcement: the name of the lock it holds, and whether it is a worker
   */
  async watch(connection, { lock, worker }) {
    const { number } = connection;
    const { connections, liveness, rust } = this.#shell;
    const isOpen = () => connections.get(number) === connection;
    if (!isOpen()) return;
    rust.watchLife(this.#shell.number, number, liveness);
    const unasked = () => worker === true && rust.unwatchLife(this.#shell.number, number);
    connection.unwatch = watchLock(lock, () => connection.onlost?.(), unasked);
    const held = await this.#held;
    if (held && isOpen()) this.#shell.tell(number, LIFE_LOCK, { lock: held.name });
  }
};

// src/web/js/timeline.js
var FAILED2 = 1;
var keyOf2 = ({ sessionId, callId }) => `${sessionId} ${callId}`;
var Timeline = class {
  /** @type {Set<(event: any) => void>} */
  #observers = /* @__PURE__ */ new Set();
  /** The calls that were reported and have not ended. @type {Map<string, object>} */
  #open = /* @__PURE__ */ new Map();
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
      for (const observer of observers) if (this.#observers.has(observer)) report(observer, event);
    }
  };
  /** The wasm instance is lost, so the ends of calls are reported here. @param {object} error */
  fail(error) {
    for (const call of this.#open.values()) this.over(call, FAILED2, error, NaN);
  }
  // The functions that Rust calls.
  /**
   * A call has been accepted, and waits for its turn.
   *
   * @param {object} call
   * @param {{ params: any }} given its parameters
   */
  queued(call, { params }) {
    this.#open.set(keyOf2(call), call);
    this.emit({ type: "call", ...call, params, state: "queued" });
  }
  /** @param {object} call whose handler runs now */
  running(call) {
    this.#open.set(keyOf2(call), call);
    this.emit({ type: "call", ...call, state: "running" });
  }
  /**
   * @param {object} call
   * @param {number} state in which it has ended
   * @param {unknown} value its data, its error, or how far it was seen to stop
   * @param {number} duration in milliseconds; NaN for a call that was refused
   * @param {string} [reason] why it was stopped
   */
  over(call, state, value, duration, reason) {
    this.#open.delete(keyOf2(call));
    const ended = { type: "call", ...call, response: response(state, value, duration), state: stateName(state) };
    this.emit(reason === void 0 ? ended : { ...ended, reason });
  }
  /** @param {{ callId: string }} call @param {object} info of its handler's */
  progress(call, info) {
    this.emit({ type: "progress", ...call, info: progressInfo(call.callId, info) });
  }
  /** @param {object} call that is asked to stop @param {string} [reason] */
  cancelling(call, reason) {
    this.emit({ type: "cancelling", ...call, ...reason !== void 0 && { reason } });
  }
  /** @param {object} call @param {object} answer to a cancel @param {string} [reason] */
  cancel(call, answer2, reason) {
    this.emit({ type: "cancel", ...call, response: answer2, ...reason !== void 0 && { reason } });
  }
  /** @param {object} call that was abandoned @param {object} end of its handler */
  ended(call, end2) {
    this.emit({ type: "ended", ...call, ...end2 });
  }
  /** @param {string} sessionId @param {boolean} open @param {string} name @param {string} version of its agent */
  session(sessionId, open2, name, version) {
    this.emit({ type: "session", state: open2 ? "open" : "closed", sessionId, agent: { name, version } });
  }
};

// src/web/js/shell.js
var ANSWERED = 250;
var Shell = class {
  /** @type {Map<number, Connection>} */
  connections = /* @__PURE__ */ new Map();
  /** The connections of agents that have left a gateway. @type {Map<number, Connection>} */
  left = /* @__PURE__ */ new Map();
  capabilities = new Capabilities(this);
  running = new Running(this);
  asks = new Asks(this);
  timeline = new Timeline();
  closed = false;
  /** Whether nothing may start now. */
  later = false;
  /** Milliseconds after which the host notices that an agent with calls in flight is gone. */
  liveness = 3e4;
  /** Milliseconds that a handler has to end once it was told to stop. */
  settleGrace = 50;
  /** Whether a JSON-RPC agent is sent cancels even if it has not declared that it accepts them. */
  cancelUndeclared = false;
  /** @type {LifeOfAgents | undefined} */
  #life;
  #timer = new Timer(() => {
    settleTerminated();
    this.rust.tick(this.number);
  });
  #runReady = () => void this.rust.runReady(this.number);
  /**
   * @param {any} handle the functions of the wasm half
   * @param {number} number the host's number
   * @param {{ id: string, name: string, version: string, description?: string }} app
   * @param {number} depth levels of nesting a message may have
   * @param {number} size characters it may have
   */
  constructor(handle, number, app, depth2, size) {
    this.handle = handle;
    this.rust = guarded(handle);
    this.number = number;
    this.ids = idsOf(this.rust);
    this.app = Object.freeze({ ...app });
    this.depth = depth2;
    this.size = size;
    this.guard = new Guard(handle, () => this.#lost());
  }
  wake() {
    if (!this.later) soon(this.#runReady);
  }
  /**
   * The job in which a handler ran was ended from outside, and the work that waited to run after it is
   * lost. Handlers that would start now start in a task of their own: they may hold the thread as well,
   * and the answers should be sent before that.
   *
   * @param {number} key
   * @param {string} [cancelled] the callId of the call for which that was done
   */
  terminated(key, cancelled2 = "") {
    this.later = true;
    this.rust.terminated(this.number, key, cancelled2);
    this.later = false;
    setTimeout(this.#runReady, ANSWERED);
  }
  /** @param {number} at the earliest deadline, in the time of `performance.now()`; infinite for none */
  arm(at) {
    this.#timer.arm(at);
  }
  /** Removes all deadlines. */
  disarm() {
    this.#timer.stop();
  }
  /**
   * @param {number} key
   * @param {string} name
   * @param {Given} given
   */
  check(key, name, given2) {
    this.capabilities.validators.check(key, name, given2);
  }
  /**
   * A person is asked whether a call may start, or has allowed it.
   *
   * @param {number} key
   * @param {any} call
   * @param {Given} given
   * @param {number} asked 1 if the app asks, 2 if the agent does; 0 if the call is allowed
   */
  consent(key, call, { params }, asked2) {
    this.timeline.emit({ type: "confirm", ...call, params, state: asked2 ? "asked" : "allowed", ...asked2 === 1 && { question: key } });
    this.rust.progress(this.number, key, { progress: 0, status: asked2 ? "Waits for a person" : "Allowed" });
    if (asked2 === 2) loadPart(() => import("./ask-agent.js")).then((it) => it.askAgent(this, key, call, params)).catch(() => this.rust.consent(this.number, key, 0));
  }
  /**
   * Reports that the parameters of a call do not fit, or that its handler has failed.
   *
   * @param {number} key
   * @param {boolean} checking its parameters
   * @param {unknown} error
   */
  fail(key, checking, error) {
    this.rust.fail(this.number, key, checking, failureOf(error, this));
  }
  /**
   * Reports the end of a call.
   *
   * @param {number} key
   * @param {number} to the connection of the agent that made it; 0 for a handler
   * @param {unknown} id
   * @param {number} state
   * @param {unknown} value
   * @param {number} duration
   */
  respond(key, to, id, state, value, duration) {
    this.running.forget(key);
    const connection = to ? this.connections.get(to) : void 0;
    if (connection?.short && hasCompleted(state)) return connection.deliverResult(id, value, rounded(duration));
    const payload = response(state, value, duration);
    return to ? this.post(to, "capabilities/call-result", id, payload) : this.asks.settle(key, payload);
  }
  /**
   * @param {number} to
   * @param {string} type
   * @param {unknown} id
   * @param {object} payload
   */
  post(to, type, id, payload) {
    const timestamp = Date.now();
    (this.connections.get(to) ?? this.left.get(to))?.deliver(id === void 0 ? { type, timestamp, payload } : { type, id, timestamp, payload });
  }
  /**
   * @param {number} to
   * @param {unknown} id
   * @param {string} sessionId
   * @param {any[]} documents
   * @param {{ notifications: boolean, progress: boolean, elicitation: boolean }} features
   */
  initialized(to, id, sessionId, documents, features) {
    const connection = this.connections.get(to);
    const life = connection?.onlost && connection.life;
    this.post(to, "initialize-result", id, {
      sessionId,
      protocolVersion: "0.1",
      app: this.app,
      capabilities: summaries(documents),
      features: { ...features, dynamicCapabilities: true },
      ...life && { life: {} },
      // The page itself sends no messages in their short form.
      ...connection?.short && !connection.messenger.local && { short: SHORT },
      ...connection?.messenger.objects && { callbacks: true }
    });
    if (life) {
      this.#life ??= new LifeOfAgents(this, this.ids.next());
      void this.#life.watch(connection, life);
    }
  }
  /**
   * @param {number} to
   * @param {string} type
   * @param {unknown} id
   * @param {object} [error]
   */
  done(to, type, id, error) {
    const over = type === "shutdown-result";
    if (!over || id !== void 0) this.post(to, type, id, error ? { error } : {});
    if (over && !error) this.connections.get(to)?.over();
  }
  /**
   * @param {number} to
   * @param {unknown} id
   * @param {object} payload
   */
  cancelled(to, id, payload) {
    this.post(to, "capabilities/cancel-result", id, payload);
  }
  /**
   * @param {number} to
   * @param {string} callId
   * @param {unknown} token the agent's, if it gave one
   * @param {object} info
   */
  tellProgress(to, callId, token, info) {
    const unfit = inspect(info, this.depth, this.size);
    if (unfit) return log("warn", `progress of the call ${callId} is dropped: it ${unfit}`);
    return this.post(to, "progress", void 0, progressInfo(token ?? callId, info));
  }
  /**
   * @param {number} to
   * @param {number} key
   * @param {object} request
   */
  question(to, key, request) {
    this.post(to, "elicitation/request", `elicitation-${key}`, request);
  }
  /**
   * @param {number} to
   * @param {number} key
   */
  withdraw(to, key) {
    this.tell(to, ELICITATION_WITHDRAWN, { id: `elicitation-${key}` });
  }
  /**
   * @param {number} to
   * @param {string} event
   * @param {unknown} data
   */
  tell(to, event, data) {
    this.post(to, "notification", void 0, { event, ...data !== void 0 && { data } });
  }
  /** @param {number} agent that gives no sign of life */
  lose(agent) {
    this.connections.get(agent)?.onlost?.();
  }
  /**
   * @param {number} to
   * @param {string[]} added
   * @param {string[]} removed
   * @param {string[]} changed
   */
  tellChange(to, added, removed, changed) {
    this.tell(to, CAPABILITIES_CHANGED, { added, removed, changed });
  }
  /** @param {number} key the call of a Rust capability whose future should be polled */
  schedule(key) {
    soon(() => this.rust.poll(this.number, key));
  }
  /** The wasm instance is lost. */
  #lost() {
    this.disarm();
    this.asks.fail();
    for (const connection of this.connections.values()) connection.answerLost();
    const error = this.guard.lost("The host has failed");
    this.timeline.fail(error);
    this.running.stopAll(error.message);
  }
};
var others = ["constructor", "arm", "disarm", "fail", "post", "terminated", "emit", "add", "delete", "watched"];
for (const { prototype } of [Shell, Timeline]) {
  oneWay(prototype, Object.getOwnPropertyNames(prototype).filter((name) => !others.includes(name)));
}
oneWay(Running.prototype, ["start", "stop"]);

// src/web/js/workers/serve.js
var served = (
  /** @type {any} */
  globalThis[/* @__PURE__ */ Symbol.for("caphost.served")]
);
function lose(message, place) {
  panicked(message, place);
  served?.lost(message);
}
var inWorker = () => served !== void 0;
var serve = (name, start, poll, stop) => void served?.set(name, { start, poll, stop });

// src/web/js/traps.js
var TAKEN = "@caphost.trap";
var panics = false;
var code;
var ANY = /^.*(?:at |[(@])(.+):wasm-function\[/m;
var TOP = /^(?:RuntimeError: .*\n)?.*(?:at |[(@])(.+):wasm-function\[/;
function trapOf(event) {
  const error = get(event, "error") ?? get(event, "reason");
  const exhausted = /call stack|recursion/.test(getA("string", error, "message") ?? "");
  const trapped = exhausted || getA("string", error, "name") === "RuntimeError";
  const frame = (exhausted ? ANY : TOP).exec(getA("string", error, "stack") ?? "");
  return trapped && frame?.[1] === code ? error : void 0;
}
function panicked2(message, place) {
  panics = true;
  void Promise.resolve().then(() => panics = false);
  lose(message, place);
}
function noticeTraps() {
  if (code !== void 0) return;
  code = ANY.exec(getA("string", new Error(), "stack") ?? "")?.[1];
  if (code === void 0 || typeof addEventListener !== "function") return;
  for (const type of ["error", "unhandledrejection"]) {
    addEventListener(type, (event) => {
      if (panics && trapOf(event)) event[TAKEN] = true;
    }, true);
    addEventListener(type, (event) => {
      const trap = isLost() || event[TAKEN] ? void 0 : trapOf(event);
      if (trap) lose(text(trap), "in the app's own code");
    });
  }
}
export {
  Host,
  Shell,
  abortWith,
  array,
  callEnded,
  cancelConfirmation,
  cancelResponse,
  confirms,
  connectFromRust,
  describe,
  errorOf,
  failureOf,
  guard,
  inNextTask,
  inWorker,
  inspect,
  lateEnd,
  noticeTraps,
  now,
  panicked2 as panicked,
  problemWithApp,
  problemWithCapability,
  progressOf,
  push,
  serve,
  textAt,
  thrown
};
