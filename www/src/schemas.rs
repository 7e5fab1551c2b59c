//! Checks that the results of the capabilities match their schemas.

use crate::archive::Sink;
use crate::failure::Failure;
use crate::pace::testing::{Counting, finish};
use crate::{archive, markdown, pdf, picture, summary};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn keys(object: &Value) -> BTreeSet<&str> {
    let object = object.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

fn check<T: Serialize>(result: Result<T, Failure>, schema: &str) {
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let data = serde_json::to_value(result.expect("data")).expect("data as JSON");
    let required: Vec<&str> = schema["required"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(keys(&data), keys(&schema["properties"]));
    assert_eq!(keys(&data), required.into_iter().collect());
    assert_eq!(schema["additionalProperties"], false);
    for (key, value) in data.as_object().unwrap() {
        let rule = &schema["properties"][key];
        if let Some(allowed) = rule.get("enum") {
            assert!(
                allowed.as_array().unwrap().contains(value),
                "{key}: {value}"
            );
        }
        if let Some(only) = rule.get("const") {
            assert_eq!(value, only);
        }
    }
}

fn params<T: DeserializeOwned>(schema: &str, params: Value) -> T {
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    assert_eq!(schema["additionalProperties"], false);
    assert!(
        keys(&schema["properties"]).is_superset(&keys(&params)),
        "{params}"
    );
    serde_json::from_value(params).expect("parameters")
}

struct Null;

impl Sink for Null {
    type Whole = String;

    fn append(&mut self, _: &[u8]) -> Result<(), Failure> {
        Ok(())
    }

    fn finish(self, _: &str) -> Result<String, Failure> {
        Ok("blob:null".into())
    }
}

#[test]
fn data_has_the_fields_its_schema_promises() {
    let pace = Counting::default();

    let given = params(
        markdown::INPUT_SCHEMA,
        json!({"markdown": "*a*", "options": {"sanitize": false}}),
    );
    check(finish(markdown::run(given, &pace)), markdown::OUTPUT_SCHEMA);

    let given = params(
        pdf::INPUT_SCHEMA,
        json!({"html": "a", "options": {"pageSize": "legal", "encoding": "base64", "title": "t"}}),
    );
    check(finish(pdf::run(given, &pace)), pdf::OUTPUT_SCHEMA);

    let given = params(
        summary::INPUT_SCHEMA,
        json!({"text": "One. Two.", "sentences": 1}),
    );
    check(finish(summary::run(given, &pace)), summary::OUTPUT_SCHEMA);

    let pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let given = json!({
        "image": {"content": pixel, "mimeType": "image/png", "encoding": "base64"},
        "operations": {"resize": {"width": 2, "height": 2, "fit": "cover"}, "blur": {"sigma": 1}, "grayscale": true},
        "options": {"format": "webp", "quality": 50, "encoding": "base64"},
    });
    let given = params(picture::INPUT_SCHEMA, given);
    check(
        finish(picture::run(given, &picture::Nowhere, &pace)),
        picture::OUTPUT_SCHEMA,
    );

    let given = json!({"rows": 3, "files": 2, "columns": 3, "seed": 4, "filename": "a.zip"});
    let given = params(archive::INPUT_SCHEMA, given);
    check(
        finish(archive::run(given, Null, &pace)),
        archive::OUTPUT_SCHEMA,
    );
}
