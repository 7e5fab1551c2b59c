//! Texts that one JSON reader accepts and another does not. Every waiting caller is answered.

use caphost_gateway::Limits;
use serde_json::{Value, json};

use crate::cli;
use crate::mcp::app::called;
use crate::mcp::client::{Client, rpc};
use crate::rap_server::runtime::{Receiver, Runtime, invocation};
use crate::request::Response;
use crate::support::*;

/// The output of `JSON.stringify` for a text that was cut inside an emoji.
const CUT: &str = r#"{"text":"cut \ud83d"}"#;
const TOO_LARGE: &str = r#"{"n":1e400}"#;

/// An app whose only capability has that schema, as the app wrote it.
async fn app_with(gateway: &Gateway, schema: &str) -> Peer {
    let mut app = gateway.peer("/abp/app").await;
    app.text(registering(schema)).await;
    assert_eq!(app.next().await["type"], "app/registered");
    app
}

fn registering(schema: &str) -> String {
    let mut message = register("demo");
    message["payload"]["capabilities"][0]["inputSchema"] = json!("SCHEMA");
    message.to_string().replace("\"SCHEMA\"", schema)
}

/// The app answers with a payload, as the app wrote it.
async fn returns(app: &mut Peer, call: &Value, payload: &str) {
    let message = answer(call, "capabilities/call-result", json!("PAYLOAD")).to_string();
    app.text(message.replace("\"PAYLOAD\"", payload)).await;
}

