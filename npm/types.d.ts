/** The types of the Agentic Browser Protocol, version 0.1. */
/// <reference lib="esnext.disposable" />
import type { Call } from './capabilities.js';

/** The error codes of the protocol. An app may have further codes of its own. */
export type ABPErrorCode =
  // Codes: written by a test.
  /** There is no session: `initialize` first. */
  | 'NOT_INITIALIZED'
  /** There is a session already. */
  | 'ALREADY_INITIALIZED'
  /** The session has ended. */
  | 'SESSION_EXPIRED'
  /** No such session. */
  | 'SESSION_INVALID'
  /** No capability of that name is registered. */
  | 'UNKNOWN_CAPABILITY'
  /** The capability is registered and cannot be used right now. */
  | 'CAPABILITY_UNAVAILABLE'
  /** A requirement of the capability is not met. */
  | 'REQUIREMENT_NOT_MET'
  /** The app is not in a state in which the call makes sense. */
  | 'PRECONDITION_FAILED'
  /** A parameter, an option or a message is malformed; `details.path` says where. */
  | 'INVALID_PARAMS'
  /** A required parameter is missing. */
  | 'MISSING_PARAM'
  /** A parameter has the wrong type. */
  | 'INVALID_TYPE'
  /** The user or the app refused. */
  | 'PERMISSION_DENIED'
  /** The user must grant a permission first. */
  | 'PERMISSION_REQUIRED'
  /** The capability's own code failed. */
  | 'OPERATION_FAILED'
  /** No answer in time: the outcome is unknown. */
  | 'TIMEOUT'
  /** The operation was cancelled. */
  | 'CANCELLED'
  /** Too many requests, or too many calls in flight. */
  | 'RATE_LIMITED'
  /** No such message or method. */
  | 'NOT_IMPLEMENTED'
  /** The browser refused something the capability needs. */
  | 'BROWSER_ERROR'
  /** The peer, the browser or the protocol version does not support it. */
  | 'NOT_SUPPORTED'
  /** The host itself failed; it settles every call so. */
  | 'INTERNAL_ERROR'
  /** A message could not be carried: if it was an answer, the outcome is unknown. */
  | 'TRANSPORT_ERROR'
  /** The other side is gone: the outcome is unknown. */
  | 'DISCONNECTED'
  // End of the codes.
  | never;

/** An error that was thrown, or that a promise rejected with. It has the fields of an ABPError. */
export class CapHostError extends Error {
  constructor(error: ABPError);
  readonly name: 'CapHostError';
  /** The code, for programs. */
  readonly code: ABPErrorCode | (string & {});
  /** Whether repeating the same request may succeed. */
  readonly retryable: boolean;
  /** Further details. For invalid parameters, `{ path }` of the wrong parameter. */
  readonly details?: any;
  /** Milliseconds to wait before the request is repeated. */
  readonly retryAfter?: number;
  /** Names of capabilities that may serve instead. */
  readonly alternatives?: string[];
}

export interface ABPError {
  /** The code, for programs. */
  code: ABPErrorCode | (string & {});
  /** The message, for people. */
  message: string;
  /** Further details. For invalid parameters, `{ path }` of the wrong parameter. */
  details?: any;
  /** Whether repeating the same request may succeed. */
  retryable: boolean;
  /** Milliseconds to wait before the request is repeated. */
  retryAfter?: number;
  /** Names of capabilities that may serve instead. */
  alternatives?: string[];
}

/**
 * How a call ended: one of three. `if (response.success)` leaves `data`, `if (response.cancelled)` leaves
 * `metadata.stop`, and the third has an `error`.
 */
export type ABPResponse<Data = any> = SuccessResponse<Data> | CancelledResponse | FailedResponse;

/** The call has completed. */
export interface SuccessResponse<Data = any> {
  success: true;
  /** The data that the capability returned. */
  data: Data;
  error?: undefined;
  cancelled?: false | undefined;
  metadata?: ResponseMetadata;
}

/** The call was cancelled: by a cancel, its signal, its timeout, or its own handler. Reported only once it is a fact. */
export interface CancelledResponse {
  success: false;
  data?: undefined;
  error?: undefined;
  cancelled: true;
  metadata: ResponseMetadata & { stop: Stop };
}

/** The call failed, or its outcome is unknown: see the `code`. */
export interface FailedResponse {
  success: false;
  data?: undefined;
  error: ABPError;
  cancelled?: false | undefined;
  metadata?: ResponseMetadata;
}

