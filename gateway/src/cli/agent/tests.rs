use super::*;

fn call() -> Outgoing<Value> {
    Outgoing {
        id: CallId::parse("c").unwrap(),
        capability: "a.b".into(),
        params: None,
        timeout: None,
        progress: true,
        transfer: false,
    }
}

fn sent(agent: &mut Agent) -> Value {
    let text = agent.outgoing().pop_front().expect("a message");
    serde_json::from_str(&text).unwrap()
}

fn answer_hello(agent: &mut Agent, payload: Value) {
    assert_eq!(sent(agent)["type"], "initialize");
    let result = json!({ "type": "initialize-result", "id": "initialize", "payload": payload });
    agent.receive(&result.to_string());
}

/// An agent with a call in flight, and the id of the call's request.
fn calling() -> (Agent, Value) {
    let mut agent = Agent::new(Duration::from_secs(5));
    answer_hello(&mut agent, json!({ "sessionId": "s" }));
    agent.call(call());
    let request = sent(&mut agent);
    assert_eq!(request["payload"]["options"]["callId"], "c");
    (agent, request["id"].clone())
}

fn answer_call(agent: &mut Agent, id: &Value, payload: &Value) {
    let result = json!({ "type": "capabilities/call-result", "id": id, "payload": payload });
    agent.receive(&result.to_string());
}

#[test]
fn a_call_ends_with_its_response() {
    let (mut agent, id) = calling();
    assert_eq!(agent.next_event(), None);
    answer_call(&mut agent, &id, &json!({ "success": true, "data": 1 }));
    let done = json!({ "success": true, "data": 1 });
    assert_eq!(agent.next_event(), Some(Event::Ended(done)));
    assert_eq!(agent.session().unwrap().as_ref().unwrap()["sessionId"], "s");
}

#[test]
fn a_refused_session_has_the_apps_error() {
    let mut agent = Agent::new(Duration::from_secs(5));
    let error = json!({ "code": "RATE_LIMITED", "message": "full", "retryable": true });
    answer_hello(&mut agent, json!({ "error": error.clone() }));
    let refused = agent.session().unwrap().as_ref().unwrap_err();
    assert_eq!(*refused.body(), error);
    assert!(agent.is_over());
}

#[test]
fn an_answer_that_cannot_be_read_ends_what_it_answers() {
    let mut agent = Agent::new(Duration::from_secs(5));
    agent.receive(r#"{"type":"initialize-result","id":"initialize","payload":{"#);
    let refused = agent.session().unwrap().as_ref().unwrap_err();
    assert_eq!(refused.code(), "TRANSPORT_ERROR");
    let (mut agent, id) = calling();
    agent.receive(&format!(r#"{{"type":"x","id":{id},"payload":{{"#));
    let Some(Event::Ended(response)) = agent.next_event() else {
        panic!("the call is over")
    };
    assert_eq!(response["error"]["code"], "TRANSPORT_ERROR");
}

#[test]
fn a_lost_connection_settles_everything() {
    let (mut agent, _) = calling();
    agent.cancel(call().id, None);
    agent.lost();
    let events: Vec<_> = std::iter::from_fn(|| agent.next_event()).take(3).collect();
    let ended =
        |it: &Event| matches!(it, Event::Ended(it) if it["error"]["code"] == "DISCONNECTED");
    assert!(events.iter().any(ended), "{events:?}");
    let refused = |it: &Event| matches!(it, Event::Cancelled(it) if it["cancelled"] == false);
    assert!(events.iter().any(refused), "{events:?}");
}

#[test]
fn a_cancel_that_a_disconnect_overtakes_is_told_how_its_call_has_ended_if_that_is_known() {
    let failed = |code| json!({ "success": false, "error": { "code": code, "message": "" } });
    let completed = Some("Operation already completed");
    for (payload, reason, code) in [
        (json!({ "success": true }), completed, None),
        (failed("OPERATION_FAILED"), completed, None),
        (json!({ "success": false, "cancelled": true }), None, None),
        (failed("DISCONNECTED"), None, Some("DISCONNECTED")),
        (failed("TIMEOUT"), None, Some("DISCONNECTED")),
    ] {
        let (mut agent, id) = calling();
        answer_call(&mut agent, &id, &payload);
        agent.cancel(call().id, None);
        agent.lost();
        let mut events = std::iter::from_fn(|| agent.next_event()).take(3);
        let it = events.find_map(|event| match event {
            Event::Cancelled(it) => Some(it),
            Event::Progress(_) | Event::Ended(_) => None,
        });
        let it = it.expect("the cancel is answered");
        assert_eq!(it["callId"], "c");
        assert_eq!(it["cancelled"], payload["cancelled"] == true, "{payload}");
        assert_eq!(it["error"]["code"].as_str(), code, "{payload}");
        let said = it["reason"].as_str().filter(|_| code.is_none());
        assert_eq!(said, reason, "{payload}");
    }
}
