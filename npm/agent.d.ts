import type { Api, Call, CallArguments, CallParams, DataOf, NameOf, WithoutMap } from './capabilities.js';
import type {
  AgentInfo,
  AppInfo,
  CancelResponse,
  CapHostError,
  Capability,
  CapabilitySummary,
  Features,
  Messenger,
  ProgressInfo,
  Stop,
} from './types.js';

export type * from './capabilities.js';
export type * from './types.js';
export { CapHostError } from './types.js';

export interface CallOptions {
  /** Cancels the call. If the signal has already fired, nothing is sent. */
  signal?: AbortSignal | undefined;
  /** Milliseconds until the call is cancelled. Default: never. */
  timeout?: number | undefined;
  /** 1 to 128 printable characters, unique within the session. Default: a UUID. */
  callId?: string | undefined;
  /** Asks for progress, and receives it until the call has ended. */
  onProgress?: ((info: ProgressInfo) => void) | undefined;
  /**
   * The objects in the parameters that are moved instead of copied, if the transport can move objects: an
   * ArrayBuffer, an ImageBitmap, a stream. `true` says that the data of the response may be moved, too. An
   * app moves the data that its handler gives away in any case.
   */
  transfer?: readonly object[] | true | undefined;
}

/**
 * A session of an agent on an app.
 *
 * @typeParam Caps the capabilities of the app, as a map of names to functions; `any` if they are unknown
 */
export class Agent<Caps = any> {
  private constructor();
  /** Null once the session is over, and while the agent connects again. */
  readonly sessionId: string | null;
  readonly app: AppInfo;
  readonly features: Features;
  /**
   * The names of the app's capabilities. The app's notifications about added and removed capabilities keep
   * the list up to date. `listCapabilities` gets the descriptions and schemas.
   */
  readonly capabilities: readonly CapabilitySummary[];
  /**
   * With `reconnect`: resolves with true as soon as the agent is connected, and with false when it is over.
   * Each loss of the connection makes a new promise. Without `reconnect`, the agent is ready until it is over.
   */
  readonly ready: Promise<boolean>;
  /**
   * Resolves when the session is over, and with `reconnect` when the agent is. `shutdown`: this agent shut it down. `disconnected`: the app is
   * gone, or the user left the agent's own page. `failed`: this agent itself failed.
   */
  readonly closed: Promise<'shutdown' | 'disconnected' | 'failed'>;

  /**
   * Calls a capability.
   *
   * Never rejects: the response reports every problem of the call, the app or the connection. The
   * parameters are read at once and sent in the next microtask. A call that is aborted in the same tick is
   * therefore never sent.
   */
  readonly call: Call<Caps, CallOptions>;

  /**
   * Calls a capability, and returns its data. Functions in the parameters, also in plain objects and lists in them, are lent to the
   * handler until the call ends: the handler gets async functions. Windows, ports and workers carry functions. `attach`, a
   * gateway and an extension's port carry JSON, and refuse them with `NOT_SUPPORTED`.
   * Rejects with a CapHostError if the call has failed, and with
   * a CallAbortError if the call was cancelled.
   */
  readonly invoke: Invoke<Caps>;

  /** Starts a call and returns it as an async iterable of its progress. */
  readonly start: Start<Caps>;

  /**
   * The capabilities as methods that do what `invoke` does. The parts of a name lead to its method:
   *
   * ```ts
   * const api = agent.as();
   * const { words } = await api.text.words({ urls }, { signal });
   * ```
   *
   * A type argument gives the map of capabilities if the agent has none. A capability with a part `then` has
   * no method, because its object would be taken for a promise: call such a capability with `invoke`.
   */
  as<Map = Caps>(): Api<Map, CallOptions>;

  /** The app's capabilities, with descriptions and schemas. Rejects with a CapHostError if the app does not answer. */
  listCapabilities(): Promise<Capability[]>;

  /** A capability of the app, with its description and schemas; null if the app has no capability of that name. */
  describeCapability(name: string): Promise<Capability | null>;

