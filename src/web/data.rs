//! Parameters and data: from Rust to JavaScript, and back.

use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;

use super::Error;
use crate::call::Code;

/// What somebody else is sent, such as the parameters of a call.
pub(super) fn write(value: &impl Serialize) -> Result<JsValue, Error> {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    value
        .serialize(&serializer)
        .map_err(|error| Error::invalid_params(error.to_string()))
}

/// What somebody else has answered.
pub(super) fn read<T: DeserializeOwned>(data: JsValue) -> Result<T, Error> {
    serde_wasm_bindgen::from_value(data)
        .map_err(|error| Error::new(Code::OPERATION_FAILED, error.to_string()))
}
