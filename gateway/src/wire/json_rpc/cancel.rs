//! Cancels of requests. The core's table says how each dialect cancels, and whether the request is still
//! answered.

use serde_json::Value;

use super::Id;
use crate::wire::clipped;
use caphost::dialect::json_rpc::{MAX_REASON, Way};

/// A cancel of one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Cancel {
    /// The id of the request.
    pub id: Id,
    /// For logs and the handler.
    pub reason: Option<String>,
    /// Whether that request is still answered, with its result or with error -32800: then its caller waits
    /// for the answer. Otherwise the caller took the request for settled when it sent the cancel, and an
    /// answer is an error.
    pub answered: bool,
}

/// Reads a notification as a cancel. `None` if it is no cancel, or malformed: then it is ignored.
pub fn read_cancel(method: &str, params: Option<&str>) -> Option<Cancel> {
    let way = Way::of(method)?;
    let params: Value = serde_json::from_str(params?).ok()?;
    let reason = params.get("reason").filter(|_| way.reason);
    let reason = reason.and_then(Value::as_str);
    Some(Cancel {
        id: Id::read(params.get(way.id)?)?,
        reason: reason.map(|reason| clipped(reason, MAX_REASON).into()),
        answered: way.answered,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_way_of_cancelling_is_read() {
        for id in [json!(0), json!(""), json!("a"), json!(1), json!(null)] {
            for (method, key, reason, answered) in [
                ("$/cancelRequest", "id", None, true),
                ("$/cancel_request", "requestId", None, true),
                (
                    "notifications/cancelled",
                    "requestId",
                    Some("enough"),
                    false,
                ),
            ] {
                let params = json!({ key: id, "reason": "enough" });
                let cancel = read_cancel(method, Some(&params.to_string())).unwrap();
                assert_eq!(cancel.id.value(), &id);
                assert_eq!(cancel.answered, answered);
                assert_eq!(cancel.reason.as_deref(), reason);
            }
        }
    }

    #[test]
    fn a_malformed_cancel_is_none() {
        for (method, params) in [
            ("$/cancelRequest", json!({})),
            ("$/cancelRequest", json!({ "requestId": 1 })),
            ("$/cancel_request", json!({ "id": 1 })),
            ("$/cancel_request", json!({ "requestId": [1] })),
            ("$/cancel_request", json!([1])),
            ("notifications/cancelled", json!({ "reason": "x" })),
            ("$/cancel", json!({ "id": 1, "requestId": 1 })),
        ] {
            assert_eq!(
                read_cancel(method, Some(&params.to_string())),
                None,
                "{method} {params}"
            );
        }
        assert_eq!(read_cancel("$/cancelRequest", None), None);
    }

    #[test]
    fn a_reason_that_is_no_text_is_none_and_a_long_one_is_cut() {
        let params = json!({ "requestId": 1, "reason": 7 });
        let cancel = read_cancel("notifications/cancelled", Some(&params.to_string())).unwrap();
        assert_eq!(cancel.reason, None);
        let params = json!({ "requestId": 1, "reason": "x".repeat(5_000) });
        let cancel = read_cancel("notifications/cancelled", Some(&params.to_string())).unwrap();
        assert_eq!(cancel.reason.unwrap().len(), 1_024);
    }
}
