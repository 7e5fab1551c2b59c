//! The description of a capability, as the core keeps it.

use wasm_bindgen::JsValue;

use super::sys;
use crate::offers::{Descriptor, Ending};
use crate::web::object::{get, texts};

/// A capability whose options have been checked. If the options set a grace, it takes precedence
/// over the grace of `ending`.
pub(super) fn descriptor(
    name: &str,
    options: &JsValue,
    document: JsValue,
    mut ending: Ending,
) -> Descriptor<JsValue> {
    if let (Ending::Told { grace } | Ending::Forced { grace, .. }, Some(own)) =
        (&mut ending, get(options, "settleGrace").as_f64())
    {
        *grace = own;
    }
    Descriptor {
        name: name.into(),
        concurrency: get(options, "concurrency").as_f64().map(|it| it as usize),
        available: get(options, "available") != false,
        alternatives: texts(&document, "alternatives").unwrap_or_default(),
        ending,
        confirm: sys::confirms(options),
        checked: !get(options, "inputSchema").is_undefined(),
        document,
    }
}
