use super::*;

#[test]
fn abp_codes_in_json_rpc() {
    for (abp, expected) in [
        ("UNKNOWN_CAPABILITY", -32602),
        ("INVALID_PARAMS", -32602),
        ("MISSING_PARAM", -32602),
        ("INVALID_TYPE", -32602),
        ("CANCELLED", -32800),
        ("INTERNAL_ERROR", -32603),
        ("OPERATION_FAILED", -32000),
        ("DISCONNECTED", -32000),
        ("TIMEOUT", -32000),
        ("NOT_IMPLEMENTED", -32000),
        ("MY_APP_BROKE", -32000),
    ] {
        assert_eq!(rpc_code(abp), expected, "{abp}");
    }
}

#[test]
fn an_error_keeps_all_there_is() {
    let mut failure = Error::<Value>::new(Code::RATE_LIMITED, "slowly");
    failure.retry_after = Some(5.0);
    failure.alternatives = vec!["other".into()];
    let failure = failure.with_details(json!({ "limit": 1 }));
    let data = json!({
        "code": "RATE_LIMITED", "retryable": true, "details": { "limit": 1 },
        "retryAfter": 5.0, "alternatives": ["other"],
    });
    let error = json!({ "code": -32000, "message": "slowly", "data": data });
    let expected = json!({ "jsonrpc": "2.0", "id": 0, "error": error });
    assert_eq!(failed(&json!(0), &failure), expected);
}

#[test]
fn a_cancelled_request() {
    let error = json!({
        "code": -32800, "message": "Tool execution cancelled: export.pdf",
        "data": {
            "code": "CANCELLED", "retryable": false, "requestId": "7", "partial": false,
            "stop": "dropped",
        },
    });
    let expected = json!({ "jsonrpc": "2.0", "id": 7, "error": error });
    assert_eq!(
        cancelled(
            &Id::read(&json!(7)).unwrap(),
            "export.pdf",
            Stop::Dropped,
            None
        ),
        expected
    );
}

#[test]
fn the_late_end_of_a_request() {
    let end = LateEnd {
        success: true,
        after: 200.0,
    };
    let params = json!({ "requestId": 7, "callId": "c", "success": true, "after": 200.0 });
    let expected = json!({ "jsonrpc": "2.0", "method": "_capabilities/ended", "params": params });
    assert_eq!(ended(&json!(7), "c", end), expected);
}

#[test]
fn progress_goes_under_the_callers_token() {
    let info = json!({ "operationId": "internal", "progress": 1 });
    let expected = json!({
        "jsonrpc": "2.0", "method": "$/progress",
        "params": { "token": 0, "value": { "operationId": 0, "progress": 1 } },
    });
    assert_eq!(progress(&json!(0), info), expected);
}

#[test]
fn a_result_and_a_notice() {
    let expected = json!({ "jsonrpc": "2.0", "id": "", "result": null });
    let answer = success(&json!(""), &Value::Null);
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap(), expected);
    let notice = cancel_notice("1", Some("why"));
    let params = json!({ "requestId": "1", "reason": "why" });
    let method = "notifications/cancelled";
    let expected = json!({ "jsonrpc": "2.0", "method": method, "params": params });
    assert_eq!(notice, expected);
}
