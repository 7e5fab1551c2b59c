//! The messages in which the dialects of JSON-RPC differ.

use serde_json::{Value, json};

use crate::call::Answer;
use crate::peer::{NewCall, Tool};

/// A dialect of JSON-RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Mcp,
    /// `$/cancel_request { requestId }`.
    Acp,
    /// `$/cancelRequest { id }`.
    Lsp,
}

/// How the tools of a peer are called.
#[derive(Clone, Debug)]
pub enum Way {
    /// MCP's `tools/call`, with the names that the peer lists.
    Tools { count: String, read: String },
    /// caphost's `_capabilities/call`, with the names that the peer lists.
    Capabilities { count: String, read: String },
    /// A method for each tool: `_conformance/count` and `_conformance/read`.
    Methods,
}

impl Way {
    /// The request of a call. `token` is the token for its progress.
    pub fn request(&self, id: &Value, call: &NewCall, token: Option<&str>) -> Value {
        let one = |count: &str, read: &str| {
            if call.tool == Tool::Count {
                count.to_owned()
            } else {
                read.to_owned()
            }
        };
        let (method, mut params) = match self {
            Self::Tools { count, read } => (
                "tools/call".to_owned(),
                json!({ "name": one(count, read), "arguments": call.arguments }),
            ),
            Self::Capabilities { count, read } => (
                "_capabilities/call".to_owned(),
                json!({ "capability": one(count, read), "params": call.arguments, "options": {} }),
            ),
            Self::Methods => (
                one("_conformance/count", "_conformance/read"),
                call.arguments.clone(),
            ),
        };
        if let Some(token) = token {
            match self {
                Self::Tools { .. } => params["_meta"] = json!({ "progressToken": token }),
                Self::Capabilities { .. } => params["options"]["progressToken"] = json!(token),
                Self::Methods => params["progressToken"] = json!(token),
            }
        }
        if let (Self::Capabilities { .. }, Some(timeout)) = (self, call.timeout) {
            params["options"]["timeout"] = json!(timeout.as_millis() as u64);
        }
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    /// Whether a call can carry a time limit.
    pub fn has_timeout(&self) -> bool {
        matches!(self, Self::Capabilities { .. })
    }
}

impl Style {
    /// The cancel of the request `id`.
    pub fn cancel(self, id: &Value, reason: Option<&str>) -> Value {
        let mut params = match self {
            Self::Mcp | Self::Acp => json!({ "requestId": id }),
            Self::Lsp => json!({ "id": id }),
        };
        if let (Self::Mcp, Some(reason)) = (self, reason) {
            params["reason"] = json!(reason);
        }
        self.cancel_with(params)
    }

    /// The message of a cancel with any parameters.
    pub fn cancel_with(self, params: Value) -> Value {
        let method = match self {
            Self::Mcp => "notifications/cancelled",
            Self::Acp => "$/cancel_request",
            Self::Lsp => "$/cancelRequest",
        };
        json!({ "jsonrpc": "2.0", "method": method, "params": params })
    }

    /// Reads a response.
    pub fn answer(self, message: &Value) -> Answer {
        if let Some(error) = message.get("error") {
            let code = error
                .get("code")
                .map_or("without a code".to_owned(), Value::to_string);
            if code == "-32800" {
                return Answer::Cancelled {
                    stop: text(error.pointer("/data/stop")),
                };
            }
            return Answer::Failed {
                code,
                message: text(error.get("message")).unwrap_or_default(),
            };
        }
        let result = &message["result"];
        match self {
            Self::Mcp if result.get("isError") == Some(&Value::Bool(true)) => {
                let message = text(result.pointer("/content/0/text")).unwrap_or_default();
                Answer::Failed {
                    code: "isError".into(),
                    message,
                }
            }
            Self::Mcp => Answer::Completed(tool_result(result)),
            Self::Acp | Self::Lsp => {
                Answer::Completed(result.get("data").unwrap_or(result).clone())
            }
        }
    }

    /// The token and the value of a notification of progress.
    pub fn progress(self, message: &Value) -> Option<(String, f64)> {
        let params = message.get("params")?;
        match (self, message.get("method")?.as_str()?) {
            (Self::Mcp, "notifications/progress") => Some((
                text(params.get("progressToken"))?,
                params.get("progress")?.as_f64()?,
            )),
            (Self::Acp | Self::Lsp, "$/progress" | "_conformance/progress") => {
                let value = params.get("value")?;
                Some((
                    text(params.get("token"))?,
                    value.as_f64().or_else(|| value.get("progress")?.as_f64())?,
                ))
            }
            _ => None,
        }
    }

    /// The id of the request whose work has ended after its answer.
    pub fn late_end(self, message: &Value) -> Option<Value> {
        let params = message.get("params")?;
        match message.get("method")?.as_str()? {
            "_capabilities/ended" => params.get("requestId").cloned(),
            "notifications/message" => params.pointer("/data/requestId").cloned(),
            _ => None,
        }
    }
}

/// The data of a result of MCP: structured, or as JSON in its first text.
fn tool_result(result: &Value) -> Value {
    let in_text = || serde_json::from_str(result.pointer("/content/0/text")?.as_str()?).ok();
    let structured = result.get("structuredContent").map(|it| {
        it.get("result")
            .filter(|inner| inner.is_object())
            .unwrap_or(it)
            .clone()
    });
    structured
        .or_else(in_text)
        .unwrap_or_else(|| result.clone())
}

fn text(value: Option<&Value>) -> Option<String> {
    value?.as_str().map(str::to_owned)
}
