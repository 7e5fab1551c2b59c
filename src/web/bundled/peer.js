// Made of ../js by `npm run build`, and to be changed there.

// src/web/js/json-rpc/framing.js
var CHECK = "mcp-check-ready";
var READY = "mcp-server-ready";
var STOPPED = "mcp-server-stopped";
var isWrapped = (message) => message?.type === "mcp" && message.direction === "client-to-server";
function framing(first, post, toText) {
  const wrapped = isWrapped(first);
  const asText2 = typeof first === "string";
  const wrap = (payload) => post({ channel: first.channel, type: "mcp", direction: "server-to-client", payload });
  return {
    /** @param {any} message */
    send(message) {
      if (wrapped) wrap(JSON.parse(toText(message)));
      else post(asText2 ? toText(message) : message);
    },
    /**
     * @param {any} raw
     * @returns {{ message?: any, unreadable?: string }} neither, if it is answered or nothing is to be
     */
    unwrap(raw) {
      const message = isWrapped(raw) ? raw.payload : raw;
      if (wrapped && message === CHECK) {
        wrap(READY);
        return {};
      }
      if (typeof message !== "string") return { message };
      try {
        return { message: JSON.parse(message) };
      } catch (error) {
        return { unreadable: `The message is not valid JSON: ${/** @type {Error} */
        error.message}` };
      }
    },
    /** The host is going away. */
    stop() {
      if (wrapped) wrap(STOPPED);
    }
  };
}

// src/web/js/json-rpc/events.js
var CAPABILITIES_CHANGED = "notifications/capabilities/list_changed";
var CALL_ENDED = "notifications/call/ended";
var ELICITATION_WITHDRAWN = "notifications/elicitation/withdrawn";
var HOST_CLOSED = "notifications/host/closed";

// src/web/js/json-rpc/codes.js
var PARSE_ERROR = -32700;
var INVALID_REQUEST = -32600;
var METHOD_NOT_FOUND = -32601;
var INVALID_PARAMS = -32602;
var INTERNAL_ERROR = -32603;
var FAILED = -32e3;
var UNSUPPORTED_VERSION = -32022;
var CANCELLED = -32800;

// src/web/js/json-rpc/ways.js
var MAX_REASON = 1024;
var WAYS = [
  { dialect: "ACP draft", method: "$/cancelRequest", id: "id", reason: false, answered: true },
  { dialect: "ACP v1", method: "$/cancel_request", id: "requestId", reason: false, answered: true },
  { dialect: "LSP 3.17", method: "$/cancelRequest", id: "id", reason: false, answered: true },
  { dialect: "MCP 2025-11-25", method: "notifications/cancelled", id: "requestId", reason: true, answered: false },
  { dialect: "MCP 2026-07-28", method: "notifications/cancelled", id: "requestId", reason: true, answered: false }
];

// src/web/js/json-rpc/policy.js
function readCancel(method, params) {
  const way = WAYS.find((it) => it.method === method);
  if (!way || keyOf(params?.[way.id]) === void 0) return void 0;
  const reason = way.reason && typeof params.reason === "string" ? params.reason.slice(0, MAX_REASON) : void 0;
  return { id: params[way.id], reason, answered: way.answered };
}
function writeCancel(dialect, id, reason) {
  const way = (
    /** @type {typeof WAYS[number]} */
    WAYS.find((it) => it.dialect === dialect)
  );
  return { method: way.method, params: { [way.id]: id, ...way.reason && { reason } } };
}
function keyOf(id) {
  if (id === null || typeof id === "string" || typeof id === "number" && Number.isFinite(id)) return `${typeof id} ${id}`;
  return void 0;
}

// src/web/js/json-rpc/message.js
var FAULTS = {
  object: "A message is an object",
  version: 'A message has jsonrpc: "2.0"',
  method: "A request has a method, which is a string",
  id: "An id is a string, a number or null",
  params: "Parameters are an object or an array",
  batch: "Batches are not supported: send each by itself"
};
var isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
function read(message) {
  if (!isObject(message)) return { kind: "invalid", id: null, fault: Array.isArray(message) ? "batch" : "object" };
  const { jsonrpc, id, method, params, result, error } = message;
  const readable = keyOf(id) !== void 0;
  const invalid = (fault) => (
    /** @type {const} */
    { kind: "invalid", id: readable ? id : null, fault }
  );
  if (method === void 0) {
    if (error !== void 0) return { kind: "response", id, error };
    if (result !== void 0) return { kind: "response", id, result };
  }
  if (jsonrpc !== "2.0") return invalid("version");
  if (typeof method !== "string") return invalid("method");
  if (id !== void 0 && !readable) return invalid("id");
  const given = typeof params === "object" ? params ?? void 0 : void 0;
  if (id === void 0) return { kind: "notification", method, params: given };
  return params != null && !given ? invalid("params") : { kind: "request", id, method, params: given };
}
var CODES = {
  INVALID_PARAMS,
  MISSING_PARAM: INVALID_PARAMS,
  INVALID_TYPE: INVALID_PARAMS,
  UNKNOWN_CAPABILITY: INVALID_PARAMS,
  INTERNAL_ERROR,
  CANCELLED
};
var codeFor = (abp) => Object.hasOwn(CODES, abp) ? (
  /** @type {number} */
  CODES[abp]
) : FAILED;
var IN_DATA = ["code", "retryable", "details", "retryAfter", "alternatives"];
function rpcError(error, code = codeFor(error.code)) {
  const kept = IN_DATA.filter((field) => error[field] !== void 0);
  return { code, message: error.message, data: Object.fromEntries(kept.map((field) => [field, error[field]])) };
}
function cancelledError(id, capability, seen2) {
  const requestId = typeof id === "string" ? id : JSON.stringify(id);
  const data = { code: "CANCELLED", retryable: false, requestId, partial: false, ...seen2 };
  return { code: CANCELLED, message: `Tool execution cancelled: ${capability}`, data };
}
function answerCall(id, capability, payload, failed2, done2) {
  if (Object.hasOwn(payload, "cancelled") && payload.cancelled) return { error: cancelledError(id, capability, payload.metadata) };
  return Object.hasOwn(payload, "error") && payload.error ? failed2(payload.error) : { result: done2(payload.data, payload.metadata) };
}

