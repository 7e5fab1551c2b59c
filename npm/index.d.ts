import type { AgreesWith, Call, DataGiven, NameOf, ParamsGiven, Schema } from './capabilities.js';
import type {
  ABPError,
  ABPResponse,
  AgentInfo,
  Annotations,
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
   * Milliseconds after which the host notices that an agent over a window, a port or a worker is gone. This
   * applies if calls of the agent are in flight, and if the agent has announced how it gives signs of life,
   * as agents of this package do. `Infinity` for never. Default 30 000.
   */
  liveness?: number | undefined;
  /** The app's description of itself. `id` names the app to a gateway. All three strings have 1 to 256 characters. */
  app: AppInfo;
  /** Ended calls that are remembered per session. A cancel of a forgotten call finds nothing. Default 10 000. */
  maxRemembered?: number | undefined;
  /** Calls in flight per session. Further calls are refused with RATE_LIMITED. Default 16 384. */
  maxInFlight?: number | undefined;
  /**
   * Approximate bytes of the calls in flight of a session. Once this is reached, further calls are refused
   * with RATE_LIMITED; the last accepted call may exceed it. Binary data counts, each buffer once. Default
   * 67 108 864.
   */
  maxInFlightBytes?: number | undefined;
  /**
   * Sessions open at once. Default 1 000. The windows of one origin, one window, and one gateway each have
   * a share of them, so that no agent locks out the others.
   */
  maxSessions?: number | undefined;
  /** Requests per second and session. A burst may have the same size. Default 100 000. */
  maxRequestsPerSecond?: number | undefined;
  /** Characters in one message; binary data is not counted. Default 16 777 216. */
  maxMessageBytes?: number | undefined;
  /** Levels of nesting in parameters and data. Default 128. */
  maxDepth?: number | undefined;
  /**
   * Milliseconds that a handler has to end once its signal has fired. The answer to the cancel waits for
   * the handler no longer than that. 0 answers at once. Default 50. Agents wait 5 s for an answer (their
   * `grace`), and report `TIMEOUT` for a cancel that takes longer.
   */
  settleGrace?: number | undefined;
  /**
   * Whether a JSON-RPC agent (ACP or LSP style) is told, with `$/cancel_request` or `$/cancelRequest`, that
   * a question of the app no longer needs an answer, even if the agent has not declared `cancellation: {
   * request: true }`. ACP's draft forbids this. Default false.
   */
  cancelUndeclared?: boolean | undefined;
}

/** The description of a capability for agents, and the number of its calls that may run at once. */
export interface CapabilityOptions<Input extends Schema = Schema, Output extends Schema = Schema> {
  /** The name for people, such as `Export as PDF`: MCP clients and `<cap-activity>` show it. */
  title?: string | undefined;
  /** Hints for agents and their users on what a call does. */
  annotations?: Annotations | undefined;
  /**
   * Each call waits until a person allows it, and only then starts: `always`, or `destructive` if the hints
   * do not say `readOnlyHint: true` or `destructiveHint: false`. The app asks if it shows an interface for
   * that, such as `<cap-activity>`, else the agent that has called. Default: no call waits.
   */
  confirm?: 'always' | 'destructive' | undefined;
  /** What the capability does, by which agents choose. */
  description?: string | undefined;
  /**
   * JSON Schema (2020-12, or draft-07 with its `$schema`) of the parameters. The parameters are checked
   * before the handler runs. `register` refuses an invalid schema, and a reference that leads nowhere.
   */
  inputSchema?: Input | undefined;
  /**
   * JSON Schema of the data, for agents to read. A schema of a library that implements Standard Schema also
   * parses the handler's return value; a value that does not fit fails the call with OPERATION_FAILED.
   */
  outputSchema?: Output | undefined;
  /**
   * Calls that may run at once, at least 1. The others wait, and can be cancelled meanwhile. A call that
   * was made, directly or indirectly, by a call of the same capability counts as a part of that call and
   * does not wait: it would wait forever. Default: any number.
   */
  concurrency?: number | undefined;
  /** Milliseconds that the handler has to end once it was told to stop. Default: the host's. */
  settleGrace?: number | undefined;
  /** Replace a capability of the same name. Calls that the old capability has already accepted still run. */
  replace?: boolean | undefined;
  /** Whether the capability can be used right now. Default true. */
  available?: boolean | undefined;
  requirements?: Requirement[] | undefined;
  features?: object | undefined;
  experimental?: boolean | undefined;
  deprecated?: boolean | undefined;
  deprecationMessage?: string | undefined;
  alternatives?: string[] | undefined;
}

