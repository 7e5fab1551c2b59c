use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use super::*;

type Sent = Arc<Mutex<Vec<Value>>>;

fn start(patience: Patience) -> (Agent, Inlet, Sent) {
    let sent = Sent::default();
    let written = sent.clone();
    let hello = Hello {
        name: "test".into(),
        version: "1".into(),
    };
    let send = move |text: String| {
        let message = serde_json::from_str(&text).unwrap();
        written.lock().unwrap().push(message);
    };
    let (agent, inlet) = Agent::start(&hello, patience, send);
    (agent, inlet, sent)
}

fn call() -> NewCall {
    NewCall {
        capability: "a.b".into(),
        ..NewCall::default()
    }
}

async fn nth(sent: &Sent, index: usize) -> Value {
    let wait = async {
        loop {
            if let Some(message) = sent.lock().unwrap().get(index) {
                return message.clone();
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(10), wait).await;
    found.expect("the message")
}

fn open(inlet: &Inlet) {
    let result =
        json!({ "type": "initialize-result", "id": "initialize", "payload": { "sessionId": "s" } });
    inlet.receive(result.to_string());
}

#[tokio::test]
async fn calls_wait_for_the_session() {
    let (agent, inlet, sent) = start(Patience::default());
    let calling = agent.call(call());
    assert_eq!(nth(&sent, 0).await["type"], "initialize");
    // On a runtime of one thread: whatever can run has run.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(sent.lock().unwrap().len(), 1);
    open(&inlet);
    let request = nth(&sent, 1).await;
    assert_eq!(request["payload"]["options"]["callId"], calling.call_id);
    let payload = json!({ "success": true, "data": 1 });
    let result =
        json!({ "type": "capabilities/call-result", "id": request["id"], "payload": payload });
    inlet.receive(result.to_string());
    let done = Outcome::Done {
        data: Some(json!(1)),
        metadata: None,
    };
    assert_eq!(calling.outcome().await, done);
    assert_eq!(agent.session().await.unwrap()["sessionId"], "s");
}

#[tokio::test]
async fn a_refused_session_fails_its_calls_with_the_apps_error() {
    let (agent, inlet, _sent) = start(Patience::default());
    let calling = agent.call(call());
    let error = json!({ "code": "RATE_LIMITED", "message": "full", "retryable": true });
    let result =
        json!({ "type": "initialize-result", "id": "initialize", "payload": { "error": error } });
    inlet.receive(result.to_string());
    let Outcome::Failed(failed) = calling.outcome().await else {
        panic!("it was refused")
    };
    assert_eq!((&*failed.code, failed.retryable), ("RATE_LIMITED", true));
    assert_eq!(agent.session().await.unwrap_err().code, "RATE_LIMITED");
    let late = agent.call(call()).outcome().await;
    assert!(matches!(late, Outcome::Failed(error) if error.code == "DISCONNECTED"));
    assert!(agent.is_over());
}

#[tokio::test]
async fn an_app_that_says_nothing_is_not_waited_for() {
    let (agent, _inlet, _sent) = start(Patience {
        initialize: Duration::from_millis(30),
        ..Patience::default()
    });
    let Outcome::Failed(error) = agent.call(call()).outcome().await else {
        panic!("nobody answered")
    };
    assert_eq!(error.code, "TIMEOUT");
}

#[tokio::test]
async fn a_lost_transport_settles_everything() {
    let (agent, inlet, sent) = start(Patience::default());
    open(&inlet);
    let calling = agent.call(call());
    nth(&sent, 1).await;
    let confirmation = agent.cancel(&calling.call_id, None);
    drop(inlet);
    assert!(!confirmation.await.cancelled);
    assert!(
        matches!(calling.outcome().await, Outcome::Failed(error) if error.code == "DISCONNECTED")
    );
}

#[tokio::test]
async fn a_bad_call_id_is_not_cancelled() {
    let (agent, _inlet, _sent) = start(Patience::default());
    assert!(!agent.cancel("", None).await.cancelled);
}

#[test]
fn an_error_that_does_not_say_whether_it_is_retryable_is_as_its_code() {
    let retryable = |body| AbpError::read(body).retryable;
    assert!(retryable(json!({ "code": "TIMEOUT" })));
    assert!(retryable(
        json!({ "code": "RATE_LIMITED", "retryable": "yes" })
    ));
    assert!(!retryable(json!({ "code": "TIMEOUT", "retryable": false })));
    assert!(!retryable(json!({ "code": "OPERATION_FAILED" })));
    assert!(!retryable(json!({ "code": "OF_THE_APP" })));
    assert!(retryable(
        json!({ "code": "OF_THE_APP", "retryable": true })
    ));
}

#[tokio::test]
async fn a_cancel_that_a_disconnect_overtakes_is_told_how_its_call_has_ended_if_that_is_known() {
    let failed = |code| json!({ "success": false, "error": { "code": code, "message": "" } });
    let completed = Some("Operation already completed".to_string());
    for (payload, reason, code) in [
        (json!({ "success": true }), completed.clone(), None),
        (failed("OPERATION_FAILED"), completed, None),
        (json!({ "success": false, "cancelled": true }), None, None),
        (failed("DISCONNECTED"), None, Some("DISCONNECTED")),
        (failed("TIMEOUT"), None, Some("DISCONNECTED")),
    ] {
        let (agent, inlet, sent) = start(Patience::default());
        open(&inlet);
        let calling = agent.call(call());
        let id = nth(&sent, 1).await["id"].clone();
        let result = json!({ "type": "capabilities/call-result", "id": id, "payload": payload });
        inlet.receive(result.to_string());
        // On a runtime of one thread all of this has come before any of it is looked at.
        let cancelling = agent.cancel(&calling.call_id, None);
        drop(inlet);
        let it = cancelling.await;
        assert_eq!(it.cancelled, payload["cancelled"] == true, "{payload}");
        assert_eq!(it.error.map(|it| it.code).as_deref(), code, "{payload}");
        assert_eq!(it.reason.filter(|_| code.is_none()), reason, "{payload}");
    }
}
