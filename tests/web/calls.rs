//! Calls: sessions, parameters, data, progress, children.

use std::time::Duration;

use caphost::session::Limits;
use caphost::{App, CallContext, Capability, Error, Host, Progress};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::support::{Abp, get, host, settled};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Parts {
    left_part: u32,
    #[serde(default)]
    right_part: Option<u32>,
}

#[derive(Deserialize, Serialize)]
struct Sum {
    sum: u32,
}

async fn add(parts: Parts, _: CallContext) -> Result<Sum, Error> {
    let sum = parts.left_part + parts.right_part.unwrap_or(10);
    Ok(Sum { sum })
}

fn adding() -> Host {
    let host = host();
    let capability = Capability::new("add").description("Adds two parts");
    host.register(capability, add).unwrap();
    host
}

async fn call(abp: &Abp, capability: &str, params: &str) -> Json {
    settled(abp.call(capability, params, "{}")).await
}

#[wasm_bindgen_test]
async fn a_session_is_opened_on_a_plain_object() {
    let host = adding();
    let abp = Abp::closed(&host);
    assert!(abp.property("sessionId").is_null());
    let refused = call(&abp, "add", "{}").await;
    assert_eq!(refused["error"]["code"], "NOT_INITIALIZED");
    let opened = abp.initialize().await.unwrap();
    assert_eq!(get(&opened, "sessionId"), abp.property("sessionId"));
    let opened: Json = serde_wasm_bindgen::from_value(opened).unwrap();
    assert_eq!(opened["app"]["description"], "For tests");
    assert_eq!(
        opened["capabilities"],
        json!([{ "name": "add", "available": true }])
    );
    let again = abp.initialize().await.unwrap_err();
    assert_eq!(get(&again, "code"), "ALREADY_INITIALIZED");
}

