use serde_json::json;

use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_and_cancels_of_two_agents_with_clashing_ids() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let mut agents = [gateway.agent().await, gateway.agent().await];
    for agent in &mut agents {
        agent.initialize(&mut app).await;
    }
    let mut calls = Vec::new();
    for (index, agent) in agents.iter_mut().enumerate() {
        let mut message = call("1", "same");
        message["payload"]["params"] = json!({ "from": index });
        agent.send(message).await;
        calls.push(app.next().await);
        assert_eq!(calls[index]["payload"]["params"]["from"], index);
    }
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    assert_ne!(calls[0]["agent"], calls[1]["agent"]);
    agents[1].send(cancel("2", "same")).await;
    let cancelling = app.next().await;
    assert_eq!(cancelling["agent"], calls[1]["agent"]);
    // As a host does, the app sends first the confirmation and then the response.
    app.send(answer(
        &cancelling,
        "capabilities/cancel-result",
        json!({ "callId": "same", "cancelled": true }),
    ))
    .await;
    app.send(answer(
        &calls[1],
        "capabilities/call-result",
        json!({ "success": false, "cancelled": true }),
    ))
    .await;
    app.send(answer(
        &calls[0],
        "capabilities/call-result",
        json!({ "success": true, "data": 0 }),
    ))
    .await;
    let (first, second) = (agents[1].next().await, agents[1].next().await);
    assert_eq!(
        (&first["id"], &first["payload"]["cancelled"]),
        (&json!("2"), &json!(true))
    );
    assert_eq!(
        (&second["id"], &second["payload"]["cancelled"]),
        (&json!("1"), &json!(true))
    );
    assert_eq!(
        agents[0].next().await["payload"],
        json!({ "success": true, "data": 0 })
    );
    assert_eq!(gateway.hub.readings().in_flight, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_questions_and_shutdown() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
    let calling = app.next().await;
    app.send(json!({ "type": "progress", "agent": calling["agent"], "payload": { "operationId": "c", "progress": 1 } })).await;
    assert_eq!(agent.next().await["payload"]["operationId"], "c");
    app.send(json!({ "type": "elicitation/request", "id": 7, "agent": calling["agent"], "payload": { "ask": 1 } })).await;
    let asked = agent.next().await;
    agent.send(json!({ "type": "elicitation/response", "id": asked["id"], "payload": { "success": true } })).await;
    let told = app.next().await;
    assert_eq!(
        (&told["type"], &told["id"]),
        (&json!("elicitation/response"), &json!(7))
    );
    agent.send(json!({ "type": "shutdown", "id": "bye" })).await;
    let leaving = app.next().await;
    app.send(answer(
        &calling,
        "capabilities/call-result",
        json!({ "success": false, "cancelled": true }),
    ))
    .await;
    app.send(answer(
        &leaving,
        "shutdown-result",
        json!({ "success": true }),
    ))
    .await;
    assert_eq!(agent.next().await["id"], "1");
    assert_eq!(agent.next().await["id"], "bye");
    // After a shutdown the app still answers.
    agent.send(call("2", "d")).await;
    let late = app.next().await;
    app.send(answer(
        &late,
        "capabilities/call-result",
        json!({ "success": false, "error": { "code": "NOT_INITIALIZED" } }),
    ))
    .await;
    assert_eq!(code(&agent.next().await), "NOT_INITIALIZED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_megabytes_pass_in_both_directions_unchanged() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let content = "Größe\u{0}\"\\".repeat(800_000);
    let mut message = call("1", "c");
    message["payload"]["params"] = json!({ "content": content });
    agent.send(message).await;
    let relayed = app.next().await;
    assert!(relayed["payload"]["params"]["content"] == json!(content));
    app.send(answer(
        &relayed,
        "capabilities/call-result",
        json!({ "success": true, "data": content }),
    ))
    .await;
    assert!(agent.next().await["payload"]["data"] == json!(content));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_in_flight_are_all_answered_once() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    const CALLS: usize = 10_000;
    let answering = tokio::spawn(async move {
        let mut waiting = Vec::new();
        for _ in 0..CALLS {
            waiting.push(app.next().await);
        }
        // The last call is answered first.
        for calling in waiting.iter().rev() {
            let data = &calling["payload"]["options"]["callId"];
            app.send(answer(
                calling,
                "capabilities/call-result",
                json!({ "success": true, "data": data }),
            ))
            .await;
        }
        app
    });
    for number in 0..CALLS {
        agent
            .send(call(&number.to_string(), &format!("call {number}")))
            .await;
    }
    for number in (0..CALLS).rev() {
        let result = agent.next().await;
        assert_eq!(result["id"], number.to_string());
        assert_eq!(result["payload"]["data"], format!("call {number}"));
    }
    let _app = answering.await.unwrap();
    assert_eq!(gateway.hub.readings().in_flight, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_tabs_of_one_app_and_two_apps() {
    let gateway = Gateway::start().await;
    let mut first = gateway.app("demo").await;
    let mut early = gateway.agent().await;
    early.initialize(&mut first).await;
    let mut second = gateway.app("demo").await;
    let told = first.next().await;
    assert_eq!(
        (&told["type"], &told["payload"]),
        (&json!("app/superseded"), &json!({ "appId": "demo" }))
    );
    let mut late = gateway.agent().await;
    late.initialize(&mut second).await;
    early.call_through(&mut first).await;
    let mut other = gateway.app("other").await;
    let mut unsure = gateway.agent().await;
    unsure.send(request("initialize", "1", json!({}))).await;
    assert_eq!(code(&unsure.next().await), "INVALID_PARAMS");
    let mut sure = gateway.peer("/abp?app=other").await;
    sure.initialize(&mut other).await;
    sure.call_through(&mut other).await;
    let mut hopeful = gateway.peer("/abp?app=none").await;
    hopeful.send(request("initialize", "1", json!({}))).await;
    assert_eq!(code(&hopeful.next().await), "DISCONNECTED");
    let mut none = gateway.app("none").await;
    hopeful.initialize(&mut none).await;
}
