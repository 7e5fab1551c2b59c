/** What the Agentic Browser Protocol, version 0.1, calls things. */
/// <reference lib="esnext.disposable" />
import type { Call } from './capabilities.js';

/** The error codes of the protocol; an app may have more of its own. */
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

/** An error that was thrown or that a promise has rejected with: the fields of an ABPError. */
export class CapHostError extends Error {
  constructor(error: ABPError);
  readonly name: 'CapHostError';
  /** What a program decides on. */
  readonly code: ABPErrorCode | (string & {});
  /** Whether repeating the same request may succeed. */
  readonly retryable: boolean;
  /** Anything else: for bad parameters, `{ path }` of what is wrong. */
  readonly details?: any;
  /** Milliseconds to wait before the request is repeated. */
  readonly retryAfter?: number;
  /** Names of capabilities that may serve instead. */
  readonly alternatives?: string[];
}

export interface ABPError {
  /** What a program decides on. */
  code: ABPErrorCode | (string & {});
  /** What a person reads. */
  message: string;
  /** Anything else: for bad parameters, `{ path }` of what is wrong. */
  details?: any;
  /** Whether repeating the same request may succeed. */
  retryable: boolean;
  /** Milliseconds to wait before that. */
  retryAfter?: number;
  /** Names of capabilities that may serve instead. */
  alternatives?: string[];
}

/**
 * How a call ended: one of three. `if (response.success)` leaves `data`, `if (response.cancelled)`
 * leaves `metadata.stop`, and what remains has an `error`.
 */
export type ABPResponse<Data = any> = SuccessResponse<Data> | CancelledResponse | FailedResponse;

/** The call has completed. */
export interface SuccessResponse<Data = any> {
  success: true;
  /** What the capability returned. */
  data: Data;
  error?: undefined;
  cancelled?: false | undefined;
  metadata?: ResponseMetadata;
}

/** The call was cancelled: by a cancel, its signal, its timeout, or by itself. Only ever said of a fact. */
export interface CancelledResponse {
  success: false;
  data?: undefined;
  error?: undefined;
  cancelled: true;
  metadata: ResponseMetadata & { stop: Stop };
}

/** The call has failed, or nobody knows its outcome: see the `code`. */
export interface FailedResponse {
  success: false;
  data?: undefined;
  error: ABPError;
  cancelled?: false | undefined;
  metadata?: ResponseMetadata;
}

export interface ResponseMetadata {
  /** How far the stop was seen; in every response that says `cancelled: true`. */
  stop?: Stop;
  /** What has stopped it, of a call that ran in a worker. */
  step?: StopStep;
  /** Milliseconds from the first cancel to the end of such a call. */
  took?: number;
  /** Milliseconds the call took in the app. */
  duration?: number;
  cached?: boolean;
}

/**
 * How far the stop of a cancelled call was seen. The weakest comes last; a call is worth what its
 * weakest part is.
 *
 * - `never-started`: the handler never ran.
 * - `dropped`: the Rust future was dropped, and its drop guards have run.
 * - `returned`: the JavaScript handler has settled.
 * - `terminated`: what ran it was ended, and the end was proven.
 * - `abandoned`: it was told, or cannot be told, and was not seen to end. What it still returns is
 *   discarded. When it ends, the notification `notifications/call/ended` says so.
 */
export type Stop = 'never-started' | 'dropped' | 'returned' | 'terminated' | 'abandoned';

/**
 * The last step that was taken to stop a handler in a worker.
 *
 * - `signal`: its signal has fired, or it was dropped, when the message came.
 * - `flag`: it has looked at `cancelled()`, or at a `checkpoint` in Rust, whose flag stands in shared memory.
 * - `terminate`: the worker was terminated. Together with `stop: 'terminated'` a Web Lock that it held is the proof.
 */
export type StopStep = 'signal' | 'flag' | 'terminate';

