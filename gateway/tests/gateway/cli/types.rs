//! `types`.

use super::*;

const EXPECTED: &str = r#"// Written by `caphost types`: what Demo 1.0.0 (demo) offers. Write it again rather than change it.

export type Caps = {
  /** d */
  "a.b": (params: Record<string, unknown>) => unknown;
};
"#;

/// As an app: accepts the session of an agent, and waits until the agent has left.
async fn listed(app: &mut Peer) {
    let hello = app.next().await;
    let who = json!({ "id": "demo", "name": "Demo", "version": "1.0.0" });
    let capabilities = json!([{ "name": "a.b", "available": true }]);
    let session = json!({ "sessionId": "s", "app": who, "capabilities": capabilities });
    app.send(answer(&hello, "initialize-result", session)).await;
    receives(app, "agent/closed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn types_of_a_running_app() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let elsewhere = format!("ws://{}/abp?app=demo", gateway.address);
    for command in [
        caphost(&gateway, &["types"]),
        at("http://127.0.0.1:1", &["types", &elsewhere]),
    ] {
        let running = Running::start(command);
        listed(&mut app).await;
        let ended = running.ended().await;
        assert_eq!((ended.status, &*ended.err), (Some(0), ""));
        assert_eq!(ended.out, EXPECTED);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn types_of_a_manifest_wherever_it_is() {
    let gateway = Gateway::start().await;
    let _app = gateway.app("demo").await;
    let url = format!("http://{}/abp.json?app=demo", gateway.address);
    let ended = finished(at("http://127.0.0.1:1", &["types", &url])).await;
    assert_eq!((ended.status, &*ended.err), (Some(0), ""));
    assert_eq!(ended.out, EXPECTED);

    let folder = Folder::new();
    let file = folder.path("abp.json");
    let manifest = json!({ "abp": "0.1", "app": { "id": "demo", "name": "Demo", "version": "1.0.0" }, "capabilities": [{ "name": "a.b", "description": "d" }] });
    std::fs::write(&file, manifest.to_string()).unwrap();
    let ended = finished(at(
        "http://127.0.0.1:1",
        &["types", &file, "--name", "Mine"],
    ))
    .await;
    assert_eq!(ended.out, EXPECTED.replace("Caps", "Mine"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_no_types_says_why() {
    let gateway = Gateway::start().await;
    let page = format!("http://{}/", gateway.address);
    let lost = format!("http://{}/lost.json", gateway.address);
    for (source, said) in [
        (&*page, "is no manifest: not JSON"),
        (&*lost, "answers with status 404"),
        (
            "http://127.0.0.1:1/abp.json",
            "cannot read http://127.0.0.1:1/abp.json",
        ),
    ] {
        let ended = finished(caphost(&gateway, &["types", source])).await;
        assert_eq!((ended.status, &*ended.out), (Some(1), ""), "{source}");
        assert!(ended.err.contains(said), "{ended:?}");
    }
    for (arguments, said) in [
        (&["types", "--name", "a b"][..], "expected a name"),
        (&["types", "--name", "Record"], "TypeScript has this name"),
        (
            &["types", "no/such.json"],
            "cannot read no/such.json: No such file",
        ),
        (&["types", "/"], "cannot read /: is a directory"),
    ] {
        let ended = finished(caphost(&gateway, arguments)).await;
        assert_eq!((ended.status, &*ended.out), (Some(2), ""), "{ended:?}");
        assert!(ended.err.contains(said), "{ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_goes_to_its_gateway_alone() {
    let gateway = Gateway::start().await;
    let stranger = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/abp.json", stranger.local_addr().unwrap());
    let running = Running::start(caphost(&gateway, &["types", &url, "--token", "hush"]));
    let (mut socket, _) = soon("a request", stranger.accept()).await.unwrap();
    let mut request = vec![0; 4096];
    let read = soon("a request", socket.read(&mut request)).await.unwrap();
    drop(socket);
    let request = String::from_utf8_lossy(&request[..read]).to_lowercase();
    assert!(request.starts_with("get /abp.json"), "{request}");
    assert!(!request.contains("authorization"), "{request}");
    assert_eq!(running.ended().await.status, Some(1));
}
