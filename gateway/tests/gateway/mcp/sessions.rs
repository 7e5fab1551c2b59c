//! Sessions of the versions before 2026-07-28.

use std::time::Duration;

use caphost_gateway::{Config, McpOptions, Tokens};
use reqwest::Method;
use serde_json::{Value, json};

use super::app::{called, confirm_cancel, demo, offer, succeed};
use super::client::*;
use crate::support::*;

#[tokio::test]
async fn a_version_that_is_not_spoken_is_answered_with_the_newest_that_has_sessions() {
    let gateway = Gateway::start().await;
    let _app = demo(&gateway).await;
    for version in [LEGACY, MODERN, "1999-01-01", "nonsense"] {
        let client = Client::new(&gateway, "/mcp");
        let answer = client.stream(&initialize(version)).await.last().await;
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], LEGACY, "{version}");
        assert_eq!(
            result["capabilities"],
            json!({
                "tools": { "listChanged": true },
                "logging": {},
                "resources": {},
                "tasks": { "cancel": {}, "requests": { "tools": { "call": {} } } },
            })
        );
        assert_eq!(result["serverInfo"]["name"], "caphost");
        assert_eq!(result["serverInfo"]["title"], "Demo");
        assert_eq!(answer["id"], 0);
    }
}

#[tokio::test]
async fn a_session_is_named_in_every_request_and_ends_with_delete() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    assert_eq!(client.ask(1, "ping", json!({})).await["result"], json!({}));

    let nameless = Client {
        session: None,
        ..client.clone()
    };
    let refused = nameless.post(&rpc(1, "tools/list", json!({}))).await;
    assert_eq!(refused.status(), 400);
    assert_eq!(
        refused.json::<Value>().await.unwrap()["error"]["code"],
        -32600
    );
    let unknown = Client {
        session: Some("nope".into()),
        ..client.clone()
    };
    for method in [Method::POST, Method::GET, Method::DELETE] {
        let mut request = unknown.request(method.clone());
        if method == Method::POST {
            request = request.json(&rpc(1, "tools/list", json!({})));
        }
        let answer = unknown.send(request).await;
        assert_eq!(answer.status(), 404, "{method}");
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(answer["error"]["code"], -32001);
    }

    let mut call = client.call_tool(7, "echo").await;
    let relayed = called(&mut app).await;
    let mut listening = client.listen().await;
    let ended = client.send(client.request(Method::DELETE)).await;
    assert!(ended.status().is_success());
    let reason = confirm_cancel(&mut app, &relayed).await;
    assert_eq!(reason, "The session has ended");
    assert_eq!(call.next().await, None);
    assert_eq!(listening.next().await, None);
    let gone = client.post(&rpc(2, "ping", json!({}))).await;
    assert_eq!(gone.status(), 404);
    let twice = client.send(client.request(Method::DELETE)).await;
    assert_eq!(twice.status(), 404);
}

/// A gateway with that key, and with tokens.
async fn sealed_with(key: &str, tokens: &[&str]) -> Gateway {
    let tokens = tokens.iter().map(|token| token.parse().unwrap());
    Gateway::with(Config {
        tokens: Tokens::new(tokens.collect()),
        mcp: McpOptions {
            session_key: Some(key.parse().unwrap()),
            ..McpOptions::default()
        },
        ..config()
    })
    .await
}

/// The same client with another gateway.
fn at(client: &Client, gateway: &Gateway, path: &str) -> Client {
    Client {
        url: format!("http://{}{path}", gateway.address),
        ..client.clone()
    }
}

