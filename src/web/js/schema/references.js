/**
 * Where the references of a JSON Schema lead: to an anchor, a pointer into the document, or a schema
 * in it with an `$id` of its own. Nothing is ever fetched.
 *
 * @typedef {Record<string, any>} SchemaObject
 * @typedef {Map<SchemaObject, any[]>} References the schemas they lead to, by the schemas that have some
 */

/** The last two lead to one place here, as there is one document. */
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];
/** What stands in these is data. */
const DATA = ['const', 'enum', 'default', 'examples'];
/** Where a schema without an `$id` is. */
const HOME = 'schema:/';

/**
 * @param {any} root a schema that makes sense
 * @param {(schema: any, at: string) => void} examine throws for one that does not
 * @returns {References}
 * @throws {Error} for a reference that leads nowhere, or to itself
 */
export function resolve(root, examine) {
  /** Schemas with an `$id` or an anchor, by their addresses. @type {Map<string, any>} */
  const known = new Map([[HOME, root]]);
  /** @type {{ schema: SchemaObject, reference: string, base: string }[]} */
  const open = [];
  collect(root, HOME, known, open);
  /** @type {References} */
  const references = new Map();
  for (const { schema, reference, base } of open) {
    const target = find(new URL(reference, base), known);
    if (target === undefined) throw new Error(`there is nothing at ${JSON.stringify(reference)}`);
    // It may stand where no schema is expected.
    examine(target, reference);
    references.set(schema, [...(references.get(schema) ?? []), target]);
  }
  for (const { schema, reference } of open) {
    if (leadsTo(schema, schema, references, new Set())) throw new Error(`the reference ${JSON.stringify(reference)} leads to itself`);
  }
  return references;
}

/**
 * @param {any} schema or anything else that stands in one
 * @param {string} base what references are relative to
 * @param {Map<string, any>} known
 * @param {{ schema: SchemaObject, reference: string, base: string }[]} open
 */
function collect(schema, base, known, open) {
  if (typeof schema !== 'object' || schema === null) return;
  const { $id, $anchor, $dynamicAnchor } = schema;
  if (typeof $id === 'string' && !$id.startsWith('#')) known.set((base = withoutFragment(new URL($id, base))), schema);
  for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') known.set(`${base}#${anchor}`, schema);
  for (const keyword of REFERENCES) if (typeof schema[keyword] === 'string') open.push({ schema, reference: schema[keyword], base });
  for (const [keyword, inner] of Object.entries(schema)) if (!DATA.includes(keyword)) collect(inner, base, known, open);
}

/** @param {URL} url @param {Map<string, any>} known @returns {any} */
function find(url, known) {
  const address = withoutFragment(url);
  const fragment = decodeURIComponent(url.hash.slice(1));
  if (fragment !== '' && !fragment.startsWith('/')) return known.get(`${address}#${fragment}`);
  let found = known.get(address);
  for (const step of fragment.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    found = typeof found === 'object' && found !== null && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}

/**
 * Whether one schema applies another to the same value.
 *
 * @param {any} from
 * @param {SchemaObject} to
 * @param {References} references
 * @param {Set<unknown>} seen
 * @returns {boolean}
 */
function leadsTo(from, to, references, seen) {
  const { allOf = [], anyOf = [], oneOf = [], not, if: condition, then, else: otherwise, dependentSchemas = {} } = from;
  const applied = [...(references.get(from) ?? []), ...allOf, ...anyOf, ...oneOf, not, condition, then, otherwise, ...Object.values(dependentSchemas)];
  return applied.some((it) => it === to || (typeof it === 'object' && !seen.has(it) && leadsTo(it, to, references, seen.add(it))));
}

/** @param {URL} url */
const withoutFragment = (url) => url.href.split('#', 1)[0] ?? '';
