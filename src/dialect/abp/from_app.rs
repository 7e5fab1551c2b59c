//! The agent's half: what an app sends.

use super::kind;
use crate::dialect::Value;
use crate::text::decimal;
use alloc::string::String;

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
    let kind = envelope.text_of("type")?;
    let id = envelope.get("id");
    let payload = envelope.get("payload").unwrap_or_else(V::null);
    let success = payload.boolean_of("success");
    let cancelled = payload.boolean_of("cancelled") == Some(true);
    let message = match kind.as_str() {
        kind::INITIALIZE_RESULT => FromApp::Initialized(payload),
        kind::CALL_RESULT => {
            // One that succeeded was not cancelled, whatever else it says.
            let contradicts = cancelled && success == Some(true);
            let mut response = success.map(|_| payload);
            if let Some(payload) = response.as_mut().filter(|_| contradicts) {
                *payload = payload.copy();
                payload.put_boolean("cancelled", false);
            }
            FromApp::Called {
                cancelled: cancelled && !contradicts,
                response,
            }
        }
        kind::CANCEL_RESULT => FromApp::Cancelled {
            cancelled,
            reason: payload.text_of("reason"),
            error: payload.get("error").filter(V::is_object),
        },
        kind::SHUTDOWN_RESULT => FromApp::ShutDown,
        kind::NOTIFICATION => FromApp::Notification(payload.text_of("event")?, payload.get("data")),
        kind::PROGRESS => {
            // An app may turn a token of digits into a number.
            let number = payload.number_of("operationId");
            let number = number.map(|number| decimal(number as u32));
            FromApp::Progress(payload.text_of("operationId").or(number)?, payload)
        }
        kind::ELICITATION_REQUEST => FromApp::Elicitation(payload),
        kind::ERROR => FromApp::Refused(payload),
        _ => return None,
    };
    Some((id, message))
}
