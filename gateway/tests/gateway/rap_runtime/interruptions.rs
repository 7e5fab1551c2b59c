//! Calls and sessions that end early.

use std::collections::HashMap;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_call_is_answered_at_once_and_every_server_is_told_once() {
    let mut tools = Tools::start("t").await;
    let mut hanging = Tools::start("hanging").await;
    hanging.wish("/cancel_tool_call", [0, 0]);
    let mut failing = Tools::start("failing").await;
    failing.wish("/cancel_tool_call", [500, 404]);
    let gone = Tools::start("gone").await.stop().await;
    let limits = RuntimeLimits {
        notice_timeout: Duration::from_secs(600),
        ..quick()
    };
    let servers = [&*tools.base, &*hanging.base, &*failing.base, &*gone];
    let (gateway, metrics) = gateway(&servers, limits).await;
    let counters = &metrics.tool_servers;
    let mut agent = agent(&gateway, "t").await;
    for id in ["one", "two"] {
        agent.send(work(id, json!({}))).await;
        let invoked = tools.invoked().await;
        agent.send(cancel("x", id)).await;
        let confirmed = agent.next().await;
        assert_eq!(
            (&confirmed["type"], &confirmed["payload"]),
            (
                &json!("capabilities/cancel-result"),
                &stopped(json!({ "callId": id }), "abandoned")
            )
        );
        assert_eq!(
            outcome(&mut agent, id).await,
            stopped(json!({ "success": false }), "abandoned")
        );
        for server in [&mut tools, &mut hanging, &mut failing] {
            assert_eq!(
                server.next("/base/cancel_tool_call").await,
                invoked.cancelled()
            );
        }
        invoked.answer(json!({ "text": "too late" })).await;
        let told = agent.next().await["payload"].take();
        assert_eq!(told["event"], "notifications/call/ended");
        let data = &told["data"];
        assert_eq!(
            (&data["callId"], &data["success"]),
            (&json!(id), &json!(true))
        );
        agent.send(cancel("y", id)).await;
        let again = agent.next().await["payload"].take();
        let ended = json!({ "success": true, "after": data["after"] });
        assert_eq!(
            again["metadata"],
            json!({ "stop": "abandoned", "ended": ended })
        );
    }
    until("the late results to be dropped", || {
        counters.results_dropped.get() == 2
    })
    .await;
    // The next message to each server is the end of the thread: nothing was sent twice.
    agent.send(request("shutdown", "bye", json!({}))).await;
    assert_eq!(agent.next().await["type"], "shutdown-result");
    for server in [&mut tools, &mut hanging, &mut failing] {
        server.next("/base/close_thread").await;
    }
    until("the counts", || {
        counters.notices_lost.get() == 2 + 2 + 1 && counters.notices.get() == 2 + 3
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timeout_and_an_agent_that_leaves_stop_the_work() {
    let mut tools = Tools::start("t").await;
    let mut other = Tools::start("other").await;
    let (gateway, _) = gateway(&[&tools.base, &other.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("short", json!({ "timeout": 20 }))).await;
    let invoked = tools.invoked().await;
    assert_eq!(
        outcome(&mut agent, "short").await,
        stopped(json!({ "success": false }), "abandoned")
    );
    for server in [&mut tools, &mut other] {
        assert_eq!(
            server.next("/base/cancel_tool_call").await,
            invoked.cancelled()
        );
    }
    agent.send(work("long", json!({}))).await;
    let invoked = tools.invoked().await;
    drop(agent);
    for server in [&mut tools, &mut other] {
        let mut told = HashMap::new();
        for _ in 0..2 {
            let received = soon("both notifications", server.received.recv())
                .await
                .unwrap();
            told.insert(received.path, received.body);
        }
        assert_eq!(told["/base/cancel_tool_call"], invoked.cancelled());
        assert_eq!(told["/base/close_thread"], invoked.closed());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_ends_closes_its_thread_everywhere_and_the_next_has_a_new_one() {
    let mut tools = Tools::start("t").await;
    let mut other = Tools::start("other").await;
    let (gateway, _) = gateway(&[&tools.base, &other.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    let first = tools.invoked().await;
    first.answer(json!({ "text": "" })).await;
    outcome(&mut agent, "c").await;
    agent.send(request("shutdown", "bye", json!({}))).await;
    assert_eq!(agent.next().await["type"], "shutdown-result");
    for server in [&mut tools, &mut other] {
        assert_eq!(server.next("/base/close_thread").await, first.closed());
    }
    initialize(&mut agent).await;
    agent.send(work("c", json!({}))).await;
    assert_ne!(tools.invoked().await.0["group_id"], first.0["group_id"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_that_comes_with_its_call_leaves_nothing_running() {
    let mut tools = Tools::start("t").await;
    let (gateway, _) = gateway(&[&tools.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    for _ in 0..20 {
        agent.send(work("c", json!({}))).await;
        agent.send(cancel("x", "c")).await;
        assert_eq!(agent.next().await["payload"]["cancelled"], true);
        assert_eq!(outcome(&mut agent, "c").await["cancelled"], true);
        agent.send(request("shutdown", "bye", json!({}))).await;
        // A call that was never sent has no late end.
        assert_eq!(agent.next().await["type"], "shutdown-result");
        initialize(&mut agent).await;
    }
    // The tool server was either told of neither the call nor its end, or of both in that order.
    let mut closed = 0;
    let mut running = Vec::new();
    while closed < 20 || !running.is_empty() {
        let Received { path, body, .. } =
            soon("all to be told", tools.received.recv()).await.unwrap();
        match &*path {
            "/base/invoke" => running.push(body["id"].clone()),
            "/base/cancel_tool_call" => {
                let known = running.iter().position(|id| *id == body["tool_call_id"]);
                running.remove(known.expect("an invocation before its cancellation"));
            }
            _ => closed += 1,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_cancelled_before_its_invocation_was_sent_never_started() {
    let mut tools = Tools::start("t").await;
    // An invocation without an answer holds the only turn.
    tools.wish("/invoke", [0]);
    let limits = RuntimeLimits {
        invocations_at_once: 1,
        invoke_timeout: Duration::from_secs(600),
        ..quick()
    };
    let (gateway, _) = gateway(&[&tools.base], limits).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("sent", json!({}))).await;
    tools.invoked().await;
    for id in ["one", "two"] {
        agent.send(work(id, json!({}))).await;
        agent.send(cancel("x", id)).await;
        let confirmed = agent.next().await["payload"].take();
        assert_eq!(confirmed, stopped(json!({ "callId": id }), "never-started"));
        assert_eq!(
            outcome(&mut agent, id).await,
            stopped(json!({ "success": false }), "never-started")
        );
    }
    // The next message is not a late end of these calls.
    agent.send(cancel("y", "sent")).await;
    assert_eq!(
        agent.next().await["payload"]["metadata"]["stop"],
        "abandoned"
    );
    assert_eq!(
        outcome(&mut agent, "sent").await,
        stopped(json!({ "success": false }), "abandoned")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_can_be_cancelled_by_an_operator() {
    let mut tools = Tools::start("t").await;
    let (gateway, _) = gateway(&[&tools.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    let invoked = tools.invoked().await;
    let cancel = format!("http://{}/api/runs/c/cancel", gateway.address);
    assert_eq!(post(&cancel, json!({ "reason": "enough" })).await, 200);
    assert_eq!(outcome(&mut agent, "c").await["cancelled"], true);
    assert_eq!(
        tools.next("/base/cancel_tool_call").await,
        invoked.cancelled()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_stops_tells_the_tool_servers() {
    let mut tools = Tools::start("t").await;
    let (mut gateway, _) = gateway(&[&tools.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    let invoked = tools.invoked().await;
    gateway.stop();
    let payload = outcome(&mut agent, "c").await;
    let ended = payload["cancelled"] == true || payload["error"]["code"] == "DISCONNECTED";
    assert!(ended, "{payload}");
    drop(agent);
    gateway.stopped().await;
    let mut told = HashMap::new();
    while let Ok(received) = tools.received.try_recv() {
        told.insert(received.path, received.body);
    }
    assert_eq!(told["/base/cancel_tool_call"], invoked.cancelled());
    assert_eq!(told["/base/close_thread"], invoked.closed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_says_it_was_cancelled_has_ended_and_its_agent_is_told_so() {
    let mut tools = Tools::start("t").await;
    let (gateway, _) = gateway(&[&tools.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("one", json!({}))).await;
    let invoked = tools.invoked().await;
    invoked
        .answer(json!({ "text": "Tool call interrupted by user" }))
        .await;
    let (mut response, mut told) = (None, None);
    while response.is_none() || told.is_none() {
        let envelope = agent.next().await;
        match envelope["type"].as_str() {
            Some("capabilities/call-result") => response = Some(envelope["payload"].clone()),
            Some("notification") => told = Some(envelope["payload"].clone()),
            _ => {}
        }
    }
    assert_eq!(
        response.unwrap(),
        stopped(json!({ "success": false }), "abandoned")
    );
    let told = told.unwrap();
    assert_eq!(told["event"], "notifications/call/ended");
    assert_eq!(told["data"]["callId"], "one");
    agent.send(cancel("again", "one")).await;
    let again = agent.next().await["payload"].take();
    assert_eq!(again["metadata"]["ended"]["after"], told["data"]["after"]);
}
