/** @import { Lost, ProgressInfo, Run, State, Step, Stop } from './types.js' */
import { duration, isolated, roughly } from './format.js';

/** The states in the order of a run's life. @type {Record<State, string>} */
export const STATE_NAMES = {
  queued: 'Queued',
  running: 'Running',
  cancelling: 'Cancelling',
  completed: 'Completed',
  cancelled: 'Cancelled',
  failed: 'Failed',
  unknown: 'Unknown',
};

/** @type {Record<string, string>} */
const DIALECT_NAMES = { abp: 'ABP', rap: 'RAP', mcp: 'MCP', jsonrpc: 'JSON-RPC' };

/** @param {string} dialect */
export const dialectName = (dialect) => DIALECT_NAMES[dialect] ?? dialect;

/** @param {Run} run */
export const isOver = (run) => ['completed', 'cancelled', 'failed', 'unknown'].includes(run.state);

/**
 * How many milliseconds a run has lasted.
 * @param {Run} run
 * @param {number} now on the gateway's clock
 */
export const lasted = (run, now) => Math.max(0, (run.endedAt ?? now) - run.registeredAt);

/**
 * The progress from 0 to 100, or undefined if the app does not report it.
 * @param {ProgressInfo | null} info
 */
export function percentage(info) {
  if (typeof info !== 'object' || info === null) return undefined;
  const { percentage: given, progress, total } = info;
  const percent = typeof given === 'number' ? given
    : typeof progress === 'number' && typeof total === 'number' && total > 0 ? (100 * progress) / total
      : undefined;
  return percent === undefined || !Number.isFinite(percent) ? undefined : Math.min(100, Math.max(0, percent));
}

/** The app's last progress report. @param {Run} run */
export function progressText(run) {
  const info = run.progress;
  if (typeof info !== 'object' || info === null) return '';
  const { stage, status, estimatedRemaining } = info;
  const percent = percentage(info);
  const repeated = typeof stage === 'string' && typeof status === 'string' && status.startsWith(stage);
  const parts = [repeated ? undefined : stage, status].filter((part) => typeof part === 'string' && part !== '').map((part) => isolated(String(part).slice(0, 200)));
  if (percent !== undefined) parts.push(`${Math.floor(percent)} %`);
  if (typeof estimatedRemaining === 'number' && run.state === 'running') {
    parts.push(`about ${roughly(estimatedRemaining)} left`);
  }
  const text = parts.join(' · ');
  return isOver(run) && text ? `Last heard of at: ${text}` : text;
}

/** How the run was cancelled, or that a cancel was requested. @param {Run} run */
export function cancelText(run) {
  const { cancelRequestedAt: asked, cancelledAt: confirmed, cancelReason: reason, state } = run;
  const quoted = reason ? `: “${isolated(reason)}”` : '';
  if (state === 'cancelling') return `Asked to cancel${quoted}`;
  if (state === 'cancelled') {
    if (asked === null || confirmed === null) return 'Stopped by the app itself, or at a time limit';
    return `Cancelled ${duration(confirmed - asked)} after it was asked for${quoted}`;
  }
  if (asked === null) return '';
  if (state === 'unknown') return `Asked to cancel, and not confirmed${quoted}`;
  return isOver(run) ? `Asked to cancel, and not cancelled${quoted}` : `Asked to cancel, not confirmed so far${quoted}`;
}

/** @type {Record<Lost, string>} */
const LOST = {
  agent: 'Its agent left; the app was told to cancel it. How this ended is not known.',
  app: 'The app went away before it answered: how this ended is not known.',
  gateway: 'The gateway stopped before the app answered: how this ended is not known.',
};

/** @type {Record<string, string>} */
const UNKNOWN_WHY = {
  DISCONNECTED: 'A connection was lost before the app answered: how this ended is not known.',
  TIMEOUT: 'The app did not answer in time: how this ended is not known.',
  TRANSPORT_ERROR: "The app's answer could not be passed on: how this ended is not known.",
};

/** @type {Record<Stop, string>} */
const STOPPED = {
  'never-started': 'It never started',
  dropped: 'Its work has ended',
  returned: 'Its work has ended',
  terminated: 'Its work has ended',
  abandoned: 'Its work was not seen to stop, and may still go on',
};

/** @type {Record<Step, string>} */
const STEPPED = { signal: 'it took its signal', flag: 'it saw the flag', terminate: 'its worker was ended' };

/** What has stopped a call in a worker, or null. @param {Run} run */
export const stepText = ({ step, took }) => (step && took !== null ? `${STEPPED[step]} after ${duration(took)}` : null);

/** How the work of a cancelled run has ended. @param {Run} run */
export function stopText(run) {
  const { stop, ended } = run;
  if (!stop) return '';
  if (ended) return `Its work was not seen to stop. It ended ${duration(ended.after)} later, ${ended.success ? 'complete' : 'with an error'}; what it returned was discarded`;
  const said = STOPPED[stop] ?? STOPPED.abandoned;
  const how = stop === 'abandoned' ? null : stepText(run);
  return how === null ? said : `${said}: ${how}`;
}

/** The error of the run. @param {Run} run */
export function errorText(run) {
  if (run.state === 'failed') return run.error ? `Failed with ${isolated(run.error)}` : 'Failed';
  if (run.state === 'unknown' && run.lost) return LOST[run.lost] ?? UNKNOWN_WHY.DISCONNECTED;
  if (run.state === 'unknown') return UNKNOWN_WHY[run.error ?? ''] ?? 'How this ended is not known.';
  return '';
}
