//! JSON Schemas of capabilities in the form that MCP's clients, and the models behind them, accept.
//!
//! A client reads the whole list of tools or none of it, so one app's careless schema must not hide the tools
//! of all. Listed schemas check nothing: the app checks its calls by its own schema.

mod fit;
mod sound;

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::wire::binary::content_members;
use crate::wire::{clipped, referred};
use fit::{drop_addresses, make_fit};
use sound::is_sound;

type JsonObject = Map<String, Value>;

/// The version of JSON Schema that MCP has.
const VERSION: &str = "https://json-schema.org/draft/2020-12/schema";

/// How deep schemas are read. A recursive schema refers to itself by `$ref`, and is not deep.
const MAX_DEPTH: usize = 64;

/// Characters of a rule in a description.
const RULE_CHARS: usize = 2_000;

/// Members that often hold the content of a file, named after its type.
const COMMON: [&str; 10] = [
    "image", "audio", "video", "font", "pdf", "png", "jpeg", "gif", "webp", "zip",
];

/// Keywords that interfaces to models refuse at the root of a schema.
const NOT_AT_ROOT: [&str; 11] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "enum",
    "const",
];

/// The parameters of a tool.
#[derive(Debug, PartialEq)]
pub struct Input {
    /// An object schema, whatever the capability's own schema is.
    pub schema: JsonObject,
    /// The part of the schema that may not stand at its root, for the description.
    pub rule: Option<String>,
}

/// The parameters of a tool.
pub fn input(schema: Option<&RawValue>) -> Input {
    let mut schema = match read(schema) {
        Some(schema) if may_be_object(&schema) => schema,
        _ => JsonObject::new(),
    };
    schema.insert("type".into(), "object".into());
    tidy(&mut schema);
    drop_addresses(&mut schema);
    let rule = flatten(&mut schema);
    let version = schema.remove("$schema").filter(|it| it == VERSION);
    if !make_fit(&mut schema) || !is_sound(&schema) {
        schema = JsonObject::from_iter([("type".into(), "object".into())]);
    } else if let Some(version) = version {
        // Clients pass this schema on to a model, and do not compile it.
        schema.insert("$schema".into(), version);
    }
    Input { schema, rule }
}

/// The schema of structured content, if the capability promises an object without files. Where there are
/// files, a client with structured content shows nothing else.
pub fn output(schema: Option<&RawValue>) -> Option<JsonObject> {
    let mut schema = read(schema).filter(|schema| schema.get("type") == Some(&json!("object")))?;
    if has_files(&schema, None, 0) {
        return None;
    }
    tidy(&mut schema);
    (make_fit(&mut schema) && is_sound(&schema)).then_some(schema)
}

fn read(schema: Option<&RawValue>) -> Option<JsonObject> {
    serde_json::from_str(schema?.get()).ok()
}

fn may_be_object(schema: &JsonObject) -> bool {
    match schema.get("type") {
        None => true,
        Some(Value::Array(types)) => types.contains(&json!("object")),
        Some(only) => only == "object",
    }
}

/// What clients insist on: each of `properties` is a schema, and `required` are names.
fn tidy(schema: &mut JsonObject) {
    match schema.get_mut("properties") {
        None => {}
        Some(Value::Object(properties)) => {
            for property in properties.values_mut() {
                if !property.is_object() && !property.is_boolean() {
                    *property = json!({});
                }
            }
        }
        Some(_) => {
            schema.remove("properties");
        }
    }
    let names = |required: &Value| {
        required
            .as_array()
            .is_some_and(|names| names.iter().all(Value::is_string))
    };
    if schema.get("required").is_some_and(|it| !names(it)) {
        schema.remove("required");
    }
}

/// Removes keywords that may not stand at the root, and returns them as the rule. Properties in them are
/// kept.
fn flatten(schema: &mut JsonObject) -> Option<String> {
    let mut rule = JsonObject::new();
    for keyword in NOT_AT_ROOT {
        if let Some(value) = schema.remove(keyword) {
            rule.insert(keyword.into(), value);
        }
    }
    if rule.is_empty() {
        return None;
    }
    for (keyword, value) in &rule {
        let parts = match (keyword.as_str(), value) {
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => parts.iter().collect(),
            ("then" | "else", part) => vec![part],
            ("$ref", Value::String(reference)) => referred(schema, reference).into_iter().collect(),
            _ => continue,
        };
        let parts: Vec<Value> = parts.into_iter().cloned().collect();
        let is_needed = matches!(keyword.as_str(), "allOf" | "$ref");
        for part in &parts {
            take_properties(schema, part, is_needed);
        }
    }
    let said = Value::Object(rule).to_string();
    Some(match said.chars().nth(RULE_CHARS) {
        None => format!("The arguments also match this JSON Schema: {said}"),
        Some(_) => {
            let beginning = clipped(&said, RULE_CHARS);
            format!("The arguments also match a JSON Schema, which begins: {beginning}")
        }
    })
}

