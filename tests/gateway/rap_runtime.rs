//! The tools of real tool servers, called by real agents.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use caphost::gateway::http_client::client;
use caphost::gateway::rap::runtime::{Counters, RuntimeConfig, RuntimeLimits};
use caphost::gateway::server::Config;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::support::*;

/// What a tool server was sent.
struct Received {
    path: String,
    authorization: Option<String>,
    body: Value,
}

/// A tool server that does as it is told.
struct Tools {
    base: String,
    wishes: Arc<Wishes>,
    received: mpsc::UnboundedReceiver<Received>,
    serving: JoinHandle<()>,
}

struct Wishes {
    toolset: Mutex<Value>,
    /// The next answers, by path; 200 when there are none, and none at all for 0.
    answers: Mutex<HashMap<&'static str, VecDeque<u16>>>,
    received: mpsc::UnboundedSender<Received>,
}

impl Tools {
    async fn start(name: &str) -> Self {
        Self::at(name, "127.0.0.1:0").await
    }

    async fn at(name: &str, address: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let base = format!("http://{}/base", listener.local_addr().unwrap());
        let (to_test, received) = mpsc::unbounded_channel();
        let wishes = Arc::new(Wishes {
            toolset: Mutex::new(toolset(name, &base, &["work"])),
            answers: Mutex::default(),
            received: to_test,
        });
        let router = Router::new()
            .fallback(answer_as_wished)
            .with_state(wishes.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Tools {
            base,
            wishes,
            received,
            serving,
        }
    }

    fn wish(&self, path: &'static str, answers: impl IntoIterator<Item = u16>) {
        let mut wishes = self.wishes.answers.lock().unwrap();
        wishes.entry(path).or_default().extend(answers);
    }

    /// What comes next to that path, which must be what comes next at all.
    async fn next(&mut self, path: &str) -> Value {
        let received = soon(path, self.received.recv()).await.unwrap();
        assert_eq!(received.path, path, "{}", received.body);
        received.body
    }

    async fn invoked(&mut self) -> Invoked {
        Invoked(self.next("/base/invoke").await)
    }

    /// The server and all of its connections are gone.
    async fn stop(self) -> String {
        self.serving.abort();
        let _ = self.serving.await;
        self.base
    }
}

async fn answer_as_wished(
    State(wishes): State<Arc<Wishes>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    let path = uri.path().to_string();
    if path == "/base/.well-known/rap-toolset" {
        return (StatusCode::OK, wishes.toolset.lock().unwrap().to_string());
    }
    assert_eq!(headers["content-type"], "application/json");
    let authorization = headers.get("authorization");
    let received = Received {
        authorization: authorization.map(|it| it.to_str().unwrap().to_string()),
        body: serde_json::from_slice(&body).unwrap(),
        path,
    };
    let wish = {
        let mut answers = wishes.answers.lock().unwrap();
        let path = received.path.as_str();
        let wished = answers.iter_mut().find(|(it, _)| path.ends_with(**it));
        wished.and_then(|(_, answers)| answers.pop_front())
    };
    let _ = wishes.received.send(received);
    match wish.unwrap_or(200) {
        0 => std::future::pending().await,
        status => (StatusCode::from_u16(status).unwrap(), "not read".into()),
    }
}

fn toolset(name: &str, base: &str, tools: &[&str]) -> Value {
    let tool = |name: &&str| json!({ "name": name, "description": "d", "inputSchema": { "type": "object" } });
    let tools: Vec<_> = tools.iter().map(tool).collect();
    json!({ "name": name, "endpoint": format!("{base}/invoke"), "tools": tools })
}

/// An invocation, as the tool server got it.
struct Invoked(Value);

impl Invoked {
    fn callback(&self) -> &str {
        self.0["callback_url"].as_str().unwrap()
    }

    fn result(&self, more: Value) -> Value {
        let mut result =
            json!({ "type": "tool_result", "group_id": self.0["group_id"], "id": self.0["id"] });
        result
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        result
    }

    fn event(&self, more: Value) -> Value {
        let mut event = json!({ "type": "subscription_event", "group_id": self.0["group_id"], "tool_call_id": self.0["id"] });
        event
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        event
    }