export interface ResponseMetadata {
  /** How far the call was seen to stop. In every response that says `cancelled: true`. */
  stop?: Stop;
  /** The step that stopped a call in a worker. */
  step?: StopStep;
  /** Milliseconds from the first cancel to the end of a call in a worker. */
  took?: number;
  /** Milliseconds the call took in the app. */
  duration?: number;
  cached?: boolean;
}

/**
 * How far a cancelled call was seen to stop. The weakest value comes last. A call with several parts has
 * the value of its weakest part.
 *
 * - `never-started`: the handler never ran.
 * - `dropped`: the Rust future was dropped, and its drop guards have run.
 * - `returned`: the JavaScript handler has settled.
 * - `terminated`: the worker or the job that ran the handler was ended, and the end was proven.
 * - `abandoned`: the handler was not seen to end, whether it was told to stop or could not be told. Its
 *   later result is discarded. When it ends, the notification `notifications/call/ended` says so.
 */
export type Stop = 'never-started' | 'dropped' | 'returned' | 'terminated' | 'abandoned';

/**
 * The last step that was taken to stop a handler in a worker.
 *
 * - `signal`: when the message arrived, the handler's signal fired, or its future was dropped.
 * - `flag`: the handler checked `cancelled()`, or a `checkpoint` in Rust. Both read a flag in shared memory.
 * - `terminate`: the worker was terminated. With `stop: 'terminated'`, a Web Lock that it held is the proof.
 */
export type StopStep = 'signal' | 'flag' | 'terminate';

/** How the handler of an abandoned call ended. */
export interface LateEnd {
  /** Whether the handler returned data rather than failed. The data was discarded. */
  success: boolean;
  /** Milliseconds from the end of the call to the end of its handler. */
  after: number;
}

/** The data of the notification `notifications/call/ended`. */
export interface CallEnded extends LateEnd {
  callId: string;
}

/** The outcome of a cancel. It never contradicts the call's own response. */
export type CancelResponse = ConfirmedCancel | RefusedCancel;

/** The call was cancelled. The call's response says so, too. */
export interface ConfirmedCancel {
  callId: string;
  cancelled: true;
  reason?: undefined;
  error?: undefined;
  metadata: {
    /** How far the call was seen to stop. The call's response has the same value. */
    stop: Stop;
    /** The step that stopped a call in a worker. The call's response has the same value. */
    step?: StopStep;
    /** Milliseconds from the first cancel to the end of a call in a worker. */
    took?: number;
    /** How the handler of an abandoned call ended later. */
    ended?: LateEnd;
  };
}

/** The call was not cancelled, or its outcome is unknown. */
export interface RefusedCancel {
  callId: string;
  cancelled: false;
  /**
   * Why the call was not cancelled: `Operation not found`, `Operation already completed`, `No confirmation
   * from the app`.
   */
  reason?: string;
  /** Set if the cancel itself failed. */
  error?: ABPError;
  metadata?: undefined;
}

export interface ProgressInfo {
  /** The call's progress token. Agents of this package use the callId. */
  operationId: string;
  progress: number;
  total?: number;
  /** 0 to 100. */
  percentage?: number;
  status?: string;
  stage?: string;
  /** Milliseconds. */
  estimatedRemaining?: number;
}

export interface AppInfo {
  id: string;
  name: string;
  version: string;
  description?: string;
}

export interface AgentInfo {
  name: string;
  version: string;
}

/** What an agent learns about each capability when its session opens. */
export interface CapabilitySummary {
  name: string;
  available: boolean;
  experimental?: boolean;
  deprecated?: boolean;
}

export interface Requirement {
  type: string;
  description?: string;
  met?: boolean;
  [more: string]: any;
}

/**
 * Hints on what a call of a capability does, as MCP has them. A hint is a promise of the app, and nobody
 * checks it. Clients of MCP ask their user before a call by these hints.
 */
export interface Annotations {
  /** The call changes nothing. */
  readOnlyHint?: boolean | undefined;
  /** The call may delete or overwrite something. Clients of MCP take a call without hints for one that may. */
  destructiveHint?: boolean | undefined;
  /** A second call with the same parameters changes nothing more. */
  idempotentHint?: boolean | undefined;
  /** The call reaches others than the app itself, such as a search of the web. */
  openWorldHint?: boolean | undefined;
}

export interface Capability extends CapabilitySummary {
  /** The name for people. Only if the app gives one. */
  title?: string;
  /** Only if the app gives hints. */
  annotations?: Annotations;
  /** A person must allow each call, or each call that may delete or overwrite something. */
  confirm?: 'always' | 'destructive';
  description: string;
  /** JSON Schema of the parameters. */
  inputSchema: unknown;
  /** JSON Schema of the data. */
  outputSchema: unknown;
  requirements: Requirement[];
  features: any;
  deprecationMessage?: string;
  alternatives?: string[];
}