#[tokio::test]
async fn a_session_goes_on_after_a_restart_with_the_same_key_only() {
    const KEY: &str = "a key that nobody would ever guess";
    let tokens = ["app=p", "agent=a", "agent=b"];
    let mut before = sealed_with(KEY, &tokens).await;
    let client = opened("a", &before).await;
    before.stop();
    before.stopped().await;

    let after = sealed_with(KEY, &tokens).await;
    let mut app = after.peer("/abp/app?token=p").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let mine = at(&client, &after, "/mcp");
    let mut calling = mine.call_tool(1, "a.b").await;
    let relayed = called(&mut app).await;
    mine.cancel(1, "enough").await;
    assert_eq!(confirm_cancel(&mut app, &relayed).await, "enough");
    assert_eq!(calling.next().await, None);
    let answered = mine.call_tool(2, "a.b").await;
    let relayed = called(&mut app).await;
    succeed(&mut app, &relayed, json!("done")).await;
    assert_eq!(
        answered.last().await["result"]["content"][0]["text"],
        "done"
    );
    // The client may have missed changes.
    let told = mine.listen().await.next().await.unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");

    // Another token, another path, another secret of the token, another key.
    let of_b = Client {
        token: Some("b".into()),
        ..mine.clone()
    };
    let (path, query) = ("/mcp/demo", "/mcp?tools=a.b");
    let renewed = sealed_with(KEY, &["app=p", "agent=c", "agent=a"]).await;
    let other_key = sealed_with("another key that nobody would guess", &tokens).await;
    for stranger in [
        of_b,
        at(&client, &after, path),
        at(&client, &after, query),
        at(&client, &renewed, "/mcp"),
        at(&client, &other_key, "/mcp"),
    ] {
        assert_eq!(ping(&stranger).await, 404, "{}", stranger.url);
        let ended = stranger.send(stranger.request(Method::DELETE)).await;
        assert_eq!(ended.status(), 404);
    }
    // An id that is changed anywhere is the id of no session.
    let id = client.session.clone().unwrap();
    for place in [0, 5, 21, 22, 40, id.len() - 23, id.len() - 2] {
        let mut changed = id.clone().into_bytes();
        changed[place] = if changed[place] == b'a' { b'b' } else { b'a' };
        let changed = Client {
            session: Some(String::from_utf8(changed).unwrap()),
            ..mine.clone()
        };
        assert_eq!(ping(&changed).await, 404, "{place}");
    }
    assert_eq!(ping(&mine).await, 200);
    assert_eq!(mine.send(mine.request(Method::DELETE)).await.status(), 204);
    assert_eq!(ping(&mine).await, 404);
}

#[tokio::test]
async fn without_a_key_a_restart_ends_all_sessions() {
    let mut before = Gateway::start().await;
    let client = Client::open(&before, "/mcp").await;
    before.stop();
    before.stopped().await;
    let after = Gateway::start().await;
    assert_eq!(ping(&at(&client, &after, "/mcp")).await, 404);
}

#[tokio::test]
async fn ids_of_all_kinds_are_told_apart_at_once() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let ids = [
        json!(0),
        json!(""),
        json!(1),
        json!("1"),
        json!(-7),
        json!(i64::MAX),
    ];
    let mut streams = Vec::new();
    let mut calls = Vec::new();
    for id in &ids {
        streams.push(client.call_tool(id.clone(), "echo").await);
        calls.push(called(&mut app).await);
    }
    for (index, call) in calls.iter().enumerate().rev() {
        succeed(&mut app, call, json!(index)).await;
    }
    for (index, stream) in streams.into_iter().enumerate() {
        let answer = stream.last().await;
        assert_eq!(answer["id"], ids[index]);
        assert_eq!(answer["result"]["content"][0]["text"], index.to_string());
    }
}

#[tokio::test]
async fn an_id_in_flight_is_refused_and_the_first_is_undisturbed() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp").await;
    let first = client.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    let second = client.call_tool(1, "echo").await.last().await;
    assert_eq!(
        (&second["id"], &second["error"]["code"]),
        (&json!(1), &json!(-32600))
    );
    succeed(&mut app, &relayed, json!("first")).await;
    assert_eq!(first.last().await["result"]["content"][0]["text"], "first");
    // After its answer, the id may be used again.
    let again = client.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    succeed(&mut app, &relayed, json!("again")).await;
    assert_eq!(again.last().await["result"]["content"][0]["text"], "again");
}

#[tokio::test]
async fn two_clients_with_one_id_do_not_disturb_each_other() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let one = Client::open(&gateway, "/mcp").await;
    let two = Client::open(&gateway, "/mcp").await;
    let mut of_one = one.call_tool(1, "echo").await;
    let call_of_one = called(&mut app).await;
    let of_two = two.call_tool(1, "echo").await;
    let call_of_two = called(&mut app).await;
    one.cancel(1, "enough").await;
    assert_eq!(confirm_cancel(&mut app, &call_of_one).await, "enough");
    assert_eq!(of_one.next().await, None);
    succeed(&mut app, &call_of_two, json!("two")).await;
    assert_eq!(of_two.last().await["result"]["content"][0]["text"], "two");
}

