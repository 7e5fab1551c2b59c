/**
 * Makes a check of parameters from a JSON Schema. Loaded when there is a schema. Imports nothing that a
 * page has already loaded: a bundler would split such modules off from the rest, at a cost for every
 * page.
 */
import { Checker, MOST_ERRORS } from './check.js';
import { Matchers, Patterns } from './patterns.js';
import { UNCHECKED, Unchecked } from './unchecked.js';

/** @import { Verdict } from '../validators.js' */
/** @import { Examine, Problem } from './check.js' */
/** @import { References } from './references.js' */

/** How often a check starts again with the results of a worker. Each time, more texts are known. */
const ROUNDS = 8;

/**
 * @param {any} schema a valid schema
 * @param {References} references of it
 * @param {Examine} examine
 * @returns {{ check: (value: unknown) => Verdict | null | Promise<Verdict | null>, warnings: string[] }}
 */
export function compile(schema, references, examine) {
  const matchers = new Matchers();
  for (const pattern of patternsOf(schema, new Set())) matchers.add(pattern);

  /** @param {any} params @param {Patterns} patterns @returns {Verdict | null} */
  const judge = (params, patterns) => {
    /** @type {Problem[]} */
    const problems = [];
    try {
      return new Checker(references, patterns, examine).fits(schema, params, problems) ? null : verdictOn(problems);
    } catch (error) {
      if (error instanceof Unchecked) return UNCHECKED;
      throw error;
    }
  };

  /** @type {(params: any, patterns: Patterns) => Promise<Verdict | null>} */
  const judgeLater = async (params, patterns) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const problem = await patterns.ask();
      if (problem) return problem;
      const verdict = judge(params, patterns);
      if (!patterns.open) return verdict;
    }
    return UNCHECKED;
  };

  return {
    warnings: matchers.slow.map((pattern) => `the pattern ${pattern} may take very long to check, ${SLOW}`),
    check(params) {
      const patterns = new Patterns(matchers);
      const verdict = judge(params, patterns);
      return patterns.open ? judgeLater(params, patterns) : verdict;
    },
  };
}

const SLOW =
  'so it is checked in a worker, which is ended when that takes too long. Patterns that neither look around, as in (?=…), nor refer back to a group, as in \\1, nor have very long repetitions are checked at once.';

/**
 * Finds them anywhere: a keyword in a place without schemas does no harm.
 *
 * @param {any} schema
 * @param {Set<string>} found
 */
function patternsOf(schema, found) {
  if (typeof schema !== 'object' || schema === null) return found;
  if (typeof schema.pattern === 'string') found.add(schema.pattern);
  for (const [key, inner] of Object.entries(schema)) {
    if (key === 'patternProperties') for (const pattern of Object.keys(Object(inner))) found.add(pattern);
    patternsOf(inner, found);
  }
  return found;
}

/** @type {Record<string, any>} */
const CODES = { __proto__: null, required: 'MISSING_PARAM', type: 'INVALID_TYPE' };

/** The number of characters of a path, which has names of the caller in it. */
const MAX_PATH = 256;
/** The number of characters of a message. */
const MAX_MESSAGE = 1000;

/** @param {Problem[]} problems at least one @returns {Verdict} */
function verdictOn(problems) {
  const errors = problems.slice(0, MOST_ERRORS).map(({ path, message }) => ({ path: path.join('.').slice(0, MAX_PATH), message }));
  const path = errors[0]?.path ?? '';
  const said = errors.map((it) => (it.path === '' ? it.message : `${it.path}: ${it.message}`)).join('; ');
  const noun = errors.length > 1 || path === '' ? 'parameters' : 'parameter';
  return {
    code: CODES[problems[0]?.keyword ?? ''] ?? 'INVALID_PARAMS',
    message: `Bad ${noun}${path === '' ? ':' : ''} ${said}`.slice(0, MAX_MESSAGE),
    details: { path, errors },
  };
}
