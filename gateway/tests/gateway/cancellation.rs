use std::time::Duration;

use caphost_gateway::for_tests::{Client, Dialect, NewCall, Outcome};
use caphost_gateway::{CancellationOptions, Config, Identity, Limits, Tokens};
use serde_json::{Value, json};

use crate::request::{Response, bearer};
use crate::support::*;

/// An id that no run has by chance.
const SEVEN: &str = "00000000-0000-4000-8000-000000000007";

async fn cancel_run(gateway: &Gateway, id: &str) -> Response {
    let body = json!({ "requestId": id, "reason": "enough" }).to_string();
    gateway.post("/cancellation/cancel", "", &body).await
}

/// The status of a cancel that was accepted.
async fn status_of_cancel(gateway: &Gateway, id: &str) -> String {
    let answer = cancel_run(gateway, id).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let answer = answer.json();
    let status = answer["status"].as_str().unwrap().to_string();
    let mut expected = json!({ "status": status, "requestId": id, "reason": "enough" });
    if status == "cancelled" {
        // The app does not say how far the work has stopped. The gateway does not ask the app about a call
        // that never reached it.
        let stop = &answer["stop"];
        assert!(stop == "abandoned" || stop == "never-started", "{stop}");
        expected["stop"] = stop.clone();
    }
    assert_eq!(answer, expected);
    status
}

