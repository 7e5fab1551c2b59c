use std::time::Duration;

use caphost_gateway::{Config, Limits, Tokens};
use serde_json::{Value, json};

use crate::request::bearer;
use crate::support::*;

async fn list(gateway: &Gateway, headers: &str) -> Value {
    let answer = gateway.get("/api/runs", headers).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

fn ids(list: &Value) -> Vec<String> {
    let runs = list["runs"].as_array().unwrap();
    runs.iter()
        .map(|run| run["dialectId"].as_str().unwrap().to_string())
        .collect()
}

/// A gateway with tokens, an app, and a session of the first of two agents.
async fn owned() -> (Gateway, Peer, Peer) {
    let tokens = ["app=p", "agent=a", "agent=b", "admin=r"].map(|token| token.parse().unwrap());
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.into()),
        ..config()
    })
    .await;
    let mut app = gateway.peer("/abp/app?token=p").await;
    app.send(register("demo")).await;
    app.next().await;
    let mut agent = gateway.peer("/abp?token=a").await;
    agent.initialize(&mut app).await;
    (gateway, app, agent)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_shown_from_its_call_to_its_end() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let empty = list(&gateway, "").await;
    let now = empty["now"].as_u64().unwrap();
    assert!(now > 1_700_000_000_000, "unix milliseconds");
    let viewer = json!({ "name": "anyone", "role": "admin" });
    assert_eq!(
        empty,
        json!({ "runs": [], "omitted": 0, "now": now, "viewer": viewer })
    );

    let options = json!({ "callId": "c", "progressToken": "c" });
    let payload = json!({ "capability": "a.b", "options": options });
    agent.send(request("capabilities/call", "1", payload)).await;
    let called = app.next().await;
    let info = json!({ "operationId": "c", "progress": 1, "total": 2 });
    app.send(
        json!({ "type": "progress", "agent": called["agent"], "timestamp": 1, "payload": info }),
    )
    .await;
    agent.next().await;
    let running = list(&gateway, "").await["runs"][0].clone();
    let (run, at) = (&running["runId"], &running["registeredAt"]);
    assert!(at.as_u64().unwrap() >= now);
    let expected = json!({
        "runId": run, "name": "tool:a.b", "dialect": "abp", "dialectId": "c", "owner": "anyone",
        "agent": "tester",
        "thread": null, "app": "demo", "capability": "a.b", "callId": "c", "state": "running",
        "registeredAt": at, "endedAt": null, "cancelRequestedAt": null, "cancelledAt": null,
        "cancelReason": null, "progress": info, "error": null, "lost": null, "stop": null, "step": null,
        "took": null, "ended": null,
    });
    assert_eq!(running, expected);
    for id in ["c", run.as_str().unwrap()] {
        let one = gateway.get(&format!("/api/runs/{id}"), "").await;
        assert_eq!((one.status, one.json()), (200, expected.clone()), "{id}");
    }

    let failed = json!({ "success": false, "error": { "code": "OPERATION_FAILED", "message": "", "retryable": false } });
    app.send(answer(&called, "capabilities/call-result", failed))
        .await;
    agent.next().await;
    let ended = gateway.get("/api/runs/c", "").await.json();
    assert_eq!(
        (&ended["state"], &ended["error"]),
        (&json!("failed"), &json!("OPERATION_FAILED"))
    );
    assert!(ended["endedAt"].as_u64() >= at.as_u64());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_are_newest_first_and_an_unchanged_one_is_not_sent_again() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let mut calls = Vec::new();
    for id in ["one", "two", "three"] {
        agent.send(call(id, id)).await;
        calls.push(app.next().await);
    }
    for called in &calls[..2] {
        app.send(answer(
            called,
            "capabilities/call-result",
            json!({ "success": true }),
        ))
        .await;
        agent.next().await;
    }
    let all = gateway.get("/api/runs", "").await;
    assert_eq!(ids(&all.json()), ["three", "two", "one"]);
    let limited = gateway.get("/api/runs?limit=1", "").await.json();
    assert_eq!(ids(&limited), ["three", "two"]);
    assert_eq!(limited["omitted"], 1);

    let tag = all.header("etag").unwrap();
    let asked = format!("If-None-Match: {tag}\r\n");
    let unchanged = gateway.get("/api/runs", &asked).await;
    assert_eq!((unchanged.status, &*unchanged.body), (304, ""));
    let weak = format!("If-None-Match: \"x\", W/{tag}\r\n");
    assert_eq!(gateway.get("/api/runs", &weak).await.status, 304);
    app.send(answer(
        &calls[2],
        "capabilities/call-result",
        json!({ "success": true }),
    ))
    .await;
    agent.next().await;
    assert_eq!(gateway.get("/api/runs", &asked).await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_is_asked_and_its_confirmation_passed_on() {
    let gateway = Gateway::limited(Limits {
        confirm_timeout: Duration::from_millis(150),
        ..Limits::default()
    })
    .await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
    let called = app.next().await;
    let run = gateway.get("/api/runs/c", "").await.json()["runId"].clone();
    let body = r#"{"reason":"enough"}"#;

    let unconfirmed = gateway.post("/api/runs/c/cancel", "", body).await;
    assert_eq!(unconfirmed.status, 200);
    let unconfirmed = unconfirmed.json();
    assert_eq!(
        (&unconfirmed["runId"], &unconfirmed["cancelled"]),
        (&run, &json!(false))
    );
    assert_eq!(unconfirmed["reason"], "No confirmation from the app");
    assert_eq!(unconfirmed["error"]["code"], "TIMEOUT");

    let asked = app.next().await;
    assert_eq!(
        asked["payload"],
        json!({ "callId": "c", "reason": "enough" })
    );
    for (kind, relayed, payload) in [
        (
            "capabilities/cancel-result",
            &asked,
            stopped(json!({ "callId": "c" }), "returned"),
        ),
        (
            "capabilities/call-result",
            &called,
            stopped(json!({ "success": false }), "returned"),
        ),
    ] {
        app.send(answer(relayed, kind, payload)).await;
    }
    assert_eq!(agent.next().await["payload"]["cancelled"], true);
    let confirmed = json!({ "runId": run, "cancelled": true, "stop": "returned" });
    for _ in 0..2 {
        // A body may be missing.
        let again = gateway.ask("POST", "/api/runs/c/cancel", "", "").await;
        assert_eq!((again.status, again.json()), (200, confirmed.clone()));
    }
    agent.call_through(&mut app).await;
    let late = gateway
        .post("/api/runs/through/cancel", "", "{}")
        .await
        .json();
    assert_eq!(
        late,
        json!({ "runId": late["runId"], "cancelled": false, "reason": "Operation already completed" })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_see_and_cancel_their_own_runs() {
    let (gateway, mut app, mut agent) = owned().await;
    let mut other = gateway.peer("/abp?token=b").await;
    other.initialize(&mut app).await;
    agent.send(call("1", "mine")).await;
    app.next().await;
    other.send(call("1", "same")).await;
    app.next().await;
    agent.send(call("2", "same")).await;
    app.next().await;

    let own = list(&gateway, &bearer("a")).await;
    assert_eq!(ids(&own), ["same", "mine"]);
    assert_eq!(own["viewer"], json!({ "name": "agent-1", "role": "agent" }));
    assert_eq!(own["runs"][0]["owner"], "agent-1");
    assert_eq!(ids(&list(&gateway, &bearer("b")).await), ["same"]);
    let all = list(&gateway, &bearer("r")).await;
    assert_eq!(ids(&all), ["same", "same", "mine"]);

    // A run of another owner does not exist for the requester, by either id. It does not make an id ambiguous
    // either.
    let mine = own["runs"][1]["runId"].as_str().unwrap();
    for id in ["mine", mine] {
        let path = format!("/api/runs/{id}");
        assert_eq!(gateway.get(&path, &bearer("b")).await.status, 404);
        let cancel = format!("{path}/cancel");
        assert_eq!(gateway.post(&cancel, &bearer("b"), "{}").await.status, 404);
    }
    assert_eq!(
        gateway.get("/api/runs/same", &bearer("a")).await.status,
        200
    );
    let ambiguous = gateway
        .post("/api/runs/same/cancel", &bearer("r"), "{}")
        .await;
    assert_eq!(ambiguous.status, 409);
    let error = ambiguous.json()["error"].clone();
    assert_eq!(error["details"]["runIds"].as_array().unwrap().len(), 2);

    for (secret, called) in [("a", "mine"), ("r", mine)] {
        let path = format!("/api/runs/{called}/cancel");
        let headers = bearer(secret);
        let cancelling = gateway.post(&path, &headers, "{}");
        let (answered, ()) = tokio::join!(cancelling, async {
            if secret == "a" {
                let asked = app.next().await;
                let payload = json!({ "callId": "mine", "cancelled": true });
                app.send(answer(&asked, "capabilities/cancel-result", payload))
                    .await;
            }
        });
        let expected = json!({ "runId": mine, "cancelled": true, "stop": "abandoned" });
        assert_eq!(answered.json(), expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_said_as_an_abp_error() {
    let (gateway, _app, _agent) = owned().await;
    let long = format!("/api/runs/{}", "x".repeat(257));
    let reason = |chars: usize| json!({ "reason": "x".repeat(chars) }).to_string();
    let (a, p) = (bearer("a"), bearer("p"));
    for (method, path, headers, body, status, code) in [
        ("GET", "/api/runs", "", "", 401, "PERMISSION_DENIED"),
        (
            "GET",
            "/api/runs",
            "Authorization: Bearer x\r\n",
            "",
            401,
            "PERMISSION_DENIED",
        ),
        ("GET", "/api/runs", &p, "", 403, "PERMISSION_DENIED"),
        (
            "POST",
            "/api/runs/x/cancel",
            "",
            "{",
            401,
            "PERMISSION_DENIED",
        ),
        ("GET", "/api/runs/x", &p, "", 403, "PERMISSION_DENIED"),
        ("GET", "/api/runs?limit=-1", &a, "", 400, "INVALID_PARAMS"),
        ("GET", "/api/runs/x", &a, "", 404, "INVALID_PARAMS"),
        ("GET", "/api/runs/%FF", &a, "", 404, "INVALID_PARAMS"),
        ("GET", &long, &a, "", 400, "INVALID_PARAMS"),
        ("POST", "/api/runs/x/cancel", &a, "", 404, "INVALID_PARAMS"),
        (
            "POST",
            "/api/runs/x/cancel",
            &a,
            "[]",
            400,
            "INVALID_PARAMS",
        ),
        (
            "POST",
            "/api/runs/x/cancel",
            &a,
            &reason(4_097),
            400,
            "INVALID_PARAMS",
        ),
        (
            "POST",
            "/api/runs/x/cancel",
            &a,
            &reason(70_000),
            413,
            "INVALID_PARAMS",
        ),
        ("GET", "/api/runs/x/cancel", &a, "", 405, "NOT_IMPLEMENTED"),
        ("DELETE", "/api/runs", &a, "", 405, "NOT_IMPLEMENTED"),
    ] {
        let answer = gateway.ask(method, path, headers, body).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
        let error = &answer.json()["error"];
        assert_eq!(error["code"], code, "{method} {path}");
        assert!(error["message"].is_string() && error["retryable"].is_boolean());
        let challenge = answer.header("www-authenticate");
        assert_eq!(challenge.is_some(), status == 401);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_is_there_for_everybody_and_may_do_little() {
    let (gateway, ..) = owned().await;
    for (path, kind) in [
        ("/runs", "text/html; charset=utf-8"),
        ("/runs/main.js", "text/javascript; charset=utf-8"),
        ("/runs/style.css", "text/css; charset=utf-8"),
        ("/runs/favicon.svg", "image/svg+xml"),
    ] {
        let file = gateway.get(path, "").await;
        assert_eq!(
            (file.status, file.header("content-type")),
            (200, Some(kind))
        );
        let policy = file.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"));
        assert!(policy.contains("frame-ancestors 'none'"));
    }
    assert_eq!(gateway.get("/runs/nothing.js", "").await.status, 404);
}