/// The payload of a success with that data, as the app wrote it.
fn succeeded(data: &str) -> String {
    format!(r#"{{"success":true,"data":{data}}}"#)
}

/// A call with those parameters, as written.
fn json_rpc_call(params: &str) -> String {
    let call = json!({ "capability": "a.b", "params": "P" });
    let message = rpc(1, "_capabilities/call", call).to_string();
    message.replace("\"P\"", params)
}

fn mcp_call(params: &str) -> String {
    let message = rpc(1, "tools/call", json!({ "name": "a_b", "arguments": "P" }));
    message.to_string().replace("\"P\"", params)
}

async fn invoke(runtime: &Runtime, receiver: &Receiver, params: &str) -> (u16, String) {
    let message = invocation(&receiver.url("/ok"), "a_b", "t", "1", json!("P"));
    let body = message.to_string().replace("\"P\"", params);
    let kind = Some("application/json");
    runtime.post_text("/invoke", kind, body).await
}

/// An object with a nesting depth of `levels`.
fn nested(levels: usize) -> String {
    let (opening, closing) = ("[".repeat(levels - 1), "]".repeat(levels - 1));
    format!(r#"{{"a":{opening}{closing}}}"#)
}

async fn only_run(gateway: &Gateway) -> Value {
    let list: Response = gateway.get("/api/runs", "").await;
    list.json()["runs"][0].clone()
}

/// The only run, which has ended. The metrics say the same of it.
async fn counted_run(gateway: &Gateway) -> Value {
    let run = only_run(gateway).await;
    let metrics = gateway.get("/metrics", "").await.body;
    let (dialect, state) = (run["dialect"].as_str(), run["state"].as_str());
    let (dialect, state) = (dialect.unwrap(), state.unwrap());
    let counted = |start: &str| {
        let lines = metrics.lines().filter(|line| line.starts_with(start));
        let lines = lines.filter(|line| !line.ends_with(" 0"));
        lines.map(str::to_string).collect::<Vec<_>>()
    };
    let labels = format!(r#"dialect="{dialect}",outcome="{state}""#);
    let ended = format!("caphost_runs_ended_total{{{labels}}} 1");
    assert_eq!(counted("caphost_runs_ended_total"), [ended]);
    let stops = counted("caphost_stops_total");
    assert_eq!(stops.len(), usize::from(state == "cancelled"), "{stops:?}");
    assert_eq!(counted("caphost_runs_settled_total").len(), 0);
    run
}

/// What each kind of caller is told of an answer, and the run's state afterwards.
async fn told(data: &str) -> Vec<(&'static str, Value, Value)> {
    let mut told = Vec::new();

    let gateway = Gateway::start().await;
    let mut app = app_with(&gateway, "{}").await;
    let mut agent = gateway.agent().await;
    agent.initialize(&mut app).await;
    agent.send(call("1", "c")).await;
    let calling = app.next().await;
    returns(&mut app, &calling, data).await;
    told.push(("abp", agent.next().await, counted_run(&gateway).await));

    let gateway = Gateway::start().await;
    let mut app = app_with(&gateway, "{}").await;
    let mut caller = gateway.peer("/jsonrpc").await;
    let params = json!({ "capability": "a.b" });
    caller.send(rpc(1, "_capabilities/call", params)).await;
    let calling = called(&mut app).await;
    returns(&mut app, &calling, data).await;
    told.push(("json-rpc", caller.next().await, counted_run(&gateway).await));

    let gateway = Gateway::start().await;
    let mut app = app_with(&gateway, "{}").await;
    let client = Client::open(&gateway, "/mcp").await;
    let stream = client.call_tool(1, "a_b").await;
    let calling = called(&mut app).await;
    returns(&mut app, &calling, data).await;
    told.push(("mcp", stream.last().await, counted_run(&gateway).await));

    let gateway = Gateway::start().await;
    let mut app = app_with(&gateway, "{}").await;
    let (runtime, receiver) = (Runtime::new(&gateway, ""), Receiver::start().await);
    runtime.invoke(&receiver, "a_b", "t", "1", json!({})).await;
    let calling = called(&mut app).await;
    returns(&mut app, &calling, data).await;
    told.push(("rap", receiver.result().await, counted_run(&gateway).await));

    let gateway = Gateway::start().await;
    let mut app = app_with(&gateway, "{}").await;
    let running = cli::Running::start(cli::caphost(&gateway, &["call", "a.b"]));
    let calling = cli::called(&mut app).await;
    returns(&mut app, &calling, data).await;
    let ended = running.ended().await;
    let said = json!(format!("{} {}", ended.out, ended.err));
    told.push(("cli", said, counted_run(&gateway).await));
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_cut_inside_an_emoji_reaches_every_caller() {
    for (dialect, got, run) in told(&succeeded(CUT)).await {
        assert!(got.to_string().contains("cut \u{fffd}"), "{dialect}: {got}");
        assert_eq!(run["state"], "completed", "{dialect}: {run}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_with_a_number_out_of_range_is_an_error_to_every_caller() {
    for (dialect, got, run) in told(&succeeded(TOO_LARGE)).await {
        let said = got.to_string();
        assert!(said.contains("number out of range"), "{dialect}: {said}");
        assert_eq!(run["state"], "unknown", "{dialect}: {run}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_sends_what_cannot_be_read_is_told_so_and_goes_on() {
    let gateway = Gateway::start().await;
    let mut refused = gateway.peer("/abp/app").await;
    refused.text(registering(TOO_LARGE)).await;
    let told = refused.next().await;
    assert_eq!(
        (&told["type"], code(&told)),
        (&json!("app/refused"), "INVALID_PARAMS")
    );
    let message = told["payload"]["error"]["message"].as_str().unwrap();
    assert!(message.contains("number out of range"), "{message}");

    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
    let calling = app.next().await;
    returns(&mut app, &calling, TOO_LARGE).await;
    assert_eq!(code(&agent.next().await), "TRANSPORT_ERROR");
    assert_eq!(code(&app.next().await), "INVALID_PARAMS");
    agent.call_through(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_cut_inside_an_emoji_is_a_schema_all_the_same() {
    let gateway = Gateway::start().await;
    let schema = r#"{"type":"object","properties":{"a":{"description":"cut \ud83d"}}}"#;
    let _app = app_with(&gateway, schema).await;
    let client = Client::open(&gateway, "/mcp").await;
    let tools = client.ask(1, "tools/list", json!({})).await;
    let shown = &tools["result"]["tools"][0]["inputSchema"]["properties"]["a"];
    assert_eq!(shown["description"], "cut \u{fffd}", "{tools}");
    let manifest = gateway.get("/abp.json?app=demo", "").await;
    assert!(manifest.json()["capabilities"].is_array());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_callers_of_every_dialect_cut_inside_an_emoji_is_read() {
    let gateway = Gateway::start().await;
    let mut app = app_with(&gateway, "{}").await;
    let arguments = |calling: &Value| calling["payload"]["params"]["text"].clone();

    let mut caller = gateway.peer("/jsonrpc").await;
    caller.text(json_rpc_call(CUT)).await;
    let calling = called(&mut app).await;
    assert_eq!(arguments(&calling), "cut \u{fffd}");

    let client = Client::open(&gateway, "/mcp").await;
    let _stream = client.post_text(mcp_call(CUT)).await;
    let calling = called(&mut app).await;
    assert_eq!(arguments(&calling), "cut \u{fffd}");

    let (runtime, receiver) = (Runtime::new(&gateway, ""), Receiver::start().await);
    assert_eq!(invoke(&runtime, &receiver, CUT).await.0, 200);
    let calling = called(&mut app).await;
    assert_eq!(arguments(&calling), "cut \u{fffd}");

    let run = only_run(&gateway).await;
    let reason = format!(r#"{{"requestId":{},"reason":"cut \ud83d"}}"#, run["runId"]);
    let cancelling = gateway.post("/cancellation/cancel", "", &reason);
    let asked = async {
        let asked = app.next().await;
        assert_eq!(asked["payload"]["reason"], "cut \u{fffd}");
        let call_id = asked["payload"]["callId"].clone();
        let confirmed = json!({ "callId": call_id, "cancelled": true });
        app.send(answer(&asked, "capabilities/cancel-result", confirmed))
            .await;
        let ended = json!({ "success": false, "cancelled": true });
        app.send(answer(&calling, "capabilities/call-result", ended))
            .await;
    };
    let (cancelled, ()) = tokio::join!(cancelling, asked);
    assert_eq!(cancelled.json()["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_id_is_found_however_its_key_is_escaped() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let escaped = r#"{"type":"capabilities/call","id":"1","payload":{"capability":"a.b","call\u0049d":"hidden"}}"#;
    agent.text(escaped).await;
    assert_eq!(app.next().await["payload"]["callId"], "hidden");
    let run = gateway.get("/api/runs/hidden", "").await;
    assert_eq!(run.status, 200, "{}", run.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_callers_of_every_dialect_send_that_cannot_be_read_is_refused_under_its_id() {
    let gateway = Gateway::start().await;
    let mut app = app_with(&gateway, "{}").await;
    let mut caller = gateway.peer("/jsonrpc").await;
    let client = Client::open(&gateway, "/mcp").await;
    let (runtime, receiver) = (Runtime::new(&gateway, ""), Receiver::start().await);
    let reserved = r#"{"$serde_json::private::Number":"1"}"#;
    for params in [TOO_LARGE, reserved, &nested(200), &nested(3_000)] {
        let shown = &params[..params.len().min(40)];
        caller.text(json_rpc_call(params)).await;
        let answer = caller.next().await;
        let error = &answer["error"];
        assert_eq!(answer["id"], 1, "{shown}: {answer}");
        assert_eq!(error["code"], -32600, "{shown}: {answer}");
        assert_eq!(error["data"]["code"], "INVALID_PARAMS", "{shown}");

        let response = client.post_text(mcp_call(params)).await;
        assert_eq!(response.status(), 400, "{shown}");
        let answer: Value = response.json().await.unwrap();
        assert_eq!(answer["id"], 1, "{shown}: {answer}");
        assert_eq!(answer["error"]["code"], -32600, "{shown}: {answer}");

        let (status, answer) = invoke(&runtime, &receiver, params).await;
        assert_eq!(status, 400, "{shown}: {answer}");
        assert!(answer.contains("INVALID_PARAMS"), "{shown}: {answer}");
    }
    caller.text(json_rpc_call(r#"{"a":"good"}"#)).await;
    let calling = called(&mut app).await;
    assert_eq!(
        calling["payload"]["params"]["a"], "good",
        "nothing came before"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bound_of_nesting_holds_in_every_dialect_and_is_named() {
    let gateway = Gateway::limited(Limits {
        depth: 20,
        ..Limits::default()
    })
    .await;
    let mut app = app_with(&gateway, "{}").await;
    let mut caller = gateway.peer("/jsonrpc").await;
    let client = Client::open(&gateway, "/mcp").await;
    let (runtime, receiver) = (Runtime::new(&gateway, ""), Receiver::start().await);
    // In the message to the app, the parameters are on the third level.
    let (good, bad) = (nested(18), nested(19));

    caller.text(json_rpc_call(&bad)).await;
    let limit = json!({ "limit": "depth", "max": 20 });
    assert_eq!(caller.next().await["error"]["data"]["details"], limit);
    caller.text(json_rpc_call(&good)).await;
    called(&mut app).await;

    let response = client.post_text(mcp_call(&bad)).await;
    let answer: Value = response.json().await.unwrap();
    assert_eq!(answer["error"]["data"], limit, "{answer}");
    let _stream = client.post_text(mcp_call(&good)).await;
    called(&mut app).await;

    let (status, answer) = invoke(&runtime, &receiver, &bad).await;
    let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
    assert_eq!(
        (status, &answer["error"]["details"]),
        (400, &json!({ "limit": "depth", "max": 19 })),
        "an invocation has one level less than what becomes of it"
    );
    assert_eq!(invoke(&runtime, &receiver, &good).await.0, 200);
    called(&mut app).await;
}

/// What a caller was told: `completed`, `cancelled`, `unknown` or `failed`.
fn truth(dialect: &str, got: &Value) -> &'static str {
    let said = got.to_string();
    let is_cancelled = match dialect {
        "abp" => {
            got["payload"]
                == json!({ "success": false, "cancelled": true, "metadata": { "stop": "abandoned" } })
        }
        "json-rpc" | "mcp" => {
            got["error"]["code"] == -32800 && got["error"]["data"]["stop"] == "abandoned"
        }
        _ => said.to_lowercase().contains("cancelled") && !said.contains("TRANSPORT_ERROR"),
    };
    match () {
        () if is_cancelled => "cancelled",
        () if said.contains("TRANSPORT_ERROR") => "unknown",
        () if said.contains("OPERATION_FAILED") => "failed",
        () => "completed",
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_odd_answer_is_the_same_to_every_caller_the_run_and_the_metrics() {
    for (payload, expected) in [
        (r#"{"data":1}"#, "unknown"),
        (r#"{"success":"true"}"#, "unknown"),
        (r#"{"success":1}"#, "unknown"),
        (r#"{"success":null,"data":1}"#, "unknown"),
        (r#"[]"#, "unknown"),
        (r#""done""#, "unknown"),
        (r#"{"cancelled":true}"#, "unknown"),
        (
            r#"{"success":false,"error":{"code":"CANCELLED"}}"#,
            "cancelled",
        ),
        (r#"{"success":false,"cancelled":true}"#, "cancelled"),
        (r#"{"success":true,"data":1,"cancelled":true}"#, "completed"),
        (r#"{"success":false}"#, "failed"),
        (r#"{"success":false,"error":"broken"}"#, "failed"),
        (r#"{"success":false,"cancelled":"true"}"#, "failed"),
    ] {
        for (dialect, got, run) in told(payload).await {
            assert_eq!(
                truth(dialect, &got),
                expected,
                "{payload}, {dialect}: {got}"
            );
            assert_eq!(run["state"], expected, "{payload}, {dialect}: {run}");
            if expected == "failed" {
                let said = got.to_string();
                let has_words =
                    said.contains("broken") || said.contains("did not say what went wrong");
                assert!(has_words, "{payload}, {dialect}: {said}");
            }
            if dialect == "abp" && expected == "completed" {
                assert_eq!(got["payload"], json!({ "success": true, "data": 1 }));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_confirmation_of_another_call_confirms_nothing() {
    for (payload, cancelled) in [
        (json!({ "callId": "other", "cancelled": true }), false),
        (json!({ "callId": "c", "cancelled": "true" }), false),
        (
            json!({ "callId": "c", "cancelled": true, "error": { "code": "X", "message": "x" } }),
            false,
        ),
        (json!({ "callId": "c", "cancelled": true }), true),
    ] {
        let gateway = Gateway::start().await;
        let mut app = app_with(&gateway, "{}").await;
        let mut agent = gateway.agent().await;
        agent.initialize(&mut app).await;
        agent.send(call("1", "c")).await;
        let calling = app.next().await;
        agent.send(cancel("2", "c")).await;
        let cancelling = app.next().await;
        app.send(answer(
            &cancelling,
            "capabilities/cancel-result",
            payload.clone(),
        ))
        .await;
        let got = agent.next().await;
        assert_eq!(got["type"], "capabilities/cancel-result");
        assert_eq!(
            (&got["payload"]["callId"], &got["payload"]["cancelled"]),
            (&json!("c"), &json!(cancelled)),
            "{payload}"
        );
        if cancelled {
            continue;
        }
        assert_eq!(
            got["payload"]["error"]["code"], "TRANSPORT_ERROR",
            "{payload}"
        );
        returns(&mut app, &calling, r#"{"success":true,"data":1}"#).await;
        assert_eq!(agent.next().await["payload"]["data"], 1);
        assert_eq!(only_run(&gateway).await["state"], "completed", "{payload}");
    }
}
