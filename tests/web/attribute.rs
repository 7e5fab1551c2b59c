//! Functions with the attribute `capability`.

use std::fmt;

use caphost::{Agent, CallContext, Code, Error, Host, capability};
use serde_json::{Value as Json, json};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::support::host;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Range {
    /// Where it ends.
    below: u32,
}

/// Adds numbers.
#[capability(name = "numbers.sum", concurrency = 1)]
async fn sum(Range { below }: Range, context: CallContext) -> Result<u32, Error> {
    context.checkpoint().await;
    Ok((0..below).sum())
}

#[capability]
async fn nothing() -> Result<(), Error> {
    Ok(())
}

#[derive(Debug)]
struct Mine;

impl fmt::Display for Mine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("my own")
    }
}

impl std::error::Error for Mine {}

#[capability]
async fn own_error(_: Range) -> Result<u32, Mine> {
    Err(Mine)
}

/// An error with a code, which is also an error of Rust.
#[derive(Debug)]
struct Coded;

impl fmt::Display for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too large")
    }
}

impl std::error::Error for Coded {}

impl From<Coded> for Error {
    fn from(error: Coded) -> Self {
        Error::new("TOO_LARGE", error.to_string())
    }
}

#[capability]
async fn coded() -> Result<u32, Coded> {
    Err(Coded)
}

#[capability]
async fn boxed(_: CallContext) -> Result<u32, Box<dyn std::error::Error>> {
    "many"
        .parse::<u32>()
        .map_err(|_| Error::new("MINE", "mine"))?;
    Ok(1)
}

#[capability]
async fn thrown() -> Result<u32, JsValue> {
    Err("a text".into())
}

#[wasm_bindgen_test]
async fn it_is_registered_with_one_call_and_described_by_its_types() {
    let host = host();
    sum::register(&host).unwrap();
    let agent = Agent::in_page(&host).await.unwrap();
    let total: u32 = agent
        .call("numbers.sum", &json!({ "below": 4 }))
        .await
        .unwrap();
    assert_eq!(total, 6);
    let listed: Vec<Json> = agent.list_capabilities().await.unwrap();
    assert_eq!(listed[0]["description"], "Adds numbers.");
    let below = &listed[0]["inputSchema"]["properties"]["below"];
    assert_eq!(below["description"], "Where it ends.");
    assert_eq!(listed[0]["outputSchema"]["type"], "integer");
    let refused = agent.call::<u32>("numbers.sum", &json!({})).await;
    assert_eq!(refused.unwrap_err().code(), &Code::MISSING_PARAM);
    let twice = sum::register(&host).unwrap_err();
    assert_eq!(twice.message, "\"numbers.sum\" is registered already");
}

#[wasm_bindgen_test]
async fn parameters_and_errors_are_of_any_kind() {
    let host = host();
    for register in [
        nothing::register,
        own_error::register,
        coded::register,
        boxed::register,
        thrown::register,
    ] {
        register(&host).unwrap();
    }
    let agent = Agent::in_page(&host).await.unwrap();
    agent
        .call::<()>("nothing", &json!({ "more": 1 }))
        .await
        .unwrap();
    for (name, said) in [
        ("own_error", "OPERATION_FAILED: my own"),
        ("coded", "TOO_LARGE: too large"),
        ("boxed", "MINE: mine"),
        ("thrown", "OPERATION_FAILED: a text"),
    ] {
        let failed = agent.call::<u32>(name, &json!({ "below": 1 })).await;
        assert_eq!(failed.unwrap_err().to_string(), said);
    }
}

#[wasm_bindgen_test]
async fn the_function_stays_as_it_is() {
    assert!(nothing().await.is_ok());
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Number(#[allow(dead_code)] u32);

#[capability(name = "of.number")]
async fn of_number(_: Number) -> Result<(), Error> {
    Ok(())
}

#[capability(name = "of.many")]
async fn of_many(_: Vec<String>) -> Result<(), Error> {
    Ok(())
}

#[wasm_bindgen_test]
fn parameters_that_are_no_object_are_refused_with_the_capability() {
    let host = host();
    let refused = |register: fn(&Host) -> Result<(), Error>| register(&host).unwrap_err();
    for (register, said) in [
        (
            of_number::register as fn(&Host) -> Result<(), Error>,
            "of.number: parameters are an object; this type is an integer: take a struct",
        ),
        (
            of_many::register,
            "of.many: parameters are an object; this type is an array: take a struct",
        ),
    ] {
        let error = refused(register);
        assert_eq!(
            (&error.code, &*error.message),
            (&Code::INVALID_PARAMS, said)
        );
    }
}
