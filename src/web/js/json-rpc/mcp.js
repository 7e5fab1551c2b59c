/**
 * MCP: 2024-11-05 to 2025-11-25, with `initialize`, and 2026-07-28, without it. The gateway's `/mcp`
 * does the same.
 */
import { CALL_ENDED } from './events.js';
import { INVALID_PARAMS, INVALID_REQUEST, UNSUPPORTED_VERSION } from './codes.js';
import { answerCall, isObject, rpcError } from './message.js';
import { done, failed, inMeta, progressReader } from './result.js';
import { outputSchema } from './tool-schemas.js';
import { findTool, tools } from './tools.js';
import { VERSIONS } from './versions.js';

/** The newest version with `initialize`, and the version without it. @type {any} */
const [LEGACY, MODERN] = VERSIONS.slice(-2);
const NAMES = VERSIONS.map(({ name }) => name);

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

const CHANGED = 'notifications/tools/list_changed';
const LOG = 'notifications/message';
/** `logging` is for the ends of abandoned calls. */
const CAPABILITIES = { logging: {}, tools: { listChanged: true } };
/** For lists, which may change at any time. */
const NOT_CACHED = { ttlMs: 0, cacheScope: 'private' };

const METHODS = ['ping', 'server/discover', 'tools/list', 'tools/call', 'subscriptions/listen'];

/**
 * Whether a request is a request of MCP: other protocols have an `initialize` of another shape.
 *
 * @param {string} method
 * @param {any} params
 */
export const isMcp = (method, params) =>
  METHODS.includes(method) || params?._meta?.[VERSION] !== undefined || (method === 'initialize' && typeof params?.protocolVersion === 'string');

export class Mcp {
  /** The version that `initialize` has agreed on. @type {typeof VERSIONS[number] | undefined} */
  #version;
  /** The requests that listen for changes. @type {Set<import('./peer.js').Entry>} */
  #listening = new Set();

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
    const fit = typeof id === 'string' || Number.isInteger(id);
    if (!fit) return peer.refuse(null, 'INVALID_PARAMS', '`id` must be a string or an integer', INVALID_REQUEST);
    const version = params._meta?.[VERSION];
    const modern = version !== undefined;
    if (modern && typeof version !== 'string') return this.#badParams(id, method);
    if (modern && version !== MODERN.name) {
      const requested = version.slice(0, 64);
      const data = { supported: NAMES, requested };
      return peer.fail(id, { code: UNSUPPORTED_VERSION, message: `Unsupported protocol version: ${requested}`, data });
    }
    const succeed = (/** @type {object} */ result, /** @type {object} */ more = {}) =>
      peer.succeed(id, modern ? { resultType: 'complete', ...more, ...result } : result);
    if (isMcp(method, params) && !isObject(params)) return this.#badParams(id, method);
    if (method === 'initialize' && !modern) return this.#initialize(id, params);
    if (method === 'ping') return succeed({});
    // There is only one kind of log message, and its level is never too low.
    if (method === 'logging/setLevel' && !modern) return succeed({});
    if (method === 'server/discover' && modern) return succeed(this.#discovery(), NOT_CACHED);
    if (method === 'tools/list') return this.#list(id, params, modern, (result) => succeed(result, NOT_CACHED));
    if (method === 'tools/call') return this.#call(id, params, modern);
    if (method === 'subscriptions/listen' && modern) return this.#listen(id, params);
    return peer.refuseMethod(id, method);
  }

