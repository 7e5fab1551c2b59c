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

fn answered(state: &mut AgentState<Value>, kind: &str, key: RequestKey, payload: &Value) -> Value {
    let envelope = json!({ "type": kind, "id": key.to_string(), "payload": payload });
    receive(state, &envelope);
    match state.poll_action() {
        Some(Action::Settle(_, settled)) => abp::settled(settled),
        Some(Action::SettleCancel(_, outcome)) => abp::confirmation("mine", outcome),
        other => panic!("{payload} leads to {other:?}"),
    }
}

fn vectors() -> Value {
    let text = include_str!("../../../../../tests/conformance/abp/answers.json");
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
