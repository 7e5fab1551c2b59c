/**
 * Shows people what agents do on a host: the element `<cap-activity>`, and the data that it shows, for an
 * app's own components. Importing this module defines the element.
 */
import type { ABPError, AgentInfo, Annotations, CancelResponse, Host, LateEnd, ProgressInfo, Stop } from './index.js';

/** The current state of a call. A change replaces the object; nothing is ever written to it. */
export interface ActivityCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly capability: string;
  /** The capability's title, if it has one. */
  readonly title?: string;
  /** The capability's hints on what the call does, if it has any. */
  readonly annotations?: Annotations;
  /** The agent that made the call. Known if its session began after the host was first watched. */
  readonly agent?: AgentInfo;
  /** The call whose handler made this call, if a handler made it. */
  readonly parentCallId?: string;
  readonly state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  /** Whether the call was asked to stop and has not ended yet: the host's event `cancelling` has come. */
  readonly stopping: boolean;
  /**
   * Who asks a person whether the call may start, while it waits for that: the app, with `allow` and `deny`,
   * or the agent.
   */
  readonly asks?: 'app' | 'agent';
  /** The question that `allow`, `deny` and `host.answer` answer. Only while the app asks. */
  readonly question?: number;
  /** The parameters that the agent gave. Only while a person is asked. */
  readonly params?: any;
  /** When the call was made, in Unix milliseconds. */
  readonly since: number;
  /** When the call ended, in Unix milliseconds. */
  readonly until?: number;
  /** The latest progress. */
  readonly progress?: ProgressInfo;
  /** The error of a failed call. */
  readonly error?: ABPError;
  /** How far a cancelled call was seen to stop. */
  readonly stop?: Stop;
  /** How the handler of an abandoned call ended later. */
  readonly ended?: LateEnd;
}

/** The calls of a host. Its functions need no `this`. */
export interface Activity {
  /** All calls in flight and the latest ended calls, oldest first. The array stays the same until something changes. */
  readonly calls: () => readonly ActivityCall[];
  /** Calls the listener after each change, at most once in a frame. Returns a function that unsubscribes. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Cancels a call on behalf of the user. Never rejects. */
  readonly stop: (call: Pick<ActivityCall, 'callId' | 'sessionId'>) => Promise<CancelResponse>;
  /** Allows a call that waits for a person. False if it does not wait any more. */
  readonly allow: (call: Pick<ActivityCall, 'question'>) => boolean;
  /** Denies a call that waits for a person: the call fails with PERMISSION_DENIED. False if it does not wait any more. */
  readonly deny: (call: Pick<ActivityCall, 'question'>) => boolean;
}

/**
 * The calls of a host, watched from the first call of this function: call it before agents can connect. All
 * callers get the same object. It ends with the host.
 */
export function activityOf(host: Host): Activity;

/** The texts of `<cap-activity>`. English by default. */
export interface ActivityTexts {
  /** The name of the whole element. */
  label: string;
  /** The text while no call is shown. */
  none: string;
  /** The text in place of an unknown agent's name. */
  someAgent: string;
  queued: string;
  running: string;
  /** The state of a call that waits until a person allows it here. */
  asks: string;
  /** The same, where the agent asks. */
  asksElsewhere: string;
  allow: string;
  deny: string;
  /** Stands before the parameters, which `Allow` is about. */
  params: string;
  stopping: string;
  /** Stands beside the state of a running call whose capability says that it may delete or overwrite something. */
  destructive: string;
  completed: string;
  failed: string;
  /** The state of a cancelled call, by how far the call was seen to stop. */
  cancelled: Record<Stop, string>;
  /** The state of an abandoned call whose handler ended later. */
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
 * `<cap-activity>`. The attribute `keep` is the number of ended calls that stay. Default 3.
 *
 * Parts: `activity`, `stop-all`, `none`, `list`, `call` (and its state, and `destructive`), `icon`, `head`, `name`,
 * `agent`, `state`, `elapsed`, `progress`, `stop`, `params`, `answers`, `allow`, `deny`, `more`. Properties: `--cap-activity-color`,
 * `-muted`, `-background`, `-border`, `-accent`, `-danger`, `-success`, `-stopped`, `-warning`,
 * `-radius`, `-gap`, `-font`.
 */
export class CapActivityElement extends HTMLElement {
  /** The host whose calls are shown. */
  host: Host | undefined;
  /** The texts. Texts that you leave out are in English. */
  get texts(): ActivityTexts;
  set texts(texts: Partial<Omit<ActivityTexts, 'cancelled'>> & { cancelled?: Partial<Record<Stop, string>> });
}

declare global {
  interface HTMLElementTagNameMap {
    'cap-activity': CapActivityElement;
  }
}
