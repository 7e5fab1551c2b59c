//! The agent's half: what an app sends.

use serde_json::Value;

use super::{CALL_ENDED, kind};
use crate::wire::stops::{self, Grade};
use caphost::call::LateEnd;

/// What an app can say. Payloads are handed to the caller as they are.
#[derive(Clone, Debug, PartialEq)]
pub enum FromApp {
    /// The session, or `{error}`.
    Initialized(Value),
    /// How a call ended: the `ABPResponse`.
    Called {
        /// The response, or `None` when the payload was no response at all.
        response: Option<Value>,
        /// It says `cancelled: true`, and this of the stop.
        cancelled: Option<Grade>,
    },
    /// What came of a cancel.
    Cancelled {
        /// It says `cancelled: true`, and this of the stop.
        confirmed: Option<Grade>,
        /// Why not.
        reason: Option<String>,
        /// The error in it.
        error: Option<Value>,
    },
    /// The session is over.
    ShutDown,
    /// The handler of a call that was abandoned has ended: its callId, and how.
    Ended(String, LateEnd),
    /// Something happened in the app.
    Notification(String, Option<Value>),
    /// How far a call is; its `operationId`.
    Progress(String, Value),
    /// A question.
    Elicitation(Value),
    /// A request that was not understood: the whole payload.
    Refused(Value),
}

/// Reads one envelope: its id, if it has one, and what it says. `None` for what is no message.
pub fn read(envelope: &Value) -> Option<(Option<Value>, FromApp)> {
    let payload = &envelope["payload"];
    let metadata = &payload["metadata"];
    let text = |value: &Value| value.as_str().map(String::from);
    let success = payload["success"].as_bool();
    let cancelled = payload["cancelled"] == true;
    let message = match envelope["type"].as_str()? {
        kind::INITIALIZE_RESULT => FromApp::Initialized(payload.clone()),
        kind::CALL_RESULT => {
            // One that succeeded was not cancelled, whatever else it says.
            let contradicts = cancelled && success == Some(true);
            let mut response = success.map(|_| payload.clone());
            if let Some(response) = response.as_mut().filter(|_| contradicts) {
                response["cancelled"] = false.into();
            }
            FromApp::Called {
                cancelled: (cancelled && !contradicts).then(|| Grade::read(metadata)),
                response,
            }
        }
        kind::CANCEL_RESULT => FromApp::Cancelled {
            confirmed: cancelled.then(|| Grade::read(metadata)),
            reason: text(&payload["reason"]),
            error: payload.get("error").filter(|it| it.is_object()).cloned(),
        },
        kind::SHUTDOWN_RESULT => FromApp::ShutDown,
        kind::NOTIFICATION if payload["event"] == CALL_ENDED => {
            let data = &payload["data"];
            FromApp::Ended(text(&data["callId"])?, stops::late_end(data)?)
        }
        kind::NOTIFICATION => {
            FromApp::Notification(text(&payload["event"])?, payload.get("data").cloned())
        }
        kind::PROGRESS => {
            let operation = &payload["operationId"];
            // An app may turn a token of digits into a number.
            let number = operation.as_f64().map(|number| (number as u32).to_string());
            FromApp::Progress(text(operation).or(number)?, payload.clone())
        }
        kind::ELICITATION_REQUEST => FromApp::Elicitation(payload.clone()),
        kind::ERROR => FromApp::Refused(payload.clone()),
        _ => return None,
    };
    Some((envelope.get("id").cloned(), message))
}
