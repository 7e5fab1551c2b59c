//! The envelopes that both halves write.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::{CALL_ENDED, CAPABILITIES_CHANGED, LARGE_MESSAGE, VERSION, kind};
use crate::wire::error_json;
use crate::wire::stops::{self, Grade};
use caphost::agent::{CancelOutcome, Request, RequestKey, Settled};
use caphost::call::{CallId, CancelAnswer, Error, LateEnd, Millis, Outcome, Response};
use caphost::session::{Changes, Initialized};

/// One envelope. `timestamp` is Unix milliseconds.
pub fn envelope(kind: &str, id: Option<&Value>, timestamp: Millis, payload: Value) -> Value {
    let mut envelope = json!({ "type": kind, "timestamp": timestamp });
    envelope["payload"] = payload;
    if let Some(id) = id {
        envelope["id"] = id.clone();
    }
    envelope
}

/// An agent's request in its envelope. `timestamp` is Unix milliseconds.
pub fn request(key: RequestKey, request: Request<Value>, timestamp: Millis) -> Value {
    let (kind, payload) = match request {
        Request::Call(call) => {
            let id = call.id.as_str();
            let mut options = json!({ "callId": id });
            if let Some(timeout) = call.timeout {
                options["timeout"] = timeout.into();
            }
            if call.progress {
                options["progressToken"] = id.into();
            }
            if call.transfer {
                options["transfer"] = true.into();
            }
            let mut payload = json!({ "capability": call.capability, "options": options });
            if let Some(params) = call.params {
                payload["params"] = params;
            }
            (kind::CALL, payload)
        }
        Request::Cancel { call, reason } => {
            let payload = json!({ "callId": call.as_str() });
            (kind::CANCEL, with_reason(payload, reason))
        }
        Request::List => (kind::LIST, json!({})),
        Request::Shutdown { reason } => (kind::SHUTDOWN, with_reason(json!({}), reason)),
    };
    envelope(kind, Some(&key.to_string().into()), timestamp, payload)
}

fn with_reason(mut payload: Value, reason: Option<String>) -> Value {
    if let Some(reason) = reason {
        payload["reason"] = reason.into();
    }
    payload
}