  /** @param {any} id @param {string} method */
  #badParams(id, method) {
    this.peer.fail(id, { code: INVALID_PARAMS, message: `The parameters are not those of ${method}` });
  }

  /** The parts of a result that the client of a request can read. @param {boolean} modern */
  #readable(modern) {
    return modern ? MODERN : (this.#version ?? LEGACY);
  }

  /** The app's description of itself. @param {typeof VERSIONS[number]} version */
  #introduction({ structure }) {
    const { id: name, name: title, version, description } = this.peer.shell.app;
    return { info: { name, ...(structure && { title }), version }, more: description === undefined ? {} : { instructions: description } };
  }

  /** Answers with the requested version, if we support it. A client that starts again has lost its earlier requests. @param {any} id @param {any} params */
  #initialize(id, params) {
    const { peer } = this;
    if (typeof params.protocolVersion !== 'string') return this.#badParams(id, 'initialize');
    if (this.#version || peer.idle) peer.startAnew();
    const version = VERSIONS.find(({ name, sessions }) => sessions && name === params.protocolVersion) ?? LEGACY;
    this.#version = version;
    const { info, more } = this.#introduction(version);
    const result = { protocolVersion: version.name, capabilities: CAPABILITIES, serverInfo: info, ...more };
    const entry = peer.begin(id, { answer: ({ error }) => (error ? { error: rpcError(error) } : { result }) });
    const elicitation = params.capabilities?.elicitation;
    // A client that only opens addresses has no form to fill in.
    return peer.open(params.clientInfo, Boolean(elicitation && (elicitation.form || !elicitation.url)), entry);
  }

  #discovery() {
    const { info, more } = this.#introduction(MODERN);
    return { supportedVersions: NAMES, capabilities: CAPABILITIES, ...more, _meta: { [SERVER_INFO]: info } };
  }

  /** Lists all tools at once, as few clients ask for a second page. @param {any} id @param {any} params @param {boolean} modern @param {(result: object) => void} succeed */
  #list(id, { cursor }, modern, succeed) {
    if (cursor != null) return this.peer.fail(id, { code: INVALID_PARAMS, message: 'Invalid cursor: all tools are on the first page' });
    return succeed({ tools: tools(this.peer.shell.capabilities.documents(), this.#readable(modern)) });
  }

  /** @param {any} id @param {any} params @param {boolean} modern */
  #call(id, params, modern) {
    const { peer } = this;
    const { name, arguments: given = {}, _meta } = params;
    if (typeof name !== 'string' || !isObject(given)) return this.#badParams(id, 'tools/call');
    const found = findTool(peer.shell.capabilities.documents(), name, peer.shell.rust);
    if (typeof found === 'string') return peer.fail(id, { code: INVALID_PARAMS, message: found });
    const version = this.#readable(modern);
    const promised = version.structure && outputSchema(found.outputSchema) !== undefined;
    const callId = peer.shell.ids.next();
    const wrap = (/** @type {any} */ result) => (modern ? { resultType: 'complete', ...result } : result);
    const answer = (/** @type {any} */ payload) => {
      const { error, result } = answerCall(id, found.name, payload, (error) => ({ result: wrap(failed(error)) }), (data, metadata) => {
        // As in JSON: bytes are base64.
        const plain = data === undefined ? undefined : JSON.parse(peer.kit.toText(data));
        return wrap(done(plain, metadata, promised, version, callId, peer.kit.toText));
      });
      // The same text as that of the cancellation API.
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
    if (!isObject(notifications)) return this.#badParams(id, 'subscriptions/listen');
    const about = { [SUBSCRIPTION]: id };
    const entry = this.peer.begin(id, {
      answer: () => ({ result: { resultType: 'complete', _meta: about } }),
      stop: () => {
        this.#listening.delete(entry);
        this.peer.end(entry);
      },
    });
    const wanted = notifications.toolsListChanged === true;
    if (wanted) this.#listening.add(entry);
    this.peer.open(_meta?.[CLIENT_INFO], false);
    return this.peer.notify('notifications/subscriptions/acknowledged', {
      _meta: about,
      notifications: wanted ? { toolsListChanged: true } : {},
    });
  }

  /** The way to cancel a question. */
  cancels() {
    return 'MCP 2025-11-25';
  }

  /** @param {any} request a question of the app; MCP gets the members it needs, with an empty schema if there is none */
  question({ message, title, requestedSchema, schema }) {
    return {
      method: 'elicitation/create',
      params: {
        message: String(message ?? title ?? 'The app asks'),
        requestedSchema: requestedSchema ?? schema ?? { type: 'object', properties: {} },
      },
    };
  }

  /** @param {any} result of a question */
  readAnswer(result) {
    if (result?.action === 'accept') return { success: true, data: result.content ?? {} };
    if (result?.action === 'cancel') return { success: false, cancelled: true, metadata: { stop: 'abandoned' } };
    return { success: false, error: this.peer.kit.problem('PERMISSION_DENIED', 'The user has declined') };
  }

  /** @param {any} requestId @param {object} data of the notification that an abandoned call has ended */
  ended(requestId, data) {
    this.peer.notify(LOG, { level: 'notice', logger: 'caphost', data: { event: CALL_ENDED, requestId, ...data } });
  }

  /** The set of tools has changed. */
  changed() {
    if (this.#version) this.peer.notify(CHANGED);
    for (const { id } of this.#listening) this.peer.notify(CHANGED, { _meta: { [SUBSCRIPTION]: id } });
  }
}
