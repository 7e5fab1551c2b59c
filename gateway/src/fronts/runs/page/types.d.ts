/** What the runs API says; see docs/protocol.md, "The runs API". */

export type State = 'queued' | 'running' | 'cancelling' | 'completed' | 'failed' | 'cancelled' | 'unknown';

/** How far a stop was seen. */
export type Stop = 'never-started' | 'dropped' | 'returned' | 'terminated' | 'abandoned';

/** What has stopped a call in a worker. */
export type Step = 'signal' | 'flag' | 'terminate';

/** Who went away before it was known how a run ended. */
export type Lost = 'agent' | 'app' | 'gateway';

/** How work that was abandoned has ended, `after` milliseconds later. */
export interface Ended {
  success: boolean;
  after: number;
}

/** Times are unix milliseconds on the gateway's clock. */
export interface Run {
  runId: string;
  name: string;
  dialect: string;
  dialectId: string | null;
  owner: string;
  /** What the agent calls itself. */
  agent: string | null;
  thread: string | null;
  app: string | null;
  capability: string;
  callId: string;
  state: State;
  registeredAt: number;
  endedAt: number | null;
  cancelRequestedAt: number | null;
  cancelledAt: number | null;
  cancelReason: string | null;
  progress: ProgressInfo | null;
  error: string | null;
  /** Of one whose outcome is not known for that. */
  lost: Lost | null;
  /** Of a cancelled one. */
  stop: Stop | null;
  /** Of one in a worker, and in how many milliseconds. */
  step: Step | null;
  took: number | null;
  ended: Ended | null;
}

/** As an app wrote it: nothing of it is certain. */
export interface ProgressInfo {
  progress?: unknown;
  total?: unknown;
  percentage?: unknown;
  status?: unknown;
  stage?: unknown;
  estimatedRemaining?: unknown;
}

export interface RunList {
  runs: Run[];
  omitted: number;
  /** Why there may be more on other workers. */
  incomplete?: string;
  now: number;
  viewer: { name: string; role: 'agent' | 'admin' };
}

export interface ApiError {
  code: string;
  message: string;
  retryable?: boolean;
  details?: unknown;
}

export interface Confirmation {
  runId: string;
  cancelled: boolean;
  reason?: string;
  error?: ApiError;
  stop?: Stop;
  step?: Step;
  took?: number;
  ended?: Ended;
}
