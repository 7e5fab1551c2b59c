//! Calls of dialects through the broker to an app, without a socket.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::*;
use crate::broker;
use crate::broker::calls::{Found, RunState};
use crate::gateway::{CancelOutcome, Hub, OutboxStep, Outcome, Step};
use crate::limits::Limits;
use crate::tokens::Tokens;
use crate::wire::Json;
use caphost::call::Stop;

/// An id that no run has by chance.
const SEVEN: &str = "00000000-0000-4000-8000-000000000007";

/// An app on the broker. The messages that the broker sends to the app come out of `inbox`.
struct App {
    hub: Arc<Hub>,
    peer: broker::PeerId,
    inbox: mpsc::UnboundedReceiver<Value>,
}

impl App {
    fn join(hub: &Arc<Hub>) -> App {
        let (peer, outbox, connected) = hub.join(|peer| broker::Event::AppJoined {
            peer,
            identity: Some(Identity::anyone()),
            seat: broker::Seat::Connected,
        });
        let (to_test, inbox) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let _connected = connected;
            while let OutboxStep::Message(message, cost) = outbox.next().await {
                outbox.written(cost);
                let message = serde_json::from_str(&message.into_text()).unwrap();
                let _ = to_test.send(message);
            }
        });
        let app = App {
            hub: hub.clone(),
            peer,
            inbox,
        };
        let info = json!({ "id": "demo", "name": "Demo", "version": "1" });
        let capabilities = json!([{ "name": "a.b", "description": "d" }]);
        app.send(json!({ "type": "app/register", "id": "r", "payload": { "app": info, "capabilities": capabilities } }));
        app
    }

    fn send(&self, message: Value) {
        let text = message.to_string();
        self.hub.receive(self.peer, &text, None);
    }

    /// The next message of type `kind`. This function skips messages of other types, but answers
    /// `initialize`.
    async fn expect(&mut self, kind: &str) -> Value {
        let wait = async {
            loop {
                let message = self.inbox.recv().await.expect("the app is connected");
                if message["type"] == kind {
                    return message;
                }
                if message["type"] == "initialize" {
                    self.answer(&message, "initialize-result", json!({ "sessionId": "s" }));
                }
            }
        };
        let message = tokio::time::timeout(Duration::from_secs(10), wait).await;
        message.unwrap_or_else(|_| panic!("no {kind} came"))
    }

    fn answer(&self, message: &Value, kind: &str, payload: Value) {
        let (id, agent) = (&message["id"], &message["agent"]);
        self.send(json!({ "type": kind, "id": id, "agent": agent, "payload": payload }));
    }

    fn answer_call(&self, call: &Value, payload: Value) {
        self.answer(call, "capabilities/call-result", payload);
    }

    async fn confirm_next_cancel(&mut self) -> Value {
        let cancel = self.expect("capabilities/cancel").await;
        let call_id = &cancel["payload"]["callId"];
        let confirmed = json!({ "callId": call_id, "cancelled": true });
        self.answer(&cancel, "capabilities/cancel-result", confirmed);
        cancel
    }
}

fn hub() -> Arc<Hub> {
    let limits = Limits {
        confirm_timeout: Duration::from_millis(300),
        ..Limits::default()
    };
    let hub = Arc::new(Hub::new(limits, Tokens::default()));
    let timed = hub.clone();
    tokio::spawn(async move { timed.keep_time().await });
    hub
}

fn client(dialect: Dialect) -> Client {
    Client {
        takes_questions: false,
        dialect,
        owner: Identity::anyone(),
        app: None,
        name: "test".into(),
        version: "1".into(),
    }
}

fn call(dialect_id: &str) -> NewCall {
    NewCall {
        capability: "a.b".into(),
        params: Some((&json!({ "n": 1 })).into()),
        dialect_id: Some(dialect_id.into()),
        thread: Some("t".into()),
        progress: true,
        ..NewCall::default()
    }
}

/// The confirmation of an app that does not say how far the work has stopped.
fn abandoned() -> CancelOutcome {
    CancelOutcome::confirmed(Stop::Abandoned.into())
}

fn cancelled() -> Value {
    json!({ "success": false, "cancelled": true })
}

