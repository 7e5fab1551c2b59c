//! The agent's half: what an agent sends, and what it tells its caller.

use super::{envelope, error, kind};
use crate::agent::{CancelOutcome, Request, RequestKey, Settled};
use crate::call::Millis;
use crate::dialect::Value;
use alloc::string::ToString;
use alloc::vec;

/// The envelope of a request. `timestamp` is Unix milliseconds.
pub fn request<V: Value>(key: RequestKey, request: Request<V>, timestamp: Millis) -> V {
    let (kind, payload) = match request {
        Request::Call(call) => {
            let mut options = vec![("callId", V::text(call.id.as_str()))];
            options.extend(call.timeout.map(|timeout| ("timeout", V::number(timeout))));
            let token = call.progress.then(|| V::text(call.id.as_str()));
            options.extend(token.map(|token| ("progressToken", token)));
            options.extend(call.transfer.then(|| ("transfer", V::boolean(true))));
            let mut fields = vec![("capability", V::text(&call.capability))];
            fields.extend(call.params.map(|params| ("params", params)));
            fields.push(("options", V::object(&options)));
            (kind::CALL, V::object(&fields))
        }
        Request::Cancel { call, reason } => {
            let mut fields = vec![("callId", V::text(call.as_str()))];
            fields.extend(reason.map(|reason| ("reason", V::text(&reason))));
            (kind::CANCEL, V::object(&fields))
        }
        Request::Shutdown { reason } => {
            let reason = reason.map(|reason| ("reason", V::text(&reason)));
            (kind::SHUTDOWN, V::object(reason.as_slice()))
        }
    };
    envelope(kind, Some(V::text(&key.to_string())), timestamp, payload)
}

/// The `ABPResponse` of a settled call: the app's own, as it came, wherever there is one.
pub fn settled<V: Value>(settled: Settled<V>) -> V {
    match settled {
        Settled::Response(response) => response,
        Settled::Cancelled => {
            let cancelled = ("cancelled", V::boolean(true));
            V::object(&[("success", V::boolean(false)), cancelled])
        }
        Settled::Failed(failure) => {
            V::object(&[("success", V::boolean(false)), ("error", error(&failure))])
        }
    }
}

/// The `CancelResponse` of a settled cancel. `given` is the callId as the caller gave it.
pub fn settled_cancel<V: Value>(given: &V, outcome: CancelOutcome<V>) -> V {
    let cancelled = ("cancelled", V::boolean(outcome.cancelled));
    let mut fields = vec![("callId", given.clone()), cancelled];
    fields.extend(outcome.reason.map(|reason| ("reason", V::text(&reason))));
    let failure = outcome
        .error
        .map(|failure| failure.unwrap_or_else(|found| error(&found)));
    fields.extend(failure.map(|failure| ("error", failure)));
    V::object(&fields)
}

/// The request an envelope's id names, as far as it is one of ours.
pub fn request_key<V: Value>(id: &V) -> Option<RequestKey> {
    id.as_text()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Outgoing;
    use crate::call::{CallId, Code, Error};
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
        let cancelled = json!({ "success": false, "cancelled": true });
        assert_eq!(settled::<Json>(Settled::Cancelled), cancelled);
        let lost = Error::<Json>::new(Code::DISCONNECTED, "gone");
        let error = json!({ "code": "DISCONNECTED", "message": "gone", "retryable": true });
        let expected = json!({ "success": false, "error": error });
        assert_eq!(settled(Settled::Failed(lost.clone())), expected);
        let outcome = CancelOutcome {
            cancelled: false,
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
            json!("99999999999"),
        ] {
            assert_eq!(request_key(&id), None, "{id}");
        }
    }
}