/**
 * The context of one call, for its handler. Its methods need no `this`. Take its members by their names:
 * most members are created on first use, so `{ ...context }` and `{ callId, ...rest }` leave them out.
 */
export interface CallContext<Caps = any> {
  /** The call's id, unique in the agent's session. */
  readonly callId: string;
  /** Fires when the call is cancelled. Its reason is an AbortError with the agent's text. */
  readonly signal: AbortSignal;
  /**
   * Tells the agent the progress of the call, if the agent asked for it. The host adds `operationId`, and
   * `percentage` where it can. After the first 256 updates of a call, the host passes on only the newest
   * update, once in 16 ms, and always the last update. An update that cannot be sent as data is dropped,
   * with a warning in the console.
   */
  progress(info: Omit<ProgressInfo, 'operationId'>): void;
  /**
   * Calls another capability of this host as a child call, which is cancelled with this call. Never
   * rejects.
   */
  readonly call: Call<Caps, ChildCallOptions>;
  /**
   * Asks the agent a question. The question is withdrawn when the call is cancelled.
   *
   * @param request any object that the agent understands; its `timeout`, if it has one, is in milliseconds
   */
  elicit<Data = unknown>(request: object): Promise<ABPResponse<Data>>;
  /**
   * Gives objects away, such as the ArrayBuffers in the data: they are moved with the data instead of
   * copied, if the transport can move objects. Other objects stay the app's own, even if the agent asks for
   * a transfer. An object that cannot be moved is copied.
   */
  transfer(...objects: readonly object[]): void;
}

/**
 * The context of one call, for its handler in a worker. Its functions need no `this`. Progress is passed on
 * once in a frame, the latest update each time.
 */
export interface WorkerContext<Caps = any> extends CallContext<Caps> {
  /**
   * Whether the call must stop. A handler that gets `true` should end. If the page is cross-origin
   * isolated, the check costs a few nanoseconds and sees the cancel at once, even in a handler that
   * computes without awaiting. Otherwise it sees the cancel once the handler has let the worker's event
   * loop run.
   */
  cancelled(): boolean;
}

/** The default export of a worker's module. It may compute for any time without awaiting. */
export type WorkerHandler<Params = any, Data = unknown, Caps = any> = (params: Params, context: WorkerContext<Caps>) => Data | Promise<Data>;

/**
 * The handler of a capability in a map that runs in a worker. With the types of the schemas, as in
 * `WorkerHandlerOf<Caps, 'text.words', typeof inputSchema>`, the handler gets the parsed parameters. If
 * `finish` changes the data, use a `WorkerHandler` with types of its own instead.
 */
export type WorkerHandlerOf<Caps, Name extends keyof Caps & string, Input = object, Output = object> =
  WorkerHandler<ParamsGiven<Caps, Name, Input>, DataGiven<Caps, Name, Output>, Caps>;

/** @typeParam Data the result of `finish` */
export interface WorkerOptions<Data = unknown, Caps = any> {
  /**
   * Milliseconds that the handler has to end once it was told to stop. After that its worker is terminated.
   * Default: the host's. The proof of the worker's end may take another 2.5 s.
   */
  settleGrace?: number | undefined;
  /** How many workers of the module are kept, 1 to 64. Also the calls that may run at once, unless `concurrency` says otherwise. Default 2. */
  pool?: number | undefined;
  /** Whether one more worker is kept in reserve, so that no call waits for a worker to start. Default true. */
  warm?: boolean | undefined;
  /**
   * `module`: the handler is the default export, or the global `handler`. `classic`: a script that sets the global `handler`.
   * `wasm`: the glue of `wasm-bindgen --target web`, whose Rust serves the capability. Default `module`.
   */
  type?: 'module' | 'classic' | 'wasm' | undefined;
  /**
   * The URL of this package's `worker.js`, for a bundler that does not follow `new URL(…,
   * import.meta.url)`; a `TrustedScriptURL` for a page that requires Trusted Types.
   */
  script?: string | URL | { toString(): string; toJSON(): string } | undefined;
  /**
   * Runs in the page, and makes the final data from the handler's data. Use it for objects that only a page
   * can make, or that would end with the worker, such as the URL of a Blob. An exception becomes the call's
   * error. It does not run for a call that was told to stop. The `signal` of its context fires when the
   * call is cancelled.
   */
  finish?: ((data: any, context: CallContext<Caps>) => Data | Promise<Data>) | undefined;
}

