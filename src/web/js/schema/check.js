/**
 * Checks a value against a JSON Schema (2020-12, and the differences of older drafts), by interpreting
 * the schema: no Content-Security-Policy forbids that.
 *
 * For any value, the time is at most proportional to the size of the value times the size of the
 * schema. A value is checked only once against a schema that several references lead to. Equal items
 * are found by their fingerprints. Patterns do not backtrack. After a number of errors, the rest is not
 * checked. The names in a large object are listed once, however many schemas need them. No number is
 * the key of a map: engines do not seed the hashes of numbers, so an attacker could choose numbers that
 * all collide.
 */
import { formats } from './formats.js';
import { isMultipleOf } from './multiples.js';
import { Unchecked } from './unchecked.js';

/** @import { References, Resource, Target } from './references.js' */
/** @import { Patterns } from './patterns.js' */

/** The number of errors that are reported. */
export const MOST_ERRORS = 16;

/**
 * @typedef {{ path: (string | number)[], keyword: string, message: string }} Problem
 * @typedef {Set<string | number>} Seen the members of a value that have been looked at
 * @typedef {{ fits: boolean, seen: Seen | null }} Result
 *
 * The work for a schema. `alone` if only its references count. `enters` is its resource, if the
 * resource has anything for dynamic references.
 * @typedef {{ parts: number, targets: Target[] | undefined, alone: boolean, enters: Resource | undefined }} Plan
 * @typedef {typeof import('./examine.js').examine} Examine
 */

/** For objects with more members, the member names and the results are remembered. */
const MANY = 32;

/** The kinds of work for a schema, so that its other keywords need not be looked up. */
const EQUALS = 1;
const NUMBER = 2;
const TEXT = 4;
const COMBINED = 8;
const OBJECT = 16;
const ARRAY = 32;
const UNEVALUATED = 64;

