import type { AgreesWith, Call, DataGiven, NameOf, ParamsGiven, Schema } from './capabilities.js';
import type {
  ABPError,
  ABPResponse,
  AgentInfo,
  AppInfo,
  CallEnded,
  CancelResponse,
  Capability,
  ChildCallOptions,
  Manifest,
  Messenger,
  ProgressInfo,
  Requirement,
} from './types.js';

export type * from './capabilities.js';
export type * from './types.js';
export { CapHostError } from './types.js';

export interface HostOptions {
  /**
   * Milliseconds in which an agent over a window, a port or a worker is noticed to be gone, if its
   * calls are in flight and it has announced how it shows that it lives, as agents of this package
   * do. `Infinity` for never. Default 30 000.
   */
  liveness?: number | undefined;
  /** Who the app is. `id` names it to a gateway; all three are strings of 1 to 256 characters. */
  app: AppInfo;
  /** Ended calls remembered per session. A cancel that comes later finds nothing. Default 10 000. */
  maxRemembered?: number | undefined;
  /** Calls in flight per session; more are refused with RATE_LIMITED. Default 16 384. */
  maxInFlight?: number | undefined;
  /**
   * Bytes that the calls in flight of a session take, about. Once they take so many, more calls are
   * refused with RATE_LIMITED; the last one may exceed it. Binary data counts, each buffer once.
   * Default 67 108 864.
   */
  maxInFlightBytes?: number | undefined;
  /**
   * Sessions open at once. Default 1 000. One origin's windows, one window and one gateway have a share
   * of them, so that none locks out the others.
   */
  maxSessions?: number | undefined;
  /** Requests per second and session, with a burst of the same size. Default 100 000. */
  maxRequestsPerSecond?: number | undefined;
  /** Characters in one message; binary data is not counted. Default 16 777 216. */
  maxMessageBytes?: number | undefined;
  /** Levels of nesting in parameters and data. Default 128. */
  maxDepth?: number | undefined;
  /**
   * Milliseconds that a handler is given to end once its signal has fired. The answer to the cancel
   * waits for its end that long and no longer; 0 answers at once. Default 50. Agents wait for an
   * answer 5 s (their `grace`), and say `TIMEOUT` of a cancel that takes longer.
   */
  settleGrace?: number | undefined;
  /**
   * Whether a JSON-RPC agent (ACP or LSP style) that has not declared `cancellation: { request: true }`
   * is told all the same, with `$/cancel_request` or `$/cancelRequest`, that a question of the app's
   * needs no answer any more. ACP's draft forbids it. Default false.
   */
  cancelUndeclared?: boolean | undefined;
}

/** What an agent is told of a capability, and how many calls of it may run at once. */
export interface CapabilityOptions<Input extends Schema = Schema, Output extends Schema = Schema> {
  description?: string | undefined;
  /**
   * JSON Schema (2020-12, or draft-07 with its `$schema`) of the parameters, which are checked before the
   * handler runs. One that makes no sense is refused, and so is one with a reference that leads nowhere.
   */
  inputSchema?: Input | undefined;
  /**
   * JSON Schema of the data, for agents to read. A value of a library that speaks Standard Schema parses
   * what the handler returns; an answer that does not fit fails the call with OPERATION_FAILED.
   */
  outputSchema?: Output | undefined;
  /**
   * Calls that may run at once, from 1; the others wait and can be cancelled meanwhile. One that a call of
   * the same capability has made, however indirectly, counts with that and does not wait: it would do so
   * for ever. Default: any number.
   */
  concurrency?: number | undefined;
  /** Milliseconds that its handler is given to end once it was told to stop. Default: the host's. */
  settleGrace?: number | undefined;
  /** Take the place of a capability of the same name, whose calls that were accepted before still run. */
  replace?: boolean | undefined;
  /** Default true. */
  available?: boolean | undefined;
  requirements?: Requirement[] | undefined;
  features?: object | undefined;
  experimental?: boolean | undefined;
  deprecated?: boolean | undefined;
  deprecationMessage?: string | undefined;
  alternatives?: string[] | undefined;
}

/**
 * What a handler is given for one call. Its methods need no `this`. Take its members by their names:
 * most are made when they are asked for, so `{ ...context }` and `{ callId, ...rest }` leave them out.
 */
