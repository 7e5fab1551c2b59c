use axum::http::StatusCode;
use serde_json::{Value, json};

use super::api::reason;
use super::list::{self, LIST_LIMIT, LIST_LIMIT_MAX};
use crate::broker::calls::{Calls, Dialect, Ending, NewRun, REASON_CHARS, RunId, newest};
use crate::gateway::Listed;
use crate::tokens::Identity;

#[test]
fn a_run_has_every_field() {
    let mut runs = Calls::default();
    let viewer = Identity::anyone();
    let id = RunId::random();
    runs.register(
        NewRun {
            id,
            dialect: Dialect::Mcp,
            dialect_id: Some("1".into()),
            owner: viewer.clone(),
            agent: Some("Reader".into()),
            thread: None,
            app: None,
            capability: "a.b".into(),
            call_id: id.to_string().into(),
        },
        1_000,
    );
    runs.sent(id, Some("demo".into()), 1);
    runs.progress(id, r#"{"progress": 1, "total": 2}"#);
    runs.over(id, Ending::Completed, 1_005);
    let listed = Listed {
        runs: newest(runs.visible(&viewer, 1_005), 100).0,
        omitted: 2,
        unsure: None,
    };
    let text = list::text(&listed, &viewer);
    let listed: Value = serde_json::from_str(&text).unwrap();
    let id = id.to_string();
    assert_eq!(
        listed,
        json!({
            "runs": [{
                "runId": id, "name": "tool:a.b", "dialect": "mcp", "dialectId": "1", "owner": "anyone",
                "agent": "Reader",
                "thread": null, "app": "demo", "capability": "a.b", "callId": id, "state": "completed",
                "registeredAt": 1_000, "endedAt": 1_005, "cancelRequestedAt": null,
                "cancelledAt": null, "cancelReason": null,
                "progress": { "progress": 1, "total": 2 }, "stop": null, "step": null, "took": null, "ended": null, "error": null, "lost": null,
            }],
            "omitted": 2,
            "viewer": { "name": "anyone", "role": "admin" },
        })
    );
}

#[test]
fn a_limit_is_a_whole_number_in_its_range() {
    assert_eq!(list::limit(None).unwrap(), LIST_LIMIT);
    assert_eq!(list::limit(Some("token=x&limit=0")).unwrap(), 0);
    assert_eq!(list::limit(Some("limit=10000")).unwrap(), LIST_LIMIT_MAX);
    for bad in ["limit=10001", "limit=-1", "limit=1.5", "limit=", "limit=x"] {
        let refusal = list::limit(Some(bad)).unwrap_err();
        assert_eq!(refusal.status, StatusCode::BAD_REQUEST, "{bad}");
    }
}

#[test]
fn a_reason_is_a_string_or_nothing() {
    for none in ["", " \n", "{}", r#"{"reason":null}"#, r#"{"other":1}"#] {
        assert_eq!(reason(none.as_bytes()).unwrap(), None, "{none}");
    }
    let given = reason(r#"{"reason":"enough"}"#.as_bytes()).unwrap();
    assert_eq!(given.as_deref(), Some("enough"));
    let long = |chars: usize| json!({ "reason": "é".repeat(chars) }).to_string();
    assert!(reason(long(REASON_CHARS).as_bytes()).is_ok());
    for bad in [
        "[]",
        "null",
        r#"["enough"]"#,
        r#"{"reason":1}"#,
        "{",
        "\"enough\"",
        &long(REASON_CHARS + 1),
    ] {
        let refusal = reason(bad.as_bytes()).unwrap_err();
        assert_eq!(refusal.status, StatusCode::BAD_REQUEST, "{bad}");
    }
}