  /**
   * Cancels a call of this session, and returns the outcome. Never rejects.
   *
   * @param reason for logs and the capability: a string, or an Error with a message
   */
  cancel(callId: string, reason?: string | Error): Promise<CancelResponse>;

  /** Ends the session. The app cancels the calls in flight. Resolves when all of them have settled. */
  shutdown(params?: { reason?: string }): Promise<void>;

  /** Shuts the session down at the end of the block that declares it with `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** `invoke`, without and with a map of capabilities. */
export type Invoke<Caps> = WithoutMap<Caps, <Data = any>(capability: string, params?: object, options?: CallOptions) => Promise<Data>> & {
  <Name extends keyof Caps & string>(capability: Name, params: CallParams<Caps, Name>, options?: CallOptions): Promise<DataOf<Caps, Name>>;
  <Name extends keyof Caps & string>(capability: Name, ...given: CallArguments<Caps, Name, CallOptions>): Promise<DataOf<Caps, Name>>;
};

/** `start`, without and with a map of capabilities. */
export type Start<Caps> = WithoutMap<Caps, <Data = any>(capability: string, params?: object, options?: CallOptions) => RunningCall<Data>> & {
  <Name extends keyof Caps & string>(capability: Name, params: CallParams<Caps, Name>, options?: CallOptions): RunningCall<DataOf<Caps, Name>>;
  <Name extends keyof Caps & string>(capability: Name, ...given: CallArguments<Caps, Name, CallOptions>): RunningCall<DataOf<Caps, Name>>;
};

/**
 * A running call.
 *
 * As an async iterable, it yields the newest progress until the call has ended. A reader that is slower
 * than the app misses the progress in between. If `result` rejects, the iterable then throws the same
 * error. Leaving the loop does not cancel the call.
 */
export interface RunningCall<Data = any> extends AsyncIterable<ProgressInfo> {
  readonly callId: string;
  /** The data, as `invoke` returns it. */
  readonly result: Promise<Data>;
  cancel(reason?: string | Error): Promise<CancelResponse>;
}

/** The error that `invoke` rejects with when its call was cancelled. Its name is `AbortError`. */
export interface CallAbortError extends DOMException {
  readonly name: 'AbortError';
  readonly callId: string;
  /** How far the call was seen to stop. */
  readonly stop: Stop;
  /**
   * The reason of the caller's signal, if that signal fired: the argument of `abort`, or the TimeoutError
   * of `AbortSignal.timeout`. Otherwise undefined: the `timeout` of the call passed, or another party
   * cancelled the call.
   */
  readonly reason: unknown;
}

export interface ConnectOptions {
  /** The name and version of the agent. Default: this package. */
  agent?: AgentInfo | undefined;
  /** The names of the only capabilities that the agent can see and call. Default: all. */
  requestedCapabilities?: string[] | undefined;
  /**
   * The methods of the only questions that the app may ask, such as `elicitation/confirm`. An empty list
   * allows none. `elicitation/request` stands for all. Default: all, if there is an `onElicitation`.
   */
  allowedRequests?: string[] | undefined;
  /**
   * Milliseconds in which the app must answer, and a page or frame must also appear. Default 10 000. After
   * that the promise rejects with an Error whose `code` is `TIMEOUT`.
   */
  connectTimeout?: number | undefined;
  /**
   * Stops connecting: the promise rejects with the signal's reason. Has no effect once the agent is connected,
   * except that an agent with `reconnect` does not connect again.
   */
  signal?: AbortSignal | undefined;
  /**
   * Connects again whenever the connection is lost: the app is reloaded or comes back, or the gateway is
   * restarted. Default: false, and the session is over.
   *
   * Calls in flight are answered with `DISCONNECTED`, because their outcome is unknown, and are never made
   * again. Calls made while the agent is connecting wait until it is connected, or until their timeout or
   * signal cancels them. The agent connects only to the app with the same id. It tries, with pauses that
   * grow to 10 s, until `shutdown` or `signal` ends it, the frame or page is gone, or it is refused with
   * `PERMISSION_DENIED` or `NOT_SUPPORTED`.
   */
  reconnect?: boolean | undefined;
  /** With `reconnect`: called when the connection is lost, and when the agent is connected again. */
  onConnection?: ((state: 'connecting' | 'connected') => void) | undefined;
  /**
   * Milliseconds that the app has to confirm a cancel, or to answer a call after its timeout. After that
   * the outcome is unknown, and the response says so. Default 5 000.
   */
  grace?: number | undefined;
  /** Called with each notification of the app. */
  onNotification?: ((event: string, data: any) => void) | undefined;
  /**
   * Answers a question of the app: with an ABPResponse, or with its data. `signal` fires when the app no
   * longer wants the answer.
   */
  onElicitation?: ((request: any, context: { signal: AbortSignal }) => unknown) | undefined;
}

export interface LivenessOptions {
  /**
   * Milliseconds of silence after which the app counts as gone while calls are pending. Half way, the agent
   * asks the app for a sign of life. Some apps have never answered such a question, and have not announced
   * that they do (hosts of this package announce it over windows and ports): such an app has four times as
   * long. Over a WebSocket, a large message has the time that a line of 16 kB/s takes for it in addition: set
   * a higher value for a slower line. `Infinity` for never. Default 30 000.
   */
  liveness?: number | undefined;
}

/** The error of a `connect…` function. Its `code` is `TIMEOUT`, `DISCONNECTED`, `INVALID_PARAMS`, or the code of the app's refusal. */
export type ConnectError = CapHostError;

export interface WindowOptions extends ConnectOptions, LivenessOptions {
  /**
   * The origin of the app, such as `https://app.example`. Messages from other origins are ignored. Default:
   * this page's own origin. `*` accepts any origin, as sandboxed frames need it.
   */
  origin?: string | undefined;
}

/**
 * Connects to an app in a frame, a popup, an opener or a parent page, once the app has loaded.
 *
 * @param win such as `iframe.contentWindow`; null is refused (a frame outside of the document has null)
 */
export function connectWindow<Caps = any>(
  win: { readonly closed: boolean; postMessage(message: any, options?: any): void } | null,
  options?: WindowOptions,
): Promise<Agent<Caps>>;

/** A MessagePort, a Worker, the inside of a worker, or an extension's port. */
export interface PortLike {
  postMessage(message: any, transfer?: any): void;
}

/**
 * Connects to an app behind a port. The port still belongs to the caller, who may close it or use it again.
 *
 * @param port a port, or a function that makes it and that is called when the agent can listen. `reconnect` needs a function,
 *   which makes a port for each connection, such as `() => chrome.runtime.connect()`
 */
export function connectPort<Caps = any>(port: PortLike | (() => PortLike | Promise<PortLike>), options?: ConnectOptions & LivenessOptions): Promise<Agent<Caps>>;

/**
 * Connects to an app over your own transport. The other end belongs to `host.accept`.
 *
 * @param messenger the transport, or a function that makes it and that is called when the agent can listen. `reconnect` needs a
 *   function, which makes a messenger for each connection
 */
export function connect<Caps = any>(
  messenger: Messenger | (() => Messenger | Promise<Messenger>),
  options?: ConnectOptions & LivenessOptions,
): Promise<Agent<Caps>>;

export interface WebSocketOptions extends ConnectOptions, LivenessOptions {
  /** A bearer token of the gateway. */
  token?: string | undefined;
  /** The constructor to use. Default: the platform's own; in Node without one, that of the package `ws`. */
  WebSocket?: (new (url: string, protocols?: string[]) => any) | undefined;
  /** A transport that is used instead of a WebSocket. The URL is then ignored. */
  transport?: Messenger | undefined;
}

/**
 * Connects to an app through a gateway.
 *
 * @param url such as `wss://gateway.example/abp?app=my-app`
 */
export function connectWebSocket<Caps = any>(url: string | URL, options?: WebSocketOptions): Promise<Agent<Caps>>;
