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
