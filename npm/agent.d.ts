import type {
  ABPResponse,
  AgentInfo,
  AppInfo,
  CancelResponse,
  CapabilitySummary,
  Envelope,
  Features,
  ProgressInfo,
} from './types.js';

export type * from './types.js';

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
   * ArrayBuffer, an ImageBitmap, a stream. Given at all (`true` for nothing), data in the response
   * is moved too.
   */
  transfer?: readonly object[] | true | undefined;
}

/** A session of an agent on an app. */
export class Agent {
  private constructor();
  /** Null once the session is over. */
  readonly sessionId: string | null;
  readonly app: AppInfo;
  readonly features: Features;
  /** Kept up to date with the app's notifications of added and removed capabilities. */
  readonly capabilities: readonly CapabilitySummary[];
  /**
   * Resolves when the session is over: shut down by this agent; disconnected, because the app is
   * gone; or failed, because this agent itself has.
   */
  readonly closed: Promise<'shutdown' | 'disconnected' | 'failed'>;

  /**
   * Calls a capability.
   *
   * Never rejects: what is wrong with the call, the app or the connection is told by the response.
   * Parameters are read when this is called, and sent in the next microtask, so that a call aborted
   * in the same tick is never sent.
   */
  call<Data = any>(capability: string, params?: object, options?: CallOptions): Promise<ABPResponse<Data>>;

  /**
   * Cancels a call of this session, and tells what came of it. Never rejects.
   *
   * @param reason for logs and the capability: a string, or an Error with a message
   */
  cancel(callId: string, reason?: string | Error): Promise<CancelResponse>;

  /** Ends the session. The app cancels what is in flight; resolves when all of that has settled. */
  shutdown(params?: { reason?: string }): Promise<void>;
}

export interface ConnectOptions {
  /** Who calls. Default: this package. */
  agent?: AgentInfo | undefined;
  requestedCapabilities?: string[] | undefined;
  /**
   * Milliseconds until the app must have answered, and for a page or frame: appeared. Default 10 000.
   * Then the promise rejects with an Error whose `code` is `TIMEOUT`.
   */
  connectTimeout?: number | undefined;
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
   * that it does, as hosts of this package do over windows and ports, has four times as long.
   * `Infinity` for never. Default 30 000.
   */
  liveness?: number | undefined;
}

/** An error of a `connect…` function. */
export interface ConnectError extends Error {
  /** `TIMEOUT`, `DISCONNECTED`, `INVALID_PARAMS`, or the code of the app's refusal. */
  code: string;
  retryable: boolean;
}

export interface WindowOptions extends ConnectOptions, LivenessOptions {
  /**
   * The origin of the app, such as `https://app.example`. Nobody else is spoken or listened to.
   * Default: this page's own. `*` for whoever is there, which suits sandboxed frames.
   */
  origin?: string | undefined;
}

/**
 * Connects to an app in a frame, a popup, an opener or a parent page, once it has loaded.
 *
 * @param win such as `iframe.contentWindow`
 */
export function connectWindow(
  win: { readonly closed: boolean; postMessage(message: any, options?: any): void },
  options?: WindowOptions,
): Promise<Agent>;

/** A MessagePort, a Worker, the inside of a worker, or an extension's port. */
export interface PortLike {
  postMessage(message: any, transfer?: any): void;
}

/** Connects to an app behind a port. The port stays the caller's, to be closed or used again. */
export function connectPort(port: PortLike, options?: ConnectOptions & LivenessOptions): Promise<Agent>;

/** A transport of one's own, for envelopes. */
export interface Messenger {
  /** Throws when the envelope cannot be sent. Once the peer is gone, what is posted is dropped. */
  post(envelope: Envelope, transfer?: any[]): void;
  /** Called once, when the session is over. */
  close(): void;
  /** Set by the agent: to be called with each envelope that arrives. */
  onmessage?: ((envelope: any) => void) | undefined;
  /** Set by the agent: to be called when the peer is gone. */
  onclose?: ((error?: Error) => void) | undefined;
}

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
export function connectWebSocket(url: string | URL, options?: WebSocketOptions): Promise<Agent>;