fn state(hub: &Hub, dialect_id: &str) -> RunState {
    match Found::among(hub.matches(dialect_id, &Identity::anyone())) {
        Found::One(run) => run.state,
        other => panic!("{dialect_id}: {other:?}"),
    }
}

#[tokio::test]
async fn a_call_reaches_the_app_and_its_answer_comes_back() {
    let hub = hub();
    let mut app = App::join(&hub);
    let mut call = hub.open(client(Dialect::Mcp)).call(call("7"));
    assert_eq!(state(&hub, "7"), RunState::Queued);
    let sent = app.expect("capabilities/call").await;
    assert_eq!(state(&hub, "7"), RunState::Running);
    assert_eq!(sent["payload"]["params"], json!({ "n": 1 }));
    assert_eq!(
        sent["payload"]["options"]["callId"],
        call.id.to_string(),
        "the run's id"
    );
    let info = json!({ "operationId": sent["payload"]["options"]["progressToken"], "progress": 3 });
    app.answer(&sent, "progress", info.clone());
    assert_eq!(call.next().await, Step::Progress(info));
    app.answer_call(&sent, json!({ "success": true, "data": { "ok": 1 } }));
    let Step::Ended(Outcome::Done { data, .. }) = call.next().await else {
        panic!("not done")
    };
    assert_eq!(data, Some(Json::from(&json!({ "ok": 1 }))));
    assert_eq!(state(&hub, "7"), RunState::Completed);
}

#[tokio::test]
async fn the_callers_own_cancel_is_confirmed_by_the_app() {
    let hub = hub();
    let mut app = App::join(&hub);
    let call = hub.open(client(Dialect::Mcp)).call(call("7"));
    let sent = app.expect("capabilities/call").await;
    call.canceller().cancel(Some("enough".into()));
    let cancel = app.confirm_next_cancel().await;
    assert_eq!(cancel["payload"]["reason"], "enough");
    app.answer_call(&sent, cancelled());
    let outcome = call.outcome().await;
    let expected = Outcome::Cancelled {
        reason: Some("enough".into()),
        stop: Stop::Abandoned,
        by: None,
    };
    assert_eq!(outcome, expected);
    assert_eq!(state(&hub, "7"), RunState::Cancelled);
}

#[tokio::test]
async fn an_operators_cancel_is_not_the_callers() {
    let hub = hub();
    let mut app = App::join(&hub);
    let call = hub.open(client(Dialect::Mcp)).call(call("7"));
    let sent = app.expect("capabilities/call").await;
    let admin = Identity::anyone();
    let (confirmation, ()) =
        tokio::join!(hub.cancel(call.id, Some("stop".into()), &admin), async {
            app.confirm_next_cancel().await;
            app.answer_call(&sent, cancelled());
        });
    assert_eq!(confirmation, abandoned());
    let again = hub.cancel(call.id, None, &admin).await;
    assert_eq!(again, abandoned());
    let expected = Outcome::Cancelled {
        reason: Some("stop".into()),
        stop: Stop::Abandoned,
        by: None,
    };
    assert_eq!(call.outcome().await, expected);
}

#[tokio::test]
async fn an_app_that_does_not_confirm_leaves_it_open() {
    let hub = hub();
    let mut app = App::join(&hub);
    let call = hub.open(client(Dialect::Mcp)).call(call("7"));
    let sent = app.expect("capabilities/call").await;
    let confirmation = hub.cancel(call.id, None, &Identity::anyone()).await;
    assert!(!confirmation.cancelled());
    assert_eq!(
        confirmation.reason.as_deref(),
        Some("No confirmation from the app")
    );
    app.answer_call(&sent, json!({ "success": true }));
    assert!(matches!(call.outcome().await, Outcome::Done { .. }));
    assert_eq!(state(&hub, "7"), RunState::Completed);
}

#[tokio::test]
async fn a_call_nobody_waits_for_is_cancelled_in_the_app() {
    let hub = hub();
    let mut app = App::join(&hub);
    let session = hub.open(client(Dialect::Rap));
    drop(session.call(call("7")));
    drop(session);
    // The call was dropped before it was sent: the app never gets it. A call that is dropped after it was
    // sent is cancelled.
    let session = hub.open(client(Dialect::Rap));
    let call = session.call(call("8"));
    let sent = app.expect("capabilities/call").await;
    assert_eq!(sent["payload"]["options"]["callId"], call.id.to_string());
    drop((call, session));
    app.confirm_next_cancel().await;
    app.answer_call(&sent, cancelled());
    for id in ["7", "8"] {
        let over = async {
            while state(&hub, id) != RunState::Cancelled {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), over)
            .await
            .unwrap_or_else(|_| panic!("{id}: {:?}", state(&hub, id)));
    }
}

