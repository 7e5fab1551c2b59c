use super::*;

fn raw(schema: &Value) -> Box<RawValue> {
    RawValue::from_string(schema.to_string()).unwrap()
}

fn listed(schema: Value) -> Value {
    json!(input(Some(&raw(&schema))).schema)
}

#[test]
fn arguments_are_an_object_whatever_the_capability_says() {
    let plain = json!({ "type": "object" });
    assert_eq!(json!(input(None).schema), plain);
    for odd in [
        json!(true),
        json!({ "type": "string" }),
        json!([]),
        json!(7),
        json!({ "type": ["object", "null"] }),
        json!({ "properties": { "a": { "type": "strng" } } }),
        json!({ "properties": { "a": { "pattern": "(" } } }),
    ] {
        assert_eq!(listed(odd.clone()), plain, "{odd}");
    }
}

#[test]
fn what_clients_refuse_is_tidied() {
    let careless = json!({
        "type": "object", "required": "a",
        "properties": { "a": true, "b": false, "c": { "type": "string" }, "d": 3 },
    });
    assert_eq!(
        listed(careless),
        json!({ "type": "object", "properties": {
                "a": {}, "b": { "not": {} }, "c": { "type": "string" }, "d": {},
            } })
    );
    let odd = json!({ "type": "object", "properties": [] });
    assert_eq!(listed(odd), json!({ "type": "object" }));
}

#[test]
fn a_rule_at_the_root_goes_into_the_description() {
    let either = json!({
        "type": "object", "additionalProperties": false,
        "properties": { "title": { "type": "string" } },
        "oneOf": [
            { "properties": { "html": { "type": "string" } }, "required": ["html"] },
            { "properties": { "url": { "type": "string" } }, "required": ["url"] },
        ],
    });
    let Input { schema, rule } = input(Some(&raw(&either)));
    let text = json!({ "type": "string" });
    assert_eq!(
        json!(schema),
        json!({ "type": "object", "properties": { "title": text, "html": text, "url": text } })
    );
    assert!(rule.unwrap().contains(r#""required":["url"]"#));
    let referring = json!({
        "$ref": "#/$defs/a/b",
        "$defs": { "a": { "b": { "properties": { "n": { "type": "array" } }, "required": ["n"] } } },
    });
    let found = listed(referring);
    assert_eq!(
        found["properties"]["n"],
        json!({ "type": "array", "items": {} })
    );
    assert_eq!(found["required"], json!(["n"]));
    assert!(found.get("$ref").is_none());
    assert_eq!(input(Some(&raw(&json!({ "type": "object" })))).rule, None);
    let long = json!({ "anyOf": [{ "required": ["x".repeat(5_000)] }] });
    assert!(input(Some(&raw(&long))).rule.unwrap().len() < 2_200);
}

#[test]
fn no_argument_is_asked_for_as_a_header() {
    let region = json!({ "type": "string", "x-mcp-header": "Region" });
    let schema = listed(json!({
        "type": "object",
        "properties": {
            "region": region,
            "x-mcp-header": { "type": "string" },
            "more": { "type": "array", "items": { "anyOf": [region, { "$ref": "#/$defs/a" }] } },
        },
        "$defs": { "a": region },
    }));
    let plain = json!({ "type": "string" });
    assert_eq!(
        schema["properties"],
        json!({
            "region": plain,
            "x-mcp-header": plain,
            "more": { "type": "array", "items": { "anyOf": [plain, { "$ref": "#/$defs/a" }] } },
        })
    );
    assert_eq!(schema["$defs"], json!({ "a": plain }));
}

#[test]
fn every_array_says_what_it_holds() {
    let open = json!({ "type": "object", "properties": {
            "a": { "type": "array" },
            "b": { "type": ["array", "null"], "items": { "anyOf": [{ "type": "array" }] } },
        } });
    let array = json!({ "type": "array", "items": {} });
    assert_eq!(
        listed(open)["properties"],
        json!({ "a": array, "b": { "type": ["array", "null"], "items": { "anyOf": [array] } } })
    );
}

#[test]
fn only_a_promised_object_without_files_has_an_output_schema() {
    let is_listed = |schema: Value| output(Some(&raw(&schema))).is_some();
    assert!(output(None).is_none());
    assert!(is_listed(json!({ "type": "object" })));
    let file = json!({ "properties": { "pdf": {}, "mimeType": { "const": "application/pdf" } } });
    for none in [
        json!({ "type": "string" }),
        json!({}),
        json!({ "type": "object", "properties": { "a": { "type": "strng" } } }),
        json!({ "type": "object", "properties": { "a": { "pattern": "a{2,1}" } } }),
        json!({ "type": "object", "properties": { "files": { "items": file } } }),
        json!({ "type": "object", "properties": { "content": {}, "mimeType": {}, "encoding": {} } }),
    ] {
        assert!(!is_listed(none.clone()), "{none}");
    }
    let image = json!({ "type": "object", "properties": { "image": { "type": "string" } } });
    assert!(!is_listed(image.clone()), "its type need not be declared");
    let mut closed = image;
    closed["additionalProperties"] = false.into();
    assert!(is_listed(closed), "there is no place for its type");
}
