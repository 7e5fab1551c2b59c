//! The agent's half: what an agent sends, and what it tells its caller.

use super::{envelope, error, kind, write};
use crate::wire::AnyValue as Value;
use caphost::agent::{CancelOutcome, Request, RequestKey, Settled};
use caphost::call::Millis;

/// The envelope of a request. `timestamp` is Unix milliseconds.
pub fn request<V: Value>(key: RequestKey, request: Request<V>, timestamp: Millis) -> V {
    let mut payload = V::object();
    let kind = match request {
        Request::Call(call) => {
            let mut options = V::object();
            options.put_text("callId", call.id.as_str());
            if let Some(timeout) = call.timeout {
                options.put_number("timeout", timeout);
            }
            if call.progress {
                options.put_text("progressToken", call.id.as_str());
            }
            if call.transfer {
                options.put_boolean("transfer", true);
            }
            payload.put_text("capability", &call.capability);
            payload.put_some("params", call.params.as_ref());
            payload.put("options", &options);
            kind::CALL
        }
        Request::Cancel { call, reason } => {
            payload.put_text("callId", call.as_str());
            put_reason(&mut payload, reason);
            kind::CANCEL
        }
        Request::Shutdown { reason } => {
            put_reason(&mut payload, reason);
            kind::SHUTDOWN
        }
    };
    envelope(kind, Some(&V::text(&key.to_string())), timestamp, &payload)
}

fn put_reason<V: Value>(written: &mut V, reason: Option<String>) {
    if let Some(reason) = reason {
        written.put_text("reason", &reason);
    }
}

/// The `ABPResponse` of a settled call: the app's own, as it came, wherever there is one.
pub fn settled<V: Value>(settled: Settled<V>) -> V {
    match settled {
        Settled::Response(response) => response,
        Settled::Cancelled(stop) => write::cancelled(stop),
        Settled::Failed(failure) => write::failed(&failure),
    }
}

/// The `CancelResponse` of a settled cancel. `given` is the callId as the caller gave it.
pub fn settled_cancel<V: Value>(given: &V, outcome: CancelOutcome<V>) -> V {
    let mut written = V::object();
    written.put("callId", given);
    written.put_boolean("cancelled", outcome.cancelled());
    if let Some(stop) = outcome.stop {
        written.put("metadata", &write::stopped(stop, outcome.ended));
    }
    put_reason(&mut written, outcome.reason);
    if let Some(failure) = outcome.error {
        let failure = failure.unwrap_or_else(|found| error(&found));
        written.put("error", &failure);
    }
    written
}

/// The request an envelope's id names, as far as it is one of ours.
pub fn request_key<V: Value>(id: &V) -> Option<RequestKey> {
    let text = id.as_text()?;
    // A number may be parsed with a sign; ours are written without.
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use caphost::agent::Outgoing;
    use caphost::call::{CallId, Code, Error, Stop};
    use serde_json::{Value as Json, json};

    fn call() -> Outgoing<Json> {
        Outgoing {
            id: CallId::parse("c").unwrap(),
            capability: "export.pdf".into(),
            params: None,
            timeout: None,
            progress: false,
            transfer: false,
        }
    }

    #[test]
    fn a_call_says_no_more_than_it_must() {
        let written = request(7, Request::Call(call()), 1.0);
        let payload = json!({ "capability": "export.pdf", "options": { "callId": "c" } });
        let expected =
            json!({ "type": "capabilities/call", "id": "7", "timestamp": 1.0, "payload": payload });
        assert_eq!(written, expected);
        assert_eq!(request_key(&written["id"]), Some(7));
    }

    #[test]
    fn a_call_with_everything() {
        let full = Outgoing {
            params: Some(json!({ "html": "" })),
            timeout: Some(50.0),
            progress: true,
            transfer: true,
            ..call()
        };
        let expected = json!({
            "capability": "export.pdf",
            "params": { "html": "" },
            "options": { "callId": "c", "timeout": 50.0, "progressToken": "c", "transfer": true },
        });
        assert_eq!(request(1, Request::Call(full), 1.0)["payload"], expected);
    }

    #[test]
    fn settled_calls_and_cancels() {
        let metadata = json!({ "stop": "dropped" });
        let cancelled = json!({ "success": false, "cancelled": true, "metadata": metadata });
        assert_eq!(
            settled::<Json>(Settled::Cancelled(Stop::Dropped)),
            cancelled
        );
        let lost = Error::<Json>::new(Code::DISCONNECTED, "gone");
        let error = json!({ "code": "DISCONNECTED", "message": "gone", "retryable": true });
        let expected = json!({ "success": false, "error": error });
        assert_eq!(settled(Settled::Failed(lost.clone())), expected);
        let outcome = CancelOutcome {
            stop: None,
            ended: None,
            reason: Some("why".into()),
            error: Some(Err(lost)),
        };
        let expected =
            json!({ "callId": "c", "cancelled": false, "reason": "why", "error": error });
        assert_eq!(settled_cancel(&json!("c"), outcome), expected);
    }

    #[test]
    fn an_id_that_is_none_of_ours() {
        for id in [
            json!(7),
            json!("x"),
            json!(null),
            json!("-1"),
            json!("+1"),
            json!(" 1"),
            json!("1.0"),
            json!(""),
            json!("99999999999"),
        ] {
            assert_eq!(request_key(&id), None, "{id}");
        }
    }
}
