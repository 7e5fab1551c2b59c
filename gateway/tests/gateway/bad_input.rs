use caphost_gateway::Limits;
use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::MaybeTlsStream;
use tokio_tungstenite::tungstenite::Message;

use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_nonsense_is_answered_and_the_session_goes_on() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let mut bystander = gateway.agent().await;
    bystander.initialize(&mut app).await;
    bystander.send(call("waiting", "w")).await;
    let waiting = app.next().await;

    let deep = format!(
        r#"{{"type":"capabilities/call","id":"x","payload":{}{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let cases = [
        ("{".to_string(), "error", "INVALID_PARAMS", Value::Null),
        ("null".into(), "error", "INVALID_PARAMS", Value::Null),
        ("[1,2]".into(), "error", "INVALID_PARAMS", Value::Null),
        (
            r#"{"id":"x"}"#.into(),
            "error",
            "INVALID_PARAMS",
            json!("x"),
        ),
        (
            r#"{"type":"no such","id":"x"}"#.into(),
            "error",
            "NOT_IMPLEMENTED",
            json!("x"),
        ),
        (
            r#"{"type":"capabilities/call","id":"x","payload":"p"}"#.into(),
            "capabilities/call-result",
            "INVALID_PARAMS",
            json!("x"),
        ),
        (
            r#"{"type":"capabilities/cancel","id":"x"}"#.into(),
            "capabilities/cancel-result",
            "INVALID_PARAMS",
            json!("x"),
        ),
        (
            r#"{"type":"initialize","id":"x","payload":[]}"#.into(),
            "initialize-result",
            "INVALID_PARAMS",
            json!("x"),
        ),
        (
            deep,
            "capabilities/call-result",
            "INVALID_PARAMS",
            json!("x"),
        ),
    ];
    for (text, kind, expected, id) in cases {
        agent.text(text.clone()).await;
        let got = agent.next().await;
        assert_eq!(
            (got["type"].as_str(), code(&got), &got["id"]),
            (Some(kind), expected, &id),
            "{text:.80}"
        );
    }
    agent
        .socket
        .send(Message::binary(vec![1, 2, 3]))
        .await
        .unwrap();
    let got = agent.next().await;
    assert_eq!(
        (got["type"].as_str(), code(&got), &got["id"]),
        (Some("error"), "INVALID_PARAMS", &Value::Null)
    );

    agent.call_through(&mut app).await;
    app.send(answer(
        &waiting,
        "capabilities/call-result",
        json!({ "success": true }),
    ))
    .await;
    assert_eq!(bystander.next().await["id"], "waiting");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_of_100_mb_is_refused_under_its_id_and_the_session_goes_on() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let mut message = call("large", "c").to_string();
    message.truncate(message.len() - 1);
    message.push_str(r#","padding":""#);
    // The members may come in any order, but the id is near the start.
    let padding = "x".repeat(100_000_000);
    agent.text(format!("{message}{padding}\"}}")).await;
    let got = agent.next().await;
    assert_eq!(
        (&got["id"], &got["type"]),
        (&json!("large"), &json!("capabilities/call-result"))
    );
    assert_eq!(code(&got), "INVALID_PARAMS");
    assert_eq!(
        got["payload"]["error"]["details"],
        json!({ "limit": "messageBytes", "max": 16 << 20 })
    );
    agent.call_through(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_past_what_is_read_closes_the_connection() {
    let limits = Limits {
        message_bytes: 1_000,
        frame_bytes: 10_000,
        ..Limits::default()
    };
    let gateway = Gateway::limited(limits).await;
    let (mut app, mut agent) = gateway.session().await;
    agent.text("x".repeat(9_000)).await;
    assert_eq!(code(&agent.next().await), "INVALID_PARAMS");
    agent.text("x".repeat(11_000)).await;
    assert_eq!(agent.closed().await, 1009);
    assert_eq!(app.next().await["type"], "agent/closed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_websocket_frames_close_the_connection_only() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let mut broken = gateway.agent().await;
    broken.initialize(&mut app).await;
    let MaybeTlsStream::Plain(stream) = broken.socket.get_mut() else {
        panic!("TLS")
    };
    // A masked text frame with two bytes that are not UTF-8.
    stream
        .write_all(&[0x81, 0x82, 0, 0, 0, 0, 0xff, 0xff])
        .await
        .unwrap();
    assert_eq!(broken.closed().await, 1007);
    assert_eq!(app.next().await["type"], "agent/closed");
    let mut broken = gateway.agent().await;
    let MaybeTlsStream::Plain(stream) = broken.socket.get_mut() else {
        panic!("TLS")
    };
    stream.write_all(&[0xf3, 0x80, 0, 0, 0, 0]).await.unwrap();
    assert_eq!(broken.closed().await, 1002);
    agent.call_through(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_session() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let mut agent = gateway.agent().await;
    agent.send(call("1", "c")).await;
    let got = agent.next().await;
    assert_eq!(
        (code(&got), &got["payload"]["error"]["retryable"]),
        ("NOT_INITIALIZED", &json!(true))
    );
    agent.send(cancel("2", "c")).await;
    let got = agent.next().await;
    assert_eq!(
        (&got["payload"]["callId"], &got["payload"]["cancelled"]),
        (&json!("c"), &json!(false))
    );
    assert_eq!(code(&got), "NOT_INITIALIZED");
    agent.initialize(&mut app).await;
    // The host itself refuses a second one.
    agent.send(request("initialize", "again", json!({}))).await;
    let relayed = app.next().await;
    let refusal =
        json!({ "error": { "code": "ALREADY_INITIALIZED", "message": "m", "retryable": false } });
    app.send(answer(&relayed, "initialize-result", refusal))
        .await;
    assert_eq!(code(&agent.next().await), "ALREADY_INITIALIZED");
    agent.call_through(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_of_calls_sessions_and_rate() {
    let limits = Limits {
        in_flight: 2,
        sessions: 2,
        ..Limits::default()
    };
    let gateway = Gateway::limited(limits).await;
    let (mut app, mut agent) = gateway.session().await;
    let mut waiting = Vec::new();
    for id in ["1", "2"] {
        agent.send(call(id, id)).await;
        waiting.push(app.next().await);
    }
    agent.send(call("3", "3")).await;
    let got = agent.next().await;
    assert_eq!(
        (code(&got), &got["payload"]["error"]["retryable"]),
        ("RATE_LIMITED", &json!(true))
    );
    app.send(answer(
        &waiting[0],
        "capabilities/call-result",
        json!({ "success": true }),
    ))
    .await;
    assert_eq!(agent.next().await["id"], "1");
    agent.call_through(&mut app).await;
    let mut second = gateway.agent().await;
    // A connection counts only after its first answer, not yet when it has connected.
    second.send(call("0", "0")).await;
    assert_eq!(code(&second.next().await), "NOT_INITIALIZED");
    let mut third = gateway.agent().await;
    assert_eq!(code(&third.next().await), "RATE_LIMITED");
    assert_eq!(third.closed().await, 1013);
    drop(second);

    let limits = Limits {
        requests_per_second: 3.0,
        ..Limits::default()
    };
    let gateway = Gateway::limited(limits).await;
    let mut agent = gateway.agent().await;
    for number in 0..4 {
        agent.send(call(&number.to_string(), "c")).await;
    }
    for _ in 0..3 {
        assert_eq!(code(&agent.next().await), "NOT_INITIALIZED");
    }
    let got = agent.next().await;
    assert_eq!(code(&got), "RATE_LIMITED");
    assert!(got["payload"]["error"]["retryAfter"].as_f64().unwrap() > 0.0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_app_is_refused_and_a_good_one_goes_on() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let mut bad = gateway.peer("/abp/app").await;
    bad.send(json!({ "type": "app/register", "id": "r", "payload": { "app": { "id": 7 } } }))
        .await;
    let got = bad.next().await;
    assert_eq!(
        (&got["type"], &got["id"], code(&got)),
        (&json!("app/refused"), &json!("r"), "INVALID_PARAMS")
    );
    assert_eq!(bad.closed().await, 1008);
    app.text("nonsense").await;
    assert_eq!(app.next().await["type"], "error");
    app.socket.send(Message::binary(vec![0])).await.unwrap();
    assert_eq!(app.next().await["type"], "error");
    agent.call_through(&mut app).await;
}
