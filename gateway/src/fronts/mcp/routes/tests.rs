use serde_json::json;

use super::*;

#[test]
fn app_ids_are_names_and_no_paths() {
    assert_eq!(app_id("caphost-demo").unwrap(), "caphost-demo");
    assert_eq!(app_id("é app").unwrap(), "é app");
    for bad in [
        "",
        "a/b",
        "/",
        "..",
        ".",
        "a\0b",
        "a\nb",
        &"x".repeat(257),
        &"x".repeat(10_000),
    ] {
        assert!(app_id(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_is_no_message_is_refused_under_its_id_if_that_is_one() {
    for (body, code, id) in [
        ("", -32700, None),
        ("{", -32700, None),
        ("\u{0}", -32700, None),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            -32600,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            -32600,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"ping","a":1e999}"#,
            -32600,
            Some(json!(5)),
        ),
    ] {
        let JsonRpc(refusal, found) = message(body.as_bytes(), &Limits::default()).unwrap_err();
        let found = found.map(|id| id.value().clone());
        assert_eq!((refusal.rpc_code, found), (code, id), "{body}");
    }
    let limits = Limits {
        id_bytes: 3,
        ..Limits::default()
    };
    assert!(message(br#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#, &limits).is_ok());
}

#[test]
fn a_cancel_of_a_request_that_there_cannot_be_is_not_passed_on() {
    for (bytes, is_read) in [(6, true), (7, false), (1 << 20, false)] {
        // The quotes count as well, as in a request.
        let params = json!({ "requestId": "x".repeat(bytes - 2) }).to_string();
        let read = cancel("notifications/cancelled", Some(&params), 6);
        assert_eq!(read.is_some(), is_read, "{bytes}");
    }
}