async fn status(gateway: &Gateway, id: &str) -> Value {
    let answer = gateway.get(&format!("/cancellation/status/{id}"), "").await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

/// As the app: accepts the cancel, confirms it, and answers the call as cancelled.
async fn confirm(app: &mut Peer, called: &Value) -> Value {
    let asked = app.next().await;
    assert_eq!(asked["type"], "capabilities/cancel");
    assert_eq!(asked["agent"], called["agent"]);
    let call_id = asked["payload"]["callId"].clone();
    let confirmed = json!({ "callId": call_id, "cancelled": true });
    app.send(answer(&asked, "capabilities/cancel-result", confirmed))
        .await;
    let ended = json!({ "success": false, "cancelled": true });
    app.send(answer(called, "capabilities/call-result", ended))
        .await;
    asked
}

async fn succeed(app: &mut Peer, called: &Value) {
    let payload = json!({ "success": true, "data": 1 });
    app.send(answer(called, "capabilities/call-result", payload))
        .await;
}

fn local(dialect: Dialect) -> Client {
    Client {
        takes_questions: false,
        dialect,
        owner: Identity::anyone(),
        app: None,
        name: "test".into(),
        version: "1".into(),
    }
}

fn named(dialect_id: &str) -> NewCall {
    NewCall {
        capability: "a.b".into(),
        dialect_id: Some(dialect_id.into()),
        ..NewCall::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_cancelled_once_its_app_has_confirmed_it() {
    let gateway = Gateway::start().await;
    let mut notices = gateway.hub.cancellations();
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "export-7")).await;
    let called = app.next().await;

    let running = status(&gateway, "export-7").await;
    let registered = running["registered_at"].as_f64().unwrap();
    assert!(registered > 1.7e9 && registered < 1e11, "unix seconds");
    assert_eq!(
        running,
        json!({
            "name": "tool:a.b", "registered_at": registered, "cancelled": false, "cancelled_at": null,
            "cancel_reason": null, "run_id": running["run_id"], "state": "running", "stop": null,
            "step": null, "took": null,
        })
    );

    let (cancelled, asked) = tokio::join!(
        status_of_cancel(&gateway, "export-7"),
        confirm(&mut app, &called)
    );
    assert_eq!(cancelled, "cancelled");
    assert_eq!(
        asked["payload"],
        json!({ "callId": "export-7", "reason": "enough" })
    );
    let response = agent.next().await;
    assert_eq!(response["type"], "capabilities/call-result");
    assert_eq!(response["payload"]["cancelled"], true);
    let notice = notices.recv().await.unwrap();
    assert_eq!(
        (&*notice.request_id, notice.reason.as_deref()),
        ("export-7", Some("enough"))
    );
    assert_eq!(
        notice.run.unwrap().id.to_string(),
        running["run_id"].as_str().unwrap()
    );

    // A repeated cancel gets the same answer, by either id and at either address.
    let run_id = running["run_id"].as_str().unwrap();
    assert_eq!(status_of_cancel(&gateway, "export-7").await, "cancelled");
    assert_eq!(status_of_cancel(&gateway, run_id).await, "cancelled");
    let body = json!({ "request_id": run_id }).to_string();
    let again = gateway.post("/v1/cancellation/cancel", "", &body).await;
    assert_eq!(
        again.json(),
        json!({ "status": "cancelled", "requestId": run_id, "reason": null, "stop": "abandoned" })
    );
    let path = format!("/v1/cancellation/status/{run_id}");
    let ended = gateway.get(&path, "").await.json();
    let cancelled_at = ended["cancelled_at"].as_f64().unwrap();
    assert!(cancelled_at >= registered && cancelled_at < registered + 60.0);
    assert_eq!(
        ended,
        json!({
            "name": "tool:a.b", "registered_at": registered, "cancelled": true,
            "cancelled_at": cancelled_at, "cancel_reason": "enough", "run_id": run_id,
            "state": "cancelled", "stop": "abandoned", "step": null, "took": null,
        })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_its_own_agent_has_cancelled_is_cancelled() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
    let called = app.next().await;
    agent.send(cancel("2", "c")).await;
    confirm(&mut app, &called).await;
    assert_eq!(agent.next().await["payload"]["cancelled"], true);
    assert_eq!(agent.next().await["payload"]["cancelled"], true);
    assert_eq!(status_of_cancel(&gateway, "c").await, "cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_run_that_had_ended_otherwise_nothing_is_cancelled() {
    let gateway = Gateway::start().await;
    let mut notices = gateway.hub.cancellations();
    let (mut app, mut agent) = gateway.session().await;
    for (call_id, payload, state) in [
        ("done", json!({ "success": true, "data": 1 }), "completed"),
        (
            "failed",
            json!({ "success": false, "error": { "code": "OPERATION_FAILED", "message": "", "retryable": false } }),
            "failed",
        ),
    ] {
        agent.send(call(call_id, call_id)).await;
        let called = app.next().await;
        app.send(answer(&called, "capabilities/call-result", payload))
            .await;
        agent.next().await;
        assert_eq!(status_of_cancel(&gateway, call_id).await, "completed");
        let status = status(&gateway, call_id).await;
        assert_eq!(
            (
                &status["state"],
                &status["cancelled"],
                &status["cancel_reason"]
            ),
            (&json!(state), &json!(false), &Value::Null)
        );
    }
    assert!(notices.try_recv().is_err(), "there was nothing to announce");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_ends_while_its_app_is_asked_is_completed() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
    let called = app.next().await;
    let (status, ()) = tokio::join!(status_of_cancel(&gateway, "c"), async {
        let asked = app.next().await;
        succeed(&mut app, &called).await;
        let refused =
            json!({ "callId": "c", "cancelled": false, "reason": "Operation already completed" });
        app.send(answer(&asked, "capabilities/cancel-result", refused))
            .await;
    });
    assert_eq!(status, "completed");
    assert_eq!(agent.next().await["payload"]["success"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_before_its_run_takes_effect_when_it_comes() {
    let gateway = Gateway::start().await;
    let mut notices = gateway.hub.cancellations();
    let (mut app, mut agent) = gateway.session().await;
    assert_eq!(status_of_cancel(&gateway, SEVEN).await, "queued");
    assert_eq!(notices.recv().await.unwrap().run, None);
    let unknown = gateway
        .get(&format!("/cancellation/status/{SEVEN}"), "")
        .await;
    assert_eq!(
        (unknown.status, unknown.json()),
        (404, json!({ "detail": "Run not found" }))
    );

    agent.send(call("1", SEVEN)).await;
    let skipped = agent.next().await;
    assert_eq!(
        (&skipped["type"], &skipped["id"]),
        (&json!("capabilities/call-result"), &json!("1"))
    );
    assert_eq!(
        skipped["payload"],
        stopped(json!({ "success": false }), "never-started")
    );
    let cancelled = status(&gateway, SEVEN).await;
    assert_eq!(
        (&cancelled["cancelled"], &cancelled["cancel_reason"]),
        (&json!(true), &json!("enough"))
    );
    assert_eq!(status_of_cancel(&gateway, SEVEN).await, "cancelled");
    // The app has not seen the cancelled call: this is the first call that it gets.
    agent.call_through(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_early_cancel_of_an_id_that_strangers_share_reaches_no_call() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    // The call 2 of another client had ended when its cancel came. Calls of another client count, too.
    for shared in ["2", "early-1", "00000000-0000-0000-0000-000000000002"] {
        assert_eq!(status_of_cancel(&gateway, shared).await, "queued");
        agent.send(call(shared, shared)).await;
        let called = app.next().await;
        assert_eq!(called["payload"]["options"]["callId"], shared);
        succeed(&mut app, &called).await;
        assert_eq!(agent.next().await["payload"]["success"], true);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn early_cancels_can_be_turned_off_on_their_own() {
    let mut limits = Limits::default();
    limits.retention.early = Duration::ZERO;
    let gateway = Gateway::limited(limits).await;
    let (mut app, mut agent) = gateway.session().await;
    assert_eq!(status_of_cancel(&gateway, SEVEN).await, "queued");
    agent.send(call("1", SEVEN)).await;
    let called = app.next().await;
    let (cancelled, _) = tokio::join!(
        status_of_cancel(&gateway, SEVEN),
        confirm(&mut app, &called)
    );
    assert_eq!(cancelled, "cancelled", "the rest of the API is on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_every_dialect_are_found_by_their_own_ids() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    for (dialect, id) in [
        (Dialect::Mcp, "0"),
        (Dialect::Rap, "toolu_01 with/slash"),
        (Dialect::JsonRpc, "-1"),
    ] {
        let session = gateway.hub.open(local(dialect));
        let call = session.call(named(id));
        let run = call.id.to_string();
        let initialize = app.next().await;
        assert_eq!(initialize["type"], "initialize");
        let result = json!({ "sessionId": "s", "protocolVersion": "0.1" });
        app.send(answer(&initialize, "initialize-result", result))
            .await;
        let called = app.next().await;
        let path = id.replace(' ', "%20").replace('/', "%2F");
        assert_eq!(status(&gateway, &path).await["run_id"], run);
        let (cancelled, asked) =
            tokio::join!(status_of_cancel(&gateway, id), confirm(&mut app, &called));
        assert_eq!(cancelled, "cancelled", "{id}");
        assert_eq!(asked["payload"]["reason"], "enough");
        let outcome = soon("the outcome", call.outcome()).await;
        assert!(
            matches!(
                &outcome,
                Outcome::Cancelled { reason, .. } if reason.as_deref() == Some("enough")
            ),
            "{outcome:?}"
        );
        // A call that does not exist yet.
        let early = uuid::Uuid::new_v4().to_string();
        assert_eq!(status_of_cancel(&gateway, &early).await, "queued");
        let skipped = soon("the outcome", session.call(named(&early)).outcome()).await;
        assert!(matches!(skipped, Outcome::Cancelled { .. }), "{skipped:?}");
        drop(session);
        loop {
            // The session of the call leaves before the next call comes.
            let message = app.next().await;
            if message["type"] == "agent/closed" {
                break;
            }
            assert_eq!(message["type"], "shutdown");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_confirmation_in_time_it_is_queued() {
    let gateway = Gateway::limited(Limits {
        confirm_timeout: Duration::from_millis(150),
        ..Limits::default()
    })
    .await;
    let (mut app, mut agent) = gateway.session().await;
    for (call_id, late) in [("late", true), ("never", false)] {
        agent.send(call(call_id, call_id)).await;
        let called = app.next().await;
        assert_eq!(status_of_cancel(&gateway, call_id).await, "queued");
        let waiting = status(&gateway, call_id).await;
        assert_eq!(
            (
                &waiting["state"],
                &waiting["cancelled"],
                &waiting["cancel_reason"]
            ),
            (&json!("cancelling"), &json!(false), &json!("enough"))
        );
        assert_eq!(status_of_cancel(&gateway, call_id).await, "queued", "again");
        // The app has not answered the first cancel in time, so it is asked again.
        assert_eq!(app.next().await["type"], "capabilities/cancel");
        if late {
            confirm(&mut app, &called).await;
            assert_eq!(agent.next().await["payload"]["cancelled"], true);
            assert_eq!(status_of_cancel(&gateway, call_id).await, "cancelled");
        } else {
            app.next().await;
            succeed(&mut app, &called).await;
            assert_eq!(agent.next().await["payload"]["success"], true);
            assert_eq!(status_of_cancel(&gateway, call_id).await, "completed");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_goes_leaves_the_outcome_unknown() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
    app.next().await;
    let (status_while, ()) = tokio::join!(status_of_cancel(&gateway, "c"), async {
        app.next().await;
        drop(app);
    });
    assert_eq!(status_while, "queued");
    assert_eq!(code(&agent.next().await), "DISCONNECTED");
    assert_eq!(status(&gateway, "c").await["state"], "unknown");
    assert_eq!(status_of_cancel(&gateway, "c").await, "queued");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_of_two_agents_is_ambiguous() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let mut agents = Vec::new();
    let mut calls = Vec::new();
    for _ in 0..2 {
        let mut agent = gateway.agent().await;
        agent.initialize(&mut app).await;
        agent.send(call("1", "same")).await;
        calls.push(app.next().await);
        agents.push(agent);
    }
    let refused = cancel_run(&gateway, "same").await;
    assert_eq!(refused.status, 409);
    let runs = refused.json()["runIds"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 2);
    assert!(refused.json()["detail"].is_string());
    let refused = gateway.get("/cancellation/status/same", "").await;
    assert_eq!((refused.status, &refused.json()["runIds"]), (409, &runs));

    // Each run is found by its run id, and the other run goes on.
    let (first, second) = (runs[0].as_str().unwrap(), runs[1].as_str().unwrap());
    let (cancelled, ()) = tokio::join!(status_of_cancel(&gateway, second), async {
        let asked = app.next().await;
        let which = calls.iter().position(|it| it["agent"] == asked["agent"]);
        assert_eq!(which, Some(1), "the second agent's");
        let confirmed = json!({ "callId": "same", "cancelled": true });
        app.send(answer(&asked, "capabilities/cancel-result", confirmed))
            .await;
        let ended = json!({ "success": false, "cancelled": true });
        app.send(answer(&calls[1], "capabilities/call-result", ended))
            .await;
    });
    assert_eq!(cancelled, "cancelled");
    assert_eq!(agents[1].next().await["payload"]["cancelled"], true);
    assert_eq!(status(&gateway, first).await["state"], "running");
    // Now the id means the only run in flight.
    assert_eq!(status(&gateway, "same").await["run_id"], first);
    succeed(&mut app, &calls[0]).await;
    assert_eq!(agents[0].next().await["payload"]["success"], true);
    // If all runs have ended, the id means the last to end: nothing can be cancelled by mistake.
    assert_eq!(status_of_cancel(&gateway, "same").await, "completed");
    let seen = gateway.get("/cancellation/status/same", "").await;
    assert_eq!(seen.status, 409);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_json_rpc_clients_that_count_from_1_are_told_apart() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let mut clients = Vec::new();
    let mut calls = Vec::new();
    for _ in 0..2 {
        let mut client = gateway.peer("/jsonrpc").await;
        let params = json!({ "capability": "a.b" });
        client
            .send(json!({ "jsonrpc": "2.0", "id": 1, "method": "_capabilities/call", "params": params }))
            .await;
        let initialize = app.next().await;
        let result = json!({ "sessionId": "s", "protocolVersion": "0.1" });
        app.send(answer(&initialize, "initialize-result", result))
            .await;
        calls.push(app.next().await);
        clients.push(client);
    }
    let refused = cancel_run(&gateway, "1").await;
    assert_eq!(refused.status, 409);
    let listed = gateway.get("/api/runs", "").await.json();
    let newest = listed["runs"][0].clone();
    assert_eq!(
        (&newest["dialect"], &newest["dialectId"]),
        (&json!("jsonrpc"), &json!("1"))
    );
    let run = newest["runId"].as_str().unwrap();
    assert!(
        refused.json()["runIds"]
            .as_array()
            .unwrap()
            .contains(&json!(run))
    );
    let (cancelled, _) = tokio::join!(
        status_of_cancel(&gateway, run),
        confirm(&mut app, &calls[1])
    );
    assert_eq!(cancelled, "cancelled");
    let stopped = clients[1].next().await;
    assert_eq!(
        (&stopped["id"], &stopped["error"]["code"]),
        (&json!(1), &json!(-32800))
    );
    succeed(&mut app, &calls[0]).await;
    let done = clients[0].next().await;
    assert_eq!(
        (&done["id"], &done["result"]["data"]),
        (&json!(1), &json!(1))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_for_admins() {
    let tokens = ["app=a", "agent=b", "admin=c"].map(|token| token.parse().unwrap());
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.into()),
        ..config()
    })
    .await;
    let body = r#"{"requestId":"x"}"#;
    for prefix in ["", "/v1"] {
        let cancel = format!("{prefix}/cancellation/cancel");
        let status = format!("{prefix}/cancellation/status/x");
        for (headers, code, detail) in [
            (String::new(), 401, "Not authenticated"),
            (bearer("wrong"), 401, "Not authenticated"),
            (
                bearer("b"),
                403,
                "Insufficient permissions. Required: admin.system_config",
            ),
            (
                bearer("a"),
                403,
                "Insufficient permissions. Required: admin.system_config",
            ),
        ] {
            for refused in [
                gateway.post(&cancel, &headers, body).await,
                // A requester without permission does not learn what else is wrong.
                gateway.post(&cancel, &headers, "{").await,
                gateway.get(&status, &headers).await,
            ] {
                assert_eq!(refused.status, code, "{headers}");
                assert_eq!(refused.json(), json!({ "detail": detail }));
                let challenge = refused.header("www-authenticate");
                assert_eq!(challenge.is_some(), code == 401);
            }
        }
        assert_eq!(gateway.get(&status, &bearer("c")).await.status, 404);
        assert_eq!(gateway.post(&cancel, &bearer("c"), body).await.status, 200);
        let by_query = format!("{cancel}?token=c");
        assert_eq!(gateway.post(&by_query, "", body).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turned_off_there_is_nothing_and_nothing_is_kept() {
    let gateway = Gateway::with(Config {
        cancellation: CancellationOptions { enabled: false },
        ..config()
    })
    .await;
    let mut notices = gateway.hub.cancellations();
    let (mut app, mut agent) = gateway.session().await;
    for prefix in ["", "/v1"] {
        let cancel = format!("{prefix}/cancellation/cancel");
        let refused = gateway
            .post(&cancel, "", &json!({ "requestId": SEVEN }).to_string())
            .await;
        assert_eq!(
            (refused.status, refused.json()),
            (404, json!({ "detail": "Not Found" }))
        );
        let status = format!("{prefix}/cancellation/status/through");
        assert_eq!(gateway.get(&status, "").await.status, 404);
    }
    assert!(notices.try_recv().is_err());
    agent.call_through(&mut app).await;
    let status = gateway.get("/cancellation/status/through", "").await;
    assert_eq!(status.status, 404);
    // A cancel that comes in another way is not kept either.
    let eight = SEVEN.replace('7', "8");
    let anyone = Identity::anyone();
    let kept = gateway.hub.seek_or_cancel_early(&eight, None, &anyone);
    kept.await;
    for id in [SEVEN, &eight] {
        agent.send(call(id, id)).await;
        let called = app.next().await;
        assert_eq!(called["payload"]["options"]["callId"], id);
        succeed(&mut app, &called).await;
        assert_eq!(agent.next().await["payload"]["success"], true);
    }
    // The runs API stays on.
    assert_eq!(gateway.get("/api/runs/through", "").await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_cancel_is_refused() {
    let gateway = Gateway::start().await;
    let mut notices = gateway.hub.cancellations();
    let path = "/cancellation/cancel";
    let problem = |answer: Response| {
        assert_eq!(answer.status, 422, "{}", answer.body);
        let detail = answer.json()["detail"].clone();
        for problem in detail.as_array().unwrap() {
            assert!(problem["loc"].is_array() && problem["msg"].is_string());
        }
        detail[0]["type"].as_str().unwrap().to_string()
    };
    let long = json!({ "requestId": "x".repeat(257) }).to_string();
    for (body, kind) in [
        ("", "missing"),
        ("{}", "missing"),
        ("{", "json_invalid"),
        ("[]", "model_attributes_type"),
        ("null", "model_attributes_type"),
        (r#"{"requestId":1}"#, "string_type"),
        (r#"{"requestId":null}"#, "string_type"),
        (r#"{"requestId":"1","reason":2}"#, "string_type"),
        (&long, "string_too_long"),
        ("{\"requestId\":\"\u{1}\"}", "json_invalid"),
    ] {
        assert_eq!(problem(gateway.post(path, "", body).await), kind, "{body}");
    }
    for headers in ["", "Content-Type: text/plain\r\n"] {
        let answer = gateway.ask("POST", path, headers, r#"{"requestId":"1"}"#);
        assert_eq!(problem(answer.await), "model_attributes_type");
    }
    let long = format!("/cancellation/status/{}", "x".repeat(257));
    assert_eq!(problem(gateway.get(&long, "").await), "string_too_long");
    let huge = json!({ "requestId": "1", "reason": "x".repeat(70_000) }).to_string();
    let refused = gateway.post(path, "", &huge).await;
    assert_eq!(refused.status, 413);
    assert!(refused.json()["detail"].is_string());
    for (method, path) in [("GET", path), ("POST", "/cancellation/status/x")] {
        let refused = gateway.ask(method, path, "", "").await;
        assert_eq!(
            (refused.status, refused.json()),
            (405, json!({ "detail": "Method Not Allowed" }))
        );
    }
    for strange in ["%FF", "%00", "..", "%2e%2e%2f"] {
        let path = format!("/cancellation/status/{strange}");
        assert_eq!(gateway.get(&path, "").await.status, 404, "{strange}");
    }
    assert!(notices.try_recv().is_err(), "nothing was cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_a_foreign_origin_cannot_cancel() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let origin = "Origin: https://evil.example\r\n";
    for path in ["/cancellation/cancel", "/api/runs/through/cancel"] {
        let body = r#"{"requestId":"through"}"#;
        let refused = gateway.post(path, origin, body).await;
        assert_eq!(refused.status, 403, "{path}");
        let own = format!("Origin: http://{}\r\n", gateway.address);
        assert_ne!(gateway.post(path, &own, "{").await.status, 403, "{path}");
    }
    agent.call_through(&mut app).await;
}