export interface CallContext<Caps = any> {
  /** Unique in the agent's session. */
  readonly callId: string;
  /** Fires when the call is cancelled; its reason is an AbortError with the agent's text. */
  readonly signal: AbortSignal;
  /**
   * Tells the agent how far the call is, if it asked. The host adds `operationId`, and `percentage` where it can.
   * Past the first 256 of a call it passes on the newest, once in 16 ms, and always the last. One that
   * could not be sent as data is dropped, with a warning in the console.
   */
  progress(info: Omit<ProgressInfo, 'operationId'>): void;
  /**
   * Calls another capability of this host as a child: it is cancelled with this call. Never rejects.
   */
  readonly call: Call<Caps, ChildCallOptions>;
  /**
   * Asks the agent. The question is withdrawn when the call is cancelled.
   *
   * @param request for the agent to understand; its `timeout`, if it has one, is milliseconds
   */
  elicit<Data = unknown>(request: object): Promise<ABPResponse<Data>>;
  /**
   * Gives objects away: they are moved with the data rather than copied, such as the ArrayBuffers in
   * it, where the transport can do that. What is not given away stays the app's own, whatever the
   * agent asks for. What cannot be moved is copied.
   */
  transfer(...objects: readonly object[]): void;
}

/**
 * What a handler in a worker is given for one call. Its functions need no `this`. Progress is passed
 * on once in a frame, the latest each time.
 */
export interface WorkerContext<Caps = any> extends CallContext<Caps> {
  /**
   * Whether the call is to stop; whoever is told so shall end. Where the page is cross-origin
   * isolated it costs some nanoseconds and is true at once, also for a handler that computes without
   * awaiting. Elsewhere it is true once the handler has let the worker's event loop turn.
   */
  cancelled(): boolean;
}

/** The default export of a worker's module. It may compute for as long as it likes without awaiting. */
export type WorkerHandler<Params = any, Data = unknown, Caps = any> = (params: Params, context: WorkerContext<Caps>) => Data | Promise<Data>;

/**
 * The handler of a capability in a map that runs in a worker. With the types of its schemas, as in
 * `WorkerHandlerOf<Caps, 'text.words', typeof inputSchema>`, it is given what these make of the
 * parameters. One whose data `finish` makes into others is a `WorkerHandler` with types of its own.
 */
export type WorkerHandlerOf<Caps, Name extends keyof Caps & string, Input = object, Output = object> =
  WorkerHandler<ParamsGiven<Caps, Name, Input>, DataGiven<Caps, Name, Output>, Caps>;

/** @typeParam Data what `finish` makes */
export interface WorkerOptions<Data = unknown, Caps = any> {
  /**
   * Milliseconds that the handler is given to end once it was told to stop; then its worker is
   * terminated. Default: the host's. The proof of its end may take 2.5 s more.
   */
  settleGrace?: number | undefined;
  /** Workers of the module that are kept, 1 to 64, and, unless the description says otherwise, calls that may run at once. Default 2. */
  pool?: number | undefined;
  /** Whether one worker more is kept in reserve, so that no call waits for one to start. Default true. */
  warm?: boolean | undefined;
  /**
   * `module`: the handler is the default export, or the global `handler`. `classic`: a script that sets the global `handler`.
   * `wasm`: the glue of `wasm-bindgen --target web`, whose Rust serves the capability. Default `module`.
   */
  type?: 'module' | 'classic' | 'wasm' | undefined;
  /**
   * Where `worker.js` of this package is, for a bundler that does not follow `new URL(…, import.meta.url)`;
   * a `TrustedScriptURL` for a page that requires one.
   */
  script?: string | URL | { toString(): string; toJSON(): string } | undefined;
  /**
   * Runs in the page, and makes the data of what the handler has returned: for what only a page can
   * make, or what would end with the worker, such as the URL of a Blob. What it throws is the call's error.
   * It does not run for a call that was told to stop. The `signal` of its context fires when the call is cancelled.
   */
  finish?: ((data: any, context: CallContext<Caps>) => Data | Promise<Data>) | undefined;
}

/**
 * What a capability does. It returns data that can be cloned, or a promise of it. What it throws is
 * the call's error: a string `code` of at most 128 characters is kept, anything without one becomes
 * OPERATION_FAILED. The code CANCELLED says that it stopped by itself.
 *
 * A handler that takes its `signal` is told of a cancel; whatever it does then, its call is
 * cancelled, and `returned` when it settles in time. One that never asks, makes no call and puts no
 * question, and that returns within the settle grace, has completed all the same.
 */
export type Handler<Params = any, Data = unknown, Caps = any> = (params: Params, context: CallContext<Caps>) => Data | Promise<Data>;

/**
 * The handler of a capability in a map. With the types of its schemas, as in
 * `HandlerOf<Caps, 'text.words', typeof inputSchema>`, it is given what these make of the parameters.
 */
export type HandlerOf<Caps, Name extends keyof Caps & string, Input = object, Output = object> =
  Handler<ParamsGiven<Caps, Name, Input>, DataGiven<Caps, Name, Output>, Caps>;

