//! Writes messages.

use std::borrow::Borrow;

use serde::Serialize;
use serde_json::{Value, json};

use super::{Id, code, method};
use crate::wire::{error_json, stopped_by};
use caphost::call::{Code, Error, LateEnd, Stop, StoppedBy};
use caphost::dialect::json_rpc::MCP_CANCELLED;

/// The members of an `ABPError` that go into the `data` of an error. The message has its own place.
const IN_DATA: [&str; 5] = ["code", "retryable", "details", "retryAfter", "alternatives"];

/// The answer to a request that succeeded, as text. The app's result is not parsed for it.
pub fn success(id: &Value, result: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Success<'a, R> {
        jsonrpc: &'static str,
        id: &'a Value,
        result: R,
    }
    let jsonrpc = "2.0";
    let text = serde_json::to_string(&Success {
        jsonrpc,
        id,
        result,
    });
    text.unwrap_or_else(|error| {
        let error = RpcError::new(code::INTERNAL_ERROR, error.to_string());
        error.answer(id).to_string()
    })
}

/// The message with one more member. `json!` would copy the message, which may be large.
fn with(mut message: Value, name: &str, value: Value) -> Value {
    message[name] = value;
    message
}

/// An error of JSON-RPC.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// What a program decides by.
    pub code: i32,
    /// What a person reads.
    pub message: String,
    /// More about the error.
    pub data: Option<Value>,
}

impl RpcError {
    /// An error with a message and nothing else.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        RpcError {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// With data.
    pub fn with_data(self, data: Value) -> Self {
        RpcError {
            data: Some(data),
            ..self
        }
    }

    /// An `ABPError` under that code.
    pub fn of_abp(code: i32, failure: &Value) -> Self {
        let fields = IN_DATA.into_iter();
        let data = fields.filter_map(|field| Some((field.into(), failure.get(field)?.clone())));
        let text = failure["message"].as_str().unwrap_or_default();
        RpcError::new(code, text).with_data(Value::Object(data.collect()))
    }

    /// The answer to a request. The id is `null` where none could be read.
    pub fn answer(self, id: &Value) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = self.data {
            error["data"] = data;
        }
        with(json!({ "jsonrpc": "2.0", "id": id }), "error", error)
    }
}

/// The answer to a request that failed: the `ABPError` under its code of [`rpc_code`].
pub fn failed<D: Borrow<Value>>(id: &Value, failure: &Error<D>) -> Value {
    refused(id, rpc_code(failure.code.as_str()), failure)
}

/// The answer to a request that is refused with a code of JSON-RPC itself.
pub fn refused<D: Borrow<Value>>(id: &Value, code: i32, failure: &Error<D>) -> Value {
    RpcError::of_abp(code, &error_json(failure)).answer(id)
}

/// The answer to a request that was cancelled, by whomever. `stop` is how far the stop was seen, and `by` is
/// what has stopped the handler.
pub fn cancelled(id: &Id, capability: &str, stop: Stop, by: Option<StoppedBy>) -> Value {
    let mut data = json!({
        "code": Code::CANCELLED.as_str(),
        "retryable": Code::CANCELLED.retryable(),
        "requestId": id.plain(),
        "partial": false,
        "stop": stop.as_str(),
    });
    stopped_by::put(&mut data, by, "");
    let text = format!("Tool execution cancelled: {capability}");
    let error = RpcError::new(code::CANCELLED, text);
    error.with_data(data).answer(id.value())
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
pub fn notification(method: &str, params: Value) -> Value {
    with(
        json!({ "jsonrpc": "2.0", "method": method }),
        "params",
        params,
    )
}

/// `$/progress`: the handler's report, under the caller's token.
pub fn progress(token: &Value, mut info: Value) -> Value {
    if !info.is_object() {
        info = json!({});
    }
    info["operationId"] = token.clone();
    let params = with(json!({ "token": token }), "value", info);
    notification(method::PROGRESS, params)
}

/// `_capabilities/ended`: the handler of a request that was answered as abandoned has ended.
pub fn ended(id: &Value, call_id: &str, end: LateEnd) -> Value {
    let LateEnd { success, after } = end;
    let params = json!({ "requestId": id, "callId": call_id, "success": success, "after": after });
    notification(method::ENDED, params)
}

/// `notifications/cancelled`, for a peer that wants to hear of other people's cancels.
pub fn cancel_notice(request_id: &str, reason: Option<&str>) -> Value {
    let mut params = json!({ "requestId": request_id });
    if let Some(reason) = reason {
        params["reason"] = reason.into();
    }
    notification(MCP_CANCELLED, params)
}

#[cfg(test)]
mod tests {
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
}
