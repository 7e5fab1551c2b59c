use serde_json::json;

use super::super::fit::make_fit;
use super::*;

fn sound(mut schema: Value) -> bool {
    let schema = schema.as_object_mut().unwrap();
    make_fit(schema) && is_sound(schema)
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
        json!({ "nullable": true, "id": "x" }),
        json!({ "$ref": "https://example.com/other.json" }),
        json!({ "type": "string", "nullable": "x" }),
        json!({ "dependencies": { "a": ["b"], "b": { "type": "object" } } }),
        json!({ "anyOf": [{ "$anchor": "x" }], "default": { "$anchor": "x" } }),
        json!({ "$ref": "#/$defs/any", "$defs": { "any": true } }),
        json!({ "minLength": 3.0, "multipleOf": 0.1 }),
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
        json!({ "enum": [] }),
        json!({ "uniqueItems": "yes" }),
        json!({ "readOnly": 1 }),
        json!({ "title": 7 }),
        json!({ "description": ["a"] }),
        json!({ "$comment": 7 }),
        json!({ "examples": "x" }),
        json!({ "contentMediaType": null }),
        json!({ "contentSchema": { "type": "strng" } }),
        json!({ "multipleOf": 0 }),
        json!({ "minLength": 1.5 }),
        json!({ "items": null }),
        json!({ "properties": { "a": ["b"] } }),
        json!({ "dependentRequired": { "a": ["b", "b"] } }),
        json!({ "dependencies": { "a": ["b", "b"] } }),
        json!({ "$anchor": "#a" }),
        json!({ "$anchor": null }),
        json!({ "$dynamicAnchor": "" }),
        json!({ "properties": { "a": { "$id": "#/a" } } }),
        json!({ "properties": { "a": { "$id": "" } } }),
        json!({ "$ref": 7 }),
        json!({ "$ref": "#/components/a", "components": { "a": { "type": "string" } } }),
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
