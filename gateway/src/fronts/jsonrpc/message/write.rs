//! Writing messages.

use super::cancel::CANCELLED;
use super::{code, method};
use crate::wire::{AnyValue as Value, abp};
use caphost::call::{Code, Error, LateEnd, Stop};

/// What of an `ABPError` goes into the `data` of an error; its message goes beside.
const IN_DATA: [&str; 5] = ["code", "retryable", "details", "retryAfter", "alternatives"];

fn message<V: Value>() -> V {
    let mut written = V::object();
    written.put_text("jsonrpc", "2.0");
    written
}

/// The answer to a request that succeeded.
pub fn success<V: Value>(id: &V, result: &V) -> V {
    let mut written = message::<V>();
    written.put("id", id);
    written.put("result", result);
    written
}

/// An answer with an error object, such as [`rpc_error`] makes. The id is `null` where none could
/// be read.
pub fn error<V: Value>(id: &V, error: &V) -> V {
    let mut written = message::<V>();
    written.put("id", id);
    written.put("error", error);
    written
}

/// The answer to a request that failed: the `ABPError` under its code of [`rpc_code`].
pub fn failed<V: Value>(id: &V, failure: &Error<V>) -> V {
    let code = rpc_code(failure.code.as_str());
    error(id, &rpc_error(code, &abp::error(failure)))
}

/// The error object of an `ABPError`.
pub fn rpc_error<V: Value>(code: i32, failure: &V) -> V {
    let mut data = V::object();
    for field in IN_DATA {
        data.put_some(field, failure.get(field).as_ref());
    }
    let text = failure.text_of("message").unwrap_or_default();
    error_object(code, &text, &data)
}

fn error_object<V: Value>(code: i32, text: &str, data: &V) -> V {
    let mut written = V::object();
    written.put_integer("code", code);
    written.put_text("message", text);
    written.put("data", data);
    written
}

/// The answer to a request that was cancelled, whoever cancelled it. `request_id` is its id as
/// plain text, `stop` how far the stop was seen.
pub fn cancelled<V: Value>(id: &V, capability: &str, request_id: &str, stop: Stop) -> V {
    let mut data = V::object();
    data.put_text("code", Code::CANCELLED.as_str());
    data.put_boolean("retryable", Code::CANCELLED.retryable());
    data.put_text("requestId", request_id);
    data.put_boolean("partial", false);
    data.put_text("stop", stop.as_str());
    let text = format!("Tool execution cancelled: {capability}");
    error(id, &error_object(code::CANCELLED, &text, &data))
}

/// The JSON-RPC code for an ABP error code.
pub fn rpc_code(abp: &str) -> i32 {
    const MAP: [(Code, i32); 6] = [
        (Code::INVALID_PARAMS, code::INVALID_PARAMS),
        (Code::MISSING_PARAM, code::INVALID_PARAMS),
        (Code::INVALID_TYPE, code::INVALID_PARAMS),
        (Code::UNKNOWN_CAPABILITY, code::INVALID_PARAMS),
        (Code::INTERNAL_ERROR, code::INTERNAL_ERROR),
        (Code::CANCELLED, code::CANCELLED),
    ];
    let found = MAP.iter().find(|(code, _)| code.as_str() == abp);
    found.map_or(code::FAILED, |(_, code)| *code)
}

/// A notification.
pub fn notification<V: Value>(method: &str, params: &V) -> V {
    let mut written = message::<V>();
    written.put_text("method", method);
    written.put("params", params);
    written
}

/// `$/progress`: what the handler said, under the caller's token.
pub fn progress<V: Value>(token: &V, info: &V) -> V {
    let mut value = info.copy();
    value.put("operationId", token);
    let mut params = V::object();
    params.put("token", token);
    params.put("value", &value);
    notification(method::PROGRESS, &params)
}

/// `_capabilities/ended`: the handler of a request that was answered as abandoned has ended.
pub fn ended<V: Value>(id: &V, call_id: &str, end: LateEnd) -> V {
    let mut params = V::object();
    params.put("requestId", id);
    params.put_text("callId", call_id);
    params.put_boolean("success", end.success);
    params.put_number("after", end.after);
    notification(method::ENDED, &params)
}

/// `notifications/cancelled`, for a peer that wants to hear of cancels which are not its own.
pub fn cancel_notice<V: Value>(request_id: &str, reason: Option<&str>) -> V {
    let mut params = V::object();
    params.put_text("requestId", request_id);
    if let Some(reason) = reason {
        params.put_text("reason", reason);
    }
    notification(CANCELLED, &params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

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
        let mut failure = Error::<Json>::new(Code::RATE_LIMITED, "slowly");
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
            cancelled(&json!(7), "export.pdf", "7", Stop::Dropped),
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
        let expected =
            json!({ "jsonrpc": "2.0", "method": "_capabilities/ended", "params": params });
        assert_eq!(ended(&json!(7), "c", end), expected);
    }

    #[test]
    fn progress_goes_under_the_callers_token() {
        let info = json!({ "operationId": "internal", "progress": 1 });
        let expected = json!({
            "jsonrpc": "2.0", "method": "$/progress",
            "params": { "token": 0, "value": { "operationId": 0, "progress": 1 } },
        });
        assert_eq!(progress(&json!(0), &info), expected);
    }

    #[test]
    fn a_result_and_a_notice() {
        let expected = json!({ "jsonrpc": "2.0", "id": "", "result": null });
        assert_eq!(success(&json!(""), &Json::Null), expected);
        let notice = cancel_notice::<Json>("1", Some("why"));
        let params = json!({ "requestId": "1", "reason": "why" });
        let method = "notifications/cancelled";
        let expected = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        assert_eq!(notice, expected);
    }
}