/// Adds the properties of a part of the root. Its required properties are required only if the part always
/// holds.
fn take_properties(schema: &mut JsonObject, part: &Value, is_needed: bool) {
    if let Some(Value::Object(more)) = part.get("properties") {
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            for (name, property) in more {
                let property = match property.is_object() {
                    true => property.clone(),
                    false => json!({}),
                };
                properties.entry(name.clone()).or_insert(property);
            }
        }
        // `additionalProperties` knows the root's own properties only.
        schema.remove("additionalProperties");
    }
    if is_needed && let Some(Value::Array(names)) = part.get("required") {
        let required = schema.entry("required").or_insert_with(|| json!([]));
        if let Some(required) = required.as_array_mut() {
            for name in names.iter().filter(|it| it.is_string()) {
                if !required.contains(name) {
                    required.push(name.clone());
                }
            }
        }
    }
}

/// Whether results of the schema may have files. `around` is the schema of `mimeType` in the object around it.
fn has_files(schema: &JsonObject, around: Option<&Value>, depth: usize) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let own = properties.and_then(|it| it.get("mimeType"));
    if properties.is_some_and(|it| may_be_file(it, own.or(around), schema)) {
        return true;
    }
    let inner = schema
        .iter()
        .flat_map(|(keyword, value)| schemas(keyword, value));
    depth < MAX_DEPTH
        && inner
            .filter_map(Value::as_object)
            .any(|inner| has_files(inner, own.or(around), depth + 1))
}

/// Whether an object with these properties may be a file. A schema need not declare the members `mimeType` and
/// `encoding`, unless it allows no other members.
fn may_be_file(properties: &JsonObject, mime: Option<&Value>, schema: &JsonObject) -> bool {
    let has = |name| properties.contains_key(name);
    let declared = has("encoding");
    let is_open = schema.get("additionalProperties") != Some(&Value::Bool(false));
    if !declared && !has("mimeType") && !is_open {
        return false;
    }
    let listed = mime.and_then(|it| it["enum"].as_array());
    let types = listed.into_iter().flatten();
    let types = types.chain(mime.and_then(|it| it.get("const")));
    // A file of any type may have a plain name.
    let types = types.map(Value::as_str).chain([None]);
    let names = types.flat_map(|media_type| content_members(media_type, declared));
    let mut names = names.chain(COMMON.map(Cow::Borrowed));
    names.any(|name| properties.get(&*name).is_some_and(may_be_base64))
}

/// Whether a text in base64 may satisfy the schema.
fn may_be_base64(schema: &Value) -> bool {
    let is_text = match &schema["type"] {
        Value::Array(types) => types.contains(&json!("string")),
        only => only.is_null() || only == "string",
    };
    let is_address = matches!(schema["format"].as_str(), Some("uri" | "iri" | "url"));
    is_text && !is_address && *schema != Value::Bool(false)
}

/// Keywords that hold schemas by names.
const NAMED: [&str; 6] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependencies",
];
/// Keywords that hold several.
const SEVERAL: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords that hold one.
const ONE: [&str; 12] = [
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];

/// The schemas that a keyword holds.
fn schemas<'a>(keyword: &str, value: &'a Value) -> Vec<&'a Value> {
    match value {
        Value::Object(named) if NAMED.contains(&keyword) => named.values().collect(),
        Value::Array(several) if SEVERAL.contains(&keyword) => several.iter().collect(),
        one if ONE.contains(&keyword) => vec![one],
        _ => Vec::new(),
    }
}

/// Calls a function with each value that stands in the place of a schema, and the keyword that holds the value.
fn inner_mut(schema: &mut JsonObject, mut see: impl FnMut(&str, &mut Value)) {
    for (keyword, value) in schema {
        match value {
            Value::Object(named) if NAMED.contains(&keyword.as_str()) => {
                named.values_mut().for_each(|it| see(keyword, it));
            }
            Value::Array(several) if SEVERAL.contains(&keyword.as_str()) => {
                several.iter_mut().for_each(|it| see(keyword, it));
            }
            one if ONE.contains(&keyword.as_str()) => see(keyword, one),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
