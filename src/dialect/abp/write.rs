//! What both halves write.

use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use super::{CAPABILITIES_CHANGED, ELICITATION_WITHDRAWN, Malformed, VERSION, kind};
use crate::call::{CallId, CancelAnswer, Error, Millis, Outcome, Response};
use crate::dialect::Value;
use crate::session::{Features, Initialized};

/// One envelope. `timestamp` is Unix milliseconds.
pub fn envelope<V: Value>(kind: &str, id: Option<V>, timestamp: Millis, payload: V) -> V {
    let mut fields = vec![("type", V::text(kind))];
    fields.extend(id.map(|id| ("id", id)));
    fields.push(("timestamp", V::number(timestamp)));
    fields.push(("payload", payload));
    V::object(&fields)
}

/// `ABPError`.
pub fn error<V: Value>(error: &Error<V>) -> V {
    let mut fields = vec![
        ("code", V::text(error.code.as_str())),
        ("message", V::text(&error.message)),
        ("retryable", V::boolean(error.retryable)),
    ];
    fields.extend(error.details.clone().map(|details| ("details", details)));
    fields.extend(
        error
            .retry_after
            .map(|after| ("retryAfter", V::number(after))),
    );
    if !error.alternatives.is_empty() {
        let names = error.alternatives.iter().map(|name| V::text(name));
        fields.push(("alternatives", V::array(names.collect())));
    }
    V::object(&fields)
}

/// `ABPResponse`. A cancelled one says nothing but that.
pub fn response<V: Value>(response: &Response<V>) -> V {
    let success = (
        "success",
        V::boolean(matches!(response.outcome, Outcome::Completed(_))),
    );
    let mut fields = vec![success];
    match &response.outcome {
        Outcome::Cancelled => {
            fields.push(("cancelled", V::boolean(true)));
            return V::object(&fields);
        }
        Outcome::Completed(data) => fields.push(("data", data.clone())),
        Outcome::Failed(failure) => fields.push(("error", error(failure))),
    }
    if let Some(duration) = response.duration {
        let duration = V::number((duration * 1_000.0 + 0.5) as u64 as f64 / 1_000.0);
        fields.push(("metadata", V::object(&[("duration", duration)])));
    }
    V::object(&fields)
}

/// `CancelResponse`. `given` is the callId as it was asked for.
pub fn cancel_response<V: Value>(given: V, answer: &Result<CancelAnswer, Error<V>>) -> V {
    let cancelled = matches!(answer, Ok(CancelAnswer::Cancelled));
    let mut fields = vec![("callId", given), ("cancelled", V::boolean(cancelled))];
    match answer {
        Ok(answer) => fields.extend(answer.reason().map(|reason| ("reason", V::text(reason)))),
        Err(failure) => fields.push(("error", error(failure))),
    }
    V::object(&fields)
}

/// The payload of an `initialize-result`. `app` is the app's own description of itself.
pub fn initialized<V: Value>(app: V, result: &Result<Initialized<V>, Error<V>>) -> V {
    match result {
        Err(failure) => V::object(&[("error", error(failure))]),
        Ok(opened) => V::object(&[
            ("sessionId", V::text(&opened.session)),
            ("protocolVersion", V::text(VERSION)),
            ("app", app),
            (
                "capabilities",
                V::array(opened.capabilities.iter().map(summary).collect()),
            ),
            ("features", features(&opened.features)),
        ]),
    }
}

fn features<V: Value>(features: &Features) -> V {
    V::object(&[
        ("notifications", V::boolean(features.notifications)),
        ("progress", V::boolean(features.progress)),
        ("elicitation", V::boolean(features.elicitation)),
        ("dynamicCapabilities", V::boolean(true)),
    ])
}

fn summary<V: Value>(document: &V) -> V {
    const FIELDS: [&str; 4] = ["name", "available", "experimental", "deprecated"];
    let fields = FIELDS.map(|field| document.get(field).map(|value| (field, value)));
    V::object(&fields.into_iter().flatten().collect::<Vec<_>>())
}

/// `ProgressInfo`: what the handler said, under the agent's token, or the callId if it gave none.
pub fn progress<V: Value>(call: &CallId, token: Option<V>, info: &V) -> V {
    let operation = token.unwrap_or_else(|| V::text(call.as_str()));
    let mut fields = vec![("operationId", operation)];
    let number = |key: &str| info.get(key).and_then(|it| it.as_number());
    if number("percentage").is_none()
        && let (Some(done), Some(total)) = (number("progress"), number("total"))
        && total > 0.0
    {
        fields.push((
            "percentage",
            V::number((done / total * 100.0).clamp(0.0, 100.0)),
        ));
    }
    info.extended(&fields)
}

/// The payload of a `notification`.
pub fn notification<V: Value>(event: &str, data: Option<V>) -> V {
    let mut fields = vec![("event", V::text(event))];
    fields.extend(data.map(|data| ("data", data)));
    V::object(&fields)
}

/// The notification of a changed set of capabilities.
pub fn capabilities_changed<V: Value>(added: &[Rc<str>], removed: &[Rc<str>]) -> V {
    let names = |names: &[Rc<str>]| V::array(names.iter().map(|name| V::text(name)).collect());
    let data = V::object(&[
        ("added", names(added)),
        ("removed", names(removed)),
        ("changed", names(&[])),
    ]);
    notification(CAPABILITIES_CHANGED, Some(data))
}

/// The notification that the question of that id needs no answer any more.
pub fn withdrawn<V: Value>(id: V) -> V {
    notification(ELICITATION_WITHDRAWN, Some(V::object(&[("id", id)])))
}

/// The answer to a message that could not be understood: the typed reply where its type is known.
pub fn refusal<V: Value>(malformed: &Malformed<V>, timestamp: Millis) -> V {
    let failure = &malformed.error;
    let failed = || V::object(&[("success", V::boolean(false)), ("error", error(failure))]);
    let (kind, payload) = match malformed.kind.as_deref() {
        Some(kind::INITIALIZE) => (
            kind::INITIALIZE_RESULT,
            V::object(&[("error", error(failure))]),
        ),
        Some(kind::CALL) => (kind::CALL_RESULT, failed()),
        Some(kind::CANCEL) => {
            let given = malformed.given.clone().unwrap_or_else(V::null);
            let refused = cancel_response(given, &Err(failure.clone()));
            let reason = ("reason", V::text(&failure.message));
            (kind::CANCEL_RESULT, refused.extended(&[reason]))
        }
        _ => (kind::ERROR, failed()),
    };
    let id = malformed.id.clone().unwrap_or_else(V::null);
    envelope(kind, Some(id), timestamp, payload)
}
