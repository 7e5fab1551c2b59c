//! How `?` turns errors into errors of a capability.

use std::error::Error as _;

use caphost::{Code, Error};
use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::support::{get, json};

type Result<T> = std::result::Result<T, Error>;

#[derive(Debug)]
struct Broken(std::num::ParseIntError);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("It is broken")
    }
}

impl std::error::Error for Broken {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

fn number(text: &str) -> Result<u32> {
    Ok(text.parse()?)
}

#[wasm_bindgen_test]
fn errors_of_the_standard_library_convert() {
    let error = number("many").unwrap_err();
    assert_eq!(error.code, Code::OPERATION_FAILED);
    assert_eq!(error.message, "invalid digit found in string");
    let text = || -> Result<String> { Ok(String::from_utf8(vec![0xff])?) };
    assert!(text().unwrap_err().message.starts_with("invalid utf-8"));
}

#[wasm_bindgen_test]
fn values_that_javascript_throws_convert() {
    let decode = || -> Result<String> { Ok(js_sys::decode_uri("%")?.into()) };
    let error = decode().unwrap_err();
    assert_eq!(error.code, Code::OPERATION_FAILED);
    assert_eq!(error.message, "URI malformed");
    // An error with its own code keeps the code.
    let thrown = json(
        r#"{"code":"TOO_LARGE","message":"no","retryable":true,"details":{"a":1},"alternatives":["b"]}"#,
    );
    let error = Error::from(thrown);
    assert_eq!(error.alternatives, ["b"]);
    assert_eq!((error.code.as_str(), error.retryable), ("TOO_LARGE", true));
    assert_eq!(get(error.details.as_ref().unwrap(), "a"), 1);
    assert_eq!(Error::from(JsError::new("bad")).message, "bad");
    assert_eq!(Error::from(JsValue::from_str("bad")).message, "bad");
}

#[wasm_bindgen_test]
fn errors_of_serde_convert() {
    let read = || -> Result<String> {
        Ok(String::deserialize(
            serde_wasm_bindgen::Deserializer::from(JsValue::from_f64(1.0)),
        )?)
    };
    assert_eq!(read().unwrap_err().code, Code::OPERATION_FAILED);
    #[cfg(feature = "serde_json")]
    {
        let parse = || -> Result<u32> { Ok(serde_json::from_str("many")?) };
        assert_eq!(parse().unwrap_err().code, Code::OPERATION_FAILED);
    }
}

#[wasm_bindgen_test]
fn agents_get_the_message_of_other_errors_but_not_their_causes() {
    let broken = "x".parse::<u32>().map_err(Broken);
    let error = broken.map_err(Error::other).unwrap_err();
    assert_eq!(error.message, "It is broken");
    // The app itself can find the causes.
    let source = error.source().unwrap();
    assert_eq!(source.to_string(), "It is broken");
    let cause = source.source().unwrap();
    assert_eq!(cause.to_string(), "invalid digit found in string");
    assert_eq!(Error::other("a text").message, "a text");
}

#[wasm_bindgen_test]
fn an_error_in_a_box_keeps_its_code() {
    let boxed: Box<dyn std::error::Error> = Error::new("MINE", "mine").into();
    let open = || -> Result<()> { Err(boxed)? };
    assert_eq!(open().unwrap_err().code.as_str(), "MINE");
}

#[wasm_bindgen_test]
fn an_exported_function_throws_an_error_with_the_same_fields() {
    let error = Error::new("MINE", "mine").with_retry_after(std::time::Duration::from_secs(2));
    let thrown = JsValue::from(error);
    assert!(thrown.is_instance_of::<js_sys::Error>());
    assert_eq!(get(&thrown, "name"), "CapHostError");
    assert_eq!(get(&thrown, "code"), "MINE");
    assert_eq!(get(&thrown, "retryAfter"), 2000.0);
}

#[wasm_bindgen_test]
fn an_error_has_and_shows_all_fields_that_agents_get() {
    let error = Error::new(Code::CAPABILITY_UNAVAILABLE, "The printer is off")
        .with_retry_after(std::time::Duration::from_millis(1_500))
        .with_alternatives(["export.pdf"])
        .with_details(json(r#"{"printer":7}"#));
    let thrown = JsValue::from(error.clone());
    assert_eq!(get(&get(&thrown, "details"), "printer"), 7);
    let back = Error::from(thrown);
    assert!(matches!(back.code, Code::CAPABILITY_UNAVAILABLE));
    assert_eq!(back.message, error.message);
    assert_eq!(back.retry_after, error.retry_after);
    assert_eq!(back.alternatives, ["export.pdf"]);
    assert!(back.retryable);
    let shown = format!("{error:?}");
    for part in [
        "CAPABILITY_UNAVAILABLE",
        "The printer is off",
        "1.5s",
        "export.pdf",
        "details",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    let own = Error::new("MINE", "mine").with_retryable(true);
    assert!(JsValue::from(own).is_object());
    assert!(Error::from(json(r#"{"code":"TIMEOUT","message":"late"}"#)).code == "TIMEOUT");
}
