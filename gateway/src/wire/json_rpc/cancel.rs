//! How a request is cancelled, and who is told what then: the one place that knows it.

use serde_json::Value;

use super::Id;
use crate::wire::clipped;

/// A protocol that runs over JSON-RPC, as far as its cancels differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The Agent Client Protocol's request for discussion.
    AcpDraft,
    /// The Agent Client Protocol, version 1.
    AcpV1,
    /// The Language Server Protocol, 3.17 and 3.18.
    Lsp,
    /// The Model Context Protocol, up to version 2025-11-25.
    Mcp2025,
    /// The Model Context Protocol since version 2026-07-28, where messages share a channel. Over
    /// HTTP the response's stream is closed instead.
    Mcp2026,
}

/// When the caller takes its request for settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settles {
    /// When the answer comes: a result, or an error. Without one it waits for ever.
    OnAnswer,
    /// When it has sent the cancel. To answer all the same is an error.
    AtOnce,
}

/// How one dialect cancels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancellation {
    /// Whose way it is.
    pub dialect: Dialect,
    /// The method of the notification that cancels.
    pub method: &'static str,
    /// Where in its parameters the request's id stands.
    pub id: &'static str,
    /// Where a reason may stand.
    pub reason: Option<&'static str>,
    /// Whether the cancelled request is still answered: with its result, or with error -32800.
    pub answered: bool,
    /// When the caller takes it for settled.
    pub settles: Settles,
}

/// Every dialect's way. Dialects that share a method also share everything else.
pub const DIALECTS: [Cancellation; 5] = {
    use Dialect::*;
    use Settles::*;
    [
        row(AcpDraft, "$/cancelRequest", "id", None, true, OnAnswer),
        row(AcpV1, "$/cancel_request", "requestId", None, true, OnAnswer),
        row(Lsp, "$/cancelRequest", "id", None, true, OnAnswer),
        row(Mcp2025, CANCELLED, "requestId", REASON, false, AtOnce),
        row(Mcp2026, CANCELLED, "requestId", REASON, false, AtOnce),
    ]
};

/// MCP's cancel.
pub(super) const CANCELLED: &str = "notifications/cancelled";
const REASON: Option<&str> = Some("reason");

const fn row(
    dialect: Dialect,
    method: &'static str,
    id: &'static str,
    reason: Option<&'static str>,
    answered: bool,
    settles: Settles,
) -> Cancellation {
    Cancellation {
        dialect,
        method,
        id,
        reason,
        answered,
        settles,
    }
}

/// A cancel of one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Cancel {
    /// Which request.
    pub id: Id,
    /// For logs and the handler.
    pub reason: Option<String>,
    /// Whether that request is still answered.
    pub answered: bool,
}

/// Reads a notification as a cancel. `None` if it is none, or malformed: it is ignored then.
pub fn read_cancel(method: &str, params: Option<&str>) -> Option<Cancel> {
    let way = DIALECTS.iter().find(|way| way.method == method)?;
    let params: Value = serde_json::from_str(params?).ok()?;
    let reason = way.reason.and_then(|key| params.get(key)?.as_str());
    Some(Cancel {
        id: Id::read(params.get(way.id)?)?,
        reason: reason.map(|reason| clipped(reason, 1_024).into()),
        answered: way.answered,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn dialects_that_share_a_method_share_the_rest() {
        for one in DIALECTS {
            for other in DIALECTS {
                let renamed = Cancellation {
                    dialect: one.dialect,
                    ..other
                };
                assert!(one.method != other.method || one == renamed, "{one:?}");
            }
            assert_eq!(one.answered, one.settles == Settles::OnAnswer, "{one:?}");
        }
    }

    #[test]
    fn each_way_of_cancelling_is_read() {
        for id in [json!(0), json!(""), json!("a"), json!(1), json!(null)] {
            for way in DIALECTS {
                let params = json!({ way.id: id, "reason": "enough" });
                let cancel = read_cancel(way.method, Some(&params.to_string())).unwrap();
                assert_eq!(cancel.id.value(), &id);
                assert_eq!(cancel.answered, way.answered);
                let reason = way.reason.map(|_| "enough");
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
