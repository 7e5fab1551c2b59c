//! What has stopped a call in a worker, and how long that took, on the way from an app to the requester.

use serde_json::{Value, json};

use crate::support::*;

/// An app's message about a call whose worker the app has ended.
pub fn terminated(payload: Value) -> Value {
    with(
        payload,
        json!({ "stop": "terminated", "step": "terminate", "took": 57.25 }),
    )
}

fn with(mut payload: Value, metadata: Value) -> Value {
    payload["cancelled"] = true.into();
    payload["metadata"] = metadata;
    payload
}

/// The agent calls and cancels, and the app reports `metadata` about the stop. Returns the agent's two
/// messages.
async fn cancelled(agent: &mut Peer, app: &mut Peer, id: &str, metadata: &Value) -> [Value; 2] {
    agent.send(call(id, id)).await;
    let calling = app.next().await;
    agent.send(cancel("cancel", id)).await;
    let cancelling = app.next().await;
    let confirmed = with(json!({ "callId": id }), metadata.clone());
    app.send(answer(&cancelling, "capabilities/cancel-result", confirmed))
        .await;
    let response = with(json!({ "success": false }), metadata.clone());
    app.send(answer(&calling, "capabilities/call-result", response))
        .await;
    let mut got = [agent.next().await, agent.next().await];
    got.each_mut().map(|it| it["payload"]["metadata"].take())
}

/// These members of a run, or of an answer about a run.
fn seen(of: &Value) -> [&Value; 3] {
    ["stop", "step", "took"].map(|name| &of[name])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_step_reaches_the_agent_and_all_who_ask_for_the_run() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    for (id, step, took) in [("1", "signal", json!(3)), ("2", "terminate", json!(57.25))] {
        let metadata = json!({ "stop": "terminated", "step": step, "took": took });
        let got = cancelled(&mut agent, &mut app, id, &metadata).await;
        assert_eq!(got, [metadata.clone(), metadata]);
        let expected = [&json!("terminated"), &json!(step), &took];
        let run = gateway.get(&format!("/api/runs/{id}"), "").await.json();
        assert_eq!(seen(&run), expected);
        let path = format!("/cancellation/status/{id}");
        assert_eq!(seen(&gateway.get(&path, "").await.json()), expected);
        let path = format!("/api/runs/{id}/cancel");
        assert_eq!(seen(&gateway.post(&path, "", "{}").await.json()), expected);
        let body = json!({ "requestId": id }).to_string();
        let again = gateway.post("/cancellation/cancel", "", &body).await;
        assert_eq!(seen(&again.json()), expected);
    }
    // Other stops have no step.
    cancelled(&mut agent, &mut app, "3", &json!({ "stop": "returned" })).await;
    let run = gateway.get("/api/runs/3", "").await.json();
    assert_eq!(seen(&run), [&json!("returned"), &Value::Null, &Value::Null]);
    let again = gateway.post("/api/runs/3/cancel", "", "{}").await.json();
    assert!(again.get("step").is_none() && again.get("took").is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_page_makes_up_goes_no_further() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    for (index, (step, took)) in [
        (json!("kill -9"), json!(3)),
        (json!("flag"), json!(-3)),
        (json!("flag"), json!("3")),
        (json!(null), json!(3)),
        (json!({ "step": "flag" }), json!([3])),
    ]
    .into_iter()
    .enumerate()
    {
        let id = index.to_string();
        let metadata = json!({ "stop": "terminated", "step": step, "took": took, "more": 1 });
        let got = cancelled(&mut agent, &mut app, &id, &metadata).await;
        let expected = json!({ "stop": "terminated", "more": 1 });
        assert_eq!(got, [expected.clone(), expected], "{metadata}");
        let run = gateway.get(&format!("/api/runs/{id}"), "").await.json();
        assert_eq!(
            seen(&run),
            [&json!("terminated"), &Value::Null, &Value::Null]
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_and_the_agent_are_told_the_same() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("c", "c")).await;
    let calling = app.next().await;
    let confirming = async {
        let cancelling = app.next().await;
        let confirmed = terminated(json!({ "callId": "c" }));
        app.send(answer(&cancelling, "capabilities/cancel-result", confirmed))
            .await;
        // The first report counts.
        let other = json!({ "stop": "returned", "step": "flag", "took": 1 });
        let response = with(json!({ "success": false }), other);
        app.send(answer(&calling, "capabilities/call-result", response))
            .await;
    };
    let cancelling = gateway.post("/api/runs/c/cancel", "", "{}");
    let (told, ()) = tokio::join!(cancelling, confirming);
    let expected = [&json!("terminated"), &json!("terminate"), &json!(57.25)];
    assert_eq!(seen(&told.json()), expected);
    let response = agent.next().await;
    assert_eq!(seen(&response["payload"]["metadata"]), expected);
}
