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
mod tests;
