import type {
  ABPError,
  ABPResponse,
  AgentInfo,
  AppInfo,
  CallEnded,
  CancelResponse,
  Capability,
  InitializeParams,
  InitializeResult,
  Manifest,
  ProgressInfo,
  Requirement,
  SupportInfo,
} from './types.js';

export type * from './types.js';

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
  /** Sessions open at once. Default 1 000. */
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
export interface CapabilityOptions {
  description?: string | undefined;
  /**
   * JSON Schema (2020-12) of the parameters, which are checked before the handler runs. One that makes
   * no sense is refused; while the validator is still being loaded, its calls fail with OPERATION_FAILED
   * instead.
   */
  inputSchema?: object | boolean | undefined;
  /** JSON Schema of the data, for agents to read. */
  outputSchema?: object | boolean | undefined;
  /** Calls that may run at once, from 1; the others wait and can be cancelled meanwhile. Default: any number. */
  concurrency?: number | undefined;
  /** Milliseconds that its handler is given to end once it was told to stop. Default: the host's. */
  settleGrace?: number | undefined;
  /** Default true. */
  available?: boolean | undefined;
  requirements?: Requirement[] | undefined;
  features?: object | undefined;
  experimental?: boolean | undefined;
  deprecated?: boolean | undefined;
  deprecationMessage?: string | undefined;
  alternatives?: string[] | undefined;
}

/** What a handler is given for one call. Its methods need no `this`. */
export interface CallContext {
  /** Unique in the agent's session. */
  readonly callId: string;
  /** Fires when the call is cancelled; its reason is an AbortError with the agent's text. */
  readonly signal: AbortSignal;
  /** Tells the agent how far the call is, if it asked. The host adds `operationId`, and `percentage` where it can. */
  progress(info: Omit<ProgressInfo, 'operationId'>): void;
  /**
   * Calls another capability of this host as a child: it is cancelled with this call. Never rejects.
   */
  call<Data = any>(capability: string, params?: object, options?: ChildCallOptions): Promise<ABPResponse<Data>>;
  /**
   * Asks the agent. The question is withdrawn when the call is cancelled.
   *
   * @param request for the agent to understand; its `timeout`, if it has one, is milliseconds
   */
  elicit<Data = any>(request: object): Promise<ABPResponse<Data>>;
}

export interface ChildCallOptions {
  /** Cancels the child alone. */
  signal?: AbortSignal | undefined;
  /** Milliseconds. */
  timeout?: number | undefined;
  callId?: string | undefined;
}

/**
 * What a capability does. It returns data that can be cloned, or a promise of it. What it throws is
 * the call's error: a string `code` is kept, anything without one becomes OPERATION_FAILED. The code
 * CANCELLED says that it stopped by itself.
 *
 * A handler that takes its `signal` is told of a cancel; whatever it does then, its call is
 * cancelled, and `returned` when it settles in time. One that never asks, makes no call and puts no
 * question, and that returns within the settle grace, has completed all the same.
 */
export type Handler<Params = any, Data = unknown> = (params: Params, context: CallContext) => Data | Promise<Data>;

/**
 * Everything that happens on a host, in order; that capabilities have changed is said once for all
 * of a turn, at its end. `time` is Unix milliseconds.
 */
export type HostEvent =
  | CallEvent
  | { type: 'progress'; time: number; callId: string; info: ProgressInfo }
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
  /** Capabilities were registered or unregistered: once for all of a turn of the event loop. */
  | { type: 'capabilities'; time: number };

interface CallEventBase {
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

export interface GatewayOptions {
  /** A bearer token with the role app. */
  token?: string | undefined;
  /** The constructor to use. Default: the platform's own. */
  WebSocket?: (new (url: string) => any) | undefined;
}

/** A page's, or worker's, capabilities and the sessions of the agents that call them. */
export interface Host {
  readonly app: AppInfo;

  /**
   * Offers a capability.
   *
   * @throws an Error with the code INVALID_PARAMS: the name is taken, or the description makes no sense
   */
  register<Params = any, Data = unknown>(
    name: string,
    options: CapabilityOptions | undefined,
    handler: Handler<Params, Data>,
  ): void;
  /** Takes a capability away; calls accepted before still run. False when there is none. */
  unregister(name: string): boolean;

  /**
   * Puts `abp` on the window, or on another object. With `webmcp` the capabilities are tools of the
   * browser as well (`document.modelContext`), where it has such a thing.
   */
  expose(target?: object, options?: { webmcp?: boolean | undefined }): void;
  /**
   * Serves agents that post messages to this window, from these origins. Default: the page's own.
   * They speak ABP or JSON-RPC 2.0 (MCP, also in the envelope of `@mcp-b/transports`; ACP or LSP style).
   */
  acceptMessages(options?: { allowedOrigins?: readonly string[] | undefined }): void;
  /**
   * Serves an agent behind a MessagePort, a Worker, the inside of a worker, or an extension's port. It
   * speaks ABP or JSON-RPC 2.0 (MCP, ACP or LSP style). After a shutdown it may open another session.
   *
   * @returns lets go of the port: ends its session, cancels what is in flight, and leaves the port to its owner
   */
  acceptPort(port: { postMessage(message: any, transfer?: any): void }): () => void;
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

  /** The ABP manifest of what is registered, as served at `/abp.json`. */
  manifest(): Manifest;
  /** The Capability objects of what is registered: frozen, for they are also what agents get. */
  documents(): Capability[];
  /** Tells every agent that takes notifications. */
  notify(event: string, data?: unknown): void;
  /** The app itself cancels an agent's call. Never rejects. */
  cancelCall(sessionId: string, callId: string, reason?: string): Promise<CancelResponse>;
  /** Calls the listener with every event. Returns what stops it. */
  observe(listener: (event: HostEvent) => void): () => void;
  stats(): HostStats;
}

/**
 * Makes a host. Loads the wasm module first, once for all.
 *
 * @throws an Error with the code INVALID_PARAMS for options that make no sense
 */
export function createHost(options: HostOptions): Promise<Host>;

/** `window.abp`. */
export interface Abp {
  readonly protocolVersion: '0.1';
  readonly app: AppInfo;
  readonly initialized: boolean;
  readonly sessionId: string | null;
  initialize(params: InitializeParams): Promise<InitializeResult>;
  shutdown(params?: { reason?: string }): Promise<void>;
  /** Never rejects. Parameters are copied when this is called: what has passed the schema is what the handler gets. */
  call<Data = any>(
    capability: string,
    params?: object,
    options?: ChildCallOptions & { progressToken?: string | number },
  ): Promise<ABPResponse<Data>>;
  cancel(callId: string, reason?: string): Promise<CancelResponse>;
  cancel(call: { callId: string; reason?: string }): Promise<CancelResponse>;
  listCapabilities(): Promise<Capability[]>;
  describeCapability(name: string): Promise<Capability | null>;
  supports(name: string): Promise<SupportInfo>;
  notify(event: string, data?: unknown): void;
  notifyProgress(info: ProgressInfo): void;
  elicit<Data = any>(request: object): Promise<ABPResponse<Data>>;
}
