//! Invocations and callbacks in transit.

use super::*;

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
        (302, "OPERATION_FAILED"),
        (401, "PERMISSION_DENIED"),
        (429, "RATE_LIMITED"),
    ] {
        tools.wish("/invoke", [status]);
        let id = format!("refused {status}");
        agent.send(work(&id, json!({}))).await;
        tools.invoked().await;
        assert_eq!(outcome(&mut agent, &id).await["error"]["code"], code);
    }
    // If all attempts fail, the server is told to cancel the call, because it may have begun.
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
    let run = gateway.get("/api/runs/never", "").await.json();
    assert_eq!(
        (&run["state"], &run["error"]),
        (&json!("unknown"), &json!("TRANSPORT_ERROR"))
    );
    // A result counts even if the invocation was never acknowledged.
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
async fn a_server_that_never_acknowledges_delays_nobody() {
    let mut tools = Tools::start("t").await;
    tools.wish("/invoke", [0]);
    let limits = RuntimeLimits {
        notice_timeout: Duration::from_millis(100),
        invoke_timeout: Duration::from_secs(600),
        ..quick()
    };
    let (gateway, _) = gateway(&[&tools.base], limits).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    let invoked = tools.invoked().await;
    agent.send(cancel("x", "c")).await;
    assert_eq!(agent.next().await["payload"]["cancelled"], true);
    assert_eq!(outcome(&mut agent, "c").await["cancelled"], true);
    assert_eq!(
        tools.next("/base/cancel_tool_call").await,
        invoked.cancelled()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_that_cannot_be_read_ends_its_call() {
    let mut tools = Tools::start("t").await;
    let (gateway, _) = gateway(&[&tools.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    for (id, more) in [
        ("no number", r#""text":"t","size":1e400"#),
        ("no text", r#""text":7"#),
        ("no result", r#""text":null"#),
    ] {
        agent.send(work(id, json!({}))).await;
        let invoked = tools.invoked().await;
        let other = json!({ "type": "oauth", "url": 7 });
        assert_eq!(post(invoked.callback(), other).await, 400, "{id}");
        let result = invoked.result(json!({})).to_string();
        let result = result.replacen('{', &format!("{{{more},"), 1);
        assert_eq!(post(invoked.callback(), result).await, 400, "{id}");
        let error = outcome(&mut agent, id).await["error"].take();
        assert_eq!(error["code"], "TRANSPORT_ERROR", "{id}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_public_url_is_a_name_of_the_gateway() {
    let mut tools = Tools::start("t").await;
    let tool_servers = RuntimeConfig {
        servers: vec![tools.base.parse().unwrap()],
        public: Some("http://gateway.test:9/under/".parse().unwrap()),
        limits: quick(),
    };
    let gateway = Gateway::with(Config {
        tool_servers,
        ..config()
    })
    .await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    let invoked = tools.invoked().await;
    let path = invoked
        .callback()
        .strip_prefix("http://gateway.test:9/under/")
        .unwrap();
    // The callback comes as a proxy passes it on.
    let url = format!("http://{}/{path}", gateway.address);
    for (host, status) in [("elsewhere.test", 403), ("gateway.test:9", 200)] {
        let request = CLIENT.post(&url).header("host", host);
        let result = invoked.result(json!({ "text": host }));
        let sent = request.body(result.to_string()).send().await.unwrap();
        assert_eq!(sent.status(), status, "{host}");
    }
    assert_eq!(outcome(&mut agent, "c").await["data"], "gateway.test:9");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_told_to_its_own_server_only() {
    let mut tools = Tools::start("t").await;
    let mut elsewhere = Tools::start("elsewhere").await;
    tools.wishes.toolset.lock().unwrap()["endpoint"] = format!("{}/invoke", elsewhere.base).into();
    let server = format!("s3cret@{}", tools.base);
    let (gateway, _) = gateway(&[&server, &elsewhere.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    let invoked = soon("the invocation", elsewhere.received.recv()).await;
    let invoked = invoked.unwrap();
    assert_eq!(
        (&*invoked.path, invoked.authorization),
        ("/base/invoke", None)
    );
    agent.send(cancel("x", "c")).await;
    for (server, token) in [(&mut tools, Some("Bearer s3cret")), (&mut elsewhere, None)] {
        let told = soon("the notification", server.received.recv()).await;
        let told = told.unwrap();
        assert_eq!(told.path, "/base/cancel_tool_call");
        assert_eq!(told.authorization.as_deref(), token);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_server_cannot_have_invocations_sent_to_internal_addresses() {
    let tools = Tools::start("t").await;
    let mut internal = Tools::start("internal").await;
    // The server's own host is an address in this test. The endpoint's name is one that the server has
    // chosen.
    let endpoint = internal.base.replace("127.0.0.1", "localhost");
    tools.wishes.toolset.lock().unwrap()["endpoint"] = format!("{endpoint}/invoke").into();
    let (gateway, _) = gateway(&[&tools.base], quick()).await;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("c", json!({}))).await;
    let failed = outcome(&mut agent, "c").await;
    assert_eq!(failed["error"]["code"], "TRANSPORT_ERROR", "{failed}");
    assert!(internal.received.try_recv().is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_of_callbacks_that_do_not_end_hold_up_no_more_than_their_tool_server() {
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpStream;

    let (mut slow, mut prompt) = (Tools::start("slow").await, Tools::start("prompt").await);
    let limits = Limits {
        message_bytes: 10_000,
        ..Limits::default()
    };
    let servers = [&slow.base, &prompt.base].map(|it| it.parse().unwrap());
    let gateway = Gateway::with(Config {
        limits,
        tool_servers: RuntimeConfig {
            servers: servers.to_vec(),
            public: None,
            limits: quick(),
        },
        ..config()
    })
    .await;
    let mut agents = [
        agent(&gateway, "slow").await,
        agent(&gateway, "prompt").await,
    ];
    for agent in &mut agents {
        agent.send(work("c", json!({}))).await;
    }
    let (held, free) = (slow.invoked().await, prompt.invoked().await);
    // The bodies have the largest allowed size, so that only four of them are read at once.
    let path = held.callback().split(&gateway.address.to_string()).nth(1);
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-length: 10000\r\n\r\n{{",
        path.unwrap(),
        gateway.address
    );
    let mut stalled = Vec::new();
    for _ in 0..4 {
        let mut connection = TcpStream::connect(gateway.address).await.unwrap();
        connection.write_all(head.as_bytes()).await.unwrap();
        stalled.push(connection);
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let (url, result) = (
        held.callback().to_string(),
        held.result(json!({ "text": "1" })),
    );
    let mut waiting = tokio::spawn(async move { post(&url, result).await });
    let early = tokio::time::timeout(Duration::from_millis(300), &mut waiting).await;
    assert!(early.is_err(), "there was room for a fifth");
    free.answer(json!({ "text": "2" })).await;
    assert_eq!(outcome(&mut agents[1], "c").await["data"], "2");
    stalled.pop();
    assert_eq!(soon("room", waiting).await.unwrap(), 200);
    assert_eq!(outcome(&mut agents[0], "c").await["data"], "1");
}