/** @type {[part: number, keywords: string[]][]} */
const PARTS = [
  [EQUALS, ['const', 'enum']],
  [NUMBER, ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
  [TEXT, ['minLength', 'maxLength', 'pattern', 'format']],
  [COMBINED, ['allOf', 'anyOf', 'oneOf', 'not', 'if']],
  [OBJECT, ['properties', 'patternProperties', 'additionalProperties', 'propertyNames', 'required', 'minProperties', 'maxProperties']],
  [OBJECT, ['dependentRequired', 'dependentSchemas', 'dependencies']],
  [ARRAY, ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems']],
  [UNEVALUATED, ['unevaluatedProperties', 'unevaluatedItems']],
];

/**
 * @param {any} schema
 * @param {References} references
 * @returns {Plan}
 */
function planOf(schema, { targets, alone, resources }) {
  const parts = PARTS.reduce((sum, [part, keywords]) => (keywords.some((it) => schema[it] !== undefined) ? sum | part : sum), 0);
  const resource = resources.get(schema);
  return { parts, targets: targets.get(schema), alone: alone.has(schema), enters: resource?.dynamic.size ? resource : undefined };
}

export class Checker {
  #references;
  #patterns;
  #examine;
  /** @type {Map<unknown, Plan>} */
  #plans = new Map();
  /** The path of the value within the whole. @type {(string | number)[]} */
  #path = [];
  /** The resources of the schema that the check has entered. */
  #scope = new Scope();
  /** The number of references that were followed without going deeper into the value. */
  #followed = 0;
  #fingerprints = new Fingerprints();
  /** The member names of large objects. @type {Map<object, string[]>} */
  #names = new Map();

  /** @param {References} references @param {Patterns} patterns @param {Examine} examine */
  constructor(references, patterns, examine) {
    this.#references = references;
    this.#patterns = patterns;
    this.#examine = examine;
  }

  /**
   * @param {any} schema
   * @param {any} value
   * @param {Problem[] | null} problems the errors are added to them; null if nobody asks
   * @param {Seen | null} [seen] the checked members are added to it; null if nobody asks
   * @returns {boolean} whether the value fits
   */
  fits(schema, value, problems, seen = null) {
    if (schema === true) return true;
    if (schema === false) return this.#bad(problems, 'false', 'must not be there');
    let plan = this.#plans.get(schema);
    if (!plan) this.#plans.set(schema, (plan = planOf(schema, this.#references)));
    if (!plan.enters) return this.#judge(schema, plan, value, problems, seen);
    const outer = this.#scope;
    this.#scope = outer.within(plan.enters);
    const fits = this.#judge(schema, plan, value, problems, seen);
    this.#scope = outer;
    return fits;
  }

  /** @param {any} schema @param {Plan} plan @param {any} value @param {Problem[] | null} problems @param {Seen | null} seen */
  #judge(schema, { parts, targets, alone }, value, problems, seen) {
    if (alone && targets) return this.#referred(targets, value, problems, seen);
    // Checked before anything that may take long: for a value of the wrong type, no other error
    // matters.
    if (schema.type !== undefined && !isOfType(value, schema.type)) {
      return this.#bad(problems, 'type', `must be ${[schema.type].flat().join(' or ')}, and is ${typeOf(value)}`);
    }
    const asked = (parts & UNEVALUATED) !== 0;
    const mine = asked ? new Set() : seen;
    let fits = (parts & EQUALS) === 0 || this.#equals(schema, value, problems);
    if (parts & NUMBER && typeof value === 'number') fits &&= this.#number(schema, value, problems);
    if (parts & TEXT && typeof value === 'string') fits &&= this.#text(schema, value, problems);
    if (targets && (fits || goesOn(problems))) fits = this.#referred(targets, value, problems, mine) && fits;
    if (parts & COMBINED && (fits || goesOn(problems))) fits = this.#combined(schema, value, problems, mine) && fits;
    if (parts & (OBJECT | ARRAY) && (fits || goesOn(problems))) fits = this.#inner(schema, value, problems, mine) && fits;
    if (asked && (fits || goesOn(problems))) fits = this.#unevaluated(schema, value, problems, /** @type {Seen} */ (mine)) && fits;
    if (asked && seen && mine) add(seen, mine);
    return fits;
  }

  /**
   * @param {Problem[] | null} problems
   * @param {string} keyword
   * @param {string} message
   * @param {string | number} [below] the property that it is about
   * @returns {false}
   */
  #bad(problems, keyword, message, below) {
    if (problems && problems.length < MOST_ERRORS) {
      problems.push({ path: below === undefined ? [...this.#path] : [...this.#path, below], keyword, message });
    }
    return false;
  }

  /** @param {any} schema @param {any} value @param {Problem[] | null} problems */
  #equals(schema, value, problems) {
    if (schema.const !== undefined && !this.#equal(value, schema.const)) return this.#bad(problems, 'const', `must be ${shown(schema.const)}`);
    if (schema.enum === undefined || schema.enum.some((/** @type {unknown} */ it) => this.#equal(value, it))) return true;
    return this.#bad(problems, 'enum', `must be one of ${shown(schema.enum)}`);
  }

  /** @param {any} one @param {any} other of a schema @returns {boolean} */
  #equal(one, other) {
    if (one === other) return true;
    if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) return false;
    // Values of another size are not compared in detail, so the size of the schema bounds the work.
    if (Array.isArray(one) && one.length !== other.length) return false;
    const names = Object.keys(other);
    return this.#namesOf(one).length === names.length && names.every((name) => Object.hasOwn(one, name) && this.#equal(one[name], other[name]));
  }

  /** @param {object} object @returns {string[]} */
  #namesOf(object) {
    let names = this.#names.get(object);
    if (!names) {
      names = Object.keys(object);
      if (names.length > MANY) this.#names.set(object, names);
    }
    return names;
  }

  /** @param {any} schema @param {number} value @param {Problem[] | null} problems */
  #number({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }, value, problems) {
    if (value < minimum) return this.#bad(problems, 'minimum', `must be at least ${minimum}`);
    if (value > maximum) return this.#bad(problems, 'maximum', `must be at most ${maximum}`);
    if (value <= exclusiveMinimum) return this.#bad(problems, 'exclusiveMinimum', `must be more than ${exclusiveMinimum}`);
    if (value >= exclusiveMaximum) return this.#bad(problems, 'exclusiveMaximum', `must be less than ${exclusiveMaximum}`);
    return multipleOf === undefined || isMultipleOf(value, multipleOf) || this.#bad(problems, 'multipleOf', `must be a multiple of ${multipleOf}`);
  }

  /** @param {any} schema @param {string} value @param {Problem[] | null} problems */
  #text({ minLength = 0, maxLength = Infinity, pattern, format }, value, problems) {
    // Characters outside of the first plane take two places.
    const length = value.length < minLength || value.length <= maxLength && value.length >= 2 * minLength ? value.length : characters(value);
    if (length < minLength) return this.#bad(problems, 'minLength', `must have at least ${counted(minLength, 'character')}`);
    if (length > maxLength) return this.#bad(problems, 'maxLength', `must have at most ${counted(maxLength, 'character')}`);
    if (pattern !== undefined && !this.#patterns.test(pattern, value)) return this.#bad(problems, 'pattern', `must match the pattern ${pattern}`);
    const hasFormat = format === 'regex' ? this.#patterns.expressions.has(value) : (formats.get(format)?.(value) ?? true);
    return hasFormat || this.#bad(problems, 'format', `must have the format "${format}"`);
  }

  /** @param {Target[]} targets @param {any} value @param {Problem[] | null} problems @param {Seen | null} seen */
  #referred(targets, value, problems, seen) {
    this.#followed += 1;
    // The same value may be reached in many ways. Its members would be checked more often with each
    // level.
    const repeats = this.#followed > 1 || (isObject(value) && this.#isLarge(value));
    const key = repeats && !isObject(value) ? plainKey(value) : value;
    let fits = true;
    for (const { schema: found, name } of targets) {
      const target = this.#scope.anchors.get(name) ?? found;
      const known = repeats ? this.#scope.resultsOf(target) : undefined;
      let result = known?.get(key);
      // The result may be from a check that did not record the checked members.
      if (!result || (seen && !result.seen)) {
        const own = seen && new Set();
        const right = target === undefined ? this.#isSchema(value, problems, own) : this.fits(target, value, problems, own);
        result = own ? { fits: right, seen: own } : right ? FITS : FITS_NOT;
        known?.set(key, result);
      } else if (!result.fits) this.#bad(problems, '$ref', 'does not fit');
      if (seen && result.seen) add(seen, result.seen);
      fits &&= result.fits;
    }
    this.#followed -= 1;
    return fits;
  }

  /** Whether a value has many members, or a member that is not a primitive value. @param {any} value */
  #isLarge(value) {
    if (Array.isArray(value)) return value.length > MANY || value.some(isObject);
    const names = this.#namesOf(value);
    return names.length > MANY || names.some((name) => isObject(value[name]));
  }

  /** Whether a value is itself a JSON Schema, according to the metaschema. @param {any} value @param {Problem[] | null} problems @param {Seen | null} seen */
  #isSchema(value, problems, seen) {
    try {
      this.#examine(value, { isExpression: (text) => this.#patterns.expressions.has(text) });
      if (seen && isObject(value)) add(seen, new Set(this.#namesOf(value)));
      return true;
    } catch (error) {
      if (error instanceof Unchecked) throw error;
      return this.#bad(problems, '$ref', `must be a JSON Schema: ${/** @type {Error} */ (error).message}`);
    }
  }

  /** @param {any} schema @param {any} value @param {Problem[] | null} problems @param {Seen | null} seen */
  #combined(schema, value, problems, seen) {
    const { allOf, anyOf, oneOf, not, if: condition, then, else: otherwise } = schema;
    let fits = true;
    for (const it of allOf ?? []) if (fits || goesOn(problems)) fits = this.fits(it, value, problems, seen) && fits;
    if (anyOf !== undefined && (fits || goesOn(problems))) fits = this.#some(anyOf, value, problems, seen, false) && fits;
    if (oneOf !== undefined && (fits || goesOn(problems))) fits = this.#some(oneOf, value, problems, seen, true) && fits;
    if (not !== undefined && this.fits(not, value, null)) fits = this.#bad(problems, 'not', 'must not be as it is');
    if (condition === undefined || !(fits || goesOn(problems))) return fits;
    const next = this.#tried(condition, value, null, seen) ? then : otherwise;
    return (next === undefined || this.fits(next, value, problems, seen)) && fits;
  }

  /**
   * @param {any[]} schemas
   * @param {any} value
   * @param {Problem[] | null} problems
   * @param {Seen | null} seen
   * @param {boolean} one exactly
   */
  #some(schemas, value, problems, seen, one) {
    let fit = 0;
    /** @type {Problem[]} */
    let best = [];
    for (const schema of schemas) {
      /** @type {Problem[] | null} */
      const own = problems && fit === 0 ? [] : null;
      if (this.#tried(schema, value, own, seen)) fit += 1;
      // The schema that got furthest reports its errors; of several, the last.
      else if (own && deepest(own) >= deepest(best)) best = own;
      if (fit > (one ? 1 : 0) && !(seen && !one)) break;
    }
    if (one ? fit === 1 : fit > 0) return true;
    if (fit === 0 && problems && deepest(best) > this.#path.length) problems.push(...best.slice(0, MOST_ERRORS - problems.length));
    else this.#bad(problems, one ? 'oneOf' : 'anyOf', fit ? 'fits more than one of the alternatives' : 'fits none of the alternatives');
    return false;
  }

  /** Like `fits`, but a value that does not fit marks nothing as checked. @type {Checker['fits']} */
  #tried(schema, value, problems, seen) {
    const own = seen && new Set();
    const fits = this.fits(schema, value, problems, own);
    if (fits && seen && own) add(seen, own);
    return fits;
  }

  /** @param {any} schema @param {any} value @param {Problem[] | null} problems @param {Seen | null} seen */
  #inner(schema, value, problems, seen) {
    if (typeof value !== 'object' || value === null) return true;
    return Array.isArray(value) ? this.#array(schema, value, problems, seen) : this.#object(schema, value, problems, seen);
  }

  /**
   * A value within the current value.
   *
   * @param {any} schema
   * @param {any} value
   * @param {string | number} at
   * @param {Problem[] | null} problems
   */
  #below(schema, value, at, problems) {
    if (schema === true) return true;
    const followed = this.#followed;
    this.#followed = 0;
    this.#path.push(at);
    const fits = this.fits(schema, value, problems);
    this.#path.pop();
    this.#followed = followed;
    return fits;
  }

  /** @param {any} schema @param {any} object @param {Problem[] | null} problems @param {Seen | null} seen */
  #object(schema, object, problems, seen) {
    const { required = [], minProperties, maxProperties, propertyNames, dependentRequired = {}, dependentSchemas = {}, dependencies = {} } = schema;
    const { properties = {}, patternProperties, additionalProperties } = schema;
    const has = (/** @type {string} */ name) => Object.hasOwn(object, name) && object[name] !== undefined;
    const needs = (/** @type {string[]} */ names) => {
      const missing = names.filter((name) => !has(name));
      for (const name of missing.slice(0, MOST_ERRORS)) this.#bad(problems, 'required', 'is missing', name);
      return missing.length === 0;
    };
    let fits = needs(required);
    if (!fits && !goesOn(problems)) return false;
    if (minProperties !== undefined || maxProperties !== undefined) {
      const count = this.#namesOf(object).length;
      if (count < minProperties) fits = this.#bad(problems, 'minProperties', `must have at least ${counted(minProperties, 'property')}`);
      if (count > maxProperties) fits = this.#bad(problems, 'maxProperties', `must have at most ${counted(maxProperties, 'property')}`);
    }
    for (const [name, rule] of Object.entries({ ...dependencies, ...dependentRequired })) {
      if (Array.isArray(rule) && has(name)) fits = needs(rule) && fits;
    }
    for (const [name, rule] of [...Object.entries(dependencies), ...Object.entries(dependentSchemas)]) {
      if (!Array.isArray(rule) && has(name) && !this.fits(rule, object, problems, seen)) fits = false;
    }
    if (propertyNames === undefined && patternProperties === undefined && additionalProperties === undefined) {
      for (const name of Object.keys(properties)) {
        if (!fits && !goesOn(problems)) return false;
        if (!has(name)) continue;
        seen?.add(name);
        if (!this.#below(properties[name], object[name], name, problems)) fits = false;
      }
      return fits;
    }
    for (const name of this.#namesOf(object)) {
      if (!fits && !goesOn(problems)) return false;
      if (!this.#property(schema, name, object[name], problems, seen)) fits = false;
    }
    return fits;
  }

  /** @param {any} schema @param {string} name @param {any} value @param {Problem[] | null} problems @param {Seen | null} seen */
  #property({ properties = {}, patternProperties = {}, additionalProperties, propertyNames }, name, value, problems, seen) {
    let fits = propertyNames === undefined || this.#below(propertyNames, name, name, problems);
    if (value === undefined) return fits;
    let covered = Object.hasOwn(properties, name);
    if (covered) fits = this.#below(properties[name], value, name, problems) && fits;
    for (const pattern of Object.keys(patternProperties)) {
      if (!this.#patterns.test(pattern, name)) continue;
      covered = true;
      fits = this.#below(patternProperties[pattern], value, name, problems) && fits;
    }
    if (!covered && additionalProperties !== undefined) {
      covered = true;
      if (additionalProperties === false) return this.#bad(problems, 'additionalProperties', 'is not a known property', name);
      fits = this.#below(additionalProperties, value, name, problems) && fits;
    }
    if (covered) seen?.add(name);
    return fits;
  }

  /** @param {any} schema @param {any[]} array @param {Problem[] | null} problems @param {Seen | null} seen */
  #array(schema, array, problems, seen) {
    const { items, additionalItems, contains, minItems, maxItems, uniqueItems } = schema;
    if (array.length < minItems) return this.#bad(problems, 'minItems', `must have at least ${counted(minItems, 'item')}`);
    if (array.length > maxItems) return this.#bad(problems, 'maxItems', `must have at most ${counted(maxItems, 'item')}`);
    const first = schema.prefixItems ?? (Array.isArray(items) ? items : []);
    const rest = Array.isArray(items) ? additionalItems : items;
    const end = rest === undefined ? Math.min(first.length, array.length) : array.length;
    let fits = true;
    for (let at = 0; at < end; at += 1) {
      if (!fits && !goesOn(problems)) return false;
      seen?.add(at);
      if (!this.#below(at < first.length ? first[at] : rest, array[at], at, problems)) fits = false;
    }
    if (contains !== undefined && !this.#contains(schema, array, problems, seen)) fits = false;
    if (uniqueItems !== true || array.length < 2) return fits;
    /** @type {Map<unknown, number>} */
    const met = new Map();
    for (let at = 0; at < array.length; at += 1) {
      const print = this.#fingerprints.of(array[at]);
      const before = met.get(print);
      if (before !== undefined) return this.#bad(problems, 'uniqueItems', `is equal to item ${before}`, at);
      met.set(print, at);
    }
    return fits;
  }

  /** @param {any} schema @param {any[]} array @param {Problem[] | null} problems @param {Seen | null} seen */
  #contains({ contains, minContains = 1, maxContains = Infinity }, array, problems, seen) {
    let found = 0;
    for (let at = 0; at < array.length; at += 1) {
      if (!this.#below(contains, array[at], at, null)) continue;
      seen?.add(at);
      found += 1;
      if (found > maxContains) return this.#bad(problems, 'maxContains', `must hold at most ${counted(maxContains, 'item')} of a kind`);
      if (found >= minContains && maxContains === Infinity && !seen) break;
    }
    return found >= minContains || this.#bad(problems, 'contains', `must hold at least ${counted(minContains, 'item')} of a kind`);
  }

  /** @param {any} schema @param {any} value @param {Problem[] | null} problems @param {Seen} seen */
  #unevaluated({ unevaluatedProperties: ofObject, unevaluatedItems: ofArray }, value, problems, seen) {
    let fits = true;
    /** @param {any} rule @param {any} inner @param {string | number} at */
    const check = (rule, inner, at) => {
      if (rule === false) fits = this.#bad(problems, 'unevaluated', 'is not expected here', at);
      else if (!this.#below(rule, inner, at, problems)) fits = false;
    };
    if (Array.isArray(value) && ofArray !== undefined) {
      for (let at = 0; at < value.length && (fits || goesOn(problems)); at += 1) {
        if (!seen.has(at)) check(ofArray, value[at], at);
        seen.add(at);
      }
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value) && ofObject !== undefined) {
      for (const name of this.#namesOf(value)) {
        if (!fits && !goesOn(problems)) break;
        if (!seen.has(name) && value[name] !== undefined) check(ofObject, value[name], name);
        seen.add(name);
      }
    }
    return fits;
  }
}

