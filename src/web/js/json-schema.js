/**
 * The one place that knows the validator: it interprets schemas, so it works under a content
 * security policy that forbids `eval`.
 */
import { Validator } from '@cfworker/json-schema';

/**
 * @param {any} schema JSON Schema 2020-12
 * @returns {import('./validators.js').Check}
 */
export function compile(schema) {
  const validator = new Validator(schema, '2020-12', false);
  return (params) => {
    const { valid, errors } = validator.validate(params);
    if (valid) return null;
    // Errors come outermost first; the one that lies deepest says what is wrong.
    const depth = (/** @type {{ instanceLocation: string }} */ it) => it.instanceLocation.split('/').length;
    const wrong = errors.reduce((best, it) => (depth(it) >= depth(best) ? it : best));
    const path = wrong.instanceLocation.replace(/^#\/?/, '').replaceAll('/', '.');
    const required = /"([^"]*)"/.exec(wrong.keyword === 'required' ? wrong.error : '')?.[1];
    const at = [path, required].filter(Boolean).join('.');
    return {
      code: CODES[wrong.keyword] ?? 'INVALID_PARAMS',
      message: `Bad parameter${at ? ` ${at}` : 's'}: ${wrong.error}`,
      details: { path: at, errors: errors.slice(0, 16).map(({ error }) => error) },
    };
  };
}

/** @type {Record<string, string>} */
const CODES = { required: 'MISSING_PARAM', type: 'INVALID_TYPE' };
