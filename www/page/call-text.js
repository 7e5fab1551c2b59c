/** @import { Call } from './call-history.js' */
/** @import { CallState, ProgressInfo, Stop, StopStep } from './types/protocol.js' */
import { duration, isolated } from './format.js';

/** @type {Record<CallState, string>} */
export const STATE_NAMES = {
  queued: 'Queued',
  running: 'Running',
  completed: 'Completed',
  cancelled: 'Cancelled',
  failed: 'Failed',
};

/**
 * The milliseconds that a call has lasted. A call that never started lasted for as long as it
 * waited.
 * @param {Call} call
 * @param {number} [now]
 */
export function lasted(call, now = Date.now()) {
  return (call.endedAt ?? now) - (call.startedAt ?? call.queuedAt);
}

/** @param {Call} call */
export function stateText(call) {
  if (call.cancelling) return 'Cancelling';
  if (call.state === 'queued') return 'Queued';
  if (call.state === 'running') return 'Running';
  const time = duration(lasted(call));
  if (call.state === 'cancelled' && call.startedAt === undefined) return `Cancelled while queued, after ${time}`;
  if (call.state === 'failed') return `Failed after ${time}`;
  return `${STATE_NAMES[call.state]} ${call.state === 'cancelled' ? 'after' : 'in'} ${time}`;
}

/** @type {Record<Stop, string>} */
const STOPPED = {
  'never-started': 'The handler never ran.',
  dropped: 'The work has ended: its future was dropped.',
  returned: 'The work has ended: the handler has settled.',
  terminated: 'The work was ended, and its end was proven.',
  abandoned: 'The handler was not seen to stop, and may still run.',
};

/** The names of the steps that stop work in a worker. @type {Record<StopStep, string>} */
const STEPS = {
  signal: 'Its worker told it by a message.',
  flag: 'It saw the flag in shared memory.',
  terminate: 'It did not listen, so its worker was terminated.',
};

/**
 * Says what happened to the work of a cancelled call.
 * @param {Call} call
 */
export function stopText({ response, ended }) {
  const stop = response?.metadata?.stop;
  if (!stop) return '';
  if (!ended) return [STOPPED[stop], ...inWorker(response?.metadata)].join(' ');
  return `The handler was not seen to stop. It ${ended.success ? 'returned' : 'failed'} ${duration(ended.after)} later, and its result was discarded.`;
}

/** @param {{ stop?: Stop, step?: StopStep, took?: number } | undefined} metadata */
function inWorker({ stop, step, took } = {}) {
  if (!step) return [];
  const proof = stop === 'terminated' ? ['Proof: the page was granted the lock that the worker held.'] : [];
  return [STEPS[step], ...proof, ...(took === undefined ? [] : [`It took ${duration(took)}.`])];
}

/**
 * A number from 0 to 100, or undefined if the capability does not report a percentage.
 * @param {ProgressInfo | undefined} info
 */
export function percentage(info) {
  if (!info) return undefined;
  const given = info.percentage ?? (info.total ? (100 * info.progress) / info.total : undefined);
  return given === undefined || !Number.isFinite(given) ? undefined : Math.min(100, Math.max(0, given));
}

/** @param {Call} call */
export function progressText(call) {
  const info = call.progress;
  if (!info) return '';
  const percent = percentage(info);
  const { stage, status } = info;
  const repeated = typeof stage === 'string' && typeof status === 'string' && status.startsWith(stage);
  const parts = [repeated ? undefined : stage, status].filter((part) => typeof part === 'string' && part !== '').map((part) => isolated(String(part).slice(0, 200)));
  if (percent !== undefined) parts.push(`${Math.floor(percent)} %`);
  if (typeof info.estimatedRemaining === 'number' && call.state === 'running') parts.push(`about ${Math.ceil(info.estimatedRemaining / 1000)} s left`);
  return parts.join(' · ');
}
