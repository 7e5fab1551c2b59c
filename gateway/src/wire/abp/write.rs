//! What both halves write.

use super::{CALL_ENDED, CAPABILITIES_CHANGED, ELICITATION_WITHDRAWN, VERSION, kind};
use crate::wire::AnyValue as Value;
use caphost::call::{CallId, CancelAnswer, Error, LateEnd, Millis, Outcome, Response, Stop};
use caphost::session::{Changes, Features, Initialized};

/// One envelope. `timestamp` is Unix milliseconds.
pub fn envelope<V: Value>(kind: &str, id: Option<&V>, timestamp: Millis, payload: &V) -> V {
    let mut envelope = V::object();
    envelope.put_text("type", kind);
    envelope.put_some("id", id);
    envelope.put_number("timestamp", timestamp);
    envelope.put("payload", payload);
    envelope
}

/// `ABPError`.
pub fn error<V: Value>(error: &Error<V>) -> V {
    let mut written = V::object();
    written.put_text("code", error.code.as_str());
    written.put_text("message", &error.message);
    written.put_boolean("retryable", error.retryable);
    written.put_some("details", error.details.as_ref());
    if let Some(after) = error.retry_after {
        written.put_number("retryAfter", after);
    }
    if !error.alternatives.is_empty() {
        let names = error.alternatives.iter().map(|name| &**name);
        written.put("alternatives", &texts(names));
    }
    written
}

fn texts<'a, V: Value>(texts: impl Iterator<Item = &'a str>) -> V {
    let mut array = V::array();
    for text in texts {
        array.push(V::text(text));
    }
    array
}

/// `{ error }`.
fn only_error<V: Value>(failure: &Error<V>) -> V {
    let mut written = V::object();
    written.put("error", &error(failure));
    written
}

/// `{ success: false, error }`.
pub(super) fn failed<V: Value>(failure: &Error<V>) -> V {
    let mut written = V::object();
    written.put_boolean("success", false);
    written.put("error", &error(failure));
    written
}

/// `{ success: false, cancelled: true, metadata: { stop } }`: a cancelled response says nothing but
/// that.
pub(super) fn cancelled<V: Value>(stop: Stop) -> V {
    let mut written = V::object();
    written.put_boolean("success", false);
    written.put_boolean("cancelled", true);
    written.put("metadata", &stopped(stop, None));
    written
}

/// `{ stop, ended?: { success, after } }`: how far a stop was seen.
pub(super) fn stopped<V: Value>(stop: Stop, ended: Option<LateEnd>) -> V {
    let mut metadata = V::object();
    metadata.put_text("stop", stop.as_str());
    if let Some(end) = ended {
        let mut ended = V::object();
        put_end(&mut ended, end);
        metadata.put("ended", &ended);
    }
    metadata
}

fn put_end<V: Value>(written: &mut V, end: LateEnd) {
    written.put_boolean("success", end.success);
    written.put_number("after", end.after);
}

/// `ABPResponse`.
pub fn response<V: Value>(response: &Response<V>) -> V {
    let mut written = match &response.outcome {
        Outcome::Cancelled(stop) => return cancelled(*stop),
        Outcome::Completed(data) => {
            let mut written = V::object();
            written.put_boolean("success", true);
            written.put("data", data);
            written
        }
        Outcome::Failed(failure) => failed(failure),
    };
    if let Some(duration) = response.duration {
        let mut metadata = V::object();
        // Whole microseconds.
        let micros = (duration * 1_000.0 + 0.5) as u64;
        metadata.put_number("duration", micros as f64 / 1_000.0);
        written.put("metadata", &metadata);
    }
    written
}

/// `CancelResponse`. `given` is the callId as it was asked for.
pub fn cancel_response<V: Value>(given: &V, answer: &Result<CancelAnswer, Error<V>>) -> V {
    let mut written = V::object();
    written.put("callId", given);
    let confirmed = matches!(answer, Ok(CancelAnswer::Cancelled { .. }));
    written.put_boolean("cancelled", confirmed);
    match answer {
        Ok(CancelAnswer::Cancelled { stop, ended }) => {
            written.put("metadata", &stopped(*stop, *ended));
        }
        Ok(answer) => {
            if let Some(reason) = answer.reason() {
                written.put_text("reason", reason);
            }
        }
        Err(failure) => written.put("error", &error(failure)),
    }
    written
}

