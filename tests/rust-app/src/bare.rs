//! For the benchmark: a capability that answers with its parameters, and exports of the same module
//! that do the same without a host.

use caphost::session::Limits;
use caphost::{App, CallContext, Capability, Error, Host};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

#[derive(Deserialize, Serialize)]
struct Value {
    value: f64,
}

/// A host with `rust.echo`, and with limits that a benchmark does not reach.
#[wasm_bindgen(js_name = createEcho)]
pub fn create_echo() -> Result<JsValue, JsValue> {
    let text = |error: Error| JsValue::from_str(&error.message);
    let limits = Limits {
        requests_per_second: 1e9,
        ..Limits::default()
    };
    let host =
        Host::with_limits(App::new("rust-echo", "An echo", "1.0.0"), limits).map_err(text)?;
    host.register(
        Capability::new("rust.echo"),
        |params: Value, _: CallContext| async move { Ok(params) },
    )
    .map_err(text)?;
    Ok(host.as_js())
}

/// The least cost of a Rust function that answers with a promise.
#[wasm_bindgen(js_name = bareEcho)]
pub async fn bare_echo(params: JsValue) -> JsValue {
    params
}

/// The same, with parameters and data of a Rust type, like a capability.
#[wasm_bindgen(js_name = bareTyped)]
pub async fn bare_typed(params: JsValue) -> Result<JsValue, JsValue> {
    let params: Value = serde_wasm_bindgen::from_value(params)?;
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    Ok(params.serialize(&serializer)?)
}
