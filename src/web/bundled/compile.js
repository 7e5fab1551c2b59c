// Made of ../js by `npm run build`, and to be changed there.

// src/web/js/schema/formats.js
var like = (pattern) => (text) => pattern.test(text);
function isDate(text) {
  const [, year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).map(Number);
  if (!month || !day || month > 12 || year === void 0) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (month === 2 ? leap ? 29 : 28 : [4, 6, 9, 11].includes(month) ? 30 : 31);
}
function isTime(text) {
  const parts = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text);
  if (!parts) return false;
  const [hour = 0, minute = 0, second = 0, , offsetHour = 0, offsetMinute = 0] = parts.slice(1).map((it) => Number(it ?? 0));
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
  const offset = (parts[4] === "-" ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  return second < 60 || (hour * 60 + minute - offset + 2 * 1440) % 1440 === 1439;
}
var isDateTime = (text) => /^.{10}[t\s]/i.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
var DURATION = /^P(?:\d+W|(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?|T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))$/;
var BYTE = "(?:25[0-5]|2[0-4]\\d|[01]?\\d\\d?)";
var isIpv4 = like(new RegExp(`^(?:${BYTE}\\.){3}${BYTE}$`));
function isIpv6(text) {
  if (text.length > 45) return false;
  const last = text.slice(text.lastIndexOf(":") + 1);
  const ends = last.includes(".");
  if (ends && !/^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}$/.test(last)) return false;
  const groups = (ends ? `${text.slice(0, -last.length)}0:0` : text).split("::").map((half) => half === "" ? [] : half.split(":"));
  const count = groups.flat().length;
  return groups.flat().every(like(/^[0-9a-f]{1,4}$/i)) && (groups.length === 1 ? count === 8 : groups.length === 2 && count < 8);
}
var LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
var isHostname = (text) => text.length <= 253 && text.split(".").every(like(LABEL));
function isEmail(text) {
  const at = text.lastIndexOf("@");
  const [local, host] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || local.length > 64 || host.length > 253) return false;
  const plain = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
  if (!plain.test(local) && !/^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/.test(local)) return false;
  const literal = /^\[(ipv6:)?(.*)\]$/i.exec(host);
  return literal ? (literal[1] ? isIpv6 : isIpv4)(literal[2] ?? "") : isHostname(host);
}
var URI_CHARACTERS = /^(?:[a-z0-9\-._~!$&'()*+,;=:@/?#[\]]|%[0-9a-f]{2})*$/i;
function isReference(text) {
  if (!URI_CHARACTERS.test(text)) return false;
  const [, authority, rest = ""] = /^(?:[a-z][a-z0-9+\-.]*:)?(?:\/\/([^/?#]*))?(.*)$/is.exec(text) ?? [];
  if (/#.*#/s.test(rest) || /[[\]]/.test(rest)) return false;
  if (authority === void 0) return !/^[^/?#]*:/.test(rest) || /^[a-z][a-z0-9+\-.]*:/i.test(text);
  const [, host = "", port] = /^(?:[^@]*@)?(\[[^\]]*\]|[^:@]*)(?::(.*))?$/s.exec(authority) ?? ["", "@"];
  if (/\D/.test(port ?? "") || host.includes("@")) return false;
  if (!host.startsWith("[")) return !/[[\]]/.test(authority);
  return isIpv6(host.slice(1, -1)) || /^\[v[0-9a-f]+\.[^[\]/?#@]+\]$/i.test(host);
}
var isUri = (text) => /^[a-z][a-z0-9+\-.]*:/i.test(text) && isReference(text);
function isUrl(text) {
  const [, authority = ""] = /^(?:https?|ftp):\/\/([^\s/?#]+)(?:[/?#]\S*)?$/iu.exec(text) ?? [];
  const host = authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d{2,5}$/, "");
  if (/^(?:localhost|\[::1\])$/i.test(host)) return true;
  if (isIpv4(host)) {
    const inside = /^(?:10\.|169\.254\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/;
    return !inside.test(host) && /^(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])\..*\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4])$/.test(host);
  }
  const labels = host.split(".");
  return labels.length > 1 && labels.every(like(/^[a-z\u{a1}-\u{ffff}0-9]+(?:-[a-z\u{a1}-\u{ffff}0-9]+)*$/iu)) && /^[a-z\u{a1}-\u{ffff}]{2,}$/iu.test(labels.at(-1) ?? "");
}
var NAME = "(?:[a-z0-9_]|%[0-9a-f]{2})+";
var VARIABLE = `${NAME}(?:\\.${NAME})*(?::[1-9]\\d{0,3}|\\*)?`;
var TEMPLATE = new RegExp(`^(?:[^\\x00-\\x20\\x7f"<>%\\\\^\`{|}]|%[0-9a-f]{2}|\\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\\})*$`, "i");
var formats = new Map(Object.entries({
  date: isDate,
  time: isTime,
  "date-time": isDateTime,
  duration: like(DURATION),
  email: isEmail,
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  uri: isUri,
  "uri-reference": isReference,
  "uri-template": like(TEMPLATE),
  url: isUrl,
  uuid: like(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i),
  "json-pointer": like(/^(?:\/(?:[^~/]|~[01])*)*$/),
  "json-pointer-uri-fragment": like(/^#(?:\/(?:[a-z0-9_\-.!$&'()*+,;:=@]|%[0-9a-f]{2}|~[01])*)*$/i),
  "relative-json-pointer": like(/^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/)
}));

// src/web/js/schema/multiples.js
var MOST_DIGITS = 18;
var SMALL = Number.MAX_SAFE_INTEGER / 10;
var divisors = /* @__PURE__ */ new Map();
var MOST_DIVISORS = 1e3;
function isMultipleOf(value, divisor) {
  if (!Number.isFinite(value) || !(divisor > 0 && divisor < Infinity)) return false;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const [{ digits, exponent }, by] = [decimal(value), divisorOf(divisor)];
  const tens = Math.min(Math.max(exponent - by.exponent, 0), by.tens);
  const divisorTens = Math.min(Math.max(by.exponent - exponent, 0), MOST_DIGITS);
  const [number, small] = [Number(digits), Number(by.digits)];
  if (number > Number.MAX_SAFE_INTEGER || small > SMALL) {
    return BigInt(digits) * 10n ** BigInt(tens) % (by.digits * 10n ** BigInt(divisorTens)) === 0n;
  }
  let rest = number % (small * 10 ** divisorTens);
  for (let left = tens; left > 0 && rest > 0; left -= 1) rest = rest * 10 % small;
  return rest === 0;
}
function divisorOf(divisor) {
  let known = divisors.get(divisor);
  if (!known) {
    if (divisors.size >= MOST_DIVISORS) divisors.clear();
    const { digits, exponent } = decimal(divisor);
    const tens = Math.max(...[2n, 5n].map((factor) => countOf(factor, BigInt(digits))));
    divisors.set(divisor, known = { digits: BigInt(digits), exponent, tens });
  }
  return known;
}
function countOf(factor, number) {
  let count = 0;
  for (let rest = number; rest % factor === 0n; rest /= factor) count += 1;
  return count;
}
function decimal(number) {
  const written = Math.abs(number).toExponential();
  const mark = written.indexOf("e");
  const digits = written[0] + written.slice(2, mark);
  return { digits, exponent: Number(written.slice(mark + 1)) - digits.length + 1 };
}

// src/web/js/schema/unchecked.js
var UNCHECKED = { code: "INVALID_PARAMS", message: "The parameters take too long to check against the patterns of the schema" };
var Unchecked = class extends Error {
};

// src/web/js/schema/check.js
var MOST_ERRORS = 16;
var MANY = 32;
var EQUALS = 1;
var NUMBER = 2;
var TEXT = 4;
var COMBINED = 8;
var OBJECT = 16;
var ARRAY = 32;
var UNEVALUATED = 64;
var PARTS = [
  [EQUALS, ["const", "enum"]],
  [NUMBER, ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
  [TEXT, ["minLength", "maxLength", "pattern", "format"]],
  [COMBINED, ["allOf", "anyOf", "oneOf", "not", "if"]],
  [OBJECT, ["properties", "patternProperties", "additionalProperties", "propertyNames", "required", "minProperties", "maxProperties"]],
  [OBJECT, ["dependentRequired", "dependentSchemas", "dependencies"]],
  [ARRAY, ["items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"]],
  [UNEVALUATED, ["unevaluatedProperties", "unevaluatedItems"]]
];
function planOf(schema, { targets, alone, resources }) {
  const parts = PARTS.reduce((sum, [part, keywords]) => keywords.some((it) => schema[it] !== void 0) ? sum | part : sum, 0);
  const resource = resources.get(schema);
  return { parts, targets: targets.get(schema), alone: alone.has(schema), enters: resource?.dynamic.size ? resource : void 0 };
}
var Checker = class {
  #references;
  #patterns;
  #examine;
  /** @type {Map<unknown, Plan>} */
  #plans = /* @__PURE__ */ new Map();
  /** The path of the value within the whole. @type {(string | number)[]} */
  #path = [];
  /** The resources of the schema that the check has entered. */
  #scope = new Scope();
  /** The number of references that were followed without going deeper into the value. */
  #followed = 0;
  #fingerprints = new Fingerprints();
  /** The member names of large objects. @type {Map<object, string[]>} */
  #names = /* @__PURE__ */ new Map();
  /** @param {References} references @param {Patterns} patterns @param {Examine} examine */
  constructor(references, patterns2, examine) {
    this.#references = references;
    this.#patterns = patterns2;
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
    if (schema === false) return this.#bad(problems, "false", "must not be there");
    let plan = this.#plans.get(schema);
    if (!plan) this.#plans.set(schema, plan = planOf(schema, this.#references));
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
    if (schema.type !== void 0 && !isOfType(value, schema.type)) {
      return this.#bad(problems, "type", `must be ${[schema.type].flat().join(" or ")}, and is ${typeOf(value)}`);
    }
    const asked = (parts & UNEVALUATED) !== 0;
    const mine = asked ? /* @__PURE__ */ new Set() : seen;
    let fits = (parts & EQUALS) === 0 || this.#equals(schema, value, problems);
    if (parts & NUMBER && typeof value === "number") fits &&= this.#number(schema, value, problems);
    if (parts & TEXT && typeof value === "string") fits &&= this.#text(schema, value, problems);
    if (targets && (fits || goesOn(problems))) fits = this.#referred(targets, value, problems, mine) && fits;
    if (parts & COMBINED && (fits || goesOn(problems))) fits = this.#combined(schema, value, problems, mine) && fits;
    if (parts & (OBJECT | ARRAY) && (fits || goesOn(problems))) fits = this.#inner(schema, value, problems, mine) && fits;
    if (asked && (fits || goesOn(problems))) fits = this.#unevaluated(
      schema,
      value,
      problems,
      /** @type {Seen} */
      mine
    ) && fits;
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
      problems.push({ path: below === void 0 ? [...this.#path] : [...this.#path, below], keyword, message });
    }
    return false;
  }
  /** @param {any} schema @param {any} value @param {Problem[] | null} problems */
  #equals(schema, value, problems) {
    if (schema.const !== void 0 && !this.#equal(value, schema.const)) return this.#bad(problems, "const", `must be ${shown(schema.const)}`);
    if (schema.enum === void 0 || schema.enum.some((it) => this.#equal(value, it))) return true;
    return this.#bad(problems, "enum", `must be one of ${shown(schema.enum)}`);
  }
  /** @param {any} one @param {any} other of a schema @returns {boolean} */
  #equal(one, other) {
    if (one === other) return true;
    if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) return false;
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
    if (value < minimum) return this.#bad(problems, "minimum", `must be at least ${minimum}`);
    if (value > maximum) return this.#bad(problems, "maximum", `must be at most ${maximum}`);
    if (value <= exclusiveMinimum) return this.#bad(problems, "exclusiveMinimum", `must be more than ${exclusiveMinimum}`);
    if (value >= exclusiveMaximum) return this.#bad(problems, "exclusiveMaximum", `must be less than ${exclusiveMaximum}`);
    return multipleOf === void 0 || isMultipleOf(value, multipleOf) || this.#bad(problems, "multipleOf", `must be a multiple of ${multipleOf}`);
  }
  /** @param {any} schema @param {string} value @param {Problem[] | null} problems */
  #text({ minLength = 0, maxLength = Infinity, pattern, format }, value, problems) {
    const length = value.length < minLength || value.length <= maxLength && value.length >= 2 * minLength ? value.length : characters(value);
    if (length < minLength) return this.#bad(problems, "minLength", `must have at least ${counted(minLength, "character")}`);
    if (length > maxLength) return this.#bad(problems, "maxLength", `must have at most ${counted(maxLength, "character")}`);
    if (pattern !== void 0 && !this.#patterns.test(pattern, value)) return this.#bad(problems, "pattern", `must match the pattern ${pattern}`);
    const hasFormat = format === "regex" ? this.#patterns.expressions.has(value) : formats.get(format)?.(value) ?? true;
    return hasFormat || this.#bad(problems, "format", `must have the format "${format}"`);
  }
  /** @param {Target[]} targets @param {any} value @param {Problem[] | null} problems @param {Seen | null} seen */
  #referred(targets, value, problems, seen) {
    this.#followed += 1;
    const repeats = this.#followed > 1 || isObject(value) && this.#isLarge(value);
    const key = repeats && !isObject(value) ? plainKey(value) : value;
    let fits = true;
    for (const { schema: found, name } of targets) {
      const target = this.#scope.anchors.get(name) ?? found;
      const known = repeats ? this.#scope.resultsOf(target) : void 0;
      let result = known?.get(key);
      if (!result || seen && !result.seen) {
        const own = seen && /* @__PURE__ */ new Set();
        const right = target === void 0 ? this.#isSchema(value, problems, own) : this.fits(target, value, problems, own);
        result = own ? { fits: right, seen: own } : right ? FITS : FITS_NOT;
        known?.set(key, result);
      } else if (!result.fits) this.#bad(problems, "$ref", "does not fit");
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
      return this.#bad(problems, "$ref", `must be a JSON Schema: ${/** @type {Error} */
      error.message}`);
    }
  }
  /** @param {any} schema @param {any} value @param {Problem[] | null} problems @param {Seen | null} seen */
  #combined(schema, value, problems, seen) {
    const { allOf, anyOf, oneOf, not, if: condition, then, else: otherwise } = schema;
    let fits = true;
    for (const it of allOf ?? []) if (fits || goesOn(problems)) fits = this.fits(it, value, problems, seen) && fits;
    if (anyOf !== void 0 && (fits || goesOn(problems))) fits = this.#some(anyOf, value, problems, seen, false) && fits;
    if (oneOf !== void 0 && (fits || goesOn(problems))) fits = this.#some(oneOf, value, problems, seen, true) && fits;
    if (not !== void 0 && this.fits(not, value, null)) fits = this.#bad(problems, "not", "must not be as it is");
    if (condition === void 0 || !(fits || goesOn(problems))) return fits;
    const next2 = this.#tried(condition, value, null, seen) ? then : otherwise;
    return (next2 === void 0 || this.fits(next2, value, problems, seen)) && fits;
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
    let best = [];
    for (const schema of schemas) {
      const own = problems && fit === 0 ? [] : null;
      if (this.#tried(schema, value, own, seen)) fit += 1;
      else if (own && deepest(own) >= deepest(best)) best = own;
      if (fit > (one ? 1 : 0) && !(seen && !one)) break;
    }
    if (one ? fit === 1 : fit > 0) return true;
    if (fit === 0 && problems && deepest(best) > this.#path.length) problems.push(...best.slice(0, MOST_ERRORS - problems.length));
    else this.#bad(problems, one ? "oneOf" : "anyOf", fit ? "fits more than one of the alternatives" : "fits none of the alternatives");
    return false;
  }
  /** Like `fits`, but a value that does not fit marks nothing as checked. @type {Checker['fits']} */
  #tried(schema, value, problems, seen) {
    const own = seen && /* @__PURE__ */ new Set();
    const fits = this.fits(schema, value, problems, own);
    if (fits && seen && own) add(seen, own);
    return fits;
  }
  /** @param {any} schema @param {any} value @param {Problem[] | null} problems @param {Seen | null} seen */
  #inner(schema, value, problems, seen) {
    if (typeof value !== "object" || value === null) return true;
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
    const has = (name) => Object.hasOwn(object, name) && object[name] !== void 0;
    const needs = (names) => {
      const missing = names.filter((name) => !has(name));
      for (const name of missing.slice(0, MOST_ERRORS)) this.#bad(problems, "required", "is missing", name);
      return missing.length === 0;
    };
    let fits = needs(required);
    if (!fits && !goesOn(problems)) return false;
    if (minProperties !== void 0 || maxProperties !== void 0) {
      const count = this.#namesOf(object).length;
      if (count < minProperties) fits = this.#bad(problems, "minProperties", `must have at least ${counted(minProperties, "property")}`);
      if (count > maxProperties) fits = this.#bad(problems, "maxProperties", `must have at most ${counted(maxProperties, "property")}`);
    }
    for (const [name, rule] of Object.entries({ ...dependencies, ...dependentRequired })) {
      if (Array.isArray(rule) && has(name)) fits = needs(rule) && fits;
    }
    for (const [name, rule] of [...Object.entries(dependencies), ...Object.entries(dependentSchemas)]) {
      if (!Array.isArray(rule) && has(name) && !this.fits(rule, object, problems, seen)) fits = false;
    }
    if (propertyNames === void 0 && patternProperties === void 0 && additionalProperties === void 0) {
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
    let fits = propertyNames === void 0 || this.#below(propertyNames, name, name, problems);
    if (value === void 0) return fits;
    let covered = Object.hasOwn(properties, name);
    if (covered) fits = this.#below(properties[name], value, name, problems) && fits;
    for (const pattern of Object.keys(patternProperties)) {
      if (!this.#patterns.test(pattern, name)) continue;
      covered = true;
      fits = this.#below(patternProperties[pattern], value, name, problems) && fits;
    }
    if (!covered && additionalProperties !== void 0) {
      covered = true;
      if (additionalProperties === false) return this.#bad(problems, "additionalProperties", "is not a known property", name);
      fits = this.#below(additionalProperties, value, name, problems) && fits;
    }
    if (covered) seen?.add(name);
    return fits;
  }
  /** @param {any} schema @param {any[]} array @param {Problem[] | null} problems @param {Seen | null} seen */
  #array(schema, array, problems, seen) {
    const { items, additionalItems, contains, minItems, maxItems, uniqueItems } = schema;
    if (array.length < minItems) return this.#bad(problems, "minItems", `must have at least ${counted(minItems, "item")}`);
    if (array.length > maxItems) return this.#bad(problems, "maxItems", `must have at most ${counted(maxItems, "item")}`);
    const first = schema.prefixItems ?? (Array.isArray(items) ? items : []);
    const rest = Array.isArray(items) ? additionalItems : items;
    const end2 = rest === void 0 ? Math.min(first.length, array.length) : array.length;
    let fits = true;
    for (let at = 0; at < end2; at += 1) {
      if (!fits && !goesOn(problems)) return false;
      seen?.add(at);
      if (!this.#below(at < first.length ? first[at] : rest, array[at], at, problems)) fits = false;
    }
    if (contains !== void 0 && !this.#contains(schema, array, problems, seen)) fits = false;
    if (uniqueItems !== true || array.length < 2) return fits;
    const met = /* @__PURE__ */ new Map();
    for (let at = 0; at < array.length; at += 1) {
      const print = this.#fingerprints.of(array[at]);
      const before = met.get(print);
      if (before !== void 0) return this.#bad(problems, "uniqueItems", `is equal to item ${before}`, at);
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
      if (found > maxContains) return this.#bad(problems, "maxContains", `must hold at most ${counted(maxContains, "item")} of a kind`);
      if (found >= minContains && maxContains === Infinity && !seen) break;
    }
    return found >= minContains || this.#bad(problems, "contains", `must hold at least ${counted(minContains, "item")} of a kind`);
  }
  /** @param {any} schema @param {any} value @param {Problem[] | null} problems @param {Seen} seen */
  #unevaluated({ unevaluatedProperties: ofObject, unevaluatedItems: ofArray }, value, problems, seen) {
    let fits = true;
    const check = (rule, inner, at) => {
      if (rule === false) fits = this.#bad(problems, "unevaluated", "is not expected here", at);
      else if (!this.#below(rule, inner, at, problems)) fits = false;
    };
    if (Array.isArray(value) && ofArray !== void 0) {
      for (let at = 0; at < value.length && (fits || goesOn(problems)); at += 1) {
        if (!seen.has(at)) check(ofArray, value[at], at);
        seen.add(at);
      }
    } else if (typeof value === "object" && value !== null && !Array.isArray(value) && ofObject !== void 0) {
      for (const name of this.#namesOf(value)) {
        if (!fits && !goesOn(problems)) break;
        if (!seen.has(name) && value[name] !== void 0) check(ofObject, value[name], name);
        seen.add(name);
      }
    }
    return fits;
  }
};
var Scope = class _Scope {
  /** The schemas with a `$dynamicAnchor`. @type {Map<string | undefined, any>} */
  anchors;
  /** The results for a value and a schema that references lead to. @type {Map<unknown, Map<unknown, Result>>} */
  #results = /* @__PURE__ */ new Map();
  /** @type {Map<Resource, Scope>} */
  #inner = /* @__PURE__ */ new Map();
  /** @param {Map<string | undefined, any>} [anchors] */
  constructor(anchors = /* @__PURE__ */ new Map()) {
    this.anchors = anchors;
  }
  /** @param {Resource} resource */
  within(resource) {
    if ([...resource.dynamic.keys()].every((name) => this.anchors.has(name))) return this;
    let inner = this.#inner.get(resource);
    if (!inner) this.#inner.set(resource, inner = new _Scope(new Map([...resource.dynamic, ...this.anchors])));
    return inner;
  }
  /** @param {unknown} schema */
  resultsOf(schema) {
    let results = this.#results.get(schema);
    if (!results) this.#results.set(schema, results = /* @__PURE__ */ new Map());
    return results;
  }
};
var goesOn = (problems) => problems !== null && problems.length < MOST_ERRORS;
var FITS = { fits: true, seen: null };
var FITS_NOT = { fits: false, seen: null };
function add(seen, more) {
  for (const it of more) seen.add(it);
}
var deepest = (problems) => problems.reduce((most, { path }) => Math.max(most, path.length), 0);
var typeOf = (value) => value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
function isOfType(value, type) {
  if (Array.isArray(type)) return type.some((it) => isOfType(value, it));
  return type === "integer" ? Number.isInteger(value) : type === typeOf(value);
}
function characters(text) {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    if (
      /** @type {number} */
      text.codePointAt(at) > 65535
    ) {
      count -= 1;
      at += 1;
    }
  }
  return count;
}
var counted = (count, noun) => `${count} ${count === 1 ? noun : `${noun}s`.replace("ys", "ies")}`;
var shown = (value) => {
  const text = JSON.stringify(value, function(key) {
    return this[key];
  });
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};
var isObject = (value) => typeof value === "object" && value !== null;
var plainKey = (value) => typeof value === "string" ? `"${value}` : `${typeof value}:${value}`;
var Fingerprints = class {
  /** @type {Map<string, number>} */
  #numbers = /* @__PURE__ */ new Map();
  /** @type {Map<object, number>} */
  #known = /* @__PURE__ */ new Map();
  /** @param {any} value @returns {string} */
  of(value) {
    if (!isObject(value)) return plainKey(value);
    const known = this.#known.get(value);
    if (known !== void 0) return `#${known}`;
    const parts = Array.isArray(value) ? value.map((it) => this.#part(it)) : Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${this.#part(value[name])}`);
    const text = `${Array.isArray(value) ? "[" : "{"}${parts.join(",")}`;
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, number);
    this.#known.set(value, number);
    return `#${number}`;
  }
  /** @param {any} value */
  #part(value) {
    return typeof value === "string" ? JSON.stringify(value) : this.of(value);
  }
};

// src/web/js/schema/expressions.js
var MOST_CHARACTERS = 1e4;
var MOST_WORK = 1e5;
var PROPERTY = 300;
var CLASS = 1700;
var Expressions = class {
  #left = MOST_WORK;
  /** @type {Map<string, boolean>} */
  #known = /* @__PURE__ */ new Map();
  /**
   * @param {string} text
   * @returns {boolean} whether it is one
   * @throws {Unchecked} when it would take too long to find out
   */
  has(text) {
    if (text.length > MOST_CHARACTERS) return false;
    let known = this.#known.get(text);
    if (known === void 0) {
      this.#left -= workOf(text);
      if (this.#left < 0) throw new Unchecked();
      this.#known.set(text, known = isExpression(text));
    }
    return known;
  }
};
function workOf(text) {
  let work = 1 + text.length / 10 + PROPERTY * (text.match(/\\p/gi)?.length ?? 0);
  for (const [{ length }] of text.matchAll(/\[(?:\\.|[^\]\\])*/gs)) work += length ** 2 / CLASS;
  return work;
}
function isExpression(text) {
  try {
    return !/[^\\]\\Z/.test(text) && new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

// src/web/js/schema/linear.js
var MOST_STEPS = 2e3;
var TAKE = 0;
var EITHER = 1;
var PLACE = 2;
var DONE = 3;
var Unable = class extends Error {
};
var Shared = class {
  /** @type {Map<string, WeakRef<Made>>} */
  #made = /* @__PURE__ */ new Map();
  /** At this number of entries, unused entries are removed. */
  #many = 1024;
  /** @param {string} source @param {(source: string) => Made} make @returns {Made} */
  of(source, make) {
    const known = this.#made.get(source)?.deref();
    if (known) return known;
    const made = make(source);
    this.#made.set(source, new WeakRef(made));
    if (this.#made.size > this.#many) {
      for (const [old, it] of this.#made) if (!it.deref()) this.#made.delete(old);
      this.#many = Math.max(1024, 2 * this.#made.size);
    }
    return made;
  }
};
var patterns = new Shared();
var LinearPattern = class _LinearPattern {
  #steps;
  #start;
  /** The round in which each step was reached last. */
  #reached;
  #round = 0;
  /** @type {number[]} */
  #open = [];
  /** @param {{ steps: Step[], start: number }} program */
  constructor({ steps, start: start2 }) {
    this.#steps = steps;
    this.#start = start2;
    this.#reached = new Uint32Array(steps.length);
  }
  /** The highest cost for each character. */
  get cost() {
    return this.#steps.length;
  }
  /**
   * @param {string} source a regular expression of the flag `u`, which the browser has accepted
   * @returns {LinearPattern | undefined} undefined if this class cannot match it
   */
  static of(source) {
    try {
      return patterns.of(source, () => new _LinearPattern(new Parser(source).parse()));
    } catch (error) {
      if (error instanceof Unable) return void 0;
      throw error;
    }
  }
  /** Whether it matches anywhere in a text. @param {string} text */
  test(text) {
    let current = [];
    let following = [];
    this.#begin();
    for (let at = 0; at <= text.length; ) {
      if (this.#reach(this.#start, text, at, current)) return true;
      if (at === text.length) return false;
      const code = (
        /** @type {number} */
        text.codePointAt(at)
      );
      at += code > 65535 ? 2 : 1;
      this.#begin();
      following.length = 0;
      for (const from of current) {
        const step = (
          /** @type {Step} */
          this.#steps[from]
        );
        if (step.takes(code) && this.#reach(step.next, text, at, following)) return true;
      }
      [current, following] = [following, current];
    }
    return false;
  }
  #begin() {
    this.#round += 1;
    if (this.#round < 4294967295) return;
    this.#round = 1;
    this.#reached.fill(0);
  }
  /**
   * Adds all steps that can be reached without taking a character.
   *
   * @param {number} from
   * @param {string} text
   * @param {number} at
   * @param {number[]} found is given the steps that take one
   * @returns {boolean} whether that is the end
   */
  #reach(from, text, at, found) {
    const open = this.#open;
    open.length = 0;
    open.push(from);
    while (open.length > 0) {
      const number = (
        /** @type {number} */
        open.pop()
      );
      if (this.#reached[number] === this.#round) continue;
      this.#reached[number] = this.#round;
      const step = (
        /** @type {Step} */
        this.#steps[number]
      );
      if (step.kind === DONE) return true;
      if (step.kind === TAKE) found.push(number);
      else if (step.kind === EITHER) open.push(step.other, step.next);
      else if (isPlace(step.at, text, at)) open.push(step.next);
    }
    return false;
  }
};
function isPlace(place, text, at) {
  if (place === "^") return at === 0;
  if (place === "$") return at === text.length;
  const border = isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at));
  return border === (place === "\\b");
}
var isWord = (code) => code >= 48 && code <= 57 || code >= 65 && code <= 90 || code === 95 || code >= 97 && code <= 122;
var Parser = class {
  #at = 0;
  /** @type {Step[]} */
  #steps = [];
  /** @param {string} source */
  constructor(source) {
    this.source = source;
  }
  /** @returns {{ steps: Step[], start: number }} */
  parse() {
    const start2 = this.#either()(this.#step(DONE, -1));
    return { steps: this.#steps, start: start2 };
  }
  /** @param {number} kind @param {number} next @param {number} [other] @param {Partial<Step>} [more] */
  #step(kind, next2, other = -1, more) {
    if (this.#steps.length >= MOST_STEPS) throw new Unable();
    this.#steps.push({ kind, next: next2, other, takes: never, at: "", ...more });
    return this.#steps.length - 1;
  }
  /** @returns {Piece} */
  #either() {
    const ways = [this.#row()];
    while (this.source[this.#at] === "|") {
      this.#at += 1;
      ways.push(this.#row());
    }
    return (next2) => ways.map((way) => way(next2)).reduceRight((other, way) => this.#step(EITHER, way, other));
  }
  /** @returns {Piece} */
  #row() {
    const pieces = [];
    while (this.#at < this.source.length && !"|)".includes(
      /** @type {string} */
      this.source[this.#at]
    )) pieces.push(this.#repeated(this.#one()));
    return (next2) => pieces.reduceRight((after, piece) => piece(after), next2);
  }
  /** @param {Piece} piece @returns {Piece} */
  #repeated(piece) {
    const [written, few, comma, many] = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})/.exec(this.source.slice(this.#at, this.#at + 32)) ?? [];
    if (written === void 0) return piece;
    this.#at += written.length;
    if (this.source[this.#at] === "?") this.#at += 1;
    const least = few === void 0 ? Number(written === "+") : Number(few);
    const most = few === void 0 ? written === "?" ? 1 : Infinity : comma ? many ? Number(many) : Infinity : least;
    if (least > MOST_STEPS || most > MOST_STEPS && most < Infinity) throw new Unable();
    return (next2) => {
      let start2 = next2;
      if (most === Infinity) {
        const loop = this.#step(EITHER, -1, next2);
        this.#steps[loop].next = piece(loop);
        start2 = loop;
      } else for (let count = least; count < most; count += 1) start2 = this.#step(EITHER, piece(start2), next2);
      for (let count = 0; count < least; count += 1) {
        const before = this.#steps.length;
        start2 = piece(start2);
        if (this.#steps.length === before) break;
      }
      return start2;
    };
  }
  /** @returns {Piece} */
  #one() {
    const rest = this.source.slice(this.#at);
    const place = /^(?:[$^]|\\b|\\B)/.exec(rest)?.[0];
    if (place) {
      this.#at += place.length;
      return (next2) => this.#step(PLACE, next2, -1, { at: place });
    }
    if (rest[0] === "(") {
      const begin = /^\((?:\?:|\?<[^=!][^>]*>|(?!\?))/.exec(rest)?.[0];
      if (begin === void 0) throw new Unable();
      this.#at += begin.length;
      const inner = this.#either();
      this.#at += 1;
      return inner;
    }
    const [atom = ""] = ATOM.exec(rest) ?? [];
    if (atom === "" || /^\\[1-9k]/.test(atom)) throw new Unable();
    this.#at += atom.length;
    const takes = takers.of(atom, takerOf);
    return (next2) => this.#step(TAKE, next2, -1, { takes });
  }
};
var takers = new Shared();
var ATOM = /^(?:\[(?:\\.|[^\]\\])*\]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[a-zA-Z]|\\[pP]\{[^}]*\}|\\.|[^\\])/su;
var PAGE = 256;
function takerOf(atom) {
  const [first = 0, more] = [...atom].map((character) => (
    /** @type {number} */
    character.codePointAt(0)
  ));
  if (more === void 0 && atom !== ".") return (code) => code === first;
  const pattern = new RegExp(`^${atom}$`, "u");
  const latin = new Uint8Array(PAGE);
  let others;
  return (code) => {
    if (code > 65535) return pattern.test(String.fromCodePoint(code));
    const page = code < PAGE ? latin : (others ??= new Array(65536 / PAGE))[code >> 8] ??= new Uint8Array(PAGE);
    return (page[code & 255] ||= pattern.test(String.fromCharCode(code)) ? 1 : 2) === 1;
  };
}
var never = () => false;

// src/web/js/schema/pattern-worker.js
var DEADLINE = 200;
var START = 5e3;
var DYING = 2e3;
var MOST_DYING = 3;
var CODE = `postMessage(0);
onmessage = ({ data }) => postMessage(data.map(([pattern, text]) => new RegExp(pattern, 'u').test(text)));`;
var running;
var dying = 0;
var turn = Promise.resolve();
function askWorker(asked) {
  const answer = turn.then(() => ask(asked));
  turn = answer;
  return answer;
}
async function ask(asked) {
  while (dying >= MOST_DYING) await new Promise((resolve) => setTimeout(resolve, DYING / 10));
  if (!running && !await start()) return "none";
  const { worker } = (
    /** @type {NonNullable<typeof running>} */
    running
  );
  worker.postMessage(asked);
  const answer = await next(worker, DEADLINE);
  if (answer !== void 0) return answer;
  end();
  dying += 1;
  setTimeout(() => dying -= 1, DYING);
  return "late";
}
async function start() {
  if (typeof Worker !== "function") return false;
  const url = URL.createObjectURL(new Blob([CODE], { type: "text/javascript" }));
  try {
    running = { worker: new Worker(url), url };
  } catch {
    URL.revokeObjectURL(url);
    return false;
  }
  if (await next(running.worker, START) !== void 0) return true;
  end();
  return false;
}
function end() {
  running?.worker.terminate();
  if (running) URL.revokeObjectURL(running.url);
  running = void 0;
}
var next = (worker, time) => new Promise((resolve) => {
  const timer = setTimeout(() => resolve(void 0), time);
  const say = (said) => {
    clearTimeout(timer);
    resolve(said);
  };
  worker.onmessage = ({ data }) => say(data);
  worker.onerror = (event) => {
    event.preventDefault();
    say(void 0);
  };
});

// src/web/js/schema/patterns.js
var MOST_WORK2 = 1e7;
var MOST_TEXTS = 1e4;
var NO_WORKER = {
  code: "NOT_SUPPORTED",
  message: "The parameters cannot be checked: a pattern of the schema is one that only a worker can check safely, and there is none here (a Content-Security-Policy needs `worker-src blob:`)"
};
var Matchers = class {
  /** @type {Map<string, LinearPattern | undefined>} */
  #linear = /* @__PURE__ */ new Map();
  /** @param {string} pattern */
  add(pattern) {
    this.#linear.set(pattern, LinearPattern.of(pattern));
  }
  /** @param {string} pattern */
  get(pattern) {
    return this.#linear.get(pattern);
  }
  /** The patterns that only a worker can check. */
  get slow() {
    return [...this.#linear].filter(([, linear]) => !linear).map(([pattern]) => pattern);
  }
};
var Patterns = class {
  /** The texts that must be regular expressions themselves. */
  expressions = new Expressions();
  #matchers;
  #work = 0;
  /** @type {Map<string, Map<string, boolean>>} */
  #known = /* @__PURE__ */ new Map();
  /** The questions without a known answer. @type {[pattern: string, text: string][]} */
  #asked = [];
  /** @param {Matchers} matchers */
  constructor(matchers) {
    this.#matchers = matchers;
  }
  /** Whether the last check used guesses. */
  get open() {
    return this.#asked.length > 0;
  }
  /**
   * @param {string} pattern
   * @param {string} text
   * @returns {boolean} a guess, if that is still to be asked
   * @throws {Unchecked} when that would be too much to ask
   */
  test(pattern, text) {
    const known = this.#known.get(pattern)?.get(text);
    if (known !== void 0) return known;
    const linear = this.#matchers.get(pattern);
    const work = (linear?.cost ?? Infinity) * (text.length + 1);
    if (linear && this.#work + work <= MOST_WORK2) {
      this.#work += work;
      return linear.test(text);
    }
    this.#asked.push([pattern, text]);
    if (this.#asked.length > MOST_TEXTS) throw new Unchecked();
    return true;
  }
  /**
   * Finds the answers to the open questions.
   *
   * @returns {Promise<Verdict | undefined>} why that cannot be
   */
  async ask() {
    const asked = this.#asked;
    this.#asked = [];
    this.#work = 0;
    if (asked.length > MOST_TEXTS) return UNCHECKED;
    const answer = await askWorker(asked);
    if (answer === "none") return NO_WORKER;
    if (answer === "late") return UNCHECKED;
    let at = 0;
    for (const [pattern, text] of asked) {
      let known = this.#known.get(pattern);
      if (!known) this.#known.set(pattern, known = /* @__PURE__ */ new Map());
      known.set(text, answer[at] === true);
      at += 1;
    }
    return void 0;
  }
};

// src/web/js/schema/compile.js
var ROUNDS = 8;
function compile(schema, references, examine) {
  const matchers = new Matchers();
  for (const pattern of patternsOf(schema, /* @__PURE__ */ new Set())) matchers.add(pattern);
  const judge = (params, patterns2) => {
    const problems = [];
    try {
      return new Checker(references, patterns2, examine).fits(schema, params, problems) ? null : verdictOn(problems);
    } catch (error) {
      if (error instanceof Unchecked) return UNCHECKED;
      throw error;
    }
  };
  const judgeLater = async (params, patterns2) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const problem = await patterns2.ask();
      if (problem) return problem;
      const verdict = judge(params, patterns2);
      if (!patterns2.open) return verdict;
    }
    return UNCHECKED;
  };
  return {
    warnings: matchers.slow.map((pattern) => `the pattern ${pattern} may take very long to check, ${SLOW}`),
    check(params) {
      const patterns2 = new Patterns(matchers);
      const verdict = judge(params, patterns2);
      return patterns2.open ? judgeLater(params, patterns2) : verdict;
    }
  };
}
var SLOW = "so it is checked in a worker, which is ended when that takes too long. Patterns that neither look around, as in (?=…), nor refer back to a group, as in \\1, nor have very long repetitions are checked at once.";
function patternsOf(schema, found) {
  if (typeof schema !== "object" || schema === null) return found;
  if (typeof schema.pattern === "string") found.add(schema.pattern);
  for (const [key, inner] of Object.entries(schema)) {
    if (key === "patternProperties") for (const pattern of Object.keys(Object(inner))) found.add(pattern);
    patternsOf(inner, found);
  }
  return found;
}
var CODES = { __proto__: null, required: "MISSING_PARAM", type: "INVALID_TYPE" };
var MAX_PATH = 256;
var MAX_MESSAGE = 1e3;
function verdictOn(problems) {
  const errors = problems.slice(0, MOST_ERRORS).map(({ path: path2, message }) => ({ path: path2.join(".").slice(0, MAX_PATH), message }));
  const path = errors[0]?.path ?? "";
  const said = errors.map((it) => it.path === "" ? it.message : `${it.path}: ${it.message}`).join("; ");
  const noun = errors.length > 1 || path === "" ? "parameters" : "parameter";
  return {
    code: CODES[problems[0]?.keyword ?? ""] ?? "INVALID_PARAMS",
    message: `Bad ${noun}${path === "" ? ":" : ""} ${said}`.slice(0, MAX_MESSAGE),
    details: { path, errors }
  };
}
export {
  compile
};