/** The resources that a check has entered, in the order of their `$dynamicAnchor`s: the first of a name counts. */
class Scope {
  /** The schemas with a `$dynamicAnchor`. @type {Map<string | undefined, any>} */
  anchors;
  /** The results for a value and a schema that references lead to. @type {Map<unknown, Map<unknown, Result>>} */
  #results = new Map();
  /** @type {Map<Resource, Scope>} */
  #inner = new Map();

  /** @param {Map<string | undefined, any>} [anchors] */
  constructor(anchors = new Map()) {
    this.anchors = anchors;
  }

  /** @param {Resource} resource */
  within(resource) {
    if ([...resource.dynamic.keys()].every((name) => this.anchors.has(name))) return this;
    let inner = this.#inner.get(resource);
    if (!inner) this.#inner.set(resource, (inner = new Scope(new Map([...resource.dynamic, ...this.anchors]))));
    return inner;
  }

  /** @param {unknown} schema */
  resultsOf(schema) {
    let results = this.#results.get(schema);
    if (!results) this.#results.set(schema, (results = new Map()));
    return results;
  }
}

/** Whether more errors can be reported. @param {Problem[] | null} problems */
const goesOn = (problems) => problems !== null && problems.length < MOST_ERRORS;


/** The result if nobody asked which members were checked. @type {Result} */
const FITS = { fits: true, seen: null };
/** @type {Result} */
const FITS_NOT = { fits: false, seen: null };