/**
 * Everything that happens on a host, in order; that capabilities have changed is said once for all
 * of a turn, at its end. `time` is Unix milliseconds.
 */
export type HostEvent =
  | CallEvent
  | { type: 'progress'; time: number; callId: string; sessionId: string; info: ProgressInfo }
  /**
   * The call is asked to stop, by a cancel, by its timeout, or because its session or its parent has
   * ended. It has not stopped: `cancelled` says that later, and a handler that did not listen may
   * still complete. Once a call at most; a call that ends at once has no such event.
   */
  | { type: 'cancelling'; time: number; callId: string; sessionId: string; reason?: string }
  /** The answer to a cancel. */
  | { type: 'cancel'; time: number; callId: string; sessionId: string; response: CancelResponse; reason?: string }
  /** The handler of an abandoned call has ended. */
  | ({ type: 'ended'; time: number; sessionId: string } & CallEnded)
  | { type: 'session'; time: number; state: 'open' | 'closed'; sessionId: string; agent: AgentInfo }
  | { type: 'gateway'; time: number; state: 'connecting'; url: string }
  /** `error`: it could not be connected to. */
  | { type: 'gateway'; time: number; state: 'disconnected'; url: string; error?: ABPError }
  /** `resumed`: the connection before was lost, and its agents and their calls go on over this one. */
  | { type: 'gateway'; time: number; state: 'connected'; url: string; resumed?: true }
  | { type: 'gateway'; time: number; state: 'refused'; url: string; error?: ABPError }
  /** It is connected still, and new sessions go to another connection that has registered the same app id. */
  | { type: 'gateway'; time: number; state: 'superseded'; url: string }
  /** Capabilities were registered or unregistered: once for all of a turn of the event loop. */
  | { type: 'capabilities'; time: number };

export interface CallEventBase {
  type: 'call';
  time: number;
  callId: string;
  capability: string;
  sessionId: string;
  /** Of a call made by another call's handler. */
  parentCallId?: string;
}

/** A step in the life of a call. */
export type CallEvent =
  | (CallEventBase & { state: 'queued'; params: any })
  | (CallEventBase & { state: 'running' })
  | (CallEventBase & { state: 'completed' | 'failed' | 'cancelled'; response: ABPResponse; reason?: string });

/** What a host holds, and what it has counted. */
export interface HostStats {
  /** Calls not settled yet. */
  inFlight: number;
  sessions: number;
  /** Questions without an answer. */
  elicitations: number;
  /** Futures of capabilities written in Rust. */
  tasks: number;
  /** Contexts of running JavaScript handlers. */
  contexts: number;
  /** Calls accepted so far. */
  calls: number;
  cancelled: number;
  /** Results of handlers that came after their call had ended, and were dropped. */
  lateResults: number;
  /** Abandoned calls that have ended since. */
  endedLate: number;
  lateProgress: number;
}

export interface CancelOptions {
  /** Who wants it, for the reason. Default `app`. */
  by?: 'app' | 'user' | (string & {}) | undefined;
  /** For logs and the handler. Default `Stopped by the …`. */
  reason?: string | undefined;
  /** Whose call it is. */
  sessionId?: string | undefined;
}

export interface GatewayOptions {
  /** A bearer token with the role app. */
  token?: string | undefined;
  /** The constructor to use. Default: the platform's own. */
  WebSocket?: (new (url: string) => any) | undefined;
}

/**
 * A page's, or worker's, capabilities and the sessions of the agents that call them.
 *
 * @typeParam Caps what it offers, as a map of names to functions; `any` for whatever is registered
 */
export interface Host<Caps = any> {
  readonly app: AppInfo;

  /**
   * Offers a capability. Parameters and data are those of the map, or of the schemas, if these have
   * types; a schema must agree with the map.
   *
   * @returns takes this capability away again; false when it is gone already
   * @throws an Error with the code INVALID_PARAMS: the name is taken, or the description is invalid
   */
  register<Name extends keyof Caps & string, Input extends Schema = object, Output extends Schema = object>(
    name: Name,
    options: CapabilityOptions<Input, Output> & AgreesWith<Caps, Name, Input, Output> | undefined,
    handler: HandlerOf<Caps, Name, Input, Output>,
  ): () => boolean;
  /**
   * Offers a capability that runs in dedicated workers: it may compute without ever awaiting, and a
   * call of it that will not stop is ended, which its `stop: 'terminated'` says once it is proven.
   * Its handler is a `WorkerHandlerOf<Caps, Name>`.
   *
   * @param module the URL of the module whose default export is the handler; relative to the page. A
   *   page that requires Trusted Types gives a `TrustedScriptURL`
   * @returns takes this capability away again; false when it is gone already
   * @throws an Error with the code INVALID_PARAMS: the name is taken, or an option is invalid
   */
  registerWorker<Name extends keyof Caps & string, Input extends Schema = object, Output extends Schema = object>(
    name: Name,
    options: CapabilityOptions<Input, Output> & AgreesWith<Caps, Name, Input, Output> | undefined,
    module: string | URL | { toString(): string; toJSON(): string },
    worker?: WorkerOptions<DataGiven<Caps, Name, Output>, Caps>,
  ): () => boolean;
  /** Takes a capability away; calls accepted before still run. False when there is none. */
  unregister(name: keyof Caps & string): boolean;

