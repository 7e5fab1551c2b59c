//! Errors before a call is made.

use std::time::Duration;

use caphost_gateway::{Config, Tokens};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::*;

fn tokens(texts: &[&str]) -> Tokens {
    Tokens::new(texts.iter().map(|it| it.parse().unwrap()).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_usage_is_status_2_and_calls_nothing() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let folder = Folder::new();
    std::fs::write(folder.path("bad.json"), "{").unwrap();
    let (bad, none) = (
        format!("@{}", folder.path("bad.json")),
        format!("@{}", folder.path("none.json")),
    );
    let (missing, directory) = (folder.path("no/x.pdf"), folder.path(""));
    for (arguments, said) in [
        (&["call"][..], "<CAPABILITY>"),
        (&["call", ""], "CAPABILITY"),
        (
            &["call", "a.b", "{}"],
            "Usage: caphost call <CAPABILITY> [--params <JSON|@FILE|->]",
        ),
        (&["call", "a.b", "--params", "{"], "not JSON"),
        (&["call", "a.b", "--params", "[]"], "expected a JSON object"),
        (
            &["call", "a.b", "--params", "-"],
            "expected a JSON object, found nothing",
        ),
        (
            &["call", "a.b", "--params", &bad],
            "bad.json: not JSON: EOF",
        ),
        (
            &["call", "a.b", "--params", &none],
            "cannot read the parameters in",
        ),
        (&["call", "a.b", "--timeout", "soon"], "--timeout"),
        (&["call", "a.b", "--output", &missing], "cannot write"),
        (&["call", "a.b", "--output", &directory], "cannot write"),
        (
            &["call", "a.b", "--output", "-", "--json"],
            "both want standard output",
        ),
        (&["call", "a.b", "--call-id", "a\nb"], "printable"),
        (
            &["call", "a.b", "--gateway", "ftp://a"],
            "expected http or https",
        ),
        (&["call", "a.b", "--token", ""], "--token"),
        (&["runs", "--limit=-1"], "--limit"),
        (&["cancel"], "<ID>"),
        (&["list", "more"], "more"),
    ] {
        let ended = finished(caphost(&gateway, arguments)).await;
        assert_eq!((ended.status, &*ended.out), (Some(2), ""), "{arguments:?}");
        assert!(ended.err.contains(said), "{arguments:?}: {ended:?}");
    }
    assert_eq!(folder.names(), ["bad.json"]);
    let mut agent = gateway.agent().await;
    agent.initialize(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_is_not_there_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for arguments in [
        &["call", "a.b", "--json"][..],
        &["list", "--json"],
        &["runs", "--json"],
        &["cancel", "x", "--json"],
    ] {
        let ended = finished(at(&url, arguments)).await;
        assert_eq!(ended.status, Some(1), "{ended:?}");
        assert!(
            ended
                .err
                .contains(&format!("cannot reach the gateway at {url}: ")),
            "{ended:?}"
        );
        assert_eq!(ended.document()["error"]["code"], "TRANSPORT_ERROR");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_gateway_is_told_from_one() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let _ = socket.read(&mut request).await;
            let _ = socket
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi")
                .await;
        }
    });
    for arguments in [&["call", "a.b"][..], &["list"], &["runs"], &["cancel", "x"]] {
        let ended = finished(at(&url, arguments)).await;
        assert_eq!((ended.status, &*ended.out), (Some(1), ""));
        assert!(
            ended.err.contains("did not answer as a gateway does ("),
            "{ended:?}"
        );
    }
    serving.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_asked_for_and_heeded() {
    let tokens = tokens(&["app=one", "agent=two"]);
    let gateway = Gateway::with(Config { tokens, ..config() }).await;
    for arguments in [&["call", "a.b"][..], &["list"], &["runs"], &["cancel", "x"]] {
        let ended = finished(caphost(&gateway, arguments)).await;
        assert_eq!((ended.status, &*ended.out), (Some(1), ""));
        assert!(
            ended.err.contains("wants a token") && ended.err.contains("CAPHOST_TOKEN"),
            "{ended:?}"
        );
        let arguments = [arguments, &["--token", "wrong"]].concat();
        let ended = finished(caphost(&gateway, &arguments)).await;
        assert_eq!(ended.status, Some(1));
        assert!(ended.err.contains("does not know this token"), "{ended:?}");
    }
    let mut request = gateway.request("/abp/app");
    request
        .headers_mut()
        .insert("authorization", "Bearer one".parse().unwrap());
    let mut app = Peer::open(request).await.unwrap();
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let mut command = caphost(&gateway, &["call", "a.b"]);
    command.env("CAPHOST_TOKEN", "two");
    let ended = answered(&gateway, &mut app, command, json!({ "success": true })).await;
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let ended = finished(caphost(&gateway, &["runs", "--json", "--token", "two"])).await;
    assert_eq!(
        (ended.status, &ended.document()["runs"][0]["capability"]),
        (Some(0), &json!("a.b"))
    );
    // A known token with another role.
    let ended = finished(caphost(&gateway, &["runs", "--token", "one"])).await;
    assert_eq!(ended.status, Some(1));
    assert!(ended.err.contains("PERMISSION_DENIED"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_several_apps_must_be_named() {
    let gateway = Gateway::start().await;
    let ended = finished(caphost(&gateway, &["call", "a.b", "--json"])).await;
    assert_eq!(
        (ended.status, &ended.document()["error"]["code"]),
        (Some(1), &json!("DISCONNECTED"))
    );
    assert!(ended.err.contains("Is the app's page open"), "{ended:?}");

    let mut one = gateway.app("one").await;
    let _other = gateway.app("other").await;
    let ended = finished(caphost(&gateway, &["call", "a.b"])).await;
    assert_eq!(ended.status, Some(1));
    assert!(
        ended.err.contains("name one with --app") && ended.err.contains("apps: one, other"),
        "{ended:?}"
    );

    let ended = finished(caphost(&gateway, &["call", "a.b", "--app", "third"])).await;
    assert_eq!(ended.status, Some(1));
    assert!(ended.err.contains("third"), "{ended:?}");

    let running = Running::start(caphost(&gateway, &["call", "a.b", "--app", "one"]));
    let call = called(&mut one).await;
    returns(&mut one, &call, json!({ "success": true, "data": 1 })).await;
    assert_eq!(running.ended().await.out, "1\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_or_a_gateway_that_leaves_does_not_leave_it_waiting() {
    let mut gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let running = Running::start(caphost(&gateway, &["call", "a.b"]));
    called(&mut app).await;
    drop(app);
    let ended = running.ended().await;
    assert_eq!((ended.status, &*ended.out), (Some(1), ""));
    assert!(ended.err.contains("(DISCONNECTED)"), "{ended:?}");

    let mut app = gateway.app("demo").await;
    let running = Running::start(caphost(&gateway, &["call", "a.b", "--json"]));
    called(&mut app).await;
    gateway.stop();
    let ended = running.ended().await;
    assert_eq!(
        (ended.status, &ended.document()["error"]["code"]),
        (Some(1), &json!("DISCONNECTED"))
    );
    gateway.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_drains_says_that_nothing_was_called() {
    let mut gateway = Gateway::with(Config {
        drain: Duration::from_secs(60),
        ..config()
    })
    .await;
    let mut app = gateway.app("demo").await;
    let running = Running::start(caphost(&gateway, &["call", "a.b"]));
    let call = called(&mut app).await;
    gateway.stop();
    while gateway.get("/readyz", "").await.status == 200 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let ended = finished(caphost(&gateway, &["call", "a.b", "--json"])).await;
    assert_eq!(ended.status, Some(1));
    assert_eq!(
        ended.err.trim_end(),
        "caphost call: the gateway is stopping and takes no new calls: nothing was called (CAPABILITY_UNAVAILABLE)"
    );
    let error = &ended.document()["error"];
    assert_eq!(
        (&error["code"], &error["retryable"]),
        (&json!("CAPABILITY_UNAVAILABLE"), &json!(true))
    );
    returns(&mut app, &call, json!({ "success": true, "data": 1 })).await;
    assert_eq!(running.ended().await.status, Some(0));
    drop(app);
    gateway.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_does_not_respond_is_not_waited_for_longer_than_asked() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    for (arguments, name) in [
        (&["call", "a.b", "--timeout", "300ms"][..], "caphost call"),
        (&["list", "--timeout", "300ms"], "caphost list"),
    ] {
        let ended = finished(caphost(&gateway, arguments)).await;
        let said = "The page does not respond; its tab may be frozen (TIMEOUT)";
        assert_eq!((ended.status, &*ended.out), (Some(1), ""));
        assert_eq!(ended.err.trim_end(), format!("{name}: {said}"));
        receives(&mut app, "initialize").await;
        receives(&mut app, "agent/closed").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_is_not_there_comes_with_those_that_are() {
    let gateway = Gateway::start().await;
    let _one = gateway.app("one").await;
    let _two = gateway.app("two").await;
    for name in ["call", "list"] {
        let arguments: &[&str] = match name {
            "call" => &["call", "a.b", "--app", "three"],
            _ => &["list", "--app", "three"],
        };
        let ended = finished(caphost(&gateway, arguments)).await;
        assert_eq!((ended.status, &*ended.out), (Some(1), ""));
        assert!(
            ended.err.contains("No app with id \"three\" is connected"),
            "{ended:?}"
        );
        assert!(ended.err.contains("apps: one, two"), "{ended:?}");
    }
}
