import { weigh } from './apps.mjs';
import { at, ratios } from './statistics.mjs';

/**
 * Measurements that are made once per page: a start, or work after which the page is too full for another round.
 *
 * @typedef {import('./setting.mjs').Bench} Bench
 * @typedef {import('./statistics.mjs').Row} Row
 * @typedef {{ name: string, base: string | undefined, measure: () => Promise<number> }} Fresh in milliseconds
 */

/**
 * @param {Fresh[]} contenders
 * @param {number} rounds the number of rounds that count
 * @param {number} [warmUps] the number of rounds that do not count
 * @returns {Promise<Row[]>}
 */
async function inFreshPages(contenders, rounds, warmUps = 1) {
  const taken = contenders.map(() => /** @type {number[][]} */ ([]));
  for (let round = -warmUps; round < rounds; round += 1) {
    const order = contenders.map((contender, i) => ({ contender, i }));
    for (const { contender, i } of round % 2 === 0 ? order : order.toReversed()) {
      const time = await contender.measure();
      if (round >= 0) taken[i]?.push([time]);
    }
  }
  return contenders.map(({ name, base }, i) => {
    const values = (taken[i] ?? []).flat();
    const other = contenders.findIndex((it) => it.name === base);
    return {
      name, median: at(values, 0.5), p99: at(values, 0.99), samples: values.length, perSample: 1,
      ...(base !== undefined && other >= 0 && other !== i && { base, ...ratios(taken[i] ?? [], taken[other] ?? []) }),
    };
  });
}

/**
 * The time from an empty page to the first answer, by steps, for each build.
 *
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function firstAnswers(bench) {
  const steps = /** @type {const} */ (['imported', 'created', 'answered', 'agent']);
  const names = {
    imported: 'import of the host',
    created: '… and createHost',
    answered: '… and register, expose, initialize, first answer',
    agent: '… and an agent at a port, its first answer',
  };
  /** All steps of a build come from the same start. @type {Map<string, Record<string, number>>} */
  const last = new Map();
  const contenders = bench.builds.flatMap(({ name, at: path }) => steps.map((step) => ({
    name: `${name}: ${names[step]}`,
    base: name === 'before' ? undefined : `before: ${names[step]}`,
    async measure() {
      const left = last.get(name);
      const times = left?.[step] === undefined ? await bench.inFreshPage('first-answer', 'firstAnswer', path) : left;
      const { [step]: time, ...others } = times;
      last.set(name, others);
      return time;
    },
  })));
  return inFreshPages(contenders, bench.quick ? 6 : 20);
}

/**
 * The bundled apps: the time to their first answer, and their sizes.
 *
 * @param {Bench} bench
 * @returns {Promise<{ starts: Row[], weights: import('./apps.mjs').Weight[] }>}
 */
export async function startApps(bench) {
  /** @type {Map<string, string[]>} */
  const loaded = new Map();
  const contenders = bench.apps.map(({ name, at: path }) => ({
    name,
    base: name === 'ABP by hand' ? undefined : 'ABP by hand',
    async measure() {
      const started = await bench.inFreshPage('start-app', 'startApp', path);
      loaded.set(name, started.loaded);
      return started.time;
    },
  }));
  const starts = await inFreshPages(contenders, bench.quick ? 3 : 11);
  return { starts, weights: bench.apps.map((app) => weigh(app, loaded.get(app.name) ?? [])) };
}

/**
 * The time to register capabilities before an agent is connected, and while one is.
 *
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function registrations(bench) {
  const count = bench.quick ? 1000 : 5000;
  const rows = [];
  for (const { name, at: path } of bench.builds) {
    const label = `${name}: ${count.toLocaleString('en').replaceAll(',', ' ')} capabilities`;
    const [before, after] = [`${label} before exposing`, `${label} while exposed`];
    const measure = (/** @type {boolean} */ exposed) => () => bench.inFreshPage('growth', 'registering', path, count, exposed);
    // A registration may take another build half a minute.
    const rounds = name === 'before' ? 1 : 3;
    rows.push(...await inFreshPages([{ name: before, base: undefined, measure: measure(false) }, { name: after, base: before, measure: measure(true) }], rounds, 0));
  }
  return rows;
}
