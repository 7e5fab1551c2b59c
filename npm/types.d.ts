/** What the Agentic Browser Protocol, version 0.1, calls things. */

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
 * How a call ended. Exactly one of three: `success: true` with `data`; `success: false` with
 * `error`; or `success: false` with `cancelled: true`, which is only ever said of a fact.
 */
export interface ABPResponse<Data = any> {
  success: boolean;
  /** What the capability returned. */
  data?: Data;
  error?: ABPError;
  /** The call was cancelled: by a cancel, its signal, its timeout, or by itself. */
  cancelled?: boolean;
  metadata?: {
    /** How far the stop was seen; in every response that says `cancelled: true`. */
    stop?: Stop;
    /** Milliseconds the call took in the app. */
    duration?: number;
    cached?: boolean;
  };
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
export interface CancelResponse {
  callId: string;
  /** True if and only if the call's response says `cancelled: true`. */
  cancelled: boolean;
  /** Why not: `Operation not found`, `Operation already completed`, `No confirmation from the app`. */
  reason?: string;
  /** Set where the cancel itself failed. */
  error?: ABPError;
  /** Of a call that was cancelled. */
  metadata?: {
    /** How far the stop was seen, as the call's response says too. */
    stop: Stop;
    /** How the handler of an abandoned call has ended since. */
    ended?: LateEnd;
  };
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
  inputSchema: any;
  /** JSON Schema of the data. */
  outputSchema: any;
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
  capabilities: { name: string; description?: string; inputSchema?: any; outputSchema?: any }[];
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
  requestedCapabilities?: string[];
  features?: { notifications?: boolean; progress?: boolean; elicitation?: boolean };
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
