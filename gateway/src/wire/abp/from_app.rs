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
mod tests {
    use super::*;
    use crate::wire::abp;
    use caphost::agent::{Action, AgentOptions, Outgoing};
    use caphost::call::CallId;
    use serde_json::json;

    /// An agent with a call in flight.
    fn calling() -> (AgentState<Value>, RequestKey) {
        let mut state = AgentState::new(AgentOptions::default());
        let key = state.call(Outgoing {
            id: CallId::parse("mine").unwrap(),
            capability: "x".into(),
            params: None,
            timeout: None,
            progress: false,
            transfer: false,
        });
        state.flush(0.0);
        while state.poll_action().is_some() {}
        (state, key)
    }

    fn answered(
        state: &mut AgentState<Value>,
        kind: &str,
        key: RequestKey,
        payload: &Value,
    ) -> Value {
        let envelope = json!({ "type": kind, "id": key.to_string(), "payload": payload });
        receive(state, &envelope);
        match state.poll_action() {
            Some(Action::Settle(_, settled)) => abp::settled(settled),
            Some(Action::SettleCancel(_, outcome)) => abp::confirmation("mine", outcome),
            other => panic!("{payload} leads to {other:?}"),
        }
    }

    fn vectors() -> Value {
        let text = include_str!("../../../../tests/conformance/abp/answers.json");
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_command_line_reads_answers_to_calls_as_page_and_gateway_do() {
        for vector in vectors()["calls"].as_array().unwrap() {
            let (mut state, key) = calling();
            let payload = &vector["payload"];
            let got = answered(&mut state, kind::CALL_RESULT, key, payload);
            let is = &vector["is"];
            let cancelled = is.get("cancelled");
            assert_eq!(got["cancelled"] == true, cancelled.is_some(), "{payload}");
            assert_eq!(
                got["success"] == true,
                is.get("success").is_some(),
                "{payload}"
            );
            if let Some(stop) = cancelled {
                assert_eq!(got["metadata"]["stop"], *stop, "{payload}");
            }
            if is["unreadable"] == true {
                assert_eq!(got["error"]["code"], "TRANSPORT_ERROR", "{payload}");
            }
        }
    }

    #[test]
    fn the_command_line_reads_answers_to_cancels_as_page_and_gateway_do() {
        for vector in vectors()["cancels"].as_array().unwrap() {
            let (mut state, _) = calling();
            let cancel = state.cancel(CallId::parse("mine").unwrap(), None, 0.0);
            state.poll_action();
            let payload = &vector["payload"];
            let got = answered(&mut state, kind::CANCEL_RESULT, cancel, payload);
            match &vector["is"] {
                Value::String(is) if is == "unreadable" => {
                    assert_eq!(got["error"]["code"], "TRANSPORT_ERROR", "{payload}");
                }
                is => {
                    let stop = got["metadata"].get("stop").cloned();
                    assert_eq!(stop.unwrap_or(false.into()), *is, "{payload}");
                }
            }
        }
    }
}
