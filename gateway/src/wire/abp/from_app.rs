//! The agent's half: messages from an app.

use serde_json::Value;

use super::{CALL_ENDED, kind, request_key};
use crate::wire::stops;
use caphost::agent::{AgentState, RequestKey};
use caphost::dialect::answers::{Answer, Confirmation};

/// Tells an agent's state about an envelope of its app. The answer to `initialize`, notifications and questions
/// do not concern the state, except for the late end of a call.
pub fn receive(state: &mut AgentState<Value>, envelope: &Value) {
    let payload = &envelope["payload"];
    let Some(kind) = envelope["type"].as_str() else {
        return;
    };
    match (kind, request_key(&envelope["id"])) {
        (kind::CALL_RESULT, Some(key)) => called(state, key, payload),
        (kind::CANCEL_RESULT, Some(key)) => cancelled(state, key, payload),
        (kind::ERROR, Some(key)) => {
            let is_response = payload["success"].is_boolean();
            state.refused(key, is_response.then(|| payload.clone()));
        }
        (kind::SHUTDOWN_RESULT, _) => state.shut_down(),
        (kind::NOTIFICATION, _) if payload["event"] == CALL_ENDED => {
            let data = &payload["data"];
            if let Some((call, end)) = data["callId"].as_str().zip(stops::late_end(data)) {
                state.ended(call, end);
            }
        }
        (kind::PROGRESS, _) => {
            let operation = &payload["operationId"];
            // An app may turn a token of digits into a number.
            let number = operation.as_f64().map(|number| (number as u32).to_string());
            if let Some(operation) = operation.as_str().or(number.as_deref()) {
                state.progress(operation, payload.clone());
            }
        }
        _ => tracing::debug!(kind, "an app's message is not heeded"),
    }
}

fn called(state: &mut AgentState<Value>, key: RequestKey, payload: &Value) {
    let answer = Answer::of(
        payload["success"].as_bool(),
        payload["cancelled"].as_bool(),
        payload["error"]["code"].as_str(),
        stops::read(&payload["metadata"]),
    );
    let mut response = payload.clone();
    if !payload["cancelled"].is_null() {
        // Another response is written for a cancelled call.
        response["cancelled"] = false.into();
    }
    state.called(key, answer, response);
}

fn cancelled(state: &mut AgentState<Value>, key: RequestKey, payload: &Value) {
    let error = payload.get("error").filter(|it| it.is_object());
    let confirmation = Confirmation::of(
        payload["cancelled"].as_bool(),
        error.is_some(),
        error.and_then(|error| error["code"].as_str()),
        stops::read(&payload["metadata"]),
    );
    let call = match &payload["callId"] {
        Value::Null => None,
        Value::String(call) => Some(call.clone()),
        other => Some(other.to_string()),
    };
    let reason = payload["reason"].as_str().map(String::from);
    state.cancelled(key, call.as_deref(), confirmation, reason, error.cloned());
}

#[cfg(test)]
mod tests;
