//! The agent's half: what an app sends.

use super::{CALL_ENDED, kind};
use crate::wire::AnyValue as Value;
use caphost::call::{LateEnd, Stop};

/// What an app can say. Payloads are handed to the caller as they are.
#[derive(Clone, Debug, PartialEq)]
pub enum FromApp<V> {
    /// The session, or `{error}`.
    Initialized(V),
    /// How a call ended: the `ABPResponse`.
    Called {
        /// The response, or `None` when the payload was no response at all.
        response: Option<V>,
        /// It says `cancelled: true`, and this of how far the stop was seen.
        stop: Option<Stop>,
    },
    /// What came of a cancel.
    Cancelled {
        /// It says `cancelled: true`, this of how far the stop was seen, and how the handler of an
        /// abandoned call has ended since.
        confirmed: Option<(Stop, Option<LateEnd>)>,
        /// Why not.
        reason: Option<String>,
        /// The error in it.
        error: Option<V>,
    },
    /// The session is over.
    ShutDown,
    /// The handler of a call that was abandoned has ended: its callId, and how.
    Ended(String, LateEnd),
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
    let stop = Stop::of_peer(payload.text_of("metadata.stop").as_deref());
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
                stop: (cancelled && !contradicts).then_some(stop),
                response,
            }
        }
        kind::CANCEL_RESULT => FromApp::Cancelled {
            confirmed: cancelled.then(|| (stop, late_end(payload.get("metadata.ended").as_ref()))),
            reason: payload.text_of("reason"),
            error: payload.get("error").filter(V::is_object),
        },
        kind::SHUTDOWN_RESULT => FromApp::ShutDown,
        kind::NOTIFICATION if payload.text_of("event").as_deref() == Some(CALL_ENDED) => {
            FromApp::Ended(
                payload.text_of("data.callId")?,
                late_end(payload.get("data").as_ref())?,
            )
        }
        kind::NOTIFICATION => FromApp::Notification(payload.text_of("event")?, payload.get("data")),
        kind::PROGRESS => {
            // An app may turn a token of digits into a number.
            let number = payload.number_of("operationId");
            let number = number.map(|number| (number as u32).to_string());
            FromApp::Progress(payload.text_of("operationId").or(number)?, payload)
        }
        kind::ELICITATION_REQUEST => FromApp::Elicitation(payload),
        kind::ERROR => FromApp::Refused(payload),
        _ => return None,
    };
    Some((id, message))
}

/// `{ success, after }`, and whatever else stands there.
fn late_end<V: Value>(written: Option<&V>) -> Option<LateEnd> {
    let written = written?;
    Some(LateEnd {
        success: written.boolean_of("success")?,
        after: written.number_of("after").filter(|it| *it >= 0.0)?,
    })
}