/// The request that an envelope's id names, if that id was written here.
pub fn request_key(id: &Value) -> Option<RequestKey> {
    let text = id.as_str()?;
    // A number may be parsed with a sign; the ids written here have none.
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

/// The `ABPResponse` of a settled call: the app's own, as it came, unless the call is cancelled.
pub fn settled(settled: Settled<Value>) -> Value {
    match settled {
        Settled::Response(response) => response,
        Settled::Cancelled(grade) => cancelled(grade),
        Settled::Failed(failure) => failed(&failure),
    }
}

/// The `CancelResponse` of a settled cancel.
pub fn confirmation(call: &str, settled: CancelOutcome<Value>) -> Value {
    let mut written = json!({ "callId": call, "cancelled": settled.cancelled() });
    if let Some(grade) = settled.grade {
        written["metadata"] = stops::metadata(grade);
    }
    if let Some(error) = settled.error {
        written["error"] = error.unwrap_or_else(|found| error_json(&found));
    }
    with_reason(written, settled.reason)
}

/// `{ success: false, error }`.
fn failed(failure: &Error<Value>) -> Value {
    json!({ "success": false, "error": error_json(failure) })
}

/// `{ success: false, cancelled: true, metadata: { stop, step?, took? } }`. The response of a cancelled call
/// says nothing else.
fn cancelled(grade: Grade) -> Value {
    let metadata = stops::metadata(grade);
    json!({ "success": false, "cancelled": true, "metadata": metadata })
}

/// `ABPResponse`.
pub fn response(response: &Response<Value>) -> Value {
    let mut written = match &response.outcome {
        Outcome::Cancelled(stop) => {
            let by = response.by;
            return cancelled(Grade {
                by,
                ..(*stop).into()
            });
        }
        Outcome::Completed(data) => json!({ "success": true, "data": data }),
        Outcome::Failed(failure) => failed(failure),
    };
    if let Some(duration) = response.duration {
        // Whole microseconds.
        let micros = (duration * 1_000.0 + 0.5) as u64;
        written["metadata"] = json!({ "duration": micros as f64 / 1_000.0 });
    }
    written
}

/// `CancelResponse`. `given` is the callId as the peer wrote it.
pub fn cancel_response(given: &Value, answer: &Result<CancelAnswer, Error<Value>>) -> Value {
    let confirmed = matches!(answer, Ok(CancelAnswer::Cancelled { .. }));
    let mut written = json!({ "callId": given, "cancelled": confirmed });
    match answer {
        Ok(CancelAnswer::Cancelled { stop, by, ended }) => {
            let (stop, by) = (*stop, *by);
            written["metadata"] = stops::metadata(Grade { by, ..stop.into() });
            // In the same form as the notification.
            if let Some(LateEnd { success, after }) = ended {
                written["metadata"]["ended"] = json!({ "success": success, "after": after });
            }
        }
        Ok(answer) => {
            if let Some(reason) = answer.reason() {
                written["reason"] = reason.into();
            }
        }
        Err(failure) => written["error"] = error_json(failure),
    }
    written
}

/// The payload of an `initialize-result`. `app` is the app's own description of itself.
pub fn initialized(app: &Value, result: &Result<Initialized<Value>, Error<Value>>) -> Value {
    let opened = match result {
        Err(failure) => return json!({ "error": error_json(failure) }),
        Ok(opened) => opened,
    };
    let features = &opened.features;
    json!({
        "sessionId": &*opened.session,
        "protocolVersion": VERSION,
        "app": app,
        "capabilities": opened.capabilities.iter().map(summary).collect::<Vec<_>>(),
        "features": {
            "notifications": features.notifications,
            "progress": features.progress,
            "elicitation": features.elicitation,
            "dynamicCapabilities": true,
        },
    })
}

/// A `Capability` that is available and requires nothing.
pub fn capability(
    name: &str,
    description: Option<&str>,
    input_schema: Option<Value>,
    output_schema: Option<Value>,
) -> Value {
    let any = || json!({});
    json!({
        "name": name,
        "description": description.unwrap_or_default(),
        "inputSchema": input_schema.unwrap_or_else(any),
        "outputSchema": output_schema.unwrap_or_else(any),
        "available": true,
        "requirements": [],
        "features": {},
    })
}

fn summary(document: &Value) -> Value {
    let fields = ["name", "available", "experimental", "deprecated"].into_iter();
    let known = fields.filter_map(|field| Some((field.into(), document.get(field)?.clone())));
    known.collect::<Map<_, _>>().into()
}

/// The payload of a `notification`.
pub fn notification(event: &str, data: Option<&Value>) -> Value {
    let mut written = json!({ "event": event });
    if let Some(data) = data {
        written["data"] = data.clone();
    }
    written
}

/// The notification that the next message has so many bytes.
pub fn large_message(bytes: usize, timestamp: Millis) -> Value {
    let payload = notification(LARGE_MESSAGE, Some(&json!({ "bytes": bytes })));
    envelope(kind::NOTIFICATION, None, timestamp, payload)
}

/// The notification of a changed set of capabilities.
pub fn capabilities_changed(changes: &Changes) -> Value {
    let Changes {
        added,
        removed,
        changed,
    } = changes;
    let names = |names: &[Rc<str>]| -> Value { names.iter().map(|name| &**name).collect() };
    let data = json!({
        "added": names(added), "removed": names(removed), "changed": names(changed),
    });
    notification(CAPABILITIES_CHANGED, Some(&data))
}

/// The notification that the handler of an abandoned call has ended.
pub fn call_ended(call: &CallId, end: LateEnd) -> Value {
    let LateEnd { success, after } = end;
    let data = json!({ "callId": call.as_str(), "success": success, "after": after });
    notification(CALL_ENDED, Some(&data))
}

#[cfg(test)]
mod tests;
