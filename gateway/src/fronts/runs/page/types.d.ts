/** The types of the runs API. See "The runs API" in docs/protocol.md. */

export type State = 'queued' | 'running' | 'cancelling' | 'completed' | 'failed' | 'cancelled' | 'unknown';

/** How far the work was seen to stop. */
export type Stop = 'never-started' | 'dropped' | 'returned' | 'terminated' | 'abandoned';

/** What has stopped a call in a worker. */
export type Step = 'signal' | 'flag' | 'terminate';

/** Which side went away before the end of a run was known. */
export type Lost = 'agent' | 'app' | 'gateway';

/** How abandoned work has ended, `after` milliseconds later. */
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
  /** The agent's name for itself. */
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
  /** Only if the outcome is unknown for this reason. */
  lost: Lost | null;
  /** Only if the run is cancelled. */
  stop: Stop | null;
  /** Only if the call ran in a worker. `took` is how many milliseconds the stop took. */
  step: Step | null;
  took: number | null;
  ended: Ended | null;
}

/** Progress as an app wrote it. No member is certain to be valid. */
export interface ProgressInfo {
  progress?: unknown;
  total?: unknown;
  percentage?: unknown;
  status?: unknown;
  stage?: unknown;
  estimatedRemaining?: unknown;
}

/** An app. See "The apps API" in docs/protocol.md. */
export interface App {
  id: string;
  name: string;
  version: string;
  instances: Instance[];
}

/** A connection of an app, such as a tab. */
export interface Instance {
  app: string;
  title: string | null;
  owner: string;
  since: number;
  agents: number;
  latest: boolean;
  suspended: boolean;
}

export interface RunList {
  runs: Run[];
  omitted: number;
  /** Why other workers may have more runs. */
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
