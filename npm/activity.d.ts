/**
 * What agents do on a host, for people: the element `<cap-activity>`, and the data that it shows, for
 * components of one's own. Importing this defines the element.
 */
import type { ABPError, AgentInfo, CancelResponse, Host, LateEnd, ProgressInfo, Stop } from './index.js';

/** A call, as it is now. It is replaced when something of it changes, and never written to. */
export interface ActivityCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly capability: string;
  /** Who has made it, if its session began since the host is watched. */
  readonly agent?: AgentInfo;
  /** Of a call that another call's handler has made. */
  readonly parentCallId?: string;
  readonly state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  /** Whether the call is asked to stop, and nobody knows yet how it ends: the host's event `cancelling`. */
  readonly stopping: boolean;
  /** When it was made, in Unix milliseconds. */
  readonly since: number;
  /** When it has ended. */
  readonly until?: number;
  /** The latest. */
  readonly progress?: ProgressInfo;
  /** Of a call that has failed. */
  readonly error?: ABPError;
  /** Of a cancelled call: how far it was seen to stop. */
  readonly stop?: Stop;
  /** Of an abandoned call: how its handler has ended since. */
  readonly ended?: LateEnd;
}

/** The calls of a host. Its functions need no `this`. */
export interface Activity {
  /** All calls in flight and the latest that have ended, oldest first: the same array until something changes. */
  readonly calls: () => readonly ActivityCall[];
  /** Has the listener called when something has changed, at most once in a frame. Returns what stops it. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Cancels a call for the user. Never rejects. */
  readonly stop: (call: Pick<ActivityCall, 'callId' | 'sessionId'>) => Promise<CancelResponse>;
}

/**
 * The calls of a host, from the first time that somebody asks for them: do so before agents can come.
 * It is one for all who ask, and ends with the host.
 */
export function activityOf(host: Host): Activity;

/** What `<cap-activity>` says, in English unless an app says otherwise. */
export interface ActivityTexts {
  /** The name of the whole. */
  label: string;
  /** When nothing is shown. */
  none: string;
  /** In place of an agent's name that is not known. */
  someAgent: string;
  queued: string;
  running: string;
  stopping: string;
  completed: string;
  failed: string;
  /** What became of a stopped call, by how far it was seen to stop. */
  cancelled: Record<Stop, string>;
  /** Of an abandoned call whose handler has ended since. */
  endedLate: string;
  stop: string;
  stopAll: string;
  more(count: number): string;
  by(agent: string): string;
  /** The name of a call's progress bar. */
  progress(capability: string): string;
  elapsed(seconds: number): string;
}

/**
 * `<cap-activity>`. The attribute `keep` is how many ended calls stay, 3 unless told otherwise.
 *
 * Parts: `activity`, `stop-all`, `none`, `list`, `call` (and its state), `icon`, `head`, `name`,
 * `agent`, `state`, `elapsed`, `progress`, `stop`, `more`. Properties: `--cap-activity-color`,
 * `-muted`, `-background`, `-border`, `-accent`, `-danger`, `-success`, `-stopped`, `-warning`,
 * `-radius`, `-gap`, `-font`.
 */
export class CapActivityElement extends HTMLElement {
  /** The host whose agents are shown. */
  host: Host | undefined;
  /** What is said; what is left out is said in English. */
  get texts(): ActivityTexts;
  set texts(texts: Partial<Omit<ActivityTexts, 'cancelled'>> & { cancelled?: Partial<Record<Stop, string>> });
}

declare global {
  interface HTMLElementTagNameMap {
    'cap-activity': CapActivityElement;
  }
}
