//! Whether a JSON Schema can be compiled. A client that cannot compile one schema loses all tools.

use std::collections::HashSet;

use regress::Regex;
use serde_json::{Map, Value};

use super::{MAX_DEPTH, schemas};

const TYPES: [&str; 7] = [
    "null", "boolean", "object", "array", "number", "string", "integer",
];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is an object of schemas.
const OBJECTS: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];
/// Keywords whose value is a number or a count.
const NUMBERS: [&str; 5] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];
const AMOUNTS: [&str; 8] = [
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
];

/// Keywords whose value is text.
const TEXTS: [&str; 6] = [
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$schema",
    "$comment",
    "format",
];

/// Whether every known keyword has a value of its kind, every reference leads to a part of the schema, and no two
/// parts have the same name.
pub fn is_sound(schema: &Map<String, Value>) -> bool {
    let whole = Value::Object(schema.clone());
    has_sense(&whole, &whole, 0) && are_unique(&whole, &mut HashSet::new())
}

/// Whether no two parts of a schema have the same `$id` or anchor.
fn are_unique<'a>(schema: &'a Value, names: &mut HashSet<&'a str>) -> bool {
    match schema {
        Value::Object(members) => members.iter().all(|(keyword, value)| {
            let name = matches!(keyword.as_str(), "$id" | "$anchor" | "$dynamicAnchor");
            match value.as_str().filter(|_| name) {
                Some(name) => names.insert(name),
                None => are_unique(value, names),
            }
        }),
        Value::Array(items) => items.iter().all(|it| are_unique(it, names)),
        _ => true,
    }
}

fn has_sense(schema: &Value, whole: &Value, depth: usize) -> bool {
    match schema {
        Value::Bool(_) => true,
        Value::Object(members) => {
            // A keyword of OpenAPI. Validators accept it only beside a type.
            let is_nullable_right = members
                .get("nullable")
                .is_none_or(|it| it.is_boolean() && members.contains_key("type"));
            depth <= MAX_DEPTH
                && is_nullable_right
                && members.iter().all(|(keyword, value)| {
                    is_of_its_kind(keyword, value, whole)
                        && schemas(keyword, value)
                            .into_iter()
                            .all(|inner| has_sense(inner, whole, depth + 1))
                })
        }
        _ => false,
    }
}

fn is_of_its_kind(keyword: &str, value: &Value, whole: &Value) -> bool {
    match keyword {
        "type" => match value {
            Value::Array(types) => !types.is_empty() && types.iter().all(is_type) && differ(types),
            only => is_type(only),
        },
        "required" => {
            let names = value.as_array();
            names.is_some_and(|names| names.iter().all(Value::is_string) && differ(names))
        }
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "uniqueItems" => value.is_boolean(),
        "pattern" => value.as_str().is_some_and(is_pattern),
        "patternProperties" => {
            let patterns = value.as_object();
            patterns.is_some_and(|patterns| patterns.keys().all(|it| is_pattern(it)))
        }
        "$ref" | "$dynamicRef" => value.as_str().is_some_and(|it| leads_somewhere(it, whole)),
        _ if TEXTS.contains(&keyword) => value.is_string(),
        _ if OBJECTS.contains(&keyword) => value.is_object(),
        _ if LISTS.contains(&keyword) => value.as_array().is_some_and(|them| !them.is_empty()),
        _ if NUMBERS.contains(&keyword) => value.is_number(),
        _ if AMOUNTS.contains(&keyword) => value.as_f64().is_some_and(|it| it >= 0.0),
        _ => true,
    }
}

/// Whether no text of the list comes twice.
fn differ(texts: &[Value]) -> bool {
    let mut seen = HashSet::new();
    texts.iter().all(|it| seen.insert(it.as_str()))
}

fn is_type(value: &Value) -> bool {
    value.as_str().is_some_and(|it| TYPES.contains(&it))
}