/**
 * The code of a capability. It returns data that can be cloned, or a promise of such data. An exception
 * becomes the call's error: a string `code` of at most 128 characters is kept; an exception without such a
 * code becomes OPERATION_FAILED. The code CANCELLED says that the handler stopped by itself.
 *
 * A handler that reads its `signal` learns of a cancel. Whatever the handler then does, its call is
 * cancelled, and is `returned` if the handler settles in time. Another case is a handler that never reads
 * its signal, makes no call and asks no question: if it returns within the settle grace, its call has
 * completed despite the cancel.
 */
export type Handler<Params = any, Data = unknown, Caps = any> = (params: Params, context: CallContext<Caps>) => Data | Promise<Data>;

/**
 * The handler of a capability in a map. With the types of the schemas, as in `HandlerOf<Caps, 'text.words',
 * typeof inputSchema>`, the handler gets the parsed parameters.
 */
export type HandlerOf<Caps, Name extends keyof Caps & string, Input = object, Output = object> =
  Handler<ParamsGiven<Caps, Name, Input>, DataGiven<Caps, Name, Output>, Caps>;

/** A call waits until a person allows it, or a person has allowed it. If a person denies a call, the call fails. */
export interface ConfirmEvent {
  type: 'confirm';
  time: number;
  callId: string;
  sessionId: string;
  capability: string;
  /** The call whose handler made this call, if a handler made it. */
  parentCallId?: string;
  /** The parameters that the agent gave. They fit the schema. The handler gets this object: do not change it. */
  params: any;
  state: 'asked' | 'allowed';
  /** If the app is to ask: the question that `host.answer` answers. Without it, the agent asks. */
  question?: number;
}

/**
 * Everything that happens on a host, in order. A turn of the event loop has at most one `capabilities`
 * event, at its end. `time` is in Unix milliseconds.
 */
export type HostEvent =
  | CallEvent
  | ConfirmEvent
  | { type: 'progress'; time: number; callId: string; sessionId: string; info: ProgressInfo }
  /**
   * The call was asked to stop: by a cancel, by its timeout, or because its session or its parent has
   * ended. The call has not stopped yet: `cancelled` reports that later, and a handler that did not listen
   * may still complete. A call has at most one such event. A call that ends at once has none.
   */
  | { type: 'cancelling'; time: number; callId: string; sessionId: string; reason?: string }
  /** The answer to a cancel. */
  | { type: 'cancel'; time: number; callId: string; sessionId: string; response: CancelResponse; reason?: string }
  /** The handler of an abandoned call has ended. */
  | ({ type: 'ended'; time: number; sessionId: string } & CallEnded)
  | { type: 'session'; time: number; state: 'open' | 'closed'; sessionId: string; agent: AgentInfo }
  | { type: 'gateway'; time: number; state: 'connecting'; url: string }
  /** `error`: why the connection could not be opened. */
  | { type: 'gateway'; time: number; state: 'disconnected'; url: string; error?: ABPError }
  /** `resumed`: the previous connection was lost, and its agents and their calls continue over this connection. */
  | { type: 'gateway'; time: number; state: 'connected'; url: string; resumed?: true }
  | { type: 'gateway'; time: number; state: 'refused'; url: string; error?: ABPError }
  /** The host is still connected. New sessions go to another connection that has registered the same app id. */
  | { type: 'gateway'; time: number; state: 'superseded'; url: string }
  /** Capabilities were registered or unregistered. At most one such event in a turn of the event loop. */
  | { type: 'capabilities'; time: number };