/** @param {Seen} seen @param {Seen} more */
function add(seen, more) {
  for (const it of more) seen.add(it);
}

/** @param {Problem[]} problems */
const deepest = (problems) => problems.reduce((most, { path }) => Math.max(most, path.length), 0);

/** @param {unknown} value */
const typeOf = (value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

/** @param {unknown} value @param {string | string[]} type @returns {boolean} */
function isOfType(value, type) {
  if (Array.isArray(type)) return type.some((it) => isOfType(value, it));
  return type === 'integer' ? Number.isInteger(value) : type === typeOf(value);
}

/** @param {string} text */
function characters(text) {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    if (/** @type {number} */ (text.codePointAt(at)) > 0xffff) {
      count -= 1;
      at += 1;
    }
  }
  return count;
}

/** @param {number} count @param {string} noun */
const counted = (count, noun) => `${count} ${count === 1 ? noun : `${noun}s`.replace('ys', 'ies')}`;

/** @param {unknown} value of a schema */
const shown = (value) => {
  // The page may have added a `toJSON` to any prototype.
  const text = JSON.stringify(value, function (key) {
    return this[key];
  });
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};

/** @param {unknown} value @returns {boolean} */
const isObject = (value) => typeof value === 'object' && value !== null;

/** A text that only equal values share. @param {unknown} value no object */
const plainKey = (value) => (typeof value === 'string' ? `"${value}` : `${typeof value}:${value}`);

/**
 * Fingerprints of values: values that are equal in JSON have the same, however deep and large. Each
 * value is read once.
 */
class Fingerprints {
  /** @type {Map<string, number>} */
  #numbers = new Map();
  /** @type {Map<object, number>} */
  #known = new Map();

  /** @param {any} value @returns {string} */
  of(value) {
    if (!isObject(value)) return plainKey(value);
    const known = this.#known.get(value);
    if (known !== undefined) return `#${known}`;
    const parts = Array.isArray(value)
      ? value.map((it) => this.#part(it))
      : Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${this.#part(value[name])}`);
    const text = `${Array.isArray(value) ? '[' : '{'}${parts.join(',')}`;
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, number);
    this.#known.set(value, number);
    return `#${number}`;
  }

  /** @param {any} value */
  #part(value) {
    return typeof value === 'string' ? JSON.stringify(value) : this.of(value);
  }
}
