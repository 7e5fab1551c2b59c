/**
 * The texts about calls, which an app may replace.
 */

/** @import { ActivityCall, ActivityTexts } from '../../../../npm/activity.js' */

/** @type {ActivityTexts} */
export const ENGLISH = {
  label: 'What agents are doing',
  none: 'No agent is working.',
  someAgent: 'An agent',
  queued: 'Waiting',
  running: 'Working',
  asks: 'Asks for your permission',
  asksElsewhere: 'Waits for a permission that the agent asks for',
  allow: 'Allow',
  deny: 'Deny',
  params: 'With these parameters',
  stopping: 'Stopping…',
  destructive: 'may delete or overwrite',
  completed: 'Done',
  failed: 'Failed',
  cancelled: {
    'never-started': 'Stopped before it began.',
    dropped: 'Stopped: the work has ended.',
    returned: 'Stopped: the work has ended.',
    terminated: 'Stopped by force: the work has ended.',
    abandoned: 'Told to stop. The work was not seen to end, and may go on.',
  },
  endedLate: 'Told to stop. The work has ended since.',
  stop: 'Stop',
  stopAll: 'Stop all',
  more: (count) => `${count} more`,
  by: (agent) => `for ${agent}`,
  progress: (capability) => `Progress of ${capability}`,
  elapsed: (seconds) => {
    if (seconds < 1) return 'under 1 s';
    const [minutes, rest] = [Math.floor(seconds / 60), Math.floor(seconds % 60)];
    return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
  },
};

/**
 * Text of others among the page's own words, isolated so that it cannot reorder them. @param {string} text
 */
export const isolated = (text) => (DIRECTED.test(text) ? `\u2068${text.replace(/[\u2066-\u2069]/g, '')}\u2069` : text);

/** Characters that have a direction of their own. */
const DIRECTED = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Whether the call is in flight. @param {ActivityCall} call */
export const isRunning = ({ state }) => state === 'queued' || state === 'running';

/** Whether the app says that the call may delete or overwrite something. @param {ActivityCall} call */
export const mayDestroy = ({ annotations }) => annotations?.destructiveHint === true && annotations.readOnlyHint !== true;

/** @param {ActivityCall} call @param {ActivityTexts} texts */
export function stateText(call, texts) {
  const { state, stopping, asks, stop, ended, error } = call;
  if (stopping) return texts.stopping;
  if (asks) return asks === 'app' ? texts.asks : texts.asksElsewhere;
  if (state === 'cancelled') return stop === 'abandoned' && ended ? texts.endedLate : texts.cancelled[stop ?? 'abandoned'];
  return state === 'failed' && error ? `${texts.failed}: ${isolated(error.message)}` : texts[state];
}

/** The current stage, in the app's own words. @param {ActivityCall} call */
export function stageText({ progress }) {
  const { stage, status } = progress ?? {};
  return [stage, status].filter((it) => typeof it === 'string' && it !== '').map((it) => isolated(String(it).slice(0, 200))).join(' · ');
}

/** The percentage, 0 to 100; undefined if it is unknown. @param {ActivityCall} call */
export function percentage({ progress }) {
  const percent = progress?.percentage;
  return typeof percent === 'number' && percent >= 0 ? Math.min(100, percent) : undefined;
}

/** @param {ActivityCall} call @param {number} now Unix milliseconds @param {ActivityTexts} texts */
export const elapsedText = ({ since, until }, now, texts) => texts.elapsed(Math.max(0, ((until ?? now) - since) / 1000));
