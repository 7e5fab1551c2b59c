use serde_json::json;

use super::*;

#[test]
fn what_is_no_envelope_gets_an_error() {
    let mut bench = Bench::session();
    let cases = [
        ("not json", "INVALID_PARAMS", Value::Null),
        ("", "INVALID_PARAMS", Value::Null),
        ("[]", "INVALID_PARAMS", Value::Null),
        (
            r#"["capabilities/call","1",null,5,{}]"#,
            "INVALID_PARAMS",
            Value::Null,
        ),
        ("7", "INVALID_PARAMS", Value::Null),
        ("{}", "INVALID_PARAMS", Value::Null),
        (r#"{"type":7,"id":"x"}"#, "INVALID_PARAMS", json!("x")),
        (
            r#"{"type":"nonsense","id":3,"payload":{}}"#,
            "NOT_IMPLEMENTED",
            json!(3),
        ),
        (
            r#"{"type":"constructor","payload":{}}"#,
            "NOT_IMPLEMENTED",
            Value::Null,
        ),
        (
            r#"{"type":"progress","id":"x","payload":{}}"#,
            "NOT_IMPLEMENTED",
            json!("x"),
        ),
        (
            r#"{"type":"capabilities/call","id":"x","payload":{"#,
            "INVALID_PARAMS",
            json!("x"),
        ),
        (
            r#"{"type":"capabilities/call","type":"shutdown","id":"x"}"#,
            "INVALID_PARAMS",
            json!("x"),
        ),
    ];
    for (text, expected, id) in cases {
        let seen = bench.text(2, text);
        let message = only(&seen, 2);
        assert_eq!(
            (message["type"].as_str(), code(message)),
            (Some("error"), expected),
            "{text}"
        );
        assert_eq!(message.get("id"), Some(&id), "{text}");
        assert_eq!(message["payload"]["success"], false);
        assert_eq!(message["payload"]["error"]["retryable"], false);
    }
    goes_on(&mut bench, 2);
}

#[test]
fn a_bad_field_of_a_known_type_gets_the_typed_answer() {
    let mut bench = Bench::session();
    let kinds = [
        ("initialize", "initialize-result"),
        ("capabilities/call", "capabilities/call-result"),
        ("capabilities/cancel", "capabilities/cancel-result"),
    ];
    for (kind, answer) in kinds {
        for (field, value) in [
            ("payload", json!(7)),
            ("payload", Value::Null),
            ("timestamp", json!("now")),
        ] {
            let mut message = request(kind, "x", json!({}));
            message[field] = value;
            let seen = bench.send(2, message);
            let got = only(&seen, 2);
            assert_eq!((&got["type"], &got["id"]), (&json!(answer), &json!("x")));
            assert_eq!(code(got), "INVALID_PARAMS");
            assert_eq!(got["payload"]["error"]["details"]["path"], field);
        }
        let mut message = request(kind, "x", json!({}));
        message["id"] = json!({});
        let seen = bench.send(2, message);
        assert_eq!(only(&seen, 2)["type"], answer);
        assert_eq!(code(only(&seen, 2)), "INVALID_PARAMS");
    }
    goes_on(&mut bench, 2);
}

#[test]
fn a_payload_passes_untouched() {
    let mut bench = Bench::session();
    let text = r#"{"type":"capabilities/call","id":"1","payload":{"callId":"c","capability":"a.b","params":{"__proto__":{"x":1},"n":1e300,"big":12345678901234567890123,"é":"\u00e9\ud83d\ude00"}}}"#;
    let limits = bench.limits.clone();
    let read = Envelope::read(text, None, &limits);
    let event = Event::received(PeerId(2), read);
    bench.broker.handle(event, bench.now);
    let Some(Action::Send { message, .. }) = bench.broker.next_action() else {
        panic!("not relayed")
    };
    let payload = &text[text.find(r#"{"callId"#).unwrap()..text.len() - 1];
    assert!(message.into_text().contains(payload));
}

#[test]
fn a_duplicate_id_in_flight_is_refused_and_the_first_undisturbed() {
    let mut bench = Bench::session();
    let first = bench.relayed(2, call("1", "c1"));
    let seen = bench.send(2, call("1", "c2"));
    assert_eq!(
        (only(&seen, 2)["type"].as_str(), code(only(&seen, 2))),
        (Some("error"), "INVALID_PARAMS")
    );
    only(
        &bench.send(
            1,
            answer(
                &first,
                "capabilities/call-result",
                json!({ "success": true }),
            ),
        ),
        2,
    );
    bench.relayed(2, call("1", "c3"));
}

#[test]
fn before_initialize_there_is_no_session() {
    let mut bench = Bench::session();
    bench.agent(9, None);
    let seen = bench.send(9, call("1", "c"));
    assert_eq!(
        (
            code(only(&seen, 9)),
            &only(&seen, 9)["payload"]["error"]["retryable"]
        ),
        ("NOT_INITIALIZED", &json!(true))
    );
    let seen = bench.send(9, cancel("2", "c"));
    let payload = &only(&seen, 9)["payload"];
    assert_eq!(
        (&payload["callId"], &payload["cancelled"]),
        (&json!("c"), &json!(false))
    );
    assert_eq!(code(only(&seen, 9)), "NOT_INITIALIZED");
    assert_eq!(
        code(only(&bench.send(9, request("shutdown", "3", json!({}))), 9)),
        "NOT_INITIALIZED"
    );
}
