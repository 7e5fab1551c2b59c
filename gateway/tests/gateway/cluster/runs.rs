use caphost_gateway::{Config, Limits, Tokens};
use serde_json::{Value, json};

use super::*;
use crate::request::bearer;
use crate::steps::terminated;
use crate::stops::ended;

fn ids(list: &Value) -> Vec<&str> {
    let runs = list["runs"].as_array().unwrap();
    runs.iter()
        .map(|run| run["dialectId"].as_str().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_worker_shows_the_runs_of_all() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&one, &mut app).await;
    let mut other = agent_on(&two, &mut app).await;
    let first = called(&mut agent, &mut app, "first").await;
    succeed(&mut agent, &mut app, &first).await;
    called(&mut other, &mut app, "second").await;
    let third = called(&mut other, &mut app, "third").await;
    succeed(&mut other, &mut app, &third).await;
    called(&mut agent, &mut app, "fourth").await;

    let at_home = known(&two, "second").await;
    assert_eq!(at_home["state"], "running");
    assert_eq!(known(&one, "second").await, at_home);
    let run_id = at_home["runId"].as_str().unwrap();
    assert_eq!(known(&one, run_id).await, at_home);
    let path = format!("/cancellation/status/{run_id}");
    assert_eq!(one.get(&path, "").await.json()["state"], "running");
    assert_eq!(known(&two, "first").await["state"], "completed");
    assert_eq!(known(&two, "first").await["agent"], "tester");

    for worker in [&one, &two] {
        let list = worker.get("/api/runs", "").await.json();
        let mut all = ids(&list);
        all.sort_unstable();
        assert_eq!(all, ["first", "fourth", "second", "third"]);
        let times = list["runs"].as_array().unwrap().iter();
        let times: Vec<_> = times.map(|run| run["registeredAt"].as_u64()).collect();
        assert!(
            times.is_sorted_by(|newer, older| newer >= older),
            "{times:?}"
        );
        let fewer = worker.get("/api/runs?limit=1", "").await.json();
        assert_eq!((ids(&fewer).len(), &fewer["omitted"]), (3, &json!(1)));
        assert_eq!(fewer["incomplete"], Value::Null);
        let nothing = run_of(worker, "nothing").await;
        assert_eq!(nothing.status, 404, "{}", nothing.body);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_worker_knows_how_far_a_stop_was_seen_and_of_a_late_end() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    // The agent and the app are on different workers.
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    let running = called(&mut agent, &mut app, "c").await;
    agent.send(cancel("cancel", "c")).await;
    confirm(&mut app, &running).await;
    for _ in 0..2 {
        let said = agent.next().await["payload"].take();
        assert_eq!(said["metadata"], json!({ "stop": "abandoned" }), "{said}");
    }
    for worker in [&one, &two] {
        let run = known(worker, "c").await;
        assert_eq!(
            (&run["stop"], &run["ended"]),
            (&json!("abandoned"), &Value::Null)
        );
    }
    let end = ended(&running, &json!("c"), false, 200.0);
    app.send(end.clone()).await;
    assert_eq!(agent.next().await["payload"], end["payload"]);
    let late = json!({ "success": false, "after": 200 });
    for worker in [&one, &two] {
        assert_eq!(known(worker, "c").await["ended"], late);
        let again = worker.post("/api/runs/c/cancel", "", "{}").await.json();
        assert_eq!(
            (&again["cancelled"], &again["stop"], &again["ended"]),
            (&json!(true), &json!("abandoned"), &late)
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_worker_knows_what_has_stopped_a_call() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    let running = called(&mut agent, &mut app, "c").await;
    let confirming = async {
        let cancelling = app.next().await;
        let confirmed = terminated(json!({ "callId": "c" }));
        app.send(answer(&cancelling, "capabilities/cancel-result", confirmed))
            .await;
        let response = terminated(json!({ "success": false }));
        app.send(answer(&running, "capabilities/call-result", response))
            .await;
    };
    // The cancel goes to the worker that does not have the run.
    let cancelling = one.post("/api/runs/c/cancel", "", "{}");
    let (told, ()) = tokio::join!(cancelling, confirming);
    let seen = |of: &Value| (of["stop"].clone(), of["step"].clone(), of["took"].clone());
    let expected = (json!("terminated"), json!("terminate"), json!(57.25));
    assert_eq!(seen(&told.json()), expected);
    assert_eq!(seen(&agent.next().await["payload"]["metadata"]), expected);
    for worker in [&one, &two] {
        assert_eq!(seen(&known(worker, "c").await), expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_cancelled_from_any_worker_and_all_sessions_hear_of_it() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    // The app, the agent and the operator are on any workers.
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    let mut notices = [one.hub.cancellations(), two.hub.cancellations()];
    let running = called(&mut agent, &mut app, "c").await;
    let cancelling = cancel_by_api(&one, "c", "enough");
    let (cancelled, asked) = tokio::join!(cancelling, confirm(&mut app, &running));
    let expected = json!({
        "status": "cancelled", "requestId": "c", "reason": "enough", "stop": "abandoned",
    });
    assert_eq!((cancelled.status, cancelled.json()), (200, expected));
    assert_eq!(asked["payload"]["reason"], "enough");
    assert_eq!(agent.next().await["payload"]["cancelled"], true);
    let run_id = known(&one, "c").await["runId"].clone();
    for notices in &mut notices {
        let notice = soon("the notice", notices.recv()).await.unwrap();
        assert_eq!(notice.request_id, "c");
        assert_eq!(notice.run.unwrap().id.to_string(), run_id);
    }

    let running = called(&mut agent, &mut app, "d").await;
    let cancelling = one.post("/api/runs/d/cancel", "", "{}");
    let (cancelled, _) = tokio::join!(cancelling, confirm(&mut app, &running));
    assert_eq!(cancelled.json()["cancelled"], true);
    agent.next().await;
    let done = called(&mut agent, &mut app, "e").await;
    succeed(&mut agent, &mut app, &done).await;
    let late = cancel_by_api(&one, "e", "late").await.json();
    assert_eq!(late["status"], "completed");
    let late = one.post("/api/runs/e/cancel", "", "").await.json();
    assert_eq!(late["reason"], "Operation already completed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_does_not_confirm_is_waited_for_at_home() {
    let redis = Redis::start();
    let hasty = || Config {
        limits: Limits {
            confirm_timeout: Duration::from_millis(100),
            ..Limits::default()
        },
        ..part_of(&redis)
    };
    let one = Gateway::with(hasty()).await;
    let two = Gateway::with(hasty()).await;
    met(&[&one, &two]).await;
    let mut app = two.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    called(&mut agent, &mut app, "c").await;
    let unconfirmed = one.post("/api/runs/c/cancel", "", "").await.json();
    assert_eq!(unconfirmed["cancelled"], false);
    assert_eq!(unconfirmed["reason"], "No confirmation from the app");
    assert_eq!(unconfirmed["error"]["code"], "TIMEOUT");
    assert_eq!(known(&one, "c").await["state"], "cancelling");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_two_workers_know_is_ambiguous() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&one, &mut app).await;
    let mut other = agent_on(&two, &mut app).await;
    let here = called(&mut agent, &mut app, "same").await;
    called(&mut other, &mut app, "same").await;
    for worker in [&one, &two] {
        let cancel = cancel_by_api(worker, "same", "which").await;
        assert_eq!(cancel.status, 409, "{}", cancel.body);
        assert_eq!(cancel.json()["runIds"].as_array().unwrap().len(), 2);
        assert_eq!(run_of(worker, "same").await.status, 409);
    }
    // Runs in flight are preferred, on whichever worker they are.
    succeed(&mut agent, &mut app, &here).await;
    assert_eq!(known(&one, "same").await["state"], "running");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_see_and_cancel_only_their_own_runs_on_other_workers() {
    let redis = Redis::start();
    let tokens = || {
        let tokens = ["app=p", "agent=a", "agent=b", "admin=r"];
        Tokens::new(tokens.map(|token| token.parse().unwrap()).into())
    };
    let owned = || Config {
        tokens: tokens(),
        ..part_of(&redis)
    };
    let one = Gateway::with(owned()).await;
    let two = Gateway::with(owned()).await;
    met(&[&one, &two]).await;
    let mut app = one.peer("/abp/app?token=p").await;
    app.send(register("demo")).await;
    app.next().await;
    let mut agent = agent_as(&two, &mut app, "/abp?token=a").await;
    let running = called(&mut agent, &mut app, "mine").await;

    assert_eq!(one.get("/api/runs/mine", &bearer("b")).await.status, 404);
    let empty = one.get("/api/runs", &bearer("b")).await.json();
    assert!(ids(&empty).is_empty());
    let refused = one.post("/api/runs/mine/cancel", &bearer("b"), "").await;
    assert_eq!(refused.status, 404);
    for secret in ["a", "r"] {
        let list = one.get("/api/runs", &bearer(secret)).await.json();
        assert_eq!(ids(&list), ["mine"]);
    }
    let headers = bearer("a");
    let cancelling = one.post("/api/runs/mine/cancel", &headers, "");
    let (cancelled, _) = tokio::join!(cancelling, confirm(&mut app, &running));
    assert_eq!(cancelled.json()["cancelled"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_late_end_of_an_agent_that_has_left_reaches_the_worker_it_was_on() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    let running = called(&mut agent, &mut app, "c").await;
    agent.send(cancel("cancel", "c")).await;
    confirm(&mut app, &running).await;
    for _ in 0..2 {
        agent.next().await;
    }
    drop(agent);
    assert_eq!(app.next().await["type"], "agent/closed");
    app.send(ended(&running, &json!("c"), true, 200.0)).await;
    for worker in [&two, &one] {
        soon("the end", async {
            while known(worker, "c").await["ended"].is_null() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        let late = json!({ "success": true, "after": 200 });
        assert_eq!(known(worker, "c").await["ended"], late);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_calls_of_an_agent_that_leaves_are_cancelled_on_the_worker_of_their_app() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    let running = called(&mut agent, &mut app, "c").await;
    drop(agent);
    confirm(&mut app, &running).await;
    assert_eq!(app.next().await["type"], "agent/closed");
    // The run's own worker knows this before the app is told.
    for worker in [&two, &one] {
        assert_eq!(known(worker, "c").await["state"], "cancelled");
    }
    // The handler may still end.
    app.send(ended(&running, &json!("c"), true, 200.0)).await;
    soon("the end", async {
        while known(&two, "c").await["ended"].is_null() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// How many bytes that worker has sent to the other workers.
async fn bytes_sent(worker: &Gateway) -> u64 {
    let metrics = worker.get("/metrics", "").await.body;
    let line = metrics
        .lines()
        .find_map(|line| line.strip_prefix("caphost_cluster_bytes_sent_total "));
    line.unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_again_and_again_for_an_id_of_many_long_runs_makes_no_worker_write_them() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = one.app("demo").await;
    let mut agents = Vec::new();
    for _ in 0..16 {
        let mut agent = agent_on(&one, &mut app).await;
        let called = called(&mut agent, &mut app, "same").await;
        let payload = json!({ "operationId": "same", "message": "x".repeat(7_000) });
        app.send(json!({ "type": "progress", "agent": called["agent"], "timestamp": 6, "payload": payload }))
            .await;
        assert_eq!(agent.next().await["type"], "progress");
        agents.push(agent);
    }
    let before = bytes_sent(&one).await;
    let asked = (0..100).map(|_| two.get("/cancellation/status/same", ""));
    for asked in futures_util::future::join_all(asked).await {
        assert_eq!(asked.status, 409, "{}", asked.body);
    }
    let sent = bytes_sent(&one).await - before;
    assert!(sent < 100 * 4_000, "{sent} bytes for 100 questions");
    // A question for exactly one run returns the whole run.
    let run = one.hub.runs_on(one.hub.offers_here()[0].0)[0];
    let run = known(&two, &run.to_string()).await;
    assert_eq!(
        run["progress"]["message"].as_str().map(str::len),
        Some(7_000)
    );
}