export interface SupportInfo {
  supported: boolean;
  available: boolean;
  reason?: string;
  requirements?: Requirement[];
  features?: any;
  alternatives?: string[];
}

/** What an app announces at `/abp.json`. */
export interface Manifest {
  abp: '0.1';
  app: AppInfo;
  capabilities: {
    name: string;
    title?: string;
    description?: string;
    annotations?: Annotations;
    confirm?: 'always' | 'destructive';
    inputSchema?: unknown;
    outputSchema?: unknown;
  }[];
}

export interface Features {
  notifications: boolean;
  progress: boolean;
  elicitation: boolean;
  dynamicCapabilities: boolean;
}

/** Binary data over a transport that cannot carry an ArrayBuffer. */
export interface BinaryData {
  content: string;
  mimeType: string;
  encoding: 'base64' | 'utf-8';
  /** Bytes. */
  size?: number;
  filename?: string;
}

/** Binary data that is too large to be part of the message. */
export interface BinaryReference {
  downloadUrl: string;
  mimeType: string;
  /** Bytes. */
  size: number;
  filename?: string;
  expiresAt?: string;
}

/** The parameters of ABP's `initialize`. */
export interface InitializeParams {
  agent: AgentInfo;
  protocolVersion: '0.1';
  /** The names of the only capabilities that the agent can see and call. Default: all. */
  requestedCapabilities?: string[];
  features?: { notifications?: boolean; progress?: boolean; elicitation?: boolean };
  /** `allowedRequests`: the methods of the only questions that the agent accepts. Default: all. */
  agentCapabilities?: { allowedRequests: string[] };
}

/** The result of `initialize`. */
export interface InitializeResult {
  sessionId: string;
  protocolVersion: '0.1';
  app: AppInfo;
  capabilities: CapabilitySummary[];
  features: Features;
}

/** The wire envelope, the same over every transport. */
export interface Envelope {
  type: string;
  /** Correlates a request and its reply. */
  id?: string;
  /** Unix milliseconds. */
  timestamp: number;
  payload: any;
}

/** Your own transport for envelopes. It must keep envelopes that arrive before `onmessage` is set, or they are lost. */
export interface Messenger {
  /** Sends an envelope. Throws if the envelope cannot be sent. Once the peer is gone, envelopes are dropped. */
  post(envelope: Envelope, transfer?: any[]): void;
  /** Called once, when the session is over. */
  close(): void;
  /** Set by the agent or the host. The transport calls it with each envelope that arrives. */
  onmessage?: ((envelope: any) => void) | undefined;
  /** Set by the agent or the host. The transport calls it once, when the peer is gone. */
  onclose?: ((error?: Error) => void) | undefined;
  /** Whether envelopes may be lost while the peer is still starting. `initialize` is then repeated until it is answered. */
  readonly forgetful?: boolean | undefined;
}

export interface ChildCallOptions {
  /** Cancels only the child call. */
  signal?: AbortSignal | undefined;
  /** Milliseconds until the child call is cancelled. */
  timeout?: number | undefined;
  callId?: string | undefined;
}

/**
 * `window.abp`.
 *
 * @typeParam Caps the capabilities of the app, if you know them: `window.abp as Abp<Caps>`
 */
export interface Abp<Caps = any> {
  readonly protocolVersion: '0.1';
  readonly app: AppInfo;
  readonly initialized: boolean;
  readonly sessionId: string | null;
  initialize(params: InitializeParams): Promise<InitializeResult>;
  shutdown(params?: { reason?: string }): Promise<void>;
  /** Never rejects. The parameters are copied at once: the handler gets exactly the copy that passed the schema. */
  readonly call: Call<Caps, ChildCallOptions & { progressToken?: string | number | undefined }>;
  cancel(callId: string, reason?: string): Promise<CancelResponse>;
  cancel(call: { callId: string; reason?: string }): Promise<CancelResponse>;
  listCapabilities(): Promise<Capability[]>;
  describeCapability(name: string): Promise<Capability | null>;
  supports(name: string): Promise<SupportInfo>;
  notify(event: string, data?: unknown): void;
  notifyProgress(info: ProgressInfo): void;
  elicit<Data = unknown>(request: object): Promise<ABPResponse<Data>>;
}

declare global {
  interface Window {
    /** The app's capabilities, once the app has called `host.expose()`. */
    readonly abp?: Abp;
  }
}