export interface CallEventBase {
  type: 'call';
  time: number;
  callId: string;
  capability: string;
  sessionId: string;
  /** The call whose handler made this call, if a handler made it. */
  parentCallId?: string;
}

/** A step in the life of a call. */
export type CallEvent =
  | (CallEventBase & { state: 'queued'; params: any })
  | (CallEventBase & { state: 'running' })
  | (CallEventBase & { state: 'completed' | 'failed' | 'cancelled'; response: ABPResponse; reason?: string });

/** The number of objects that a host holds, and its counters. */
export interface HostStats {
  /** Calls that have not settled yet. */
  inFlight: number;
  sessions: number;
  /** Questions that have no answer yet. */
  elicitations: number;
  /** Futures of capabilities written in Rust. */
  tasks: number;
  /** Contexts of running JavaScript handlers. */
  contexts: number;
  /** Calls accepted so far. */
  calls: number;
  cancelled: number;
  /** Results of handlers that came after their calls had ended, and were dropped. */
  lateResults: number;
  /** Abandoned calls whose handlers ended later. */
  endedLate: number;
  lateProgress: number;
}

export interface CancelOptions {
  /** Who wants to cancel the call; used in the default reason. Default `app`. */
  by?: 'app' | 'user' | (string & {}) | undefined;
  /** The reason, for logs and the handler. Default `Stopped by the …`. */
  reason?: string | undefined;
  /** The session of the call. */
  sessionId?: string | undefined;
}

export interface GatewayOptions {
  /** A bearer token with the role app. */
  token?: string | undefined;
  /** The constructor to use. Default: the platform's own. */
  WebSocket?: (new (url: string) => any) | undefined;
}

/**
 * The capabilities of a page or worker, and the sessions of the agents that call them.
 *
 * @typeParam Caps the capabilities, as a map of names to functions; `any` to register any capability
 */
export interface Host<Caps = any> {
  readonly app: AppInfo;

  /**
   * Offers a capability. The types of the parameters and the data come from the map, or from the schemas if
   * the schemas have types. A schema must agree with the map.
   *
   * @returns a function that removes this capability; it returns false if the capability is already gone
   * @throws an Error with the code INVALID_PARAMS: the name is taken, or the description is invalid
   */
  register<Name extends keyof Caps & string, Input extends Schema = object, Output extends Schema = object>(
    name: Name,
    options: CapabilityOptions<Input, Output> & AgreesWith<Caps, Name, Input, Output> | undefined,
    handler: HandlerOf<Caps, Name, Input, Output>,
  ): () => boolean;
  /**
   * Offers a capability that runs in dedicated workers. Its handler may compute without ever awaiting. A
   * call that does not stop is ended by force; its response says `stop: 'terminated'` once the end is
   * proven. The handler is a `WorkerHandlerOf<Caps, Name>`.
   *
   * @param module the URL of the module whose default export is the handler; relative to the page. A
   *   page that requires Trusted Types gives a `TrustedScriptURL`
   * @returns a function that removes this capability; it returns false if the capability is already gone
   * @throws an Error with the code INVALID_PARAMS: the name is taken, or an option is invalid
   */
  registerWorker<Name extends keyof Caps & string, Input extends Schema = object, Output extends Schema = object>(
    name: Name,
    options: CapabilityOptions<Input, Output> & AgreesWith<Caps, Name, Input, Output> | undefined,
    module: string | URL | { toString(): string; toJSON(): string },
    worker?: WorkerOptions<DataGiven<Caps, Name, Output>, Caps>,
  ): () => boolean;
  /** Removes a capability. Calls that were accepted before still run. False if there is no capability of that name. */
  unregister(name: keyof Caps & string): boolean;

