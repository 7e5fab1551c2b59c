use super::*;

#[test]
fn only_what_a_peer_has_declared_is_asked() {
    let read = |declared: Value, is_acp| Takes::read(&declared, is_acp);
    for is_acp in [false, true] {
        assert_eq!(read(json!(null), is_acp), Takes::Nothing);
        assert_eq!(read(json!(false), is_acp), Takes::Nothing);
        assert_eq!(read(json!({}), is_acp), Takes::Any);
        assert_eq!(read(json!(true), is_acp), Takes::Any);
    }
    assert_eq!(read(json!({ "form": {} }), true), Takes::Forms);
    assert_eq!(read(json!({ "form": {}, "url": {} }), true), Takes::Forms);
    assert_eq!(
        read(json!({ "form": null, "url": {} }), true),
        Takes::Nothing
    );
    assert_eq!(read(json!({ "form": {} }), false), Takes::Any);
}

#[test]
fn an_answer_is_data_a_cancel_or_an_error() {
    let payload = |result: Option<&str>, error: Option<&str>| {
        let payload = payload_of(Answered { result, error });
        serde_json::from_str::<Value>(&payload).unwrap()
    };
    let data = payload(Some(r#"{"data":{"name":"Ada"}}"#), None);
    assert_eq!(data, json!({ "success": true, "data": { "name": "Ada" } }));
    let gone = payload(None, Some(r#"{"code":-32800,"message":"gone"}"#));
    assert_eq!(
        (&gone["success"], &gone["cancelled"]),
        (&json!(false), &json!(true))
    );
    for (error, code, message) in [
        (
            r#"{"code":-32000,"message":"no"}"#,
            "OPERATION_FAILED",
            "no",
        ),
        (
            r#"{"code":-32601,"message":"what?"}"#,
            "NOT_SUPPORTED",
            "what?",
        ),
        (
            r#"{"code":-32000,"message":"no","data":{"code":"PERMISSION_DENIED"}}"#,
            "PERMISSION_DENIED",
            "no",
        ),
        (
            "7",
            "OPERATION_FAILED",
            "The agent did not answer the question",
        ),
    ] {
        let payload = payload(None, Some(error));
        assert_eq!(payload["success"], false);
        assert_eq!(
            (&payload["error"]["code"], &payload["error"]["message"]),
            (&json!(code), &json!(message))
        );
    }
}