/// The payload of an `initialize-result`. `app` is the app's own description of itself.
pub fn initialized<V: Value>(app: &V, result: &Result<Initialized<V>, Error<V>>) -> V {
    let opened = match result {
        Err(failure) => return only_error(failure),
        Ok(opened) => opened,
    };
    let mut capabilities = V::array();
    for document in &opened.capabilities {
        capabilities.push(summary(document));
    }
    let mut written = V::object();
    written.put_text("sessionId", &opened.session);
    written.put_text("protocolVersion", VERSION);
    written.put("app", app);
    written.put("capabilities", &capabilities);
    written.put("features", &features(&opened.features));
    written
}

fn features<V: Value>(features: &Features) -> V {
    let mut written = V::object();
    written.put_boolean("notifications", features.notifications);
    written.put_boolean("progress", features.progress);
    written.put_boolean("elicitation", features.elicitation);
    written.put_boolean("dynamicCapabilities", true);
    written
}

fn summary<V: Value>(document: &V) -> V {
    let mut written = V::object();
    for field in ["name", "available", "experimental", "deprecated"] {
        written.put_some(field, document.get(field).as_ref());
    }
    written
}

/// `ProgressInfo`: what the handler said, under the agent's token, or the callId if it gave none.
pub fn progress<V: Value>(call: &CallId, token: Option<&V>, info: &V) -> V {
    let mut written = info.copy();
    match token {
        Some(token) => written.put("operationId", token),
        None => written.put_text("operationId", call.as_str()),
    }
    if info.number_of("percentage").is_none()
        && let (Some(done), Some(total)) = (info.number_of("progress"), info.number_of("total"))
        && total > 0.0
    {
        written.put_number("percentage", (done / total * 100.0).clamp(0.0, 100.0));
    }
    written
}

/// The payload of a `notification`.
pub fn notification<V: Value>(event: &str, data: Option<&V>) -> V {
    let mut written = V::object();
    written.put_text("event", event);
    written.put_some("data", data);
    written
}

/// The notification of a changed set of capabilities.
pub fn capabilities_changed<V: Value>(changes: &Changes) -> V {
    let mut data = V::object();
    let Changes {
        added,
        removed,
        changed,
    } = changes;
    for (key, names) in [("added", added), ("removed", removed), ("changed", changed)] {
        data.put(key, &texts(names.iter().map(|name| &**name)));
    }
    notification(CAPABILITIES_CHANGED, Some(&data))
}

/// The notification that the handler of an abandoned call has ended.
pub fn call_ended<V: Value>(call: &CallId, end: LateEnd) -> V {
    let mut data = V::object();
    data.put_text("callId", call.as_str());
    put_end(&mut data, end);
    notification(CALL_ENDED, Some(&data))
}

/// The notification that the question of that id needs no answer any more.
pub fn withdrawn<V: Value>(id: &V) -> V {
    let mut data = V::object();
    data.put("id", id);
    notification(ELICITATION_WITHDRAWN, Some(&data))
}

/// The answer to an envelope that could not be understood: the typed reply where its type is known.
pub fn refusal<V: Value>(envelope: &V, failure: &Error<V>, timestamp: Millis) -> V {
    let (kind, payload) = match envelope.text_of("type").as_deref() {
        Some(kind::INITIALIZE) => (kind::INITIALIZE_RESULT, only_error(failure)),
        Some(kind::CALL) => (kind::CALL_RESULT, failed(failure)),
        Some(kind::CANCEL) => {
            let given = envelope.get("payload.callId").unwrap_or_else(V::null);
            let mut refused = cancel_response(&given, &Err(failure.clone()));
            refused.put_text("reason", &failure.message);
            (kind::CANCEL_RESULT, refused)
        }
        _ => (kind::ERROR, failed(failure)),
    };
    let id = envelope.get("id").unwrap_or_else(V::null);
    self::envelope(kind, Some(&id), timestamp, &payload)
}
