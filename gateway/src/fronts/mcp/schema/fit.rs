//! Schemas that every client can compile. The page's `json-rpc/tool-schemas.js` does the same, by the same
//! vectors.

use std::sync::LazyLock;

use regress::Regex;
use serde_json::{Value, json};

use super::{JsonObject, MAX_DEPTH, NAMED, ONE, inner_mut};

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords of other versions and programs. Clients refuse them, read them differently, or have no use for
/// them: nothing between a client and the gateway reads headers, for example.
const FOREIGN: [&str; 7] = [
    "$schema",
    "$vocabulary",
    "$recursiveAnchor",
    "id",
    "$async",
    "additionalItems",
    "x-mcp-header",
];

/// Keywords that accept less when the schemas in them accept more.
const CONTRARY: [&str; 4] = ["not", "if", "oneOf", "maxContains"];

/// Keywords that people write with `true` or `false`, and that all clients know so. Elsewhere some clients and
/// model interfaces refuse a boolean in the place of a schema.
const MAY_BE_BOOLEAN: [&str; 3] = [
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// Syntax of JavaScript that other languages refuse, in a pattern without its escaped signs.
static ONLY_IN_JAVASCRIPT: LazyLock<Regex> = LazyLock::new(|| {
    let syntax = r"\(\?(?![:=!])|\\[1-9pPkc]|\\u\{|\[\^?\]";
    Regex::new(syntax).expect("it is a regular expression")
});
static ESCAPED_SIGN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\\\W").expect("it is a regular expression"));

/// Changes a schema to one that all clients can compile, and that accepts at least the same values. Returns
/// whether there is such a schema.
pub fn make_fit(root: &mut JsonObject) -> bool {
    // Clients keep the check of a schema with an address, and use it for other tools with this address.
    root.remove("$id");
    let mut found = Found::default();
    found.enter(root, 0);
    !found.is_too_deep && !(found.accepts_more && found.has_contrary)
}

/// What is found in the parts of a schema.
#[derive(Default)]
struct Found {
    is_too_deep: bool,
    accepts_more: bool,
    has_contrary: bool,
}

impl Found {
    fn enter(&mut self, schema: &mut JsonObject, depth: usize) {
        self.is_too_deep |= depth > MAX_DEPTH;
        if self.is_too_deep {
            return;
        }
        self.accepts_more |= make_part_fit(schema);
        self.has_contrary |= CONTRARY.iter().any(|it| schema.contains_key(*it));
        inner_mut(schema, |keyword, inner| match inner {
            Value::Object(inner) => self.enter(inner, depth + 1),
            Value::Bool(accepts) if !MAY_BE_BOOLEAN.contains(&keyword) => {
                *inner = match accepts {
                    true => json!({}),
                    false => json!({ "not": {} }),
                };
            }
            _ => {}
        });
    }
}

/// Changes a schema without the schemas in it. Returns whether it now accepts more.
fn make_part_fit(schema: &mut JsonObject) -> bool {
    let mut more = drop_addresses(schema);
    if let Some(reference) = schema.remove("$recursiveRef") {
        schema.entry("$ref").or_insert(reference);
    }
    // Drafts up to 7 write an anchor as an `$id`.
    if let Some(id) = schema.get("$id").and_then(Value::as_str)
        && let Some(anchor) = id.strip_prefix('#').map(String::from)
    {
        schema.remove("$id");
        if !anchor.is_empty() {
            schema.entry("$anchor").or_insert(anchor.into());
        }
    }
    // Of OpenAPI. Validators accept it only beside a type.
    if !schema.contains_key("type") || !schema.get("nullable").is_some_and(Value::is_boolean) {
        schema.remove("nullable");
    }
    if let Some(Value::Array(_)) = schema.get("items")
        && let Some(items) = schema.remove("items")
    {
        more |= schema.remove("additionalItems").is_some();
        if items != json!([]) {
            schema.entry("prefixItems").or_insert(items);
        }
    }
    // Clients with draft-07 do not know the keyword beside these, and would refuse right values.
    if schema.contains_key("prefixItems") {
        more |= schema.remove("items").is_some();
    }
    if schema.get("minContains").and_then(Value::as_f64) == Some(0.0) {
        more |= schema.remove("contains").is_some();
    }
    let pattern = schema.get("pattern").and_then(Value::as_str);
    if pattern.is_some_and(is_only_in_javascript) {
        schema.remove("pattern");
        more = true;
    }
    more |= drop_pattern_properties(schema);
    for keyword in FOREIGN {
        schema.remove(keyword);
    }
    // Clients look for names of schemas in there too.
    schema.retain(|keyword, value| !value.is_object() || may_be_object(keyword));
    // Some clients refuse arrays without it.
    let is_array = match schema.get("type") {
        Some(Value::Array(types)) => types.contains(&json!("array")),
        only => only == Some(&json!("array")),
    };
    if is_array {
        schema.entry("items").or_insert_with(|| json!({}));
    }
    more
}

fn may_be_object(keyword: &str) -> bool {
    let others = ["dependentRequired", "const", "default"];
    NAMED.contains(&keyword) || ONE.contains(&keyword) || others.contains(&keyword)
}

/// Removes the patterns of names that other languages refuse. Returns whether there was one.
fn drop_pattern_properties(schema: &mut JsonObject) -> bool {
    let Some(Value::Object(patterns)) = schema.get_mut("patternProperties") else {
        return false;
    };
    let before = patterns.len();
    patterns.retain(|pattern, _| !is_only_in_javascript(pattern));
    let dropped = patterns.len() < before;
    if dropped {
        schema.remove("additionalProperties");
        schema.remove("unevaluatedProperties");
    }
    dropped
}

/// Removes references to an address: many clients resolve none, not even to a part of the schema or to the
/// metaschema. Returns whether there was one.
pub fn drop_addresses(schema: &mut JsonObject) -> bool {
    let mut dropped = false;
    for keyword in REFERENCES {
        let reference = schema.get(keyword).and_then(Value::as_str);
        if reference.is_some_and(|it| !it.starts_with('#')) {
            schema.remove(keyword);
            dropped = true;
        }
    }
    dropped
}

fn is_only_in_javascript(pattern: &str) -> bool {
    let signs_apart = ESCAPED_SIGN.replace_all(pattern, "x");
    ONLY_IN_JAVASCRIPT.find(&signs_apart).is_some()
}