/** How the handler of an abandoned call has ended. */
export interface LateEnd {
  /** Whether it returned data rather than failed. The data was discarded. */
  success: boolean;
  /** Milliseconds from the end of the call to the end of its handler. */
  after: number;
}

/** The data of the notification `notifications/call/ended`. */
export interface CallEnded extends LateEnd {
  callId: string;
}

/** What came of a cancel. It never contradicts the call's own response. */
export type CancelResponse = ConfirmedCancel | RefusedCancel;

/** The call was cancelled, and its response says so too. */
export interface ConfirmedCancel {
  callId: string;
  cancelled: true;
  reason?: undefined;
  error?: undefined;
  metadata: {
    /** How far the stop was seen, as the call's response says too. */
    stop: Stop;
    /** What has stopped it, of a call that ran in a worker, as the call's response says too. */
    step?: StopStep;
    /** Milliseconds from the first cancel to the end of such a call. */
    took?: number;
    /** How the handler of an abandoned call has ended since. */
    ended?: LateEnd;
  };
}

/** The call was not cancelled, or nobody knows. */
export interface RefusedCancel {
  callId: string;
  cancelled: false;
  /** Why not: `Operation not found`, `Operation already completed`, `No confirmation from the app`. */
  reason?: string;
  /** Set where the cancel itself failed. */
  error?: ABPError;
  metadata?: undefined;
}

export interface ProgressInfo {
  /** The call's progress token; agents of this package use the callId. */
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

/** What an agent is told of each capability when its session opens. */
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

export interface Capability extends CapabilitySummary {
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
  capabilities: { name: string; description?: string; inputSchema?: unknown; outputSchema?: unknown }[];
}

export interface Features {
  notifications: boolean;
  progress: boolean;
  elicitation: boolean;
  dynamicCapabilities: boolean;
}

/** Binary data where the transport cannot carry an ArrayBuffer. */
export interface BinaryData {
  content: string;
  mimeType: string;
  encoding: 'base64' | 'utf-8';
  /** Bytes. */
  size?: number;
  filename?: string;
}

/** Binary data too large to be sent along. */
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
  /** The only capabilities that there are for the agent. Default: all. */
  requestedCapabilities?: string[];
  features?: { notifications?: boolean; progress?: boolean; elicitation?: boolean };
  /** `allowedRequests`: the only questions that the agent takes, by their methods. Default: any. */
  agentCapabilities?: { allowedRequests: string[] };
}

/** What `initialize` answers. */
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

/** A transport of one's own, for envelopes. What arrives before `onmessage` is set has to be kept, or is lost. */
export interface Messenger {
  /** Throws when the envelope cannot be sent. Once the peer is gone, what is posted is dropped. */
  post(envelope: Envelope, transfer?: any[]): void;
  /** Called once, when the session is over. */
  close(): void;
  /** Set by the agent or the host: to be called with each envelope that arrives. */
  onmessage?: ((envelope: any) => void) | undefined;
  /** Set by the agent or the host: to be called once, when the peer is gone. */
  onclose?: ((error?: Error) => void) | undefined;
  /** What is posted may be lost while the peer is still starting: `initialize` is repeated until it is answered. */
  readonly forgetful?: boolean | undefined;
}

export interface ChildCallOptions {
  /** Cancels the child alone. */
  signal?: AbortSignal | undefined;
  /** Milliseconds. */
  timeout?: number | undefined;
  callId?: string | undefined;
}

/**
 * `window.abp`.
 *
 * @typeParam Caps what the app offers, for who knows it: `window.abp as Abp<Caps>`
 */
export interface Abp<Caps = any> {
  readonly protocolVersion: '0.1';
  readonly app: AppInfo;
  readonly initialized: boolean;
  readonly sessionId: string | null;
  initialize(params: InitializeParams): Promise<InitializeResult>;
  shutdown(params?: { reason?: string }): Promise<void>;
  /** Never rejects. Parameters are copied when this is called: what has passed the schema is what the handler gets. */
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
    /** The app's capabilities, once it has called `host.expose()`. */
    readonly abp?: Abp;
  }
}