  /**
   * Puts `abp` on the window, or on another object. An object has one host at a time, even if the page has
   * several copies of this package. With `replace`, this host takes the place of the previous host: callers
   * that hold the previous `abp` keep their session, and their calls continue. With `webmcp`, the
   * capabilities are also tools of the browser (`document.modelContext`), if the browser supports that.
   */
  expose(target?: object, options?: { webmcp?: boolean | undefined; replace?: boolean | undefined }): void;
  /**
   * Serves agents that post messages to this window from the given origins. Default: the page's own origin.
   * The agents speak ABP or JSON-RPC 2.0 (MCP, also in the envelope of `@mcp-b/transports`; ACP or LSP
   * style). Agents of the origin `'null'`, which sandboxes have, are served only over a MessagePort that
   * comes with their `initialize`; agents of this package send one. The console reports each refused origin
   * once.
   *
   * @param options `replace`: serve these agents instead of the host that serves them so far
   * @returns a function that stops serving them, and ends their sessions
   * @throws an Error with the code INVALID_PARAMS: a string is no origin, or another host already serves it
   */
  acceptMessages(options?: { allowedOrigins?: readonly string[] | undefined; replace?: boolean | undefined }): () => void;
  /**
   * Serves an agent behind a MessagePort, a Worker of a browser or of Node, the inside of a worker, or an
   * extension's port. The agent speaks ABP or JSON-RPC 2.0 (MCP, ACP or LSP style). After a shutdown it may
   * open another session.
   *
   * @param options `replace`: serve the port instead of the host that serves it so far
   * @returns a function that releases the port: it ends the session, cancels the calls in flight, and leaves the port open
   * @throws an Error with the code INVALID_PARAMS: it is no port, such as a window, for which there is
   *   `acceptMessages`; or it is served already
   */
  acceptPort(port: { postMessage(message: any, transfer?: any): void }, options?: { replace?: boolean | undefined }): () => void;
  /**
   * Serves an agent over your own transport. The other end belongs to `connect` of `caphost/agent`. After a
   * shutdown the agent may open another session over the same transport.
   *
   * @returns a function that ends the session, cancels the calls in flight, and closes the messenger
   */
  accept(messenger: Messenger): () => void;
  /**
   * Connects to a gateway, and reconnects whenever the connection is lost. See the `gateway` events.
   *
   * Calls continue while the connection is lost. If the host reconnects within the gateway's grace time
   * (default 5 s), nothing is lost. If not, the host cancels the calls, and their agents get
   * `DISCONNECTED`.
   */
  connectGateway(url: string | URL, options?: GatewayOptions): void;
  /** Ends every session: the calls in flight are cancelled and answered. */
  close(): void;
  /** Closes the host at the end of the block that declares it with `await using`. */
  [Symbol.asyncDispose](): Promise<void>;

  /** The ABP manifest of the registered capabilities, as served at `/abp.json`. */
  manifest(): Manifest;
  /** The Capability objects of the registered capabilities. They are frozen, as agents get the same objects. */
  documents(): Capability[];
  /**
   * Sends a copy of the data to every agent that accepts notifications. A notification above the limits of the host is
   * dropped with a warning in the console, like progress.
   */
  notify(event: string, data?: unknown): void;
  /** Cancels an agent's call on behalf of the app. Never rejects. */
  cancelCall(sessionId: string, callId: string, reason?: string): Promise<CancelResponse>;
  /**
   * Cancels a call on somebody's behalf: `host.cancel(callId, { by: 'user' })`. Never rejects.
   *
   * A callId is unique in its session. Without a `sessionId`, the first session in which the call is in
   * flight counts, or else the first session that remembers the call.
   */
  cancel(callId: string, options?: CancelOptions): Promise<CancelResponse>;
  /**
   * Tells the host that the app shows people the calls that wait for consent, so that agents are not asked.
   * `<cap-activity>` does this by itself. The calls come as events of the type `confirm`, and `answer`
   * answers them. Returns a function that ends this: when the last interface has ended, the agents are asked.
   */
  confirmHere(): () => void;
  /**
   * A person has allowed (`true`) or denied the call of a `question`, from the event `confirm`. Returns false
   * if the call no longer waits: for example, it was cancelled.
   */
  answer(question: number, allow: boolean): boolean;
  /** Calls the listener with every event, in order, in a job of its own after the answers. Returns a function that stops it. */
  observe(listener: (event: HostEvent) => void): () => void;
  stats(): HostStats;
}

/**
 * Creates a host. Loads the wasm module first, once for all hosts.
 *
 * @throws an Error with the code INVALID_PARAMS for invalid options
 */
export function createHost<Caps = any>(options: HostOptions): Promise<Host<Caps>>;
