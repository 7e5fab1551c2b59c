//! JSON Schemas of capabilities as MCP wants them.
//!
//! A client reads the whole list of tools or none of it, so what one app wrote carelessly must not
//! hide the tools of all.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::wire::binary::content_members;

type JsonObject = Map<String, Value>;

/// Nesting of schemas that is looked into: a recursive one refers to itself by `$ref`, not by depth.
const MAX_DEPTH: usize = 64;

/// Arguments of a tool are an object, whatever the capability says of its parameters.
pub fn input(schema: Option<&RawValue>) -> JsonObject {
    let mut schema = match read(schema) {
        Some(schema) if may_be_object(&schema) => schema,
        _ => JsonObject::new(),
    };
    schema.insert("type".into(), "object".into());
    tidy(&mut schema);
    schema
}

/// The schema of structured content: only where the capability promises an object. Binary members
/// are pointers here, see [`super::content`].
pub fn output(schema: Option<&RawValue>) -> Option<JsonObject> {
    let mut schema = read(schema).filter(|schema| schema.get("type") == Some(&json!("object")))?;
    tidy(&mut schema);
    point_at_binaries(&mut schema, 0);
    Some(schema)
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

/// What clients insist on: `properties` are schemas that are objects, `required` are names.
fn tidy(schema: &mut JsonObject) {
    match schema.get_mut("properties") {
        None => {}
        Some(Value::Object(properties)) => {
            for property in properties.values_mut().filter(|it| !it.is_object()) {
                *property = match property {
                    Value::Bool(false) => json!({ "not": {} }),
                    _ => json!({}),
                };
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

/// Says of members that hold base64 what stands there instead.
fn point_at_binaries(schema: &mut JsonObject, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for name in binary_members(properties) {
            let what = properties[&name]["description"].as_str();
            let what = what.map_or(String::new(), |what| format!("{what}. "));
            let description =
                format!("{what}Here a JSON Pointer to where in this result its base64 is");
            let pointer = json!({ "type": "string", "description": description });
            properties.insert(name, pointer);
        }
    }
    for (keyword, value) in schema.iter_mut() {
        match (keyword.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(schemas),
            ) => each(schemas.values_mut(), depth),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(schemas)) => {
                each(schemas.iter_mut(), depth);
            }
            (
                "items" | "additionalProperties" | "if" | "then" | "else" | "contains",
                Value::Object(schema),
            ) => point_at_binaries(schema, depth + 1),
            _ => {}
        }
    }
}

fn each<'a>(schemas: impl Iterator<Item = &'a mut Value>, depth: usize) {
    for schema in schemas.filter_map(Value::as_object_mut) {
        point_at_binaries(schema, depth + 1);
    }
}

/// The members that may hold the bytes of `mimeType` beside them.
fn binary_members(properties: &JsonObject) -> Vec<String> {
    let Some(mime) = properties.get("mimeType") else {
        return Vec::new();
    };
    let declared = properties.contains_key("encoding");
    let listed = mime["enum"].as_array().into_iter().flatten();
    let types = listed.chain(mime.get("const")).map(Value::as_str);
    // A file of any type may have a plain name.
    let types = types.chain([None]);
    let names = types.flat_map(|media_type| content_members(media_type, declared));
    let mut names: Vec<_> = names.map(str::to_string).collect();
    names.retain(|name| properties.contains_key(name));
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(schema: &Value) -> Box<RawValue> {
        RawValue::from_string(schema.to_string()).unwrap()
    }

    #[test]
    fn arguments_are_an_object_whatever_the_capability_says() {
        let plain = json!({ "type": "object" });
        assert_eq!(json!(input(None)), plain);
        for odd in [
            json!(true),
            json!({ "type": "string" }),
            json!([]),
            json!(7),
        ] {
            assert_eq!(json!(input(Some(&raw(&odd)))), plain, "{odd}");
        }
        let any = json!({ "anyOf": [{ "required": ["a"] }], "properties": { "a": {} } });
        let got = json!(input(Some(&raw(&any))));
        assert_eq!(
            (&got["type"], &got["anyOf"]),
            (&json!("object"), &any["anyOf"])
        );
        let several = json!({ "type": ["object", "null"] });
        assert_eq!(json!(input(Some(&raw(&several)))), plain);
    }

    #[test]
    fn what_clients_refuse_is_tidied() {
        let careless = json!({
            "type": "object", "required": "a",
            "properties": { "a": true, "b": false, "c": { "type": "string" }, "d": 3 },
        });
        let got = json!(input(Some(&raw(&careless))));
        assert_eq!(
            got,
            json!({ "type": "object", "properties": {
                "a": {}, "b": { "not": {} }, "c": { "type": "string" }, "d": {},
            } })
        );
        let odd = json!({ "type": "object", "properties": [] });
        assert_eq!(json!(input(Some(&raw(&odd)))), json!({ "type": "object" }));
    }

    #[test]
    fn only_a_promised_object_has_an_output_schema() {
        assert!(output(None).is_none());
        assert!(output(Some(&raw(&json!({ "type": "string" })))).is_none());
        assert!(output(Some(&raw(&json!({})))).is_none());
        assert!(output(Some(&raw(&json!({ "type": "object" })))).is_some());
    }

    #[test]
    fn binary_members_are_described_as_pointers() {
        let schema = json!({ "type": "object", "properties": {
            "pdf": { "type": ["string", "object"], "description": "The file", "contentEncoding": "base64" },
            "mimeType": { "const": "application/pdf" },
            "pages": { "items": { "type": "object", "properties": {
                "image": { "type": "string", "minLength": 100 },
                "mimeType": { "enum": ["image/png", "image/webp"] },
            } } },
            "file": { "type": "object", "properties": {
                "content": { "pattern": "^[A-Z]+$" }, "mimeType": {}, "encoding": {},
            } },
            "image": { "type": "string", "description": "of no mimeType here" },
        } });
        let got = json!(output(Some(&raw(&schema))).unwrap());
        let properties = &got["properties"];
        assert_eq!(properties["pdf"]["type"], "string");
        assert!(properties["pdf"].get("contentEncoding").is_none());
        assert_eq!(
            properties["pdf"]["description"],
            "The file. Here a JSON Pointer to where in this result its base64 is"
        );
        assert!(
            properties["pages"]["items"]["properties"]["image"]
                .get("minLength")
                .is_none()
        );
        assert!(
            properties["file"]["properties"]["content"]
                .get("pattern")
                .is_none()
        );
        assert_eq!(properties["image"], schema["properties"]["image"]);
    }
}
