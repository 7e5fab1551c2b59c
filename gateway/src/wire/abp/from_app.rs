//! The agent's half: messages from an app.

use serde_json::Value;

use super::{CALL_ENDED, kind, request_key};
use crate::wire::stops::{self, Grade};
use caphost::agent::{AgentState, RequestKey};
use caphost::call::Code;

/// Tells an agent's state about an envelope of its app. Returns how far a stop was seen, if the envelope says
/// that something is cancelled. The answer to `initialize`, notifications and questions do not concern the
/// state, except for the late end of a call.
pub fn receive(state: &mut AgentState<Value>, envelope: &Value) -> Option<Grade> {
    let payload = &envelope["payload"];
    let kind = envelope["type"].as_str()?;
    match (kind, request_key(&envelope["id"])) {
        (kind::CALL_RESULT, Some(key)) => return called(state, key, payload),
        (kind::CANCEL_RESULT, Some(key)) => {
            let grade = cancelled(payload);
            let reason = payload["reason"].as_str().map(String::from);
            let error = payload.get("error").filter(|it| it.is_object());
            let code = error.and_then(|error| error["code"].as_str());
            let lost = code.is_some_and(says_no_session);
            let confirmed = grade.map(|it| (it.stop, it.late_end));
            state.cancelled(key, confirmed, reason, error.cloned(), lost);
            return grade;
        }
        (kind::ERROR, Some(key)) => {
            let is_response = payload["success"].is_boolean();
            state.refused(key, is_response.then(|| payload.clone()));
        }
        (kind::SHUTDOWN_RESULT, _) => state.shut_down(),
        (kind::NOTIFICATION, _) if payload["event"] == CALL_ENDED => {
            let data = &payload["data"];
            state.ended(data["callId"].as_str()?, stops::late_end(data)?);
        }
        (kind::PROGRESS, _) => {
            let operation = &payload["operationId"];
            // An app may turn a token of digits into a number.
            let number = operation.as_f64().map(|number| (number as u32).to_string());
            let operation = operation.as_str().or(number.as_deref())?;
            state.progress(operation, payload.clone());
        }
        _ => tracing::debug!(kind, "an app's message is not heeded"),
    }
    None
}

/// A call is answered.
fn called(state: &mut AgentState<Value>, key: RequestKey, payload: &Value) -> Option<Grade> {
    let Some(success) = payload["success"].as_bool() else {
        // The payload is no response at all.
        state.called(key, None, None);
        return None;
    };
    let mut response = payload.clone();
    // A call that has succeeded was not cancelled, whatever else the payload says.
    let grade = cancelled(payload).filter(|_| !success);
    if success && response["cancelled"] == true {
        response["cancelled"] = false.into();
    }
    let code = payload["error"]["code"].as_str();
    if grade.is_none() && !success && code.is_some_and(Code::leaves_open) {
        state.called_undecided(key, response);
    } else {
        state.called(key, Some(response), grade.map(|it| it.stop));
    }
    grade
}

fn cancelled(payload: &Value) -> Option<Grade> {
    let cancelled = payload["cancelled"] == true;
    cancelled.then(|| Grade::read(&payload["metadata"]))
}

/// Whether an error with that code says that there is no session.
pub fn says_no_session(code: &str) -> bool {
    let gone = [
        Code::NOT_INITIALIZED,
        Code::SESSION_EXPIRED,
        Code::SESSION_INVALID,
    ];
    gone.iter().any(|gone| gone.as_str() == code)
}
