//! Renames the JavaScript names in error texts to the names that an app in Rust knows.

use wasm_bindgen::JsValue;

use super::Error;

/// A part of a message, and its replacement for Rust.
const NAMES: [(&str, &str); 10] = [
    ("connectPort(port): port must", "over_port: it must"),
    ("acceptPort(port): port must", "accept_port: it must"),
    (
        "connectWindow works in a page. Elsewhere use connectPort, connectWebSocket or connect",
        "to_window works in a page. Elsewhere use over_port or through_gateway",
    ),
    (
        "connectWindow takes a window, such as iframe.contentWindow",
        "to_window takes a window, such as the content_window of a frame",
    ),
    (
        "acceptMessages works in a page. Elsewhere use acceptPort, accept or connectGateway",
        "accept_messages works in a page. Elsewhere use accept_port or connect_gateway",
    ),
    (
        "allowedOrigins must be an array such as ['https://app.example']",
        "accept_messages takes origins such as \"https://app.example\"",
    ),
    (
        " in its allowedOrigins?",
        " among the origins that it accepts?",
    ),
    (
        "pass { origin } for an app of another",
        "name that of the app with Connect::origin",
    ),
    (", or pass { replace: true }", ""),
    ("settleGrace", "settle_grace"),
];

/// An error that JavaScript threw in a call from Rust.
pub(super) fn in_rust(thrown: JsValue) -> Error {
    let mut error = Error::from(thrown);
    for (theirs, ours) in NAMES {
        if error.message.contains(theirs) {
            error.message = error.message.replace(theirs, ours).into();
        }
    }
    error
}