// src/web/js/json-rpc/methods.js
var INITIALIZE = "initialize";
var SHUTDOWN = "shutdown";
var EXIT = "exit";
var LIST = "_capabilities/list";
var CALL = "_capabilities/call";
var ENDED = "_capabilities/ended";
var PROGRESS = "$/progress";

// src/web/js/json-rpc/content.js
var IMAGES = [["image/png", /^iVBORw0KGgo/], ["image/jpeg", /^\/9j\//], ["image/gif", /^R0lGODdh|^R0lGODlh/], ["image/webp", /^UklGR.{6}XRUJQ/]];
function extract(data, first, version, callId) {
  const blocks = [];
  const visit = (value, around) => {
    if (typeof value !== "object" || value === null) return;
    if (isObject(value)) take(value, around, first, version, callId, blocks);
    const type = typeof value.mimeType === "string" ? value.mimeType : around;
    for (const inner of Object.values(value)) visit(inner, type);
  };
  visit(data);
  return blocks;
}
function contentNames(mime, declared) {
  const [, kind = "", subtype = ""] = /^\s*([\w!#$&^.+-]+)\/([\w!#$&^.+-]+)\s*(?:;|$)/.exec(String(mime).toLowerCase()) ?? [];
  return [...declared ? ["content", "data"] : [], ...kind && (declared || kind !== "text") ? [subtype, kind] : []];
}
function take(members, around, first, version, callId, blocks) {
  const { encoding, filename } = members;
  const declared = encoding === "base64";
  const mimeType = members.mimeType === void 0 && declared ? around : members.mimeType;
  if (!declared && encoding !== void 0 || !["string", declared && "undefined"].includes(typeof mimeType)) return;
  const name = contentNames(mimeType, declared).find((it) => Object.hasOwn(members, it) && canonical(members[it]) !== void 0);
  const base64 = name && canonical(members[name]);
  if (!name || !base64) return;
  const index = first + blocks.length;
  const essence = mimeType?.replace(/;.*/s, "").trim().toLowerCase();
  const [image] = essence?.startsWith("image/") ? IMAGES.find(([, begins]) => begins.test(base64)) ?? IMAGES.find(([type]) => type === essence) ?? [] : [];
  const kind = image ? "image" : version.audio && essence?.startsWith("audio/") ? "audio" : void 0;
  const uri = () => `caphost://${callId}/${index}/${encodeURIComponent(typeof filename === "string" ? filename : name)}`;
  blocks.push(kind ? { type: kind, data: base64, mimeType: image ?? essence } : { type: "resource", resource: { uri: uri(), ...mimeType !== void 0 && { mimeType }, blob: base64 } });
  members[name] = `#/content/${index}/${kind ? "data" : "resource/blob"}`;
}
function canonical(text) {
  if (typeof text !== "string") return void 0;
  const [, digits] = /^([A-Za-z0-9+/]*)={0,2}$/.exec(text.replace(/[ \t\n\f\r]+/g, "")) ?? [];
  return digits === void 0 || digits.length % 4 === 1 ? void 0 : digits.padEnd(Math.ceil(digits.length / 4) * 4, "=");
}

// src/web/js/json-rpc/result.js
var asText = (text) => ({ type: "text", text });
function done(data = null, metadata, promised2, version, callId, toText = JSON.stringify) {
  const keeps = isObject(data) || !promised2;
  const holder = { data };
  const files = extract(holder, keeps ? 1 : 2, version, callId);
  const said = data === null ? "" : typeof data === "string" ? data : toText(data);
  const content = [.../[^\s\x85]/.test(said) ? [asText(said)] : [], ...files];
  const structured = version.structure && isObject(data) && (promised2 || !files.length);
  if (keeps) {
    return {
      content,
      ...structured && { structuredContent: data },
      isError: false,
      _meta: { "caphost/callId": callId, ...metadata && { "caphost/metadata": metadata } }
    };
  }
  const message = "The app's answer is not the object its outputSchema promises";
  const broken = failed({ code: "INTERNAL_ERROR", message, retryable: false });
  return { ...broken, content: [...broken.content, ...content] };
}
var failed = (error) => ({
  content: [asText(`${error.code}: ${error.message}`)],
  isError: true,
  _meta: { "caphost/error": error }
});
var inMeta = (members) => Object.fromEntries(Object.entries(members).map(([name, value]) => [`caphost/${name}`, value]));
function progressReader(token, version) {
  if (typeof token !== "string" && typeof token !== "number") return void 0;
  let last = -Infinity;
  return (info) => {
    const own = typeof info?.progress === "number";
    const progress = own ? info.progress : info?.percentage;
    if (typeof progress !== "number" || progress <= last) return void 0;
    last = progress;
    const total = own ? info.total : 100;
    const message = version.audio ? [info.status, info.stage].find((it) => typeof it === "string") : void 0;
    return {
      method: "notifications/progress",
      params: { progressToken: token, progress, ...typeof total === "number" && { total }, ...message !== void 0 && { message } }
    };
  };
}

// src/web/js/json-rpc/tool-schemas.js
var MAX_DEPTH = 64;
var VERSION = "https://json-schema.org/draft/2020-12/schema";
var MAX_RULE = 2e3;
var REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"];
var FOREIGN = ["$schema", "$vocabulary", "$recursiveAnchor", "id", "$async", "additionalItems", "x-mcp-header"];
var CONTRARY = ["not", "if", "oneOf", "maxContains"];
var ONLY_HERE = /\(\?(?![:=!])|\\[1-9pPkc]|\\u\{|\[\^?\]/;
var NOT_AT_ROOT = ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const"];
function inputSchema(given) {
  const types = isObject(given) ? [given.type ?? "object"].flat() : [];
  const schema = structuredClone(tidy({ ...types.includes("object") ? given : {}, type: "object" }));
  dropAddresses(schema);
  const rule = flatten(schema);
  const version = schema.$schema === VERSION && { $schema: VERSION };
  return { schema: makeFit(schema) ? { ...version, ...schema } : { type: "object" }, ...rule && { rule } };
}
var promised = /* @__PURE__ */ new WeakMap();
function outputSchema(schema) {
  if (!isObject(schema)) return void 0;
  if (!promised.has(schema)) promised.set(schema, promise(schema));
  return promised.get(schema);
}
function promise(schema) {
  if (schema.type !== "object" || hasFiles(schema, 0)) return void 0;
  const listed = structuredClone(tidy(schema));
  return makeFit(listed) ? listed : void 0;
}
function flatten(schema) {
  const rule = {};
  for (const keyword of NOT_AT_ROOT.filter((it) => it in schema)) {
    rule[keyword] = schema[keyword];
    delete schema[keyword];
  }
  const found = Object.entries(rule);
  if (!found.length) return void 0;
  for (const [keyword, value] of found) {
    const parts = Array.isArray(value) && keyword !== "enum" ? value : keyword === "$ref" ? [pointed(schema, value)] : ["then", "else"].includes(keyword) ? [value] : [];
    for (const part of parts) takeProperties(schema, part, keyword === "allOf" || keyword === "$ref");
  }
  const said = [...JSON.stringify(rule)];
  return said.length <= MAX_RULE ? `The arguments also match this JSON Schema: ${said.join("")}` : `The arguments also match a JSON Schema, which begins: ${said.slice(0, MAX_RULE).join("")}…`;
}
function pointed(schema, reference) {
  if (!reference.startsWith("#/")) return void 0;
  return decodeURIComponent(reference.slice(2)).split("/").reduce((part, step) => {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return Object.hasOwn(Object(part), name) ? part[name] : void 0;
  }, schema);
}
function takeProperties(schema, part, needed) {
  if (!isObject(part)) return;
  const { properties, required } = part;
  if (isObject(properties)) {
    schema.properties ??= {};
    for (const [name, it] of Object.entries(properties)) {
      if (!Object.hasOwn(schema.properties, name)) schema.properties[name] = isObject(it) ? structuredClone(it) : {};
    }
    delete schema.additionalProperties;
  }
  if (needed && Array.isArray(required)) schema.required = [.../* @__PURE__ */ new Set([...schema.required ?? [], ...required.filter((it) => typeof it === "string")])];
}
function makeFit(root) {
  delete root.$id;
  const parts = [];
  if (!collect(root, 0, parts)) return false;
  const accepts = parts.filter(makePartFit);
  if (accepts.length && parts.some((part) => CONTRARY.some((keyword) => keyword in part))) return false;
  const known = new Set(parts);
  const leads = (reference) => {
    if (reference === void 0 || reference === "#") return true;
    if (!reference.startsWith("#/")) return parts.some(({ $anchor, $dynamicAnchor }) => [$anchor, $dynamicAnchor].includes(reference.slice(1)));
    const target = pointed(root, reference);
    return typeof target === "boolean" || known.has(target);
  };
  if (!parts.every(({ $ref, $dynamicRef }) => leads($ref) && leads($dynamicRef))) return false;
  parts.forEach(replaceBooleans);
  return true;
}
function replaceBooleans(schema) {
  const replace = (place, at) => {
    if (typeof place[at] === "boolean") place[at] = place[at] ? {} : { not: {} };
  };
  for (const [keyword, value] of Object.entries(schema)) {
    if (ONE.includes(keyword) && !MAY_BE_BOOLEAN.includes(keyword)) replace(schema, keyword);
    if ((Array.isArray(value) ? SEVERAL : NAMED).includes(keyword)) for (const at of Object.keys(Object(value))) replace(value, at);
  }
}
function collect(schema, depth, found) {
  found.push(schema);
  return depth <= MAX_DEPTH && schemasIn(schema).every((inner) => collect(inner, depth + 1, found));
}
function makePartFit(schema) {
  let more = dropAddresses(schema);
  const drop = (keyword) => {
    more ||= keyword in schema;
    delete schema[keyword];
  };
  const { $recursiveRef, $id, items, pattern, patternProperties } = schema;
  if ($recursiveRef !== void 0) schema.$ref ??= $recursiveRef;
  delete schema.$recursiveRef;
  if ($id?.startsWith("#")) {
    if ($id !== "#") schema.$anchor ??= $id.slice(1);
    delete schema.$id;
  }
  if (typeof schema.nullable !== "boolean" || schema.type === void 0) delete schema.nullable;
  if (Array.isArray(items)) {
    drop("additionalItems");
    if (items.length) schema.prefixItems ??= items;
    delete schema.items;
  }
  if ("prefixItems" in schema) drop("items");
  if (schema.minContains === 0) drop("contains");
  if (pattern !== void 0 && isOnlyHere(pattern)) drop("pattern");
  for (const name of Object.keys(patternProperties ?? {}).filter(isOnlyHere)) {
    delete patternProperties[name];
    for (const keyword of ["additionalProperties", "unevaluatedProperties"]) drop(keyword);
    more = true;
  }
  for (const keyword of FOREIGN) delete schema[keyword];
  for (const [keyword, value] of Object.entries(schema)) if (isObject(value) && !OBJECTS.includes(keyword)) delete schema[keyword];
  if ([schema.type].flat().includes("array")) schema.items ??= {};
  return more;
}
function dropAddresses(schema) {
  const found = REFERENCES.filter((keyword) => schema[keyword] !== void 0 && !schema[keyword].startsWith("#"));
  for (const keyword of found) delete schema[keyword];
  return found.length > 0;
}
var isOnlyHere = (pattern) => ONLY_HERE.test(pattern.replace(/\\\W/g, "x"));
var COMMON = ["image", "audio", "video", "font", "pdf", "png", "jpeg", "gif", "webp", "zip"];
function hasFiles(schema, depth, around) {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const { mimeType: own, encoding } = properties;
  const mime = own ?? around;
  const declared = encoding !== void 0;
  if (declared || own !== void 0 || schema.additionalProperties !== false) {
    const types = [...Array.isArray(mime?.enum) ? mime.enum : [], mime?.const, void 0];
    const names = [...types.flatMap((it) => contentNames(it, declared)), ...COMMON];
    if (names.some((name) => Object.hasOwn(properties, name) && mayBeBase64(properties[name]))) return true;
  }
  return depth < MAX_DEPTH && schemasIn(schema).some((inner) => hasFiles(inner, depth + 1, mime));
}
var mayBeBase64 = (schema) => schema !== false && [schema?.type ?? "string"].flat().includes("string") && !["uri", "iri", "url"].includes(schema?.format);
function tidy({ properties, required, ...rest }) {
  const tidied = isObject(properties) ? Object.fromEntries(Object.entries(properties).map(([name, it]) => [name, isObject(it) || typeof it === "boolean" ? it : {}])) : void 0;
  const names = Array.isArray(required) && required.every((it) => typeof it === "string");
  return { ...rest, ...tidied && { properties: tidied }, ...names && { required } };
}
var NAMED = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
var SEVERAL = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
var ONE = ["items", "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties", "propertyNames", "not", "if", "then", "else", "contentSchema"];
var MAY_BE_BOOLEAN = ["additionalProperties", "unevaluatedProperties", "unevaluatedItems"];
var OBJECTS = [...NAMED, ...ONE, "dependentRequired", "const", "default"];
function schemasIn(schema) {
  const inner = Object.entries(schema).flatMap(([keyword, value]) => {
    if (Array.isArray(value)) return SEVERAL.includes(keyword) ? value : [];
    if (!isObject(value)) return [];
    return NAMED.includes(keyword) ? Object.values(value) : ONE.includes(keyword) ? [value] : [];
  });
  return inner.filter(isObject);
}

// src/web/js/json-rpc/tool-names.js
var MAX = 64;
function toolNames(names) {
  const plainNames = names.map(plain);
  const alike = /* @__PURE__ */ new Map();
  for (const name of plainNames) alike.set(name, (alike.get(name) ?? 0) + 1);
  const given = [];
  const taken = /* @__PURE__ */ new Set();
  const rest = [];
  for (const [at, name] of plainNames.entries()) {
    if (isFit(name) && (name === names[at] || alike.get(name) === 1)) taken.add(given[at] = name);
    else rest.push(at);
  }
  const bytes = new Map(rest.map((at) => [at, utf8(names[at])]));
  rest.sort((one, other) => inOrder(bytes.get(one), bytes.get(other)));
  for (const at of rest) taken.add(given[at] = toldApart(String(plainNames[at]), String(names[at]), taken));
  return given;
}
var plain = (name) => name.replace(/[^\w-]/gu, "_");
var isFit = (name) => name.length <= MAX && /[A-Za-z0-9]/.test(name);
function toldApart(plain2, name, taken) {
  for (let salted = name; ; salted += "+") {
    const hash = fnv1a(utf8(salted)).toString(16).padStart(8, "0");
    const found = `${/[A-Za-z0-9]/.test(plain2) ? plain2.slice(0, MAX - 1 - hash.length) : "tool"}_${hash}`;
    if (!taken.has(found)) return found;
  }
}
var utf8 = (text) => new TextEncoder().encode(text);
function inOrder(one = new Uint8Array(), other = new Uint8Array()) {
  const at = one.findIndex((byte, index) => byte !== other[index]);
  return at < 0 ? one.length - other.length : Number(one[at]) - (other[at] ?? -1);
}
var fnv1a = (bytes) => bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 16777619), 2166136261) >>> 0;

// src/web/js/json-rpc/tools.js
var MAX_NAME = 128;
function tools(documents, { audio, structure }) {
  const names = toolNames(documents.map(({ name }) => name));
  return documents.map(({ name: own, title, description: said, annotations, confirm, inputSchema: input, outputSchema: output }, at) => {
    const name = names[at];
    const shown = seen(title) ?? (name === own ? void 0 : own);
    const { schema, rule } = inputSchema(input);
    const description = [seen(said), rule].filter(Boolean).join("\n\n");
    const promised2 = structure ? outputSchema(output) : void 0;
    return {
      name,
      ...structure && shown && { title: shown },
      ...description && { description },
      ...audio && annotations && { annotations },
      ...structure && confirm && { _meta: { "caphost/confirm": confirm } },
      inputSchema: schema,
      ...promised2 && { outputSchema: promised2 }
    };
  });
}
var seen = (text) => text?.trim() ? text : void 0;
function findTool(documents, wanted, rust) {
  const own = documents.find(({ name }) => name === wanted);
  if (own) return own;
  const listed = toolNames(documents.map(({ name }) => name));
  const at = listed.indexOf(wanted);
  if (at >= 0) return documents[at];
  const characters = [...wanted];
  const meant = (rust.near(plain(wanted), listed) ?? []).join(", ");
  return `Unknown tool: ${characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME).join("")}…` : wanted}${meant && `. Did you mean: ${meant}?`}`;
}

// src/web/js/json-rpc/versions.js
var VERSIONS = [
  { name: "2024-11-05", sessions: true, batches: false, audio: false, structure: false },
  { name: "2025-03-26", sessions: true, batches: true, audio: true, structure: false },
  { name: "2025-06-18", sessions: true, batches: false, audio: true, structure: true },
  { name: "2025-11-25", sessions: true, batches: false, audio: true, structure: true },
  { name: "2026-07-28", sessions: false, batches: false, audio: true, structure: true }
];
var MAX_BATCH = 32;

// src/web/js/json-rpc/mcp.js
var [LEGACY, MODERN] = VERSIONS.slice(-2);
var NAMES = VERSIONS.map(({ name }) => name);
var VERSION2 = "io.modelcontextprotocol/protocolVersion";
var CLIENT_INFO = "io.modelcontextprotocol/clientInfo";
var SERVER_INFO = "io.modelcontextprotocol/serverInfo";
var SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
var CHANGED = "notifications/tools/list_changed";
var LOG = "notifications/message";
var CAPABILITIES = { logging: {}, tools: { listChanged: true } };
var NOT_CACHED = { ttlMs: 0, cacheScope: "private" };
var METHODS = ["ping", "server/discover", "tools/list", "tools/call", "subscriptions/listen"];
var isMcp = (method, params) => METHODS.includes(method) || params?._meta?.[VERSION2] !== void 0 || method === "initialize" && typeof params?.protocolVersion === "string";
var Mcp = class {
  /** The version that `initialize` has agreed on. @type {typeof VERSIONS[number] | undefined} */
  #version;
  /** The requests that listen for changes. @type {Set<import('./peer.js').Entry>} */
  #listening = /* @__PURE__ */ new Set();
  /** @param {import('./peer.js').Peer} peer */
  constructor(peer) {
    this.peer = peer;
  }
  /** Whether its client may send several messages as one array. */
  get batches() {
    return this.#version?.batches ?? false;
  }
  /** @param {{ id: any, method: string, params: any }} request */
  request({ id, method, params = {} }) {
    const { peer } = this;
    const fit = typeof id === "string" || Number.isInteger(id);
    if (!fit) return peer.refuse(null, "INVALID_PARAMS", "`id` must be a string or an integer", INVALID_REQUEST);
    const version = params._meta?.[VERSION2];
    const modern = version !== void 0;
    if (modern && typeof version !== "string") return this.#badParams(id, method);
    if (modern && version !== MODERN.name) {
      const requested = version.slice(0, 64);
      const data = { supported: NAMES, requested };
      return peer.fail(id, { code: UNSUPPORTED_VERSION, message: `Unsupported protocol version: ${requested}`, data });
    }
    const succeed = (result, more = {}) => peer.succeed(id, modern ? { resultType: "complete", ...more, ...result } : result);
    if (isMcp(method, params) && !isObject(params)) return this.#badParams(id, method);
    if (method === "initialize" && !modern) return this.#initialize(id, params);
    if (method === "ping") return succeed({});
    if (method === "logging/setLevel" && !modern) return succeed({});
    if (method === "server/discover" && modern) return succeed(this.#discovery(), NOT_CACHED);
    if (method === "tools/list") return this.#list(id, params, modern, (result) => succeed(result, NOT_CACHED));
    if (method === "tools/call") return this.#call(id, params, modern);
    if (method === "subscriptions/listen" && modern) return this.#listen(id, params);
    return peer.refuseMethod(id, method);
  }
  /** @param {any} id @param {string} method */
  #badParams(id, method) {
    this.peer.fail(id, { code: INVALID_PARAMS, message: `The parameters are not those of ${method}` });
  }
  /** The parts of a result that the client of a request can read. @param {boolean} modern */
  #readable(modern) {
    return modern ? MODERN : this.#version ?? LEGACY;
  }
  /** The app's description of itself. @param {typeof VERSIONS[number]} version */
  #introduction({ structure }) {
    const { id: name, name: title, version, description } = this.peer.shell.app;
    return { info: { name, ...structure && { title }, version }, more: description === void 0 ? {} : { instructions: description } };
  }
  /** Answers with the requested version, if we support it. A client that starts again has lost its earlier requests. @param {any} id @param {any} params */
  #initialize(id, params) {
    const { peer } = this;
    if (typeof params.protocolVersion !== "string") return this.#badParams(id, "initialize");
    if (this.#version || peer.idle) peer.startAnew();
    const version = VERSIONS.find(({ name, sessions }) => sessions && name === params.protocolVersion) ?? LEGACY;
    this.#version = version;
    const { info, more } = this.#introduction(version);
    const result = { protocolVersion: version.name, capabilities: CAPABILITIES, serverInfo: info, ...more };
    const entry = peer.begin(id, { answer: ({ error }) => error ? { error: rpcError(error) } : { result } });
    const elicitation = params.capabilities?.elicitation;
    return peer.open(params.clientInfo, Boolean(elicitation && (elicitation.form || !elicitation.url)), entry);
  }
  #discovery() {
    const { info, more } = this.#introduction(MODERN);
    return { supportedVersions: NAMES, capabilities: CAPABILITIES, ...more, _meta: { [SERVER_INFO]: info } };
  }
  /** Lists all tools at once, as few clients ask for a second page. @param {any} id @param {any} params @param {boolean} modern @param {(result: object) => void} succeed */
  #list(id, { cursor }, modern, succeed) {
    if (cursor != null) return this.peer.fail(id, { code: INVALID_PARAMS, message: "Invalid cursor: all tools are on the first page" });
    return succeed({ tools: tools(this.peer.shell.capabilities.documents(), this.#readable(modern)) });
  }
  /** @param {any} id @param {any} params @param {boolean} modern */
  #call(id, params, modern) {
    const { peer } = this;
    const { name, arguments: given = {}, _meta } = params;
    if (typeof name !== "string" || !isObject(given)) return this.#badParams(id, "tools/call");
    const found = findTool(peer.shell.capabilities.documents(), name, peer.shell.rust);
    if (typeof found === "string") return peer.fail(id, { code: INVALID_PARAMS, message: found });
    const version = this.#readable(modern);
    const promised2 = version.structure && outputSchema(found.outputSchema) !== void 0;
    const callId = peer.shell.ids.next();
    const wrap = (result) => modern ? { resultType: "complete", ...result } : result;
    const answer = (payload) => {
      const { error, result } = answerCall(id, found.name, payload, (error2) => ({ result: wrap(failed(error2)) }), (data, metadata) => {
        const plain2 = data === void 0 ? void 0 : JSON.parse(peer.kit.toText(data));
        return wrap(done(plain2, metadata, promised2, version, callId, peer.kit.toText));
      });
      if (!error) return { result };
      const { requestId, partial } = error.data;
      return { error: { ...error, data: { requestId, partial, ...payload.metadata, _meta: inMeta(payload.metadata) } } };
    };
    const entry = peer.begin(id, { capability: found.name, callId, answer, progress: progressReader(_meta?.progressToken, version) });
    peer.open(_meta?.[CLIENT_INFO], false);
    return peer.call(entry, given);
  }
  /** @param {any} id @param {any} params */
  #listen(id, { notifications, _meta }) {
    if (!isObject(notifications)) return this.#badParams(id, "subscriptions/listen");
    const about = { [SUBSCRIPTION]: id };
    const entry = this.peer.begin(id, {
      answer: () => ({ result: { resultType: "complete", _meta: about } }),
      stop: () => {
        this.#listening.delete(entry);
        this.peer.end(entry);
      }
    });
    const wanted = notifications.toolsListChanged === true;
    if (wanted) this.#listening.add(entry);
    this.peer.open(_meta?.[CLIENT_INFO], false);
    return this.peer.notify("notifications/subscriptions/acknowledged", {
      _meta: about,
      notifications: wanted ? { toolsListChanged: true } : {}
    });
  }
  /** The way to cancel a question. */
  cancels() {
    return "MCP 2025-11-25";
  }
  /** @param {any} request a question of the app; MCP gets the members it needs, with an empty schema if there is none */
  question({ message, title, requestedSchema, schema }) {
    return {
      method: "elicitation/create",
      params: {
        message: String(message ?? title ?? "The app asks"),
        requestedSchema: requestedSchema ?? schema ?? { type: "object", properties: {} }
      }
    };
  }
  /** @param {any} result of a question */
  readAnswer(result) {
    if (result?.action === "accept") return { success: true, data: result.content ?? {} };
    if (result?.action === "cancel") return { success: false, cancelled: true, metadata: { stop: "abandoned" } };
    return { success: false, error: this.peer.kit.problem("PERMISSION_DENIED", "The user has declined") };
  }
  /** @param {any} requestId @param {object} data of the notification that an abandoned call has ended */
  ended(requestId, data) {
    this.peer.notify(LOG, { level: "notice", logger: "caphost", data: { event: CALL_ENDED, requestId, ...data } });
  }
  /** The set of tools has changed. */
  changed() {
    if (this.#version) this.peer.notify(CHANGED);
    for (const { id } of this.#listening) this.peer.notify(CHANGED, { _meta: { [SUBSCRIPTION]: id } });
  }
};

// src/web/js/json-rpc/own.js
var ACP_VERSION = 1;
var CAPABILITIES2 = { cancellation: { request: true } };
var METHODS2 = [INITIALIZE, LIST, CALL, SHUTDOWN];
var Own = class {
  #greeted = false;
  #acp = false;
  /** Whether the peer has declared that it accepts cancels. */
  #cancellable = false;
  /** @param {string} method */
  static has = (method) => METHODS2.includes(method);
  /** Its clients send one message at a time. */
  batches = false;
  /** @param {import('./peer.js').Peer} peer */
  constructor(peer) {
    this.peer = peer;
  }
  /** @param {{ id: any, method: string, params: any }} request */
  request({ id, method, params }) {
    const { peer } = this;
    if (method === INITIALIZE) this.#initialize(id, params);
    else if (method === LIST) peer.succeed(id, { capabilities: peer.shell.capabilities.documents() });
    else if (method === CALL) this.#call(id, params);
    else if (method === SHUTDOWN) peer.shutDown(peer.begin(id, { answer: ({ error }) => error ? { error: rpcError(error) } : { result: null } }));
    else peer.refuseMethod(id, method);
  }
  /**
   * ACP's parameters have a numeric `protocolVersion` and `clientCapabilities`. LSP's have
   * `capabilities`. None of these is required.
   *
   * @param {any} id
   * @param {any} params
   */
  #initialize(id, params = {}) {
    const { peer } = this;
    if (!isObject(params)) return peer.refuse(id, "INVALID_PARAMS", "The parameters are an object");
    if (this.#greeted) return peer.refuse(id, "ALREADY_INITIALIZED", "initialize was answered before", INVALID_REQUEST);
    if (peer.idle) peer.startAnew();
    this.#acp = typeof params.protocolVersion === "number";
    const { cancellation, elicitation } = { ...params.capabilities, ...params.clientCapabilities };
    this.#cancellable = peer.shell.cancelUndeclared ? cancellation?.request !== false : cancellation?.request === true;
    const { id: name, version, name: title } = peer.shell.app;
    const info = { name, title, version };
    const result = this.#acp ? { protocolVersion: ACP_VERSION, agentCapabilities: CAPABILITIES2, agentInfo: info, authMethods: [] } : { capabilities: CAPABILITIES2, serverInfo: info };
    this.#greeted = true;
    const answer = ({ error }) => {
      this.#greeted = !error;
      return error ? { error: rpcError(error) } : { result };
    };
    const entry = peer.begin(id, { answer });
    return peer.open(params.clientInfo, Boolean(elicitation), entry);
  }
  /**
   * @param {any} id
   * @param {any} params
   */
  #call(id, params) {
    const { peer } = this;
    if (!isObject(params)) return peer.refuse(id, "INVALID_PARAMS", "The parameters are an object {capability, params?, options?}");
    const { capability, params: given, options } = params;
    const { callId = params.callId === void 0 ? peer.shell.ids.next() : params.callId, progressToken: token, ...rest } = isObject(options) ? options : {};
    const answer = (payload) => answerCall(id, capability, payload, (error) => ({ error: rpcError(error) }), (data = null, metadata) => ({ data, ...metadata && { metadata } }));
    const canBeToken = ["undefined", "string", "number"].includes(typeof token);
    const progress = (info) => token === void 0 ? void 0 : { method: PROGRESS, params: { token, value: { ...info, operationId: token } } };
    const entry = peer.begin(id, { capability, callId, answer, progress });
    return peer.call(entry, given, isObject(options) ? { ...rest, ...!canBeToken && { progressToken: token } } : options);
  }
  /** The way to cancel a question; none if the peer must not get a cancel. The draft forbids it unless the peer has declared it. */
  cancels() {
    return this.#cancellable ? this.#acp ? "ACP v1" : "LSP 3.17" : void 0;
  }
  /** @param {any} request of the app's */
  question(request) {
    return { method: "_elicitation/request", params: request };
  }
  /** @param {any} result of a question */
  readAnswer(result) {
    return { success: true, data: result?.data };
  }
  /** @param {any} requestId @param {object} data of the notification that an abandoned call has ended */
  ended(requestId, data) {
    this.peer.notify(ENDED, { requestId, ...data });
  }
  /** There is no notification for this. */
  changed() {
  }
};

// src/web/js/json-rpc/peer.js
var MAX_IN_FLIGHT = 16384;
var OURS = ["elicitation/create", "_elicitation/request"];
var Peer = class {
  /** By the keys of their ids, which are also the ids of the messages to the host. @type {Map<unknown, Entry>} */
  #inFlight = /* @__PURE__ */ new Map();
  /** @type {Map<unknown, Entry>} */
  #byCallId = /* @__PURE__ */ new Map();
  /** The ids of requests whose calls were abandoned, by their callIds. @type {Map<unknown, any>} */
  #abandoned = /* @__PURE__ */ new Map();
  #unheard = 0;
  /** The dialect of the agent, once it is known. @type {Mcp | Own | undefined} */
  #dialect;
  /** Whether the agent has a session with the host. */
  #session = false;
  /** The error with which the host refused the agent. @type {any} */
  #refused;
  #shutDown = false;
  /**
   * @param {import('../connection.js').Connection} connection
   * @param {unknown} first the agent's first message, which shows how its messages are wrapped
   * @param {Kit} kit
   */
  constructor(connection, first, kit) {
    this.connection = connection;
    this.shell = connection.shell;
    this.frames = framing(first, (message) => connection.messenger.post(message), kit.toText);
    this.kit = kit;
  }
  // The messages of the agent.
  /** @param {unknown} raw */
  receive(raw) {
    const { size } = this.shell;
    const text = typeof raw === "string" ? raw : (
      /** @type {any} */
      raw?.payload
    );
    if (typeof text === "string" && text.length > size) return this.#refuseMessage(null, `The message is larger than ${size} characters`);
    const { message, unreadable } = this.frames.unwrap(raw);
    if (unreadable) return this.refuse(null, "INVALID_PARAMS", unreadable, PARSE_ERROR);
    if (message === void 0) return void 0;
    if (!Array.isArray(message) || !this.#dialect?.batches) return this.#receiveOne(message);
    if (!message.length || message.length > MAX_BATCH) return this.#refuseMessage(null, `A batch has 1 to ${MAX_BATCH} messages`);
    for (const one of message) this.#receiveOne(one);
    return void 0;
  }
  /** @param {any} message @returns {void} */
  #receiveOne(message) {
    const it = read(message);
    const unfit = this.kit.inspect(message, this.shell.depth + 2, this.shell.size);
    if (unfit) return it.kind === "request" || it.kind === "invalid" ? this.#refuseMessage(it.id, `The message ${unfit}`) : void 0;
    if (it.kind === "request") return this.#request(it);
    if (it.kind === "notification") return this.#notified(it);
    if (it.kind === "response") return this.#answered(it);
    return this.#refuseMessage(it.id, FAULTS[it.fault]);
  }
  /** @param {{ id: any, method: string, params: any }} request */
  #request(request) {
    const { id, method, params } = request;
    if (OURS.includes(method) && isQuestion(id)) return void 0;
    if (this.#inFlight.has(keyOf(id))) return this.#refuseMessage(id, "A request with this id is in flight");
    if (this.#shutDown) return this.#refuseMessage(id, "The session is shut down");
    if (this.#inFlight.size >= MAX_IN_FLIGHT) {
      const error = this.kit.problem("RATE_LIMITED", `${MAX_IN_FLIGHT} requests are in flight, and no more are accepted`);
      return this.fail(id, rpcError({ ...error, details: { limit: "inFlight", max: MAX_IN_FLIGHT } }));
    }
    this.#dialect ??= isMcp(method, params) ? new Mcp(this) : Own.has(method) ? new Own(this) : void 0;
    if (this.#dialect) return this.#dialect.request(request);
    return this.refuseMethod(id, method);
  }
  /** @param {{ method: string, params: any }} notification */
  #notified({ method, params }) {
    if (method === EXIT) return this.shutDown();
    const cancel = readCancel(method, params);
    const entry = cancel && this.#inFlight.get(keyOf(cancel.id));
    if (entry?.stop) return entry.stop();
    if (!entry?.callId) return void 0;
    entry.answered &&= cancel?.answered === true;
    return this.ask("capabilities/cancel", { callId: entry.callId, reason: cancel?.reason });
  }
  /** The host drops an answer that nobody waits for. @param {{ id: any, result?: any, error?: any }} response */
  #answered({ id, result, error }) {
    if (isQuestion(id)) this.connection.answer(id, error === void 0 ? this.#dialect?.readAnswer(result) : this.#readRefusal(error));
  }
  // The actions of the dialects.
  /** @param {any} id @param {string} message */
  #refuseMessage(id, message) {
    this.refuse(id, "INVALID_PARAMS", message, INVALID_REQUEST);
  }
  /** @param {any} id @param {string} method that there is not */
  refuseMethod(id, method) {
    this.refuse(id, "NOT_IMPLEMENTED", `There is no method ${JSON.stringify(method.slice(0, 64))}`, METHOD_NOT_FOUND);
  }
  /** @param {any} id @param {string} code of ABP @param {string} message @param {number} [rpcCode] */
  refuse(id, code, message, rpcCode = codeFor(code)) {
    this.fail(id, rpcError(this.kit.problem(code, message), rpcCode));
  }
  /** @param {any} id @param {import('./message.js').RpcError} error */
  fail(id, error) {
    this.frames.send({ jsonrpc: "2.0", id, error });
  }
  /** @param {any} id @param {any} result */
  succeed(id, result) {
    this.frames.send({ jsonrpc: "2.0", id, result });
  }
  /** @param {string} method @param {any} [params] */
  notify(method, params) {
    this.frames.send({ jsonrpc: "2.0", method, ...params && { params } });
  }
  /**
   * A request that waits for the host.
   *
   * @param {any} id
   * @param {Omit<Entry, 'id' | 'key' | 'answered' | 'capability'> & { capability?: string }} more
   * @returns {Entry}
   */
  begin(id, more) {
    const entry = { capability: "", ...more, id, answered: true, key: (
      /** @type {string} */
      keyOf(id)
    ) };
    this.#inFlight.set(entry.key, entry);
    if (entry.callId !== void 0 && !this.#byCallId.has(entry.callId)) this.#byCallId.set(entry.callId, entry);
    return entry;
  }
  /** @param {Entry} entry */
  end(entry) {
    this.#inFlight.delete(entry.key);
    if (this.#byCallId.get(entry.callId) === entry) this.#byCallId.delete(entry.callId);
  }
  /**
   * Passes an ABP message on to the host.
   *
   * @param {string} type
   * @param {any} payload
   * @param {string} [key] of the request that waits for the answer
   */
  ask(type, payload, key = `unheard ${this.#unheard += 1}`) {
    this.connection.receiveEnvelope({ type, id: key, timestamp: Date.now(), payload });
  }
  /**
   * Opens the agent's session with the host.
   *
   * @param {{ name?: unknown, version?: unknown } | undefined} info
   * @param {boolean} elicitation whether it answers questions
   * @param {Entry} [entry] the request that waits for it
   */
  open(info, elicitation, entry) {
    if (this.#session) {
      if (entry) this.#settle(entry, {});
      return;
    }
    this.#session = true;
    this.#refused = void 0;
    const text = (it, other) => typeof it === "string" && it ? it.slice(0, 128) : other;
    this.ask("initialize", {
      agent: { name: text(info?.name, "JSON-RPC peer"), version: text(info?.version, "unknown") },
      protocolVersion: "0.1",
      features: { notifications: true, progress: true, elicitation }
    }, entry?.key ?? "open");
  }
  /**
   * Calls a capability.
   *
   * @param {Entry} entry
   * @param {unknown} params
   * @param {any} [options]
   */
  call({ key, callId, capability }, params, options) {
    this.open(void 0, false);
    this.ask("capabilities/call", { capability, params, options, callId }, key);
  }
  /** Whether nothing is in flight. */
  get idle() {
    return this.#inFlight.size === 0;
  }
  /** Forgets the previous agent: nobody waits for the answers to its requests. */
  startAnew() {
    for (const entry of this.#inFlight.values()) {
      entry.answered = false;
      entry.stop?.();
    }
    if (this.#session) this.ask("shutdown", { reason: "The client has begun anew" });
    this.#session = false;
  }
  /** Ends the session: no further requests are allowed. @param {Entry} [entry] the request that waits for it */
  shutDown(entry) {
    this.#shutDown = true;
    if (this.#session) this.ask("shutdown", { reason: "The session is shut down" }, entry?.key);
    else if (entry) this.#settle(entry, {});
    this.#session = false;
  }
  // The messages of the host.
  /** @param {import('../connection.js').Envelope} envelope */
  post({ type, id, payload }) {
    const entry = this.#inFlight.get(id);
    if (type === "initialize-result" && payload.error) {
      this.#session = false;
      this.#refused = payload.error;
    }
    if (entry) this.#settle(entry, payload);
    else if (type === "progress") this.#progress(payload);
    else if (type === "elicitation/request") this.#question(id, payload);
    else if (type === "notification") this.#receiveEvent(payload.event, payload.data);
  }
  /**
   * @param {Entry} entry
   * @param {any} payload
   */
  #settle(entry, payload) {
    const error = payload.error?.code === "NOT_INITIALIZED" && this.#refused;
    if (payload.metadata?.stop === "abandoned") this.#abandon(entry);
    if (entry.answered) this.frames.send({ jsonrpc: "2.0", id: entry.id, ...entry.answer(error ? { ...payload, error } : payload) });
    this.end(entry);
  }
  /** The end of its handler will be reported later. @param {Entry} entry */
  #abandon({ callId, id }) {
    this.#abandoned.set(callId, id);
    const [oldest] = this.#abandoned.keys();
    if (this.#abandoned.size > MAX_IN_FLIGHT) this.#abandoned.delete(oldest);
  }
  /** @param {any} data */
  #ended(data) {
    const id = this.#abandoned.get(data.callId);
    if (this.#abandoned.delete(data.callId)) this.#dialect?.ended(id, data);
  }
  /** @param {any} info a ProgressInfo */
  #progress(info) {
    const entry = this.#byCallId.get(info.operationId);
    const said = entry?.answered ? entry.progress?.(info) : void 0;
    if (said) this.notify(said.method, said.params);
  }
  /** @param {unknown} id @param {any} request */
  #question(id, request) {
    const { method, params } = (
      /** @type {Mcp | Own} */
      this.#dialect.question(request)
    );
    this.frames.send({ jsonrpc: "2.0", id, method, params });
  }
  /** @param {string} event @param {any} data */
  #receiveEvent(event, data) {
    if (event === ELICITATION_WITHDRAWN) {
      const way = this.#dialect?.cancels();
      if (!way) return;
      const { method, params } = writeCancel(way, data.id, "The question needs no answer any more");
      this.notify(method, params);
    } else if (event === CALL_ENDED) this.#ended(data);
    else if (event === CAPABILITIES_CHANGED) this.#dialect?.changed();
    else if (event === HOST_CLOSED) this.#hostGone();
  }
  /** Nobody answers any more. */
  #hostGone() {
    for (const entry of [...this.#inFlight.values()]) {
      this.#settle(entry, { error: this.kit.problem("DISCONNECTED", "The host is going away") });
    }
    this.frames.stop();
  }
  /** An error as an answer: the agent has cancelled the question, or cannot answer it. @param {any} error */
  #readRefusal(error) {
    if (error?.code === CANCELLED) return { success: false, cancelled: true, metadata: { stop: "abandoned" } };
    const code = error?.data?.code ?? (error?.code === METHOD_NOT_FOUND ? "NOT_SUPPORTED" : "OPERATION_FAILED");
    const message = typeof error?.message === "string" ? error.message : "The agent did not answer the question";
    return { success: false, error: this.kit.problem(code, message) };
  }
};
var isQuestion = (id) => typeof id === "string" && /^elicitation-\d+$/.test(id);
export {
  Peer
};
