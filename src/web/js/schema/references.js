/**
 * Resolves the references of a JSON Schema: to an anchor, to a pointer into the document, to a schema
 * in it with an `$id` of its own, or to the metaschema. Nothing is ever fetched. Every host has this
 * module, so that a schema with a reference that leads nowhere is refused at registration.
 */
import { examine } from './examine.js';

/**
 * A schema with an `$id`, or the whole document. `old`: of a schema with a reference, only the
 * reference counts, as in drafts up to 7. `dynamic`: its schemas with a `$dynamicAnchor`, by that name.
 * @typedef {{ base: string, old: boolean, dynamic: Map<string, any> }} Resource
 *
 * The target of a reference: a schema, or, without a schema, the metaschema. With a name, the target is
 * the first schema with this `$dynamicAnchor` in the resources that the check has entered, if there is
 * one.
 * @typedef {{ schema?: any, name?: string }} Target
 *
 * `targets`: the targets of the schemas that have references. `alone`: the schemas of which only the
 * references count. `resources`: the resource of each schema.
 * @typedef {{ targets: Map<any, Target[]>, alone: Set<any>, resources: Map<any, Resource> }} References
 */

/** The address of a schema without an `$id`. */
const HOME = 'schema:/';
/** The drafts that ignore the other keywords beside a `$ref`. */
const OLD = /draft-0[3-7]/;
/** The addresses of the metaschemas, which say what every JSON Schema must be. */
const METASCHEMAS = /^https?:\/\/json-schema\.org\/draft(-0[67]|\/20(19-09|20-12))\/schema$/;
/** Keywords that apply their schemas to the same value. */
const IN_PLACE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'];

/**
 * @param {any} root
 * @param {import('./examine.js').Options<any>['odd']} [odd]
 * @returns {References}
 * @throws {Error} for an invalid schema, and for a reference that leads nowhere, or to itself
 */
export function resolve(root, odd) {
  /** @type {References['targets']} */
  const targets = new Map();
  const alone = new Set();
  /** @type {References['resources']} */
  const resources = new Map();
  /** Schemas with an `$id` or an anchor, by their addresses. @type {Map<string, any>} */
  const known = new Map([[HOME, root]]);

  /** @param {string} address @param {any} schema */
  const name = (address, schema) => {
    if (known.has(address)) throw new Error(`two parts of the schema have the name ${JSON.stringify(address)}`);
    known.set(address, schema);
  };
  /** @param {any} schema @param {Resource} outer the resource around it @returns {Resource} the resource of the schemas in it */
  const enter = (schema, outer) => {
    const { $id = '#', $ref, $schema, $anchor, $dynamicAnchor, $recursiveAnchor } = schema;
    const old = $schema === undefined ? outer.old : OLD.test($schema);
    const hides = old && $ref !== undefined;
    if (hides) alone.add(schema);
    const isHome = !hides && $id[0] !== '#';
    const base = isHome ? withoutFragment(urlOf($id, outer.base)) : outer.base;
    const resource = isHome || old !== outer.old ? { base, old, dynamic: new Map() } : outer;
    if (isHome) name(base, schema);
    // Drafts up to 7 write an anchor as an `$id`.
    for (const anchor of [$anchor, $dynamicAnchor, $id[0] === '#' && $id.slice(1)]) if (anchor) name(`${base}#${anchor}`, schema);
    const dynamic = $recursiveAnchor === true ? '' : $dynamicAnchor;
    if (dynamic !== undefined) resource.dynamic.set(dynamic, schema);
    resources.set(schema, resource);
    return resource;
  };

  /** @param {string} keyword @param {string} reference @param {Resource} resource @returns {Target} */
  const targetOf = (keyword, reference, resource) => {
    const url = urlOf(reference, resource.base);
    const address = withoutFragment(url);
    const fragment = decodeURIComponent(url.slice(address.length + 1));
    if (!known.has(address) && fragment === '' && METASCHEMAS.test(address)) return {};
    const [first, ...steps] = fragment.split('/');
    let schema = known.get(first ? `${address}#${fragment}` : address);
    for (const step of first ? [] : steps) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      schema = Object.hasOwn(Object(schema), name) ? schema[name] : undefined;
    }
    if (schema === undefined) throw new Error(`there is nothing at ${JSON.stringify(reference)}, and no schema is fetched`);
    // The reference may lead to a place where no schema is expected.
    if (!resources.has(schema)) examine(schema, { at: reference, enter, outer: resource });
    const { $dynamicAnchor, $recursiveAnchor } = schema;
    const isDynamic = keyword === '$dynamicRef' ? $dynamicAnchor === fragment : keyword === '$recursiveRef' && $recursiveAnchor === true;
    return isDynamic ? { schema, name: fragment } : { schema };
  };

  const followed = new Set();
  const way = new Set();
  /** Follows all schemas that a schema applies to the same value. @param {any} schema @param {string} [reference] by which it came here last */
  const follow = (schema, reference) => {
    if (way.has(schema)) throw new Error(`the reference ${JSON.stringify(reference)} leads to itself`);
    if (typeof schema !== 'object' || followed.has(schema)) return;
    followed.add(schema);
    way.add(schema);
    for (const { schema: target, name } of targets.get(schema) ?? []) {
      const others = name === undefined ? [] : [...resources.values()].map(({ dynamic }) => dynamic.get(name));
      for (const it of [target, ...others]) follow(it, schema.$ref ?? schema.$dynamicRef);
    }
    for (const it of [...IN_PLACE.flatMap((keyword) => schema[keyword] ?? []), ...Object.values(schema.dependentSchemas ?? {})]) follow(it, reference);
    way.delete(schema);
  };

  examine(root, { odd, enter, outer: { base: HOME, old: false, dynamic: new Map() } });
  // Schemas found where no schema is expected are added to the end.
  for (const [schema, resource] of resources) {
    for (const keyword of ['$ref', '$dynamicRef', '$recursiveRef']) {
      if (schema[keyword] !== undefined) targets.set(schema, [...(targets.get(schema) ?? []), targetOf(keyword, schema[keyword], resource)]);
    }
  }
  for (const schema of targets.keys()) follow(schema);
  return { targets, alone, resources };
}

/** @param {string} reference @param {string} base */
function urlOf(reference, base) {
  try {
    return new URL(reference, base).href;
  } catch {
    throw new Error(`${JSON.stringify(reference)} is no address`);
  }
}

/** @param {string} url */
const withoutFragment = (url) => url.split('#', 1)[0] ?? '';