    async fn answer(&self, more: Value) {
        assert_eq!(post(self.callback(), self.result(more)).await, 200);
    }

    fn cancelled(&self) -> Value {
        json!({ "thread_id": self.0["group_id"], "tool_call_id": self.0["id"] })
    }

    fn closed(&self) -> Value {
        json!({ "thread_id": self.0["group_id"] })
    }
}

static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(|| client(Duration::from_secs(30)));

async fn post(url: &str, body: impl ToString) -> u16 {
    let request = CLIENT
        .post(url)
        .header("content-type", "application/json")
        .body(body.to_string());
    request.send().await.unwrap().status().as_u16()
}

fn quick() -> RuntimeLimits {
    RuntimeLimits {
        refresh_interval: Duration::from_millis(50),
        first_pause: Duration::from_millis(10),
        longest_pause: Duration::from_millis(50),
        ..RuntimeLimits::default()
    }
}

async fn gateway(servers: &[&str], limits: RuntimeLimits) -> (Gateway, Arc<Counters>) {
    let tool_servers = RuntimeConfig {
        servers: servers.iter().map(|it| it.parse().unwrap()).collect(),
        public: None,
        limits,
    };
    let gateway = Gateway::with(Config {
        tool_servers,
        ..config()
    })
    .await;
    let counters = gateway.tool_servers.clone();
    (gateway, counters)
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    soon(what, async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// An agent with a session on the app, as soon as there is that app.
async fn agent(gateway: &Gateway, app: &str) -> Peer {
    let hub = &gateway.hub;
    until("the app", || hub.manifest(Some(app)).is_some()).await;
    let mut agent = gateway.peer(&format!("/abp?app={app}")).await;
    initialize(&mut agent).await;
    agent
}

async fn initialize(agent: &mut Peer) -> Value {
    let who = json!({ "agent": { "name": "a", "version": "1" }, "protocolVersion": "0.1" });
    agent.send(request("initialize", "init", who)).await;
    let opened = agent.next().await;
    assert!(opened["payload"]["sessionId"].is_string(), "{opened}");
    opened["payload"].clone()
}

fn work(id: &str, options: Value) -> Value {
    let mut options = options;
    options["callId"] = id.into();
    request(
        "capabilities/call",
        id,
        json!({ "capability": "work", "params": { "n": 1 }, "options": options }),
    )
}

async fn outcome(agent: &mut Peer, id: &str) -> Value {
    let result = agent.next().await;
    assert_eq!(
        (&result["type"], &result["id"]),
        (&json!("capabilities/call-result"), &json!(id)),
        "{result}"
    );
    result["payload"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_is_found_called_and_answers() {
    let mut tools = Tools::start("demo tools").await;
    let server = format!("s3cret@{}/", tools.base);
    let (gateway, counters) = gateway(&[&server], quick()).await;
    let mut agent = agent(&gateway, "demo-tools").await;
    agent.send(work("c1", json!({}))).await;
    let received = soon("the invocation", tools.received.recv()).await.unwrap();
    assert_eq!(
        (&*received.path, received.authorization.as_deref()),
        ("/base/invoke", Some("Bearer s3cret"))
    );
    let invoked = Invoked(received.body);
    assert_eq!(
        (
            &invoked.0["operation"],
            &invoked.0["arguments"],
            &invoked.0["call_id"]
        ),
        (&json!("work"), &json!({ "n": 1 }), &json!("c1"))
    );
    assert!(
        invoked
            .callback()
            .starts_with(&format!("http://{}/rap/callback/", gateway.address))
    );
    invoked
        .answer(json!({ "text": "{\"pages\":3}", "call_id": "c1" }))
        .await;
    let result = outcome(&mut agent, "c1").await;
    assert_eq!(
        (&result["success"], &result["data"]),
        (&json!(true), &json!({ "pages": 3 }))
    );
    // The same thread, another call.
    agent.send(work("c2", json!({}))).await;
    let second = tools.invoked().await;
    assert_eq!(second.0["group_id"], invoked.0["group_id"]);
    assert_ne!(second.0["id"], invoked.0["id"]);
    second
        .answer(json!({ "text": "Error: the disk is full" }))
        .await;
    let result = outcome(&mut agent, "c2").await;
    assert_eq!(
        (&result["error"]["code"], &result["error"]["message"]),
        (&json!("OPERATION_FAILED"), &json!("the disk is full"))
    );
    // Another agent, another thread; a picture.
    let mut other = self::agent(&gateway, "demo-tools").await;
    other.send(work("c1", json!({}))).await;
    let third = tools.invoked().await;
    assert_ne!(third.0["group_id"], invoked.0["group_id"]);
    third
        .answer(
            json!({ "content": [{ "type": "image", "data": "AA==", "mediaType": "image/png" }] }),
        )
        .await;
    let binary = json!({ "content": "AA==", "mimeType": "image/png", "encoding": "base64" });
    assert_eq!(outcome(&mut other, "c1").await["data"], binary);
    agent
        .send(request(
            "capabilities/call",
            "x",
            json!({ "capability": "none" }),
        ))
        .await;
    assert_eq!(
        outcome(&mut agent, "x").await["error"]["code"],
        "UNKNOWN_CAPABILITY"
    );
    assert_eq!((counters.invocations.get(), counters.results.get()), (3, 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_nobody_waits_for_are_taken_and_dropped() {
    let mut tools = Tools::start("t").await;
    let (gateway, counters) = gateway(&[&tools.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    let invoked = tools.invoked().await;
    let callback = invoked.callback();
    // Of another thread, of no call, of no tool server; what is no callback.
    let mut foreign = invoked.result(json!({ "text": "foreign" }));
    foreign["group_id"] = "another".into();
    assert_eq!(post(callback, &foreign).await, 200);
    let mut unknown = invoked.result(json!({ "text": "unknown" }));
    unknown["id"] = "another".into();
    assert_eq!(post(callback, &unknown).await, 200);
    let guessed = format!(
        "http://{}/rap/callback/guessed/{}",
        gateway.address,
        invoked.0["id"].as_str().unwrap()
    );
    assert_eq!(
        post(&guessed, invoked.result(json!({ "text": "guessed" }))).await,
        404
    );
    for malformed in [
        "",
        "{",
        "[]",
        "7",
        "{}",
        r#"{"type":"tool_result"}"#,
        r#"{"type":"tool_result","id":"../x","group_id":"g","text":""}"#,
    ] {
        assert_eq!(post(callback, malformed).await, 400, "{malformed}");
    }
    invoked.answer(json!({ "text": "first" })).await;
    assert_eq!(outcome(&mut agent, "c").await["data"], "first");
    invoked.answer(json!({ "text": "second" })).await;
    until("three to be dropped", || {
        counters.results_dropped.get() == 3
    })
    .await;
    assert_eq!(
        (counters.results.get(), counters.callbacks_refused.get()),
        (1, 7)
    );
    // The agent hears of none of it.
    agent.send(request("shutdown", "bye", json!({}))).await;
    assert_eq!(agent.next().await["type"], "shutdown-result");
}

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
    let (gateway, counters) = gateway(&servers, limits).await;
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
                &json!({ "callId": id, "cancelled": true })
            )
        );
        assert_eq!(
            outcome(&mut agent, id).await,
            json!({ "success": false, "cancelled": true })
        );
        for server in [&mut tools, &mut hanging, &mut failing] {
            assert_eq!(
                server.next("/base/cancel_tool_call").await,
                invoked.cancelled()
            );
        }
        invoked.answer(json!({ "text": "too late" })).await;
        agent.send(cancel("y", id)).await;
        assert_eq!(agent.next().await["payload"]["cancelled"], true);
    }
    until("the late results to be dropped", || {
        counters.results_dropped.get() == 2
    })
    .await;
    // What comes next to each server is the end of the thread: nothing was sent twice.
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
        json!({ "success": false, "cancelled": true })
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
        assert_eq!(agent.next().await["type"], "shutdown-result");
        initialize(&mut agent).await;
    }
    // Either the tool server was never told of the call, or also of its end, and in that order.
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
async fn an_invocation_is_repeated_after_5xx_and_never_after_4xx() {
    let mut tools = Tools::start("t").await;
    let (gateway, _) = gateway(&[&tools.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    tools.wish("/invoke", [503, 500]);
    agent.send(work("again", json!({}))).await;
    let first = tools.invoked().await;
    assert_eq!(tools.invoked().await.0, first.0);
    assert_eq!(tools.invoked().await.0, first.0);
    first.answer(json!({ "text": "at last" })).await;
    assert_eq!(outcome(&mut agent, "again").await["data"], "at last");
    for (status, code) in [
        (400, "INVALID_PARAMS"),
        (404, "OPERATION_FAILED"),
        (401, "PERMISSION_DENIED"),
        (429, "RATE_LIMITED"),
    ] {
        tools.wish("/invoke", [status]);
        let id = format!("refused {status}");
        agent.send(work(&id, json!({}))).await;
        tools.invoked().await;
        assert_eq!(outcome(&mut agent, &id).await["error"]["code"], code);
    }
    // When it never works, the server is told to forget it: it may have begun.
    tools.wish("/invoke", [500; 5]);
    agent.send(work("never", json!({}))).await;
    let mut invoked = tools.invoked().await;
    for _ in 1..5 {
        invoked = tools.invoked().await;
    }
    assert_eq!(
        outcome(&mut agent, "never").await["error"]["code"],
        "TRANSPORT_ERROR"
    );
    assert_eq!(
        tools.next("/base/cancel_tool_call").await,
        invoked.cancelled()
    );
    // A result that comes although the invocation was never acknowledged is one.
    tools.wish("/invoke", [500]);
    agent.send(work("odd", json!({}))).await;
    tools
        .invoked()
        .await
        .answer(json!({ "text": "done" }))
        .await;
    assert_eq!(outcome(&mut agent, "odd").await["data"], "done");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_sends_events_until_it_ends() {
    let mut tools = Tools::start("t").await;
    let (gateway, counters) = gateway(&[&tools.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("watch", json!({}))).await;
    let invoked = tools.invoked().await;
    invoked
        .answer(json!({ "text": "subscribed", "subscription": true }))
        .await;
    assert_eq!(outcome(&mut agent, "watch").await["data"], "subscribed");
    let told = |text: &str, more: Value| {
        let mut data = json!({ "callId": "watch", "text": text });
        data.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({ "event": "notifications/subscription/event", "data": data })
    };
    for (sent, expected) in [
        (json!({ "text": "one" }), told("one", json!({}))),
        (
            json!({ "text": "two", "associative": true }),
            told("two", json!({ "associative": true })),
        ),
        (
            json!({ "text": "three", "final": true }),
            told("three", json!({ "final": true })),
        ),
    ] {
        assert_eq!(post(invoked.callback(), invoked.event(sent)).await, 200);
        let notification = agent.next().await;
        assert_eq!(
            (&notification["type"], &notification["payload"]),
            (&json!("notification"), &expected)
        );
    }
    assert_eq!(
        post(
            invoked.callback(),
            invoked.event(json!({ "text": "after the last" }))
        )
        .await,
        200
    );
    until("it to be dropped", || counters.events_dropped.get() == 1).await;
    // A cancel of a call that goes on as a subscription ends that.
    agent.send(work("again", json!({}))).await;
    let invoked = tools.invoked().await;
    invoked
        .answer(json!({ "text": "", "subscription": true }))
        .await;
    outcome(&mut agent, "again").await;
    agent.send(cancel("x", "again")).await;
    let answer = agent.next().await;
    assert_eq!(
        answer["payload"],
        json!({ "callId": "again", "cancelled": false, "reason": "Operation already completed" })
    );
    assert_eq!(
        tools.next("/base/cancel_tool_call").await,
        invoked.cancelled()
    );
    assert_eq!(
        post(invoked.callback(), invoked.event(json!({ "text": "late" }))).await,
        200
    );
    until("it to be dropped", || counters.events_dropped.get() == 2).await;
    assert_eq!(counters.events.get(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_toolset_that_changes_is_told_and_a_server_that_is_gone_leaves() {
    let mut tools = Tools::start("t").await;
    let limits = RuntimeLimits {
        gone_after: Duration::from_millis(100),
        ..quick()
    };
    let (gateway, _) = gateway(&[&tools.base], limits).await;
    let mut agent = agent(&gateway, "t").await;
    *tools.wishes.toolset.lock().unwrap() = toolset("t", &tools.base, &["play", "rest"]);
    let told = agent.next().await;
    let data = json!({ "added": ["play", "rest"], "removed": ["work"], "changed": [] });
    assert_eq!(
        told["payload"],
        json!({ "event": "notifications/capabilities/list_changed", "data": data })
    );
    let manifest = gateway.hub.manifest(Some("t")).unwrap();
    assert!(manifest.contains("rest") && !manifest.contains("work"));
    agent
        .send(request(
            "capabilities/call",
            "1",
            json!({ "capability": "play" }),
        ))
        .await;
    assert_eq!(tools.invoked().await.0["operation"], "play");
    // One bad tool, and none of it counts; what was there stays for a while.
    let address = tools
        .base
        .trim_start_matches("http://")
        .trim_end_matches("/base")
        .to_string();
    tools.stop().await;
    assert_eq!(code(&agent.next().await), "DISCONNECTED");
    assert_eq!(agent.closed().await, 4001);
    assert!(gateway.hub.manifest(Some("t")).is_none());
    let mut back = Tools::at("t", &address).await;
    let mut agent = self::agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    back.invoked().await.answer(json!({ "text": "back" })).await;
    assert_eq!(outcome(&mut agent, "c").await["data"], "back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_toolset_is_not_offered_and_names_that_clash_get_numbers() {
    let bad = Tools::start("bad").await;
    bad.wishes.toolset.lock().unwrap()["tools"][0]["name"] = "a b".into();
    let (one, two) = (Tools::start("same").await, Tools::start("same").await);
    let (gateway, _) = gateway(&[&bad.base, &one.base, &two.base], quick()).await;
    agent(&gateway, "same").await;
    agent(&gateway, "same-2").await;
    assert!(gateway.hub.manifest(Some("bad")).is_none());
    *bad.wishes.toolset.lock().unwrap() = toolset("bad", &bad.base, &["work"]);
    agent(&gateway, "bad").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_too_large_fails_its_call() {
    let mut tools = Tools::start("t").await;
    let tool_servers = RuntimeConfig {
        servers: vec![tools.base.parse().unwrap()],
        public: None,
        limits: quick(),
    };
    let mut config = Config {
        tool_servers,
        ..config()
    };
    config.limits.message_bytes = 10_000;
    let gateway = Gateway::with(config).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    let invoked = tools.invoked().await;
    let large = invoked.result(json!({ "text": "x".repeat(10_000) }));
    assert_eq!(post(invoked.callback(), large).await, 413);
    let error = &outcome(&mut agent, "c").await["error"];
    assert_eq!(error["code"], "OPERATION_FAILED");
    assert!(
        error["message"].as_str().unwrap().contains("10000 bytes"),
        "{error}"
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
async fn a_thousand_calls_at_once_are_each_answered() {
    let mut tools = Tools::start("t").await;
    let (gateway, counters) = gateway(&[&tools.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    const CALLS: usize = 1_000;
    for number in 0..CALLS {
        agent.send(work(&number.to_string(), json!({}))).await;
    }
    for _ in 0..CALLS {
        let invoked = tools.invoked().await;
        let result = invoked.result(json!({ "text": invoked.0["call_id"] }));
        let sent = CLIENT
            .post(invoked.callback())
            .body(result.to_string())
            .send()
            .await;
        assert_eq!(sent.unwrap().status(), 200);
    }
    for _ in 0..CALLS {
        let result = agent.next().await;
        assert_eq!(result["payload"]["data"], result["id"]);
    }
    assert_eq!(counters.results.get(), CALLS as u64);
    assert_eq!(gateway.hub.in_flight(), 0);
}
