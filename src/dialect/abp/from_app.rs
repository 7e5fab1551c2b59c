//! The agent's half: what an app sends.

use super::kind;
use crate::dialect::Value;
use alloc::string::String;
use alloc::string::ToString;

/// What an app can say. Payloads are handed to the caller as they are.
#[derive(Clone, Debug, PartialEq)]
pub enum FromApp<V> {
    /// The session, or `{error}`.
    Initialized(V),
    /// How a call ended: the `ABPResponse`.
    Called {
        /// The response, or `None` when the payload was no response at all.
        response: Option<V>,
        /// It says `cancelled: true`.
        cancelled: bool,
    },
    /// What came of a cancel.
    Cancelled {
        /// It says `cancelled: true`.
        cancelled: bool,
        /// Why not.
        reason: Option<String>,
        /// The error in it.
        error: Option<V>,
    },
    /// The session is over.
    ShutDown,
    /// Something happened in the app.
    Notification(String, Option<V>),
    /// How far a call is; its `operationId`.
    Progress(String, V),
    /// A question.
    Elicitation(V),
    /// A request that was not understood: the whole payload.
    Refused(V),
}

/// Reads one envelope: its id, if it has one, and what it says. `None` for what is no message.
pub fn read<V: Value>(envelope: &V) -> Option<(Option<V>, FromApp<V>)> {
    let kind = envelope.get("type")?.as_text()?;
    let id = envelope.get("id");
    let payload = envelope.get("payload").unwrap_or_else(V::null);
    let says = |key: &str| payload.get(key).and_then(|it| it.as_boolean());
    let message = match kind.as_str() {
        kind::INITIALIZE_RESULT => FromApp::Initialized(payload),
        kind::CALL_RESULT => FromApp::Called {
            cancelled: says("cancelled") == Some(true) && says("success") != Some(true),
            // One that succeeded was not cancelled, whatever else it says.
            response: says("success").map(|succeeded| match says("cancelled") {
                Some(true) if succeeded => payload.extended(&[("cancelled", V::boolean(false))]),
                _ => payload.clone(),
            }),
        },
        kind::CANCEL_RESULT => FromApp::Cancelled {
            cancelled: says("cancelled") == Some(true),
            reason: payload.get("reason").and_then(|it| it.as_text()),
            error: payload.get("error").filter(V::is_object),
        },
        kind::SHUTDOWN_RESULT => FromApp::ShutDown,
        kind::NOTIFICATION => {
            FromApp::Notification(payload.get("event")?.as_text()?, payload.get("data"))
        }
        kind::PROGRESS => {
            let operation = payload.get("operationId")?;
            let number = operation.as_number().map(|number| number.to_string());
            FromApp::Progress(operation.as_text().or(number)?, payload)
        }
        kind::ELICITATION_REQUEST => FromApp::Elicitation(payload),
        kind::ERROR => FromApp::Refused(payload),
        _ => return None,
    };
    Some((id, message))
}
