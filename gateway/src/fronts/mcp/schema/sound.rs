//! Whether a JSON Schema can be compiled. A client that cannot compile one schema loses all tools.
//!
//! The host of an app refuses to register a schema that breaks the metaschema, but not every app has that host.

use std::collections::HashSet;

use regress::Regex;
use serde_json::{Map, Value};

use super::{JsonObject, schemas};
use crate::wire::referred;

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
const NUMBERS: [&str; 4] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
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
    "$comment",
    "format",
    "title",
    "description",
    "contentEncoding",
    "contentMediaType",
];
/// Keywords whose value is true or false.
const FLAGS: [&str; 4] = ["uniqueItems", "deprecated", "readOnly", "writeOnly"];

/// Whether every known keyword has a value of its kind, every reference leads to a part of the schema, and no two
/// parts have the same name.
pub fn is_sound(schema: &JsonObject) -> bool {
    let mut parts = Parts::default();
    is_part_sound(schema)
        && parts.add_inner(schema)
        && parts.add_names(schema)
        && parts.references.iter().all(|it| parts.has(it, schema))
}

/// The schemas in a schema.
#[derive(Default)]
struct Parts<'a> {
    schemas: HashSet<*const Value>,
    ids: HashSet<&'a str>,
    anchors: HashSet<&'a str>,
    references: Vec<&'a str>,
}

impl<'a> Parts<'a> {
    fn add_inner(&mut self, schema: &'a JsonObject) -> bool {
        schema.iter().all(|(keyword, value)| {
            schemas(keyword, value).into_iter().all(|inner| {
                self.schemas.insert(inner);
                match inner {
                    Value::Bool(_) => true,
                    Value::Object(inner) => {
                        is_part_sound(inner) && self.add_names(inner) && self.add_inner(inner)
                    }
                    // As in draft-07.
                    names => keyword == "dependencies" && is_names(names),
                }
            })
        })
    }

    fn add_names(&mut self, schema: &'a JsonObject) -> bool {
        let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        let references = ["$ref", "$dynamicRef"].into_iter().filter_map(text);
        self.references.extend(references);
        let mut anchors = ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text);
        text("$id").is_none_or(|id| self.ids.insert(id))
            && anchors.all(|anchor| self.anchors.insert(anchor))
    }

    /// Whether a reference names a part, by a pointer or by an anchor.
    fn has(&self, reference: &str, whole: &JsonObject) -> bool {
        match reference.strip_prefix('#') {
            Some("") => true,
            Some(pointer) if pointer.starts_with('/') => referred(whole, reference)
                .is_some_and(|it| self.schemas.contains(&std::ptr::from_ref(it))),
            Some(anchor) => self.anchors.contains(anchor),
            None => false,
        }
    }
}

fn is_part_sound(schema: &JsonObject) -> bool {
    schema
        .iter()
        .all(|(keyword, value)| is_of_its_kind(keyword, value))
}

fn is_of_its_kind(keyword: &str, value: &Value) -> bool {
    match keyword {
        "type" => match value {
            Value::Array(types) => !types.is_empty() && types.iter().all(is_type) && differ(types),
            only => is_type(only),
        },
        "required" => is_names(value),
        "dependentRequired" => is_each(value, is_names),
        "dependencies" => value.is_object(),
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "examples" => value.is_array(),
        "multipleOf" => value.as_f64().is_some_and(|it| it > 0.0),
        "pattern" => value.as_str().is_some_and(is_pattern),
        "patternProperties" => {
            let patterns = value.as_object();
            patterns.is_some_and(|patterns| patterns.keys().all(|it| is_pattern(it)))
        }
        "$ref" | "$dynamicRef" => value.is_string(),
        "$id" => value
            .as_str()
            .is_some_and(|it| !it.is_empty() && !it.contains('#')),
        "$anchor" | "$dynamicAnchor" => value.as_str().is_some_and(is_anchor),
        _ if TEXTS.contains(&keyword) => value.is_string(),
        _ if FLAGS.contains(&keyword) => value.is_boolean(),
        _ if OBJECTS.contains(&keyword) => value.is_object(),
        _ if LISTS.contains(&keyword) => value.as_array().is_some_and(|them| !them.is_empty()),
        _ if NUMBERS.contains(&keyword) => value.is_number(),
        _ if AMOUNTS.contains(&keyword) => {
            let amount = value.as_f64();
            amount.is_some_and(|it| it >= 0.0 && it.fract() == 0.0)
        }
        _ => true,
    }
}

/// Whether the value is a list of different texts.
fn is_names(value: &Value) -> bool {
    let names = value.as_array();
    names.is_some_and(|names| names.iter().all(Value::is_string) && differ(names))
}

fn is_each(value: &Value, fits: impl Fn(&Value) -> bool) -> bool {
    let members = value.as_object();
    members.is_some_and(|members: &Map<String, Value>| members.values().all(fits))
}

/// Whether no text of the list comes twice.
fn differ(texts: &[Value]) -> bool {
    let mut seen = HashSet::new();
    texts.iter().all(|it| seen.insert(it.as_str()))
}

fn is_type(value: &Value) -> bool {
    value.as_str().is_some_and(|it| TYPES.contains(&it))
}

fn is_anchor(text: &str) -> bool {
    let is_first = |it: char| it.is_ascii_alphabetic() || it == '_';
    let is_next = |it: char| is_first(it) || it.is_ascii_digit() || matches!(it, '-' | '.');
    text.starts_with(is_first) && text.chars().all(is_next)
}

/// Whether JavaScript accepts the regular expression: most clients are written in JavaScript, or check as it
/// does.
fn is_pattern(text: &str) -> bool {
    Regex::with_flags(text, "u").is_ok()
}

#[cfg(test)]
mod tests;
