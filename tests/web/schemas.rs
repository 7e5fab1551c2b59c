//! The schema check of parameters, without a bundler.

use caphost::{Agent, CallContext, Capability, Code, WorkerModule};
use serde_json::{Value as Json, json};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::support::{get, host};

async fn echo(params: Json, _: CallContext) -> Result<Json, caphost::Error> {
    Ok(params)
}

#[wasm_bindgen_test]
async fn parameters_are_checked_before_the_handler_runs() {
    let host = host();
    let schema = r#"{ "type": "object", "properties": { "below": { "type": "integer" }, "mail": { "pattern": "^(?=a)", "format": "email" } } }"#;
    host.register(Capability::new("echo").input_schema(schema), echo)
        .unwrap();
    let agent = Agent::in_page(&host).await.unwrap();
    let given: Json = agent.call("echo", &json!({ "below": 2 })).await.unwrap();
    assert_eq!(given["below"], 2);
    let refused = agent.call::<Json>("echo", &json!({ "below": "many" }));
    let caphost::CallError::Failed(error) = refused.await.unwrap_err() else {
        panic!("it was not cancelled");
    };
    assert_eq!(error.code, Code::INVALID_TYPE);
    assert_eq!(get(error.details.as_ref().unwrap(), "path"), "below");
}

#[wasm_bindgen_test]
fn a_schema_that_is_no_json_is_refused() {
    let capability = Capability::new("echo").input_schema("{");
    let refused = host().register(capability, echo).unwrap_err();
    assert_eq!(refused.message, "echo: inputSchema is no JSON");
}

#[wasm_bindgen_test]
fn a_schema_that_makes_no_sense_is_refused() {
    for (schema, said) in [
        (
            r##"{ "properties": { "a": { "$ref": "#/$defs/none" } } }"##,
            "there is nothing at \"#/$defs/none\", and no schema is fetched",
        ),
        (
            r#"{ "properties": { "a": { "minLength": "3" } } }"#,
            "#/properties/a: minLength must be a whole number from 0",
        ),
    ] {
        let module = WorkerModule::new("/none.js");
        let input = Capability::new("echo").input_schema(schema);
        let refused = host().register_worker(input, &module).unwrap_err();
        assert_eq!(
            refused.message,
            format!("echo: inputSchema is invalid: {said}")
        );
        let input = Capability::new("echo").input_schema(schema);
        let refused = host().register(input, echo).unwrap_err();
        assert_eq!(
            refused.message,
            format!("echo: inputSchema is invalid: {said}")
        );
        let output = Capability::new("echo").output_schema(schema);
        let refused = host().register(output, echo).unwrap_err();
        assert_eq!(
            refused.message,
            format!("echo: outputSchema is invalid: {said}")
        );
    }
}

#[cfg(feature = "schemars")]
#[wasm_bindgen_test]
async fn a_schema_is_made_from_a_type() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Params {
        /// How far.
        below: u32,
        names: Option<Vec<String>>,
    }
    let host = host();
    let capability = Capability::new("typed").input_schema_of::<Params>();
    let capability = capability.output_schema_of::<Vec<u8>>();
    let typed = async |params: Params, _| Ok(params.below);
    host.register(capability, typed).unwrap();
    let agent = Agent::in_page(&host).await.unwrap();
    let listed: Vec<Json> = agent.list_capabilities().await.unwrap();
    let schema = &listed[0]["inputSchema"];
    assert_eq!(schema["properties"]["below"]["description"], "How far.");
    assert_eq!(schema["required"], json!(["below"]));
    assert_eq!(listed[0]["outputSchema"]["type"], "array");
    for bad in [
        json!({}),
        json!({ "below": -1 }),
        json!({ "below": 1, "names": [1] }),
    ] {
        let refused = agent.call::<u32>("typed", &bad).await.unwrap_err();
        let codes = [
            Code::MISSING_PARAM,
            Code::INVALID_PARAMS,
            Code::INVALID_TYPE,
        ];
        assert!(codes.contains(refused.code()), "{bad} {refused}");
    }
    let given: u32 = agent
        .call("typed", &json!({ "below": 3, "names": null }))
        .await
        .unwrap();
    assert_eq!(given, 3);
}