#[tokio::test]
async fn an_unused_session_leaves_the_memory_and_goes_on_and_one_with_a_stream_stays() {
    let mcp = McpOptions {
        mcp_session_idle: Duration::from_millis(300),
        ..McpOptions::default()
    };
    let gateway = Gateway::with(Config { mcp, ..config() }).await;
    let mut app = demo(&gateway).await;
    let mut other = offer(&gateway, "other", json!([{ "name": "echo" }])).await;
    let listening = Client::open(&gateway, "/mcp/demo").await;
    let mut events = listening.listen().await;
    let calling = Client::open(&gateway, "/mcp/demo").await;
    let running = calling.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    // This session is used last, so it leaves last.
    let unused = Client::open(&gateway, "/mcp/other").await;
    let answered = unused.call_tool(1, "echo").await;
    let call = called(&mut other).await;
    succeed(&mut other, &call, json!(1)).await;
    answered.last().await;
    assert_eq!(other.next().await["type"], "shutdown");
    assert_eq!(ping(&unused).await, 200);
    assert_eq!(ping(&listening).await, 200);
    succeed(&mut app, &relayed, json!(1)).await;
    running.last().await;
    offer(&gateway, "demo", json!([])).await;
    let told = events.next().await.unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn there_is_room_for_so_many_sessions() {
    let mcp = McpOptions {
        mcp_max_sessions: 2,
        ..McpOptions::default()
    };
    let gateway = Gateway::with(Config { mcp, ..config() }).await;
    let one = Client::open(&gateway, "/mcp").await;
    let two = Client::open(&gateway, "/mcp").await;
    let _in_use = (one.listen().await, two.listen().await);
    let refused = Client::new(&gateway, "/mcp")
        .post(&initialize(LEGACY))
        .await;
    assert_eq!(refused.status(), 503);
    assert_eq!(
        refused.json::<Value>().await.unwrap()["error"]["code"],
        -32603
    );
    one.send(one.request(Method::DELETE)).await;
    Client::open(&gateway, "/mcp").await;
}

async fn shared_by_two(max: usize, share: usize) -> Gateway {
    let tokens = ["app=p", "agent=a", "agent=b"].map(|token| token.parse().unwrap());
    Gateway::with(Config {
        tokens: Tokens::new(tokens.into()),
        mcp: McpOptions {
            mcp_max_sessions: max,
            mcp_max_sessions_per_token: share,
            ..McpOptions::default()
        },
        ..config()
    })
    .await
}

/// A client that has only shown its token.
fn of(token: &str, gateway: &Gateway) -> Client {
    Client {
        token: Some(token.into()),
        ..Client::new(gateway, "/mcp")
    }
}

async fn opened(token: &str, gateway: &Gateway) -> Client {
    let mut client = of(token, gateway);
    client.initialize().await;
    client
}

async fn ping(client: &Client) -> u16 {
    let answer = client.post(&rpc(5, "ping", json!({}))).await;
    answer.status().as_u16()
}

#[tokio::test]
async fn one_token_cannot_hold_all_sessions() {
    let gateway = shared_by_two(3, 2).await;
    let mut in_use = Vec::new();
    for _ in 0..2 {
        in_use.push(opened("a", &gateway).await.listen().await);
    }
    let refused = of("a", &gateway).post(&initialize(LEGACY)).await;
    assert_eq!(refused.status(), 503);
    let refused: Value = refused.json().await.unwrap();
    assert_eq!(refused["error"]["data"]["code"], "RATE_LIMITED");
    assert_eq!(ping(&opened("b", &gateway).await).await, 200);
}

/// Makes a call in a session, and returns the app's name for the session.
async fn used(client: &Client, app: &mut Peer) -> Value {
    let answered = client.call_tool(1, "a.b").await;
    let call = called(app).await;
    succeed(app, &call, json!(1)).await;
    answered.last().await;
    call["agent"].clone()
}

/// The app's name for the session that ends.
async fn leaves(app: &mut Peer) -> Value {
    let message = app.next().await;
    assert_eq!(message["type"], "shutdown", "{message}");
    app.send(answer(&message, "shutdown-result", json!({})))
        .await;
    assert_eq!(app.next().await["type"], "agent/closed");
    message["agent"].clone()
}

#[tokio::test]
async fn a_session_not_in_use_makes_room_before_another_is_refused_and_goes_on() {
    let gateway = shared_by_two(3, 2).await;
    let mut app = gateway.peer("/abp/app?token=p").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let first = opened("a", &gateway).await;
    let second = opened("a", &gateway).await;
    let of_b = opened("b", &gateway).await;
    let named_second = used(&second, &mut app).await;
    used(&of_b, &mut app).await;
    let named_first = used(&first, &mut app).await;
    // The token has its full share, so its own session that was unused for longest makes room.
    let third = opened("a", &gateway).await;
    assert_eq!(leaves(&mut app).await, named_second);
    used(&third, &mut app).await;
    // All places are taken, so a session of the holder with most sessions makes room.
    opened("b", &gateway).await;
    assert_eq!(leaves(&mut app).await, named_first);
    // Whoever has left the memory goes on.
    for client in [&first, &second, &third, &of_b] {
        assert_eq!(ping(client).await, 200);
    }
}

#[tokio::test]
async fn one_address_cannot_hold_all_sessions_where_there_are_no_tokens() {
    let mcp = McpOptions {
        mcp_max_sessions: 3,
        mcp_max_sessions_per_token: 2,
        ..McpOptions::default()
    };
    let gateway = Gateway::with(Config { mcp, ..config() }).await;
    let mut in_use = Vec::new();
    for _ in 0..2 {
        let client = Client::open(&gateway, "/mcp").await;
        in_use.push(client.listen().await);
    }
    let refused = Client::new(&gateway, "/mcp")
        .post(&initialize(LEGACY))
        .await;
    assert_eq!(refused.status(), 503);
}

#[tokio::test]
async fn one_agent_cannot_open_all_streams_and_calls() {
    let tokens = ["app=p", "agent=a", "agent=b"].map(|token| token.parse().unwrap());
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens.into()),
        mcp: McpOptions {
            mcp_max_open: 3,
            mcp_max_open_per_token: 2,
            ..McpOptions::default()
        },
        ..config()
    })
    .await;
    let mut app = gateway.peer("/abp/app?token=p").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let greedy = opened("a", &gateway).await;
    let listening = greedy.listen().await;
    let calling = greedy.call_tool(1, "a.b").await;
    let relayed = called(&mut app).await;
    let call = rpc(2, "tools/call", json!({ "name": "a.b" }));
    for refused in [
        greedy.post(&call).await,
        greedy.send(greedy.request(Method::GET)).await,
    ] {
        assert_eq!(refused.status(), 503);
        let refused: Value = refused.json().await.unwrap();
        assert_eq!(refused["error"]["data"]["code"], "RATE_LIMITED");
    }
    // Requests that are answered at once are still answered, and others have their share.
    assert_eq!(ping(&greedy).await, 200);
    let other = opened("b", &gateway).await;
    let of_other = other.call_tool(1, "a.b").await;
    let relayed_of_other = called(&mut app).await;
    succeed(&mut app, &relayed_of_other, json!("b")).await;
    of_other.last().await;
    // The token gets its share back when it closes its responses.
    succeed(&mut app, &relayed, json!("a")).await;
    calling.last().await;
    drop(listening);
    let again = greedy.call_tool(3, "a.b").await;
    let relayed = called(&mut app).await;
    succeed(&mut app, &relayed, json!("a")).await;
    again.last().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_its_client_does_not_read_does_not_keep_its_session_in_memory() {
    let mcp = McpOptions {
        mcp_session_idle: Duration::from_millis(500),
        ..McpOptions::default()
    };
    let gateway = Gateway::with(Config { mcp, ..config() }).await;
    let mut app = demo(&gateway).await;
    let client = Client::open(&gateway, "/mcp/demo").await;
    // The client reads only the head of the answer. The answer is larger than the sockets' buffers.
    let unread = client.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    succeed(&mut app, &relayed, json!("x".repeat(12 << 20))).await;
    let ended = async {
        loop {
            let message = app.next().await;
            if message["type"] == "shutdown" {
                return;
            }
        }
    };
    soon("the end of the session", ended).await;
    assert_eq!(ping(&client).await, 200);
    drop(unread);
}