/// Whether JavaScript accepts the regular expression: most clients are written in JavaScript, or check as it
/// does.
fn is_pattern(text: &str) -> bool {
    Regex::with_flags(text, "u").is_ok()
}

/// Whether a reference names a part of the schema, by a pointer or by an anchor.
fn leads_somewhere(reference: &str, whole: &Value) -> bool {
    let Some(fragment) = reference.strip_prefix('#') else {
        return false;
    };
    match fragment.is_empty() || fragment.starts_with('/') {
        true => whole.pointer(&unescaped(fragment)).is_some(),
        false => has_anchor(whole, fragment),
    }
}

/// The text of a pointer in a fragment, which is written as in a URL.
fn unescaped(fragment: &str) -> String {
    percent_encoding::percent_decode_str(fragment)
        .decode_utf8_lossy()
        .into_owned()
}

fn has_anchor(value: &Value, anchor: &str) -> bool {
    match value {
        Value::Object(members) => {
            let is_here =
                |keyword: &str| members.get(keyword).and_then(Value::as_str) == Some(anchor);
            // Drafts up to 7 write an anchor as an `$id`.
            let id = members.get("$id").and_then(Value::as_str);
            is_here("$anchor")
                || is_here("$dynamicAnchor")
                || id.and_then(|id| id.strip_prefix('#')) == Some(anchor)
                || members.values().any(|it| has_anchor(it, anchor))
        }
        Value::Array(items) => items.iter().any(|it| has_anchor(it, anchor)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sound(schema: Value) -> bool {
        is_sound(schema.as_object().unwrap())
    }

    #[test]
    fn what_a_client_cannot_compile_is_not_sound() {
        for good in [
            json!({}),
            json!({ "type": ["string", "null"], "pattern": "^(?<a>\\p{L})(?=x)\\k<a>$" }),
            json!({ "$ref": "#/$defs/a%20b", "$defs": { "a b": true } }),
            json!({ "$ref": "#x", "$defs": { "a": { "$anchor": "x" } } }),
            json!({ "$ref": "#x", "definitions": { "a": { "$id": "#x" } } }),
            json!({ "items": { "$ref": "#" } }),
            json!({ "unknown": 7, "minLength": 3 }),
            json!({ "type": "string", "nullable": true, "format": "date" }),
            json!({ "properties": { "$id": { "type": "string" }, "format": true } }),
        ] {
            assert!(sound(good.clone()), "{good}");
        }
        for bad in [
            json!({ "type": "strng" }),
            json!({ "type": [] }),
            json!({ "pattern": "(" }),
            json!({ "patternProperties": { "[": {} } }),
            json!({ "properties": { "a": 3 } }),
            json!({ "items": { "enum": "a" } }),
            json!({ "anyOf": [] }),
            json!({ "anyOf": [{ "required": [1] }] }),
            json!({ "minLength": "3" }),
            json!({ "maxItems": -1 }),
            json!({ "$ref": "#/$defs/none" }),
            json!({ "$ref": "https://example.com/other.json" }),
            json!({ "enum": [] }),
            json!({ "nullable": true }),
            json!({ "type": "string", "nullable": "x" }),
            json!({ "uniqueItems": "yes" }),
            json!({ "type": ["string", "string"] }),
            json!({ "required": ["a", "a"] }),
            json!({ "format": 7 }),
            json!({ "properties": { "a": { "$id": "x" }, "b": { "$id": "x" } } }),
            json!({ "$defs": { "a": { "$anchor": "x" }, "b": { "$anchor": "x" } } }),
        ] {
            assert!(!sound(bad.clone()), "{bad}");
        }
    }

    #[test]
    fn what_nests_deeper_than_it_is_looked_into_is_not_sound() {
        let mut deep = json!({});
        for _ in 0..1_000 {
            deep = json!({ "items": deep });
        }
        assert!(!sound(deep));
    }
}
