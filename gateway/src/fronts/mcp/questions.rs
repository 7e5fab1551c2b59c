//! Questions of an app as `elicitation/create`, and the answers of the client.

use std::str::FromStr;

use serde_json::{Map, Value, json};

use crate::broker::calls::RunId;
use crate::wire::json_rpc::{Answered, cancel_notice, code};
use crate::wire::{error_json, outline};
use caphost::call::{Code, Error};
use caphost::dialect::mcp::Version;

/// What the ids of questions begin with. The run and the number of the question follow.
const PREFIX: &str = "elicitation-";

/// Whether a client of that version with these capabilities fills in forms. Without a word about the kinds of
/// questions, forms are meant.
pub fn takes_forms(capabilities: &str, version: &Version) -> bool {
    let wanted = ["elicitation.form", "elicitation.url"];
    let said = outline(capabilities.as_bytes(), &wanted);
    let kinds = said["elicitation"].as_object();
    // Questions came with structured results.
    version.structure && kinds.is_some_and(|it| it.contains_key("form") || !it.contains_key("url"))
}

/// The parameters of `elicitation/create` for a question of an app. `None` if the question is no form.
pub fn form(request: &Value) -> Option<Value> {
    let method = request["method"].as_str();
    let is_other = method.is_some_and(|it| !it.starts_with("elicitation/"))
        || request["mode"].as_str().is_some_and(|it| it != "form");
    if is_other {
        return None;
    }
    let text = |key: &str| match &request[key] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let message = text("message").or_else(|| text("title"));
    let schemas = [&request["requestedSchema"], &request["schema"]];
    let schema = schemas.into_iter().find(|it| it.is_object()).cloned();
    let empty = || json!({ "type": "object", "properties": {} });
    Some(json!({
        "message": message.unwrap_or_else(|| "The app asks".into()),
        "requestedSchema": schema.unwrap_or_else(empty),
    }))
}

/// The id of the request to the client for a question.
pub fn id_of(run: RunId, number: u64) -> String {
    format!("{PREFIX}{run}-{number}")
}

/// The run and the number of the question with that id.
pub fn read_id(id: &Value) -> Option<(RunId, u64)> {
    let (run, number) = id.as_str()?.strip_prefix(PREFIX)?.rsplit_once('-')?;
    Some((RunId::from_str(run).ok()?, number.parse().ok()?))
}

/// The key of a question in `inputRequests`.
pub fn key_of(number: u64) -> String {
    format!("{PREFIX}{number}")
}

/// The result of a call that waits for answers, where the client answers with another request.
pub fn input_required(forms: &[(u64, Value)], state: &str) -> Value {
    let requests = forms.iter().map(|(number, form)| {
        let request = json!({ "method": "elicitation/create", "params": form });
        (key_of(*number), request)
    });
    let requests: Map<String, Value> = requests.collect();
    json!({ "resultType": "input_required", "inputRequests": requests, "requestState": state })
}

/// The request to the client for a question.
pub fn asked(run: RunId, number: u64, form: &Value) -> String {
    let id = id_of(run, number);
    json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": form })
        .to_string()
}

/// The notification that a question needs no answer any more.
pub fn withdrawn(run: RunId, number: u64) -> String {
    let reason = "The app no longer waits for the answer";
    cancel_notice(&id_of(run, number), Some(reason)).to_string()
}

/// The payload of an `elicitation/response` for what the client has answered.
pub fn payload_of(answered: Answered<'_>) -> String {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    if let Some(result) = answered.result.map(read) {
        let unreadable = || refused(Code::OPERATION_FAILED, "The client's answer cannot be read");
        return payload_of_result(&result).unwrap_or_else(unreadable);
    }
    let error = answered.error.map(read).unwrap_or_default();
    let code = match error["code"].as_i64() == Some(i64::from(code::METHOD_NOT_FOUND)) {
        true => Code::NOT_SUPPORTED,
        false => Code::OPERATION_FAILED,
    };
    let message = error["message"].as_str();
    refused(code, message.unwrap_or("The client has not answered"))
}

/// The payload of an `elicitation/response` for an `ElicitResult`. `None` if the result is none.
pub fn payload_of_result(result: &Value) -> Option<String> {
    match result["action"].as_str()? {
        "accept" => {
            let content = match &result["content"] {
                Value::Null => json!({}),
                content => content.clone(),
            };
            let payload = json!({ "success": true, "data": content }).to_string();
            content.is_object().then_some(payload)
        }
        "cancel" => {
            let metadata = json!({ "stop": "abandoned" });
            let payload = json!({ "success": false, "cancelled": true, "metadata": metadata });
            Some(payload.to_string())
        }
        "decline" => Some(refused(Code::PERMISSION_DENIED, "The user has declined")),
        _ => None,
    }
}

/// The payload of an `elicitation/response` to a question that is not asked.
pub fn not_asked(why: &str) -> String {
    refused(Code::NOT_SUPPORTED, why)
}

fn refused(code: Code, message: &str) -> String {
    let error = error_json(&Error::<Value>::new(code, message.to_string()));
    json!({ "success": false, "error": error }).to_string()
}

#[cfg(test)]
mod tests;
