//! Conversion of parameters and data between Rust and JavaScript.

use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;

use super::Error;
use super::object::get;
use crate::call::Code;

/// Converts a value that is sent to another party, such as the parameters of a call.
pub(super) fn write(value: &impl Serialize) -> Result<JsValue, Error> {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible();
    value
        .serialize(&serializer)
        .map_err(|error| Error::invalid_params(said(error)))
}

/// Reads the answer of another party. That party has done its work, which `done` describes, even if
/// the answer cannot be read here.
pub(super) fn read<T: DeserializeOwned>(done: &str, data: JsValue) -> Result<T, Error> {
    serde_wasm_bindgen::from_value(data).map_err(|error| {
        let said = said(error);
        let message = format!("{done}, and the data is not what was expected: {said}");
        Error::new(Code::DECODE_FAILED, message)
    })
}

/// The message of serde, without the parts that JavaScript adds. For a value that has no short
/// text, the message names the kind of the value.
pub(super) fn said(error: serde_wasm_bindgen::Error) -> String {
    let error = JsValue::from(error);
    let said = get(&error, "message").as_string();
    let said = said.unwrap_or_else(|| format!("{error:?}"));
    let shortened = said
        .strip_prefix("invalid type: JsValue(")
        .and_then(|rest| Some((rest, rest.rfind(", expected ")?)));
    match shortened {
        Some((value, expected)) => {
            let kind = match value {
                it if it.starts_with('[') => "an array",
                it if it.starts_with("Function") => "a function",
                _ => "an object",
            };
            format!("invalid type: {kind}{}", &value[expected..])
        }
        None => said,
    }
}
