//! Parameters, results and progress.

use std::process::Stdio;

use tokio::io::AsyncWriteExt;

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_call_returns_is_printed() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let command = caphost(&gateway, &["call", "a.b", "--params", r#"{"text": "é"}"#]);
    let running = Running::start(command);
    let call = called(&mut app).await;
    let payload = &call["payload"];
    assert_eq!(
        (&payload["capability"], &payload["params"]),
        (&json!("a.b"), &json!({ "text": "é" }))
    );
    assert!(payload["options"].get("timeout").is_none());
    returns(
        &mut app,
        &call,
        json!({ "success": true, "data": { "b": [1], "a": "\u{9b}" } }),
    )
    .await;
    // The result is printed before the session has ended, but the session ends properly.
    let goodbye = receives(&mut app, "shutdown").await;
    app.send(answer(&goodbye, "shutdown-result", json!({})))
        .await;
    let ended = running.ended().await;
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert_eq!(ended.document(), json!({ "b": [1], "a": "\u{9b}" }));
    assert!(
        ended.out.contains("\\u009b") && ended.out.ends_with("}\n"),
        "{ended:?}"
    );
    assert_eq!(ended.err, "");
    receives(&mut app, "agent/closed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_returns_nothing_prints_null() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let command = caphost(&gateway, &["call", "a.b"]);
    let ended = answered(&gateway, &mut app, command, json!({ "success": true })).await;
    assert_eq!((ended.status, &*ended.out), (Some(0), "null\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parameters_come_from_a_file_or_from_standard_input() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let folder = Folder::new();
    std::fs::write(folder.path("p.json"), "{ \"from\": \"file\" }\n").unwrap();
    let file = format!("@{}", folder.path("p.json"));

    let running = Running::start(caphost(&gateway, &["call", "a.b", "--params", &file]));
    let call = called(&mut app).await;
    assert_eq!(call["payload"]["params"], json!({ "from": "file" }));
    returns(&mut app, &call, json!({ "success": true })).await;
    assert_eq!(running.ended().await.status, Some(0));

    let mut command = caphost(&gateway, &["call", "a.b", "-p", "-"]);
    command.stdin(Stdio::piped());
    let mut running = Running::start(command);
    let mut input = running.child.stdin.take().unwrap();
    input.write_all(b"{\"from\":").await.unwrap();
    input.write_all(b"\"input\"}").await.unwrap();
    drop(input);
    receives(&mut app, "agent/closed").await;
    let call = called(&mut app).await;
    assert_eq!(call["payload"]["params"], json!({ "from": "input" }));
    returns(&mut app, &call, json!({ "success": true })).await;
    assert_eq!(running.ended().await.status, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_terminal_progress_is_lines() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let mut running = Running::start(caphost(&gateway, &["call", "a.b"]));
    let call = called(&mut app).await;
    let info = json!({ "progress": 1, "total": 4, "stage": "pages\u{1b}[2J" });
    progresses(&mut app, &call, info).await;
    running.says("a.b: 25 % pages\u{fffd}[2J").await;
    returns(&mut app, &call, json!({ "success": true, "data": 1 })).await;
    let ended = running.ended().await;
    assert_eq!((ended.status, &*ended.out), (Some(0), "1\n"));
    assert_eq!(ended.err.lines().count(), 1, "{ended:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_gets_one_document_and_no_progress() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let arguments = ["call", "a.b", "--json", "--call-id", "mine"];
    let running = Running::start(caphost(&gateway, &arguments));
    let call = called(&mut app).await;
    progresses(&mut app, &call, json!({ "progress": 1, "total": 4 })).await;
    let response = json!({ "success": true, "data": { "a": 1 }, "metadata": { "duration": 2.5 } });
    returns(&mut app, &call, response).await;
    let ended = running.ended().await;
    let expected = json!({ "callId": "mine", "success": true, "data": { "a": 1 }, "metadata": { "duration": 2.5 } });
    assert_eq!(
        (ended.status, ended.document(), &*ended.err),
        (Some(0), expected, "")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_fails_says_why_and_where() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let error = json!({
        "code": "INVALID_TYPE", "message": "Bad parameter options.size: no string", "retryable": false,
        "details": { "path": "options.size" },
    });
    let response = json!({ "success": false, "error": error });
    let command = caphost(&gateway, &["call", "a.b"]);
    let ended = answered(&gateway, &mut app, command, response.clone()).await;
    assert_eq!((ended.status, &*ended.out), (Some(1), ""));
    let expected =
        "caphost call: Bad parameter options.size: no string (INVALID_TYPE)\n  at: options.size";
    assert_eq!(ended.err, expected);

    receives(&mut app, "agent/closed").await;
    let command = caphost(&gateway, &["call", "a.b", "--json", "--call-id", "c"]);
    let ended = answered(&gateway, &mut app, command, response).await;
    let expected = json!({ "callId": "c", "success": false, "error": error });
    assert_eq!((ended.status, ended.document()), (Some(1), expected));
    assert!(ended.err.contains("INVALID_TYPE"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_capability_comes_with_what_there_is() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let mut error =
        json!({ "code": "UNKNOWN_CAPABILITY", "message": "No capability", "retryable": false });
    for (alternatives, said) in [
        (json!([]), "  the app offers: a.b"),
        (json!(["a.c", "a.d"]), "  did you mean: a.c, a.d?"),
    ] {
        error["alternatives"] = alternatives;
        let response = json!({ "success": false, "error": error });
        let command = caphost(&gateway, &["call", "a.e"]);
        let ended = answered(&gateway, &mut app, command, response).await;
        assert_eq!(ended.status, Some(1));
        assert!(ended.err.lines().any(|line| line == said), "{ended:?}");
        receives(&mut app, "agent/closed").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timeout_that_cancels_is_a_cancel() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let running = Running::start(caphost(&gateway, &["call", "a.b", "--timeout", "3s"]));
    let call = called(&mut app).await;
    // Connecting is part of the time.
    let left = call["payload"]["options"]["timeout"].as_f64().unwrap();
    assert!(left > 0.0 && left < 3_000.0, "{left}");
    // The gateway sends a cancel to an app that keeps no timeouts.
    let cancel = receives(&mut app, "capabilities/cancel").await;
    let confirmed = json!({ "callId": cancel["payload"]["callId"], "cancelled": true });
    app.send(answer(&cancel, "capabilities/cancel-result", confirmed))
        .await;
    returns(
        &mut app,
        &call,
        json!({ "success": false, "cancelled": true }),
    )
    .await;
    let ended = running.ended().await;
    assert_eq!((ended.status, &*ended.out), (Some(130), ""));
    assert_eq!(
        ended.err,
        "Cancelled: its timeout of 3s has passed, but the work was not seen to stop; it may still go on"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_the_app_cancels_is_cancelled() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let command = caphost(
        &gateway,
        &["call", "a.b", "--json", "--call-id", "c", "--timeout", "1m"],
    );
    let response = stopped(json!({ "success": false }), "returned");
    let ended = answered(&gateway, &mut app, command, response).await;
    let expected = stopped(json!({ "callId": "c", "success": false }), "returned");
    assert_eq!((ended.status, ended.document()), (Some(130), expected));
    assert!(
        ended
            .err
            .starts_with("Cancelled by the app, or by someone else"),
        "{ended:?}"
    );
}
