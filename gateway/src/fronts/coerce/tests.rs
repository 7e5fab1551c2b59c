use serde_json::json;

use super::*;

fn read(schema: Value, arguments: Value) -> Value {
    let arguments = arguments.to_string();
    let read = coerced(&arguments, Some(&raw(&schema)), 32).unwrap();
    serde_json::from_str(&read).unwrap()
}

fn raw(schema: &Value) -> Box<RawValue> {
    RawValue::from_string(schema.to_string()).unwrap()
}

/// A schema with one property.
fn of(schema: Value) -> Value {
    json!({ "type": "object", "properties": { "a": schema } })
}

#[test]
fn a_text_is_read_as_the_only_thing_that_the_schema_allows() {
    for (schema, text, meant) in [
        (json!({ "type": "number" }), "2.5", json!(2.5)),
        (json!({ "type": "integer" }), "-7", json!(-7)),
        (json!({ "type": "boolean" }), "true", json!(true)),
        (json!({ "type": "null" }), "null", json!(null)),
        (json!({ "type": ["integer", "null"] }), "null", json!(null)),
        (json!({ "type": ["integer", "boolean"] }), "3", json!(3)),
        (json!({ "type": "array" }), "[1]", json!([1])),
        (json!({ "type": "object" }), "{\"b\":1}", json!({ "b": 1 })),
        (
            json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }),
            "4",
            json!(4),
        ),
    ] {
        let got = read(of(schema.clone()), json!({ "a": text }));
        assert_eq!(got, json!({ "a": meant }), "{schema}");
    }
}

#[test]
fn a_text_stays_where_the_schema_allows_texts_or_says_nothing_or_the_text_means_nothing_else() {
    for (schema, text) in [
        (json!({ "type": "string" }), "2"),
        (json!({ "type": ["number", "string"] }), "2"),
        (json!({}), "2"),
        (json!(true), "2"),
        (json!({ "anyOf": [{ "type": "number" }, {}] }), "2"),
        (
            json!({ "oneOf": [{ "type": "number" }, { "type": "string" }] }),
            "2",
        ),
        (json!({ "type": "integer" }), "2.5"),
        (json!({ "type": "integer" }), "two"),
        (json!({ "type": "integer" }), "1e400"),
        (json!({ "type": "boolean" }), "yes"),
        (json!({ "type": "number" }), ""),
        (json!({ "$ref": "#/$defs/none" }), "2"),
        (json!({ "$ref": "#/properties/a" }), "2"),
        (json!({ "$ref": "https://example.com/other" }), "2"),
    ] {
        let given = json!({ "a": text });
        assert_eq!(read(of(schema.clone()), given.clone()), given, "{schema}");
    }
}

#[test]
fn texts_inside_lists_objects_references_and_texts_are_read_too() {
    let schema = json!({
        "type": "object",
        "properties": {
            "sizes": { "type": "array", "items": { "$ref": "#/$defs/size" } },
            "pair": { "type": "array", "prefixItems": [{ "type": "boolean" }], "items": { "type": "integer" } },
            "either": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/size" }] },
            "named": { "$ref": "#/$defs/a%20size" },
            "whole": { "$ref": "#" },
        },
        "additionalProperties": { "type": "number" },
        "$defs": { "a size": { "type": "integer" }, "size": { "type": "object", "properties": { "width": { "type": "integer" } } } },
    });
    let given = json!({
        "sizes": "[{ \"width\": \"3\" }]", "pair": ["false", "1"], "either": { "width": "5" }, "other": "1.5",
        "named": "6", "whole": { "named": "7" },
    });
    let meant = json!({
        "sizes": [{ "width": 3 }], "pair": [false, 1], "either": { "width": 5 }, "other": 1.5,
        "named": 6, "whole": { "named": 7 },
    });
    assert_eq!(read(schema, given), meant);
}

#[test]
fn arguments_without_such_a_text_pass_as_they_came() {
    let schema = raw(&of(json!({ "type": "integer" })));
    for given in ["{ \"a\" : 1.0 }", "{}", "[]", "not JSON"] {
        assert!(matches!(coerced(given, Some(&schema), 32), Ok(Cow::Borrowed(it)) if it == given));
    }
    let given = r#"{"a":"1"}"#;
    assert!(matches!(coerced(given, None, 32), Ok(Cow::Borrowed(_))));
}

#[test]
fn a_text_with_a_deeper_value_than_is_accepted_is_refused() {
    let schema = raw(&of(json!({ "type": "array" })));
    let given = |levels: usize| {
        let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        json!({ "a": text }).to_string()
    };
    assert!(coerced(&given(31), Some(&schema), 32).is_ok());
    let refused = coerced(&given(32), Some(&schema), 32).unwrap_err();
    assert_eq!(refused.details.as_ref().unwrap()["limit"], "depth");
}