  /**
   * Puts `abp` on the window, or on another object. An object has one host at a time, whichever copy of
   * this package that comes from; with `replace` this one takes its place: whoever has the `abp` of
   * before keeps its session, and its calls go on. With `webmcp` the capabilities are tools of the
   * browser as well (`document.modelContext`), where it has such a thing.
   */
  expose(target?: object, options?: { webmcp?: boolean | undefined; replace?: boolean | undefined }): void;
  /**
   * Serves agents that post messages to this window, from these origins. Default: the page's own.
   * They speak ABP or JSON-RPC 2.0 (MCP, also in the envelope of `@mcp-b/transports`; ACP or LSP style).
   * Agents of `'null'`, the origin of sandboxes, are heard only over a MessagePort that comes with
   * their `initialize`, as those of this package bring it. An origin that is not heard is told of once in the console.
   *
   * @param options `replace`: instead of the host that serves them so far
   * @returns stops it, and ends their sessions
   * @throws an Error with the code INVALID_PARAMS: one is no origin, or they are served already
   */
  acceptMessages(options?: { allowedOrigins?: readonly string[] | undefined; replace?: boolean | undefined }): () => void;
  /**
   * Serves an agent behind a MessagePort, a Worker of a browser or of Node, the inside of a worker, or an
   * extension's port. It speaks ABP or JSON-RPC 2.0 (MCP, ACP or LSP style). After a shutdown it may open another session.
   *
   * @param options `replace`: instead of the host that serves it so far
   * @returns lets go of the port: ends its session, cancels what is in flight, and leaves the port to its owner
   * @throws an Error with the code INVALID_PARAMS: it is no port, such as a window, for which there is
   *   `acceptMessages`; or it is served already
   */
  acceptPort(port: { postMessage(message: any, transfer?: any): void }, options?: { replace?: boolean | undefined }): () => void;
  /**
   * Serves an agent behind a transport of one's own. Its other end is for `connect` of `caphost/agent`.
   * After a shutdown the agent may open another session over it.
   *
   * @returns ends its session, cancels what is in flight, and closes the messenger
   */
  accept(messenger: Messenger): () => void;
  /**
   * Connects to a gateway, and again whenever the connection is lost. See the `gateway` events.
   *
   * Calls go on while the connection is lost. If it is back within the gateway's grace time (5 s
   * unless told otherwise) nobody has missed anything; if not, the calls are cancelled here, and
   * their agents are told `DISCONNECTED`.
   */
  connectGateway(url: string | URL, options?: GatewayOptions): void;
  /** Ends every session: what is in flight is cancelled and answered. */
  close(): void;
  /** Closes the host, at the end of the block that has it by `await using`. */
  [Symbol.asyncDispose](): Promise<void>;

  /** The ABP manifest of what is registered, as served at `/abp.json`. */
  manifest(): Manifest;
  /** The Capability objects of what is registered: frozen, for they are also what agents get. */
  documents(): Capability[];
  /** Tells every agent that takes notifications. */
  notify(event: string, data?: unknown): void;
  /** The app itself cancels an agent's call. Never rejects. */
  cancelCall(sessionId: string, callId: string, reason?: string): Promise<CancelResponse>;
  /**
   * The same on somebody's behalf: `host.cancel(callId, { by: 'user' })`. Never rejects.
   *
   * A callId is unique in its session. Without a `sessionId` it is the first session that knows it.
   */
  cancel(callId: string, options?: CancelOptions): Promise<CancelResponse>;
  /** Calls the listener with every event, in order, in a job of its own after the answers. Returns what stops it. */
  observe(listener: (event: HostEvent) => void): () => void;
  stats(): HostStats;
}

/**
 * Makes a host. Loads the wasm module first, once for all.
 *
 * @throws an Error with the code INVALID_PARAMS for options that make no sense
 */
export function createHost<Caps = any>(options: HostOptions): Promise<Host<Caps>>;
