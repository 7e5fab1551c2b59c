import type { Call, CallArguments, CallParams, DataOf, NameOf, WithoutMap } from './capabilities.js';
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
  /** Cancels the call. If it has fired already, nothing is sent. */
  signal?: AbortSignal | undefined;
  /** Milliseconds until the call is cancelled. Default: never. */
  timeout?: number | undefined;
  /** 1 to 128 printable characters, unique within the session. Default: a UUID. */
  callId?: string | undefined;
  /** Asks for progress, and gets it until the call has ended. */
  onProgress?: ((info: ProgressInfo) => void) | undefined;
  /**
   * What of the parameters is moved rather than copied, where the transport can do that: an
   * ArrayBuffer, an ImageBitmap, a stream. `true` says that data of the response may be moved, too,
   * which an app does with what its handler gives away, whether this is said or not.
   */
  transfer?: readonly object[] | true | undefined;
}

/**
 * A session of an agent on an app.
 *
 * @typeParam Caps what the app offers, as a map of names to functions; `any` if that is not known
 */
export class Agent<Caps = any> {
  private constructor();
  /** Null once the session is over. */
  readonly sessionId: string | null;
  readonly app: AppInfo;
  readonly features: Features;
  /**
   * Their names. Kept up to date with the app's notifications of added and removed capabilities.
   * Descriptions and schemas are what `listCapabilities` asks for.
   */
  readonly capabilities: readonly CapabilitySummary[];
  /**
   * Resolves when the session is over: shut down by this agent; disconnected, because the app is
   * gone or the agent's own page was left; or failed, because this agent itself has.
   */
  readonly closed: Promise<'shutdown' | 'disconnected' | 'failed'>;

  /**
   * Calls a capability.
   *
   * Never rejects: what is wrong with the call, the app or the connection is told by the response.
   * Parameters are read when this is called, and sent in the next microtask, so that a call aborted
   * in the same tick is never sent.
   */
  readonly call: Call<Caps, CallOptions>;

  /**
   * Calls a capability, and gives its data. Rejects with a CapHostError if the call has failed, and
   * with a CallAbortError if it was cancelled.
   */
  readonly invoke: Invoke<Caps>;

  /** Starts a call whose progress is wanted. It is an async iterable of that. */
  readonly start: Start<Caps>;

  /** What the app offers, with descriptions and schemas. Rejects with a CapHostError where the app does not say. */
  listCapabilities(): Promise<Capability[]>;

  /** A capability of the app, with its description and schemas; null where there is none of that name. */
  describeCapability(name: string): Promise<Capability | null>;

  /**
   * Cancels a call of this session, and tells what came of it. Never rejects.
   *
   * @param reason for logs and the capability: a string, or an Error with a message
   */
  cancel(callId: string, reason?: string | Error): Promise<CancelResponse>;

  /** Ends the session. The app cancels what is in flight; resolves when all of that has settled. */
  shutdown(params?: { reason?: string }): Promise<void>;

  /** Shuts the session down, at the end of the block that has it by `await using`. */
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
 * A call under way.
 *
 * As an async iterable it gives the newest progress until the call has ended; a reader that is slower
 * than the app misses what was told in between. It then throws what `result` rejects with, if it does.
 * To leave the loop leaves the call running.
 */
export interface RunningCall<Data = any> extends AsyncIterable<ProgressInfo> {
  readonly callId: string;
  /** As `invoke` gives it. */
  readonly result: Promise<Data>;
  cancel(reason?: string | Error): Promise<CancelResponse>;
}

/** What `invoke` rejects with when its call was cancelled. Its name is `AbortError`. */
export interface CallAbortError extends DOMException {
  readonly name: 'AbortError';
  readonly callId: string;
  /** How far the stop was seen. */
  readonly stop: Stop;
  /**
   * The reason of the caller's signal, if it fired: what `abort` was given, or the TimeoutError of
   * `AbortSignal.timeout`. Else undefined: the `timeout` of the call has passed, or somebody else has
   * cancelled it.
   */
  readonly reason: unknown;
}

export interface ConnectOptions {
  /** Who calls. Default: this package. */
  agent?: AgentInfo | undefined;
  /** The only capabilities that there are for this agent, by their names. Default: all. */
  requestedCapabilities?: string[] | undefined;
  /**
   * The only questions that the app may ask, by their methods, such as `elicitation/confirm`; none for
   * an empty list. `elicitation/request` stands for all. Default: any, if there is `onElicitation`.
   */
  allowedRequests?: string[] | undefined;
  /**
   * Milliseconds until the app must have answered, and for a page or frame: appeared. Default 10 000.
   * Then the promise rejects with an Error whose `code` is `TIMEOUT`.
   */
  connectTimeout?: number | undefined;
  /** Calls the connecting off: the promise rejects with its reason. Once connected, it counts no longer. */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds the app has to confirm a cancel, and to answer a call past its timeout. Then the
   * outcome is unknown, and is said to be. Default 5 000.
   */
  grace?: number | undefined;
  /** Something happened in the app. */
  onNotification?: ((event: string, data: any) => void) | undefined;
  /**
   * Answers what the app asks: with an ABPResponse, or with its data. `signal` fires when no answer
   * is wanted any more.
   */
  onElicitation?: ((request: any, context: { signal: AbortSignal }) => unknown) | undefined;
}

export interface LivenessOptions {
  /**
   * Milliseconds of silence after which the app counts as gone, while calls are pending. Half way,
   * it is asked for a sign of life. An app that has neither answered such a question nor announced
   * that it does, as hosts of this package do over windows and ports, has four times as long. Over a
   * WebSocket one message must take less time than this: behind a slow line, set more.
   * `Infinity` for never. Default 30 000.
   */
  liveness?: number | undefined;
}

/** An error of a `connect…` function. Its `code` is `TIMEOUT`, `DISCONNECTED`, `INVALID_PARAMS`, or that of the app's refusal. */
export type ConnectError = CapHostError;

export interface WindowOptions extends ConnectOptions, LivenessOptions {
  /**
   * The origin of the app, such as `https://app.example`. Other origins are ignored.
   * Default: this page's own. `*` for whoever is there, which suits sandboxed frames.
   */
  origin?: string | undefined;
}

/**
 * Connects to an app in a frame, a popup, an opener or a parent page, once it has loaded.
 *
 * @param win such as `iframe.contentWindow`; null is refused, which is what a frame outside of the document has
 */
export function connectWindow<Caps = any>(
  win: { readonly closed: boolean; postMessage(message: any, options?: any): void } | null,
  options?: WindowOptions,
): Promise<Agent<Caps>>;

/** A MessagePort, a Worker, the inside of a worker, or an extension's port. */
export interface PortLike {
  postMessage(message: any, transfer?: any): void;
}

/** Connects to an app behind a port. The port stays the caller's, to be closed or used again. */
export function connectPort<Caps = any>(port: PortLike, options?: ConnectOptions & LivenessOptions): Promise<Agent<Caps>>;

/**
 * Connects to an app over a transport of one's own. Its other end is for `host.accept`.
 *
 * @param messenger or a function that makes one, called when it can be listened to
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
  /** Used instead of a WebSocket; the URL is ignored then. */
  transport?: Messenger | undefined;
}

/**
 * Connects to an app through a gateway.
 *
 * @param url such as `wss://gateway.example/abp?app=my-app`
 */
export function connectWebSocket<Caps = any>(url: string | URL, options?: WebSocketOptions): Promise<Agent<Caps>>;
