use super::*;

#[test]
fn a_message_has_an_id_and_may_say_more() {
    let read = |text: &str| CancelMessage::read(text.as_bytes()).unwrap();
    let bare = CancelMessage {
        run_id: "1".into(),
        reason: None,
        requester: None,
        worker: None,
    };
    assert_eq!(read(r#"{"run_id":"1"}"#), bare);
    assert_eq!(
        read(r#"{"run_id":"1","reason":null,"else":1,"worker":7}"#),
        bare
    );
    let worker = WorkerId::random();
    let ours =
        format!(r#"{{"run_id":"1","reason":"why","requester":"agent-1","worker":"{worker}"}}"#);
    let full = CancelMessage {
        reason: Some("why".into()),
        requester: Some("agent-1".into()),
        worker: Some(worker),
        ..bare
    };
    assert_eq!(read(&ours), full);
}

#[test]
fn what_is_no_such_message_is_refused() {
    let long = format!(r#"{{"run_id":"{}"}}"#, "x".repeat(257));
    let reason = format!(r#"{{"run_id":"1","reason":"{}"}}"#, "x".repeat(4_097));
    let name = format!(r#"{{"run_id":"1","requester":"{}"}}"#, "x".repeat(257));
    for bad in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"run_id":1}"#,
        r#"{"run_id":""}"#,
        r#"{"run_id":"1","reason":1}"#,
        r#"{"run_id":"1","requester":null}"#,
        r#"{"run_id":"1","requester":""}"#,
        r#"{"run_id":"1","requester":{"role":"admin"}}"#,
        &long,
        &reason,
        &name,
    ] {
        assert!(CancelMessage::read(bad.as_bytes()).is_err(), "{bad}");
    }
    assert!(CancelMessage::read(&[b'"', 0xff, b'"']).is_err());
}

#[test]
fn a_megabyte_from_a_stranger_is_not_logged() {
    let text = |text: String| CancelMessage::read(text.as_bytes()).unwrap_err();
    for huge in [
        format!("\"{}\"", "x".repeat(60_000)),
        format!("\"{}\"", "x".repeat(1 << 20)),
        format!(r#"{{"run_id":"1","more":"{}"}}"#, "x".repeat(1 << 20)),
    ] {
        let error = text(huge);
        assert!(error.len() < 300, "{}", error.len());
    }
}
