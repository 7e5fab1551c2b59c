/**
 * The worker that tries patterns that may backtrack. All hosts of a page share one. It is made on first
 * use, and ended if it does not answer in time.
 */

/** Milliseconds for all texts of one check. */
const DEADLINE = 200;
/** Milliseconds for a worker to start. */
const START = 5000;
/** Milliseconds for which a terminated worker may still compute in Chromium. */
const DYING = 2000;
/** The number of workers that may be in that state at once. Further checks must wait. */
const MOST_DYING = 3;

const CODE = `postMessage(0);
onmessage = ({ data }) => postMessage(data.map(([pattern, text]) => new RegExp(pattern, 'u').test(text)));`;

/** @typedef {[pattern: string, text: string][]} Asked */
/** @typedef {boolean[] | 'late' | 'none'} Answer whether each matches; or it was not known in time; or there is no worker */

/** @type {{ worker: Worker, url: string } | undefined} */
let running;
let dying = 0;
/** Settles when all earlier questions are answered. @type {Promise<unknown>} */
let turn = Promise.resolve();

/** @param {Asked} asked @returns {Promise<Answer>} */
export function askWorker(asked) {
  const answer = turn.then(() => ask(asked));
  turn = answer;
  return answer;
}

/** @param {Asked} asked @returns {Promise<Answer>} */
async function ask(asked) {
  while (dying >= MOST_DYING) await new Promise((resolve) => setTimeout(resolve, DYING / 10));
  if (!running && !(await start())) return 'none';
  const { worker } = /** @type {NonNullable<typeof running>} */ (running);
  worker.postMessage(asked);
  const answer = await next(worker, DEADLINE);
  if (answer !== undefined) return answer;
  end();
  dying += 1;
  setTimeout(() => (dying -= 1), DYING);
  return 'late';
}

/** @returns {Promise<boolean>} whether there is one */
async function start() {
  if (typeof Worker !== 'function') return false;
  const url = URL.createObjectURL(new Blob([CODE], { type: 'text/javascript' }));
  try {
    running = { worker: new Worker(url), url };
  } catch {
    URL.revokeObjectURL(url);
    return false;
  }
  if ((await next(running.worker, START)) !== undefined) return true;
  end();
  return false;
}

function end() {
  running?.worker.terminate();
  if (running) URL.revokeObjectURL(running.url);
  running = undefined;
}

/** @param {Worker} worker @param {number} time @returns {Promise<any>} its next message; undefined if there is none */
const next = (worker, time) =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), time);
    const say = (/** @type {any} */ said) => {
      clearTimeout(timer);
      resolve(said);
    };
    worker.onmessage = ({ data }) => say(data);
    worker.onerror = (event) => {
      event.preventDefault();
      say(undefined);
    };
  });