#[wasm_bindgen_test]
async fn parameters_and_data_pass_through_serde() {
    let abp = Abp::of(&adding()).await;
    let response = call(&abp, "add", r#"{"leftPart":1,"rightPart":2}"#).await;
    assert_eq!(response["success"], true);
    assert_eq!(response["data"], json!({ "sum": 3 }));
    assert!(response["metadata"]["duration"].is_number());
    assert_eq!(
        call(&abp, "add", r#"{"leftPart":1}"#).await["data"]["sum"],
        11
    );
}

#[wasm_bindgen_test]
async fn parameters_that_serde_cannot_read_are_refused_and_the_session_goes_on() {
    let abp = Abp::of(&adding()).await;
    for bad in [
        "{}",
        r#"{"leftPart":"one"}"#,
        r#"{"leftPart":-1}"#,
        r#"{"leftPart":1.5}"#,
    ] {
        let response = call(&abp, "add", bad).await;
        assert_eq!(response["success"], false, "{bad}");
        assert_eq!(response["error"]["code"], "INVALID_PARAMS", "{bad}");
        assert!(response.get("cancelled").is_none(), "{bad}");
    }
    assert_eq!(
        call(&abp, "add", r#"{"leftPart":1}"#).await["success"],
        true
    );
}

#[wasm_bindgen_test]
async fn a_capability_s_error_keeps_its_code() {
    let host = host();
    let failing =
        |_: Json, _: CallContext| async { Err::<Sum, _>(Error::new("PAPER_JAM", "tray 2")) };
    host.register(Capability::new("print"), failing).unwrap();
    let response = call(&Abp::of(&host).await, "print", "{}").await;
    assert_eq!(
        response["error"],
        json!({ "code": "PAPER_JAM", "message": "tray 2", "retryable": false })
    );
}

#[wasm_bindgen_test]
async fn names_are_registered_once_and_can_be_given_up() {
    let host = adding();
    let again = host.register(Capability::new("add"), add).unwrap_err();
    assert_eq!(again.code.as_str(), "INVALID_PARAMS");
    let bad = host
        .register(Capability::new("bad").input_schema("no JSON"), add)
        .unwrap_err();
    assert_eq!(bad.code.as_str(), "INVALID_PARAMS");
    let abp = Abp::of(&host).await;
    assert!(host.unregister("add"));
    assert!(!host.unregister("add"));
    assert_eq!(
        call(&abp, "add", "{}").await["error"]["code"],
        "UNKNOWN_CAPABILITY"
    );
}

#[wasm_bindgen_test]
async fn progress_reaches_the_function_on_the_object() {
    let host = host();
    let reporting = |_: Json, context: CallContext| async move {
        context.progress(
            Progress::new(1.0, 4.0)
                .stage("cutting")
                .status("1 of 4")
                .estimated_remaining(Duration::from_millis(30)),
        );
        Ok::<_, Error>(())
    };
    host.register(Capability::new("cut"), reporting).unwrap();
    let abp = Abp::of(&host).await;
    let (sender, receiver) = futures::channel::oneshot::channel();
    let callback = Closure::once(move |info| sender.send(info).unwrap());
    abp.provide("__abp_progress", callback.as_ref().unchecked_ref());
    let call = abp.call("cut", "{}", r#"{"progressToken":"mine"}"#);
    let info: Json = serde_wasm_bindgen::from_value(receiver.await.unwrap()).unwrap();
    let expected = json!({
        "operationId": "mine", "progress": 1, "total": 4, "percentage": 25,
        "stage": "cutting", "status": "1 of 4", "estimatedRemaining": 30,
    });
    assert_eq!(info, expected);
    assert_eq!(settled::<Json>(call).await["success"], true);
}

#[wasm_bindgen_test]
async fn a_capability_calls_another_and_takes_its_failure() {
    let host = adding();
    let doubling = |left_part: u32| {
        move |_: Json, context: CallContext| async move {
            let params = json!({ "leftPart": left_part });
            let first: Sum = context.call("add", &params).await?;
            let failure = context.call::<Sum>("add", &json!({})).await.err();
            let unknown = context
                .call::<Sum>("none", &json!({}))
                .with_timeout(Duration::from_secs(1))
                .await
                .err();
            let codes =
                [failure, unknown].map(|it| it.map(|error| error.code.as_str().to_string()));
            Ok::<_, Error>((first.sum, codes))
        }
    };
    host.register(Capability::new("double"), doubling(4))
        .unwrap();
    let response = call(&Abp::of(&host).await, "double", "{}").await;
    assert_eq!(
        response["data"],
        json!([14, ["INVALID_PARAMS", "UNKNOWN_CAPABILITY"]])
    );
}

#[wasm_bindgen_test]
async fn a_closed_host_ends_its_sessions() {
    let host = adding();
    let abp = Abp::of(&host).await;
    host.close();
    assert!(abp.property("sessionId").is_null());
    assert_eq!(call(&abp, "add", "{}").await["success"], false);
}

#[wasm_bindgen_test]
async fn a_host_has_limits_of_its_own() {
    let limits = Limits {
        in_flight: 1,
        ..Limits::default()
    };
    let host = Host::with_limits(App::new("limited", "Limited", "1.0.0"), limits).unwrap();
    host.register(Capability::new("add"), add).unwrap();
    let abp = Abp::of(&host).await;
    let first = abp.call("add", r#"{"leftPart":1}"#, "{}");
    let second = call(&abp, "add", r#"{"leftPart":1}"#).await;
    assert_eq!(second["error"]["code"], "RATE_LIMITED");
    assert_eq!(settled::<Json>(first).await["success"], true);
}

#[wasm_bindgen_test]
async fn a_child_call_and_a_question_obey_the_limits_of_the_host() {
    let limits = Limits {
        message_bytes: 1_000,
        ..Limits::default()
    };
    let host = Host::with_limits(App::new("limited", "Limited", "1.0.0"), limits).unwrap();
    let length = async |text: Json, _: CallContext| Ok(text.to_string().len());
    host.register(Capability::new("length"), length).unwrap();
    let parent = async |given: Json, context: CallContext| {
        let text = "x".repeat(given["size"].as_u64().unwrap() as usize);
        let params = json!({ "text": text });
        context.call::<usize>("length", &params).await
    };
    host.register(Capability::new("parent"), parent).unwrap();
    let asking = async |_: Json, context: CallContext| {
        let request = json!({ "method": "elicitation/input", "text": "x".repeat(2_000) });
        context.elicit::<Json>(&request).await
    };
    host.register(Capability::new("asking"), asking).unwrap();
    let abp = Abp::of(&host).await;
    assert_eq!(call(&abp, "parent", r#"{"size":100}"#).await["data"], 111);
    let refused = call(&abp, "parent", r#"{"size":2000}"#).await;
    assert_eq!(refused["error"]["code"], "INVALID_PARAMS");
    let said = "The message is larger than 1000 characters";
    assert_eq!(refused["error"]["message"], said);
    let refused = call(&abp, "asking", "{}").await;
    let said = "The request is larger than 1000 characters";
    assert_eq!(refused["error"]["message"], said);
}

/// The error for parameters that cannot be read as the handler's type.
async fn said_of<P: serde::de::DeserializeOwned + 'static>(given: &str) -> String {
    let host = host();
    let handler = async |_: P, _: CallContext| Ok(());
    host.register(Capability::new("typed"), handler).unwrap();
    let response = call(&Abp::of(&host).await, "typed", given).await;
    assert_eq!(response["error"]["code"], "INVALID_PARAMS");
    response["error"]["message"].as_str().unwrap().into()
}

#[wasm_bindgen_test]
async fn errors_say_plainly_what_does_not_fit() {
    #[derive(Deserialize)]
    struct Text {
        #[allow(dead_code)]
        text: String,
    }
    for (given, said) in [
        ("{}", "missing field `text`"),
        (
            r#"{"text":{"a":1}}"#,
            "invalid type: an object, expected a string",
        ),
        (
            r#"{"text":[1]}"#,
            "invalid type: an array, expected a string",
        ),
        (
            r#"{"text":true}"#,
            "invalid type: boolean `true`, expected a string",
        ),
    ] {
        let whole = format!("The parameters do not fit: {said}");
        assert_eq!(said_of::<Text>(given).await, whole);
    }
}

#[wasm_bindgen_test]
fn a_type_that_no_object_can_be_read_as_is_refused() {
    fn refused<P: serde::de::DeserializeOwned + 'static>() -> String {
        let handler = async |_: P, _: CallContext| Ok(());
        let refused = host().register(Capability::new("typed"), handler);
        refused
            .err()
            .map_or_else(String::new, |error| error.message.to_string())
    }
    #[derive(Deserialize)]
    struct Kept(
        #[serde(with = "serde_wasm_bindgen::preserve")]
        #[allow(dead_code)]
        wasm_bindgen::JsValue,
    );
    #[derive(Deserialize)]
    #[allow(dead_code)]
    enum Choice {
        Number { of: u32 },
    }
    for (said, kind) in [
        (refused::<u32>(), "an integer"),
        (refused::<Option<f64>>(), "a number"),
        (refused::<String>(), "a string"),
        (refused::<bool>(), "a boolean"),
        (refused::<Vec<u8>>(), "an array"),
        (refused::<(u32, u32)>(), "an array"),
        (refused::<()>(), "nothing"),
    ] {
        let whole = format!("typed: parameters are an object; this type is {kind}: take a struct");
        assert_eq!(said, whole);
    }
    for said in [
        refused::<Parts>(),
        refused::<Option<Parts>>(),
        refused::<Json>(),
        refused::<std::collections::HashMap<String, u32>>(),
        refused::<Kept>(),
        refused::<Choice>(),
        refused::<serde::de::IgnoredAny>(),
    ] {
        assert_eq!(said, "");
    }
}

#[wasm_bindgen_test]
fn a_schema_that_no_object_fits_is_refused() {
    for (kind, said) in [
        ("string", "a string"),
        ("null", "nothing"),
        ("array", "an array"),
    ] {
        let schema = json!({ "type": kind });
        let capability = Capability::new("add").input_schema_from(&schema);
        let refused = host().register(capability, add).unwrap_err();
        let whole = format!("add: parameters are an object; this type is {said}: take a struct");
        assert_eq!(refused.message, whole);
    }
    let either = Capability::new("add").input_schema(r#"{ "type": ["object", "null"] }"#);
    host().register(either, add).unwrap();
}

#[wasm_bindgen_test]
async fn a_closure_keeps_its_state_from_call_to_call() {
    let (host, sum) = (host(), std::cell::Cell::new(0));
    let names = vec![String::from("a")];
    let handler = async move |parts: Parts, context: CallContext| {
        context.checkpoint().await;
        sum.set(sum.get() + parts.left_part);
        Ok((sum.get(), names.clone()))
    };
    host.register(Capability::new("count"), handler).unwrap();
    let abp = Abp::of(&host).await;
    for total in [2, 4] {
        let response = call(&abp, "count", r#"{"leftPart":2}"#).await;
        assert_eq!(response["data"], json!([total, ["a"]]));
    }
}
