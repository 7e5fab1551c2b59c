/** The parts of ABP 0.1 and of the host's events that the page reads. */

export interface ABPError {
  code: string;
  message: string;
  details?: unknown;
  retryable?: boolean;
  retryAfter?: number;
  alternatives?: string[];
}

export interface ABPResponse {
  success: boolean;
  data?: unknown;
  error?: ABPError;
  cancelled?: boolean;
  metadata?: { duration?: number; stop?: Stop; step?: StopStep; took?: number; cached?: boolean };
}

/** How far the host has seen a cancelled call stop. */
export type Stop = 'never-started' | 'dropped' | 'returned' | 'terminated' | 'abandoned';

/** The step that has stopped a call in a worker. */
export type StopStep = 'signal' | 'flag' | 'terminate';

/** How the handler of an abandoned call ended later. `after` is in milliseconds. */
export interface LateEnd {
  success: boolean;
  after: number;
}

export interface CancelResponse {
  callId: string;
  cancelled: boolean;
  reason?: string;
  error?: ABPError;
  metadata?: { stop: Stop; step?: StopStep; took?: number; ended?: LateEnd };
}

export interface ProgressInfo {
  operationId?: string;
  progress: number;
  total?: number;
  percentage?: number;
  status?: string;
  stage?: string;
  /** Milliseconds. */
  estimatedRemaining?: number;
}

/** The part of JSON Schema that the forms understand. A property of any other kind gets a JSON field. */
export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  multipleOf?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  not?: Schema;
}

export interface Capability {
  name: string;
  description?: string;
  inputSchema?: Schema;
  outputSchema?: Schema;
}

export interface Manifest {
  abp: string;
  app: { id: string; name: string; version: string; description?: string };
  capabilities: Capability[];
}

export type CallState = 'queued' | 'running' | 'completed' | 'cancelled' | 'failed';

export interface CallEvent {
  type: 'call';
  state: CallState;
  callId: string;
  capability: string;
  sessionId: string;
  parentCallId?: string;
  /** Unix milliseconds. */
  time: number;
  params?: unknown;
  response?: ABPResponse;
  reason?: string;
}

export interface ProgressEvent {
  type: 'progress';
  callId: string;
  sessionId?: string;
  info: ProgressInfo;
}

/** A call was asked to stop and has not ended. */
export interface CancellingEvent {
  type: 'cancelling';
  callId: string;
  sessionId: string;
  reason?: string;
}

export interface CancelEvent {
  type: 'cancel';
  callId: string;
  sessionId: string;
  response: CancelResponse;
  reason?: string;
}

/** The handler of an abandoned call has ended. */
export interface EndedEvent extends LateEnd {
  type: 'ended';
  callId: string;
  sessionId: string;
}

export interface SessionEvent {
  type: 'session';
  state: 'open' | 'closed';
  sessionId: string;
  agent?: { name: string; version: string };
}

export interface GatewayEvent {
  type: 'gateway';
  state: 'connecting' | 'connected' | 'disconnected' | 'refused' | 'superseded';
  url: string;
  resumed?: true;
  error?: ABPError;
}

export type HostEvent =
  | CallEvent
  | ProgressEvent
  | CancellingEvent
  | CancelEvent
  | EndedEvent
  | SessionEvent
  | GatewayEvent
  | { type: 'capabilities' };

export interface Host {
  expose(target?: Window): void;
  acceptMessages(options: { allowedOrigins?: string[] }): void;
  acceptPort(port: MessagePort): void;
  connectGateway(url: string, options?: { token?: string }): void;
  /** Cancels a call of any session, as the operator. */
  cancelCall(sessionId: string, callId: string, reason?: string): Promise<CancelResponse>;
  observe(listener: (event: HostEvent) => void): () => void;
  manifest(): Manifest;
}