#[tokio::test]
async fn a_cancel_before_the_call_skips_it() {
    let hub = hub();
    let _app = App::join(&hub);
    let reason = Some("never".into());
    let anyone = Identity::anyone();
    hub.seek_or_cancel_early(SEVEN, reason, &anyone).await;
    let outcome = hub
        .open(client(Dialect::Mcp))
        .call(call(SEVEN))
        .outcome()
        .await;
    let expected = Outcome::Cancelled {
        reason: Some("never".into()),
        stop: Stop::NeverStarted,
        by: None,
    };
    assert_eq!(outcome, expected);
}

#[tokio::test]
async fn a_call_cancelled_behind_a_slow_initialize_and_forgotten_is_never_sent() {
    let mut limits = Limits::default();
    limits.retention.count = 1;
    let hub = Arc::new(Hub::new(limits, Tokens::default()));
    let mut app = App::join(&hub);
    let session = hub.open(client(Dialect::Mcp));
    let admin = Identity::anyone();
    let waiting = session.call(call("7"));
    let initialize = app.expect("initialize").await;
    let confirmation = hub.cancel(waiting.id, None, &admin).await;
    assert!(confirmation.cancelled(), "{confirmation:?}");
    // Another call that ends pushes the first one out of the remembered runs.
    let other = session.call(call("8"));
    hub.cancel(other.id, None, &admin).await;
    assert!(hub.run(waiting.id, &admin).is_none());

    let last = session.call(call("9"));
    app.answer(
        &initialize,
        "initialize-result",
        json!({ "sessionId": "s" }),
    );
    let sent = app.expect("capabilities/call").await;
    assert_eq!(sent["payload"]["options"]["callId"], last.id.to_string());
    for skipped in [waiting, other] {
        let outcome = skipped.outcome().await;
        assert!(matches!(outcome, Outcome::Cancelled { .. }), "{outcome:?}");
    }
}

#[tokio::test]
async fn without_an_app_a_call_fails_and_the_next_finds_one() {
    let hub = hub();
    let session = hub.open(client(Dialect::Mcp));
    let Outcome::Failed(error) = session.call(call("7")).outcome().await else {
        panic!("there is no app")
    };
    assert_eq!(error.code, "DISCONNECTED");
    let mut app = App::join(&hub);
    let call = session.call(call("8"));
    let sent = app.expect("capabilities/call").await;
    app.answer_call(&sent, json!({ "success": true }));
    assert!(matches!(call.outcome().await, Outcome::Done { .. }));
}

#[tokio::test]
async fn an_app_that_goes_away_leaves_nobody_waiting() {
    let hub = hub();
    let mut app = App::join(&hub);
    let call = hub.open(client(Dialect::Mcp)).call(call("7"));
    app.expect("capabilities/call").await;
    hub.handle(broker::Event::Gone { peer: app.peer });
    let Outcome::Failed(error) = call.outcome().await else {
        panic!("the app is gone")
    };
    assert_eq!(error.code, "DISCONNECTED");
    assert_eq!(state(&hub, "7"), RunState::Unknown);
    assert!(hub.offer(None).is_err() && hub.apps().is_empty());
}

#[tokio::test]
async fn offers_are_told_of() {
    let hub = hub();
    let mut offers = hub.offer_changes(None);
    offers.mark_unchanged();
    let app = App::join(&hub);
    assert!(offers.has_changed().unwrap());
    assert_eq!(hub.apps()[0].id, "demo");
    assert_eq!(hub.offer(Some("demo")).unwrap().capabilities[0].name, "a.b");
    offers.mark_unchanged();
    app.send(json!({ "type": "app/update", "payload": { "capabilities": [] } }));
    assert!(offers.has_changed().unwrap());
    assert!(hub.offer(None).unwrap().capabilities.is_empty());
}
