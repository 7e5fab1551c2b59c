use super::*;
use serde_json::json;

fn id(id: Value) -> Id {
    Id::read(&id).unwrap()
}

fn read(text: &str) -> Result<Message<'_>, Unreadable> {
    super::read(text, 20)
}

#[test]
fn ids_are_the_same_only_as_json_values() {
    let ids = [
        json!(0),
        json!(1),
        json!("0"),
        json!("1"),
        json!(""),
        json!(null),
        json!("null"),
        json!(1.5),
        json!(-1),
    ];
    for (at, one) in ids.iter().enumerate() {
        for (other_at, other) in ids.iter().enumerate() {
            let same = id(one.clone()) == id(other.clone());
            assert_eq!(same, at == other_at, "{one} and {other}");
        }
    }
    assert_eq!(id(json!(1)), id(json!(1.0)));
    assert_eq!(id(json!(0)), id(json!(-0.0)));
}

#[test]
fn an_id_is_given_back_as_it_came() {
    for id in [json!(9_007_199_254_740_993_u64), json!(2.0), json!(null)] {
        let read = Id::of(id.to_string().as_bytes()).unwrap();
        assert_eq!(read.value().to_string(), id.to_string());
    }
}

#[test]
fn what_is_no_id() {
    for id in [json!(true), json!([]), json!({})] {
        assert_eq!(Id::read(&id), None, "{id}");
        assert_eq!(Id::of(id.to_string().as_bytes()), None, "{id}");
    }
}

#[test]
fn requests_and_notifications_differ_by_the_id() {
    for it in [json!(0), json!(""), json!(null), json!(1.5), json!("a")] {
        let message = json!({ "jsonrpc": "2.0", "id": it, "method": "m", "params": [1] });
        let expected = Message::Request {
            id: id(it),
            method: "m".into(),
            params: Some("[1]"),
        };
        assert_eq!(read(&message.to_string()).unwrap(), expected);
    }
    let expected = Message::Notification {
        method: "m".into(),
        params: None,
    };
    let message = r#"{ "jsonrpc": "2.0", "method": "m", "params": null }"#;
    assert_eq!(read(message).unwrap(), expected);
}

#[test]
fn responses_are_known_by_what_they_carry() {
    let result = r#"{ "jsonrpc": "2.0", "id": 0, "result": null }"#;
    let answered = Answered {
        result: Some("null"),
        error: None,
    };
    let expected = Message::Response(Some(id(json!(0))), answered);
    assert_eq!(read(result).unwrap(), expected);
    for broken in [
        json!({ "id": null, "error": { "code": -32700, "message": "" } }),
        json!({ "jsonrpc": "1.0", "error": null }),
        json!({ "id": true, "error": 7, "result": 8 }),
    ] {
        let broken = broken.to_string();
        assert!(matches!(read(&broken), Ok(Message::Response(..))));
    }
}

#[test]
fn what_is_no_message() {
    let known = Some(id(json!(7)));
    for (message, expected_id, expected) in [
        (json!("x"), None, Fault::NoObject),
        (json!(null), None, Fault::NoObject),
        (json!({}), None, Fault::Version),
        (
            json!({ "id": 7, "method": "m" }),
            known.clone(),
            Fault::Version,
        ),
        (
            json!({ "jsonrpc": 2.0, "id": 7, "method": "m" }),
            known.clone(),
            Fault::Version,
        ),
        (
            json!({ "jsonrpc": "2.0", "id": 7 }),
            known.clone(),
            Fault::Method,
        ),
        (
            json!({ "jsonrpc": "2.0", "id": 7, "method": 1, "result": 2 }),
            known.clone(),
            Fault::Method,
        ),
        (
            json!({ "jsonrpc": "2.0", "id": {}, "method": "m" }),
            None,
            Fault::Id,
        ),
        (
            json!({ "jsonrpc": "2.0", "id": 7, "method": "m", "params": "p" }),
            known,
            Fault::Params,
        ),
    ] {
        let message = message.to_string();
        let Ok(Message::Invalid { id, fault }) = read(&message) else {
            panic!("{message}")
        };
        assert_eq!((id, fault), (expected_id, expected), "{message}");
    }
    for batch in ["[]", r#" [{ "jsonrpc": "2.0", "method": "m" }]"#] {
        assert_eq!(read(batch).unwrap(), Message::Batch);
    }
}

#[test]
fn what_cannot_be_read_is_told_from_what_is_no_json() {
    let nested = |levels: usize| {
        let (opening, closing) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"id":7,"a":{opening}{closing}}}"#)
    };
    assert!(read(&nested(19)).is_ok());
    for text in [&*nested(20), &nested(500), r#"{"id":7,"a":1e999}"#] {
        let unreadable = read(text).unwrap_err();
        assert_eq!(unreadable.code, code::INVALID_REQUEST, "{text}");
        assert_eq!(unreadable.id, Some(id(json!(7))));
    }
    let cut = nested(500).replace(']', "");
    for text in ["", "{", "\u{0}", r#"{"id":7"#, &cut] {
        let unreadable = read(text).unwrap_err();
        assert_eq!(unreadable.code, code::PARSE_ERROR, "{text}");
        assert_eq!(unreadable.id, None, "{text}");
    }
}
