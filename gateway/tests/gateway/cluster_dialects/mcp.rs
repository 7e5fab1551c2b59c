//! MCP sessions whose messages come to any worker.

use std::time::Duration;

use caphost_gateway::for_tests::{CancelNotice, Notice};
use caphost_gateway::{Config, Identity, McpOptions, Tokens};
use redis::AsyncCommands;
use reqwest::Method;
use serde_json::{Value, json};

use super::workers::{Redis, Workers};
use crate::mcp::app::{called, confirm_cancel, demo, offer, progress, succeed};
use crate::mcp::client::*;
use crate::rap_runtime::until;
use crate::support::*;

/// The same client with that worker as its gateway.
pub fn at(client: &Client, gateway: &Gateway) -> Client {
    let path = client.url.splitn(4, '/').nth(3).unwrap();
    Client {
        url: format!("http://{}/{path}", gateway.address),
        ..client.clone()
    }
}

pub async fn status(client: &Client) -> u16 {
    let answer = client.post(&rpc(5, "ping", json!({}))).await;
    answer.status().as_u16()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_of_one_worker_goes_on_at_the_other() {
    let workers = Workers::start().await;
    let mut app = demo(&workers.one).await;
    workers.both_have("demo").await;
    let mut client = Client::new(&workers.one, "/mcp");
    let response = client.post(&initialize(LEGACY)).await;
    let session = response.headers()["mcp-session-id"].to_str().unwrap();
    client.session = Some(session.to_string());
    Events(response).last().await;
    // All further messages come to the other worker, or to both in turns.
    let there = at(&client, &workers.two);
    let initialized = notification("notifications/initialized", json!({}));
    assert_eq!(there.post(&initialized).await.status(), 202);
    let tools = there.ask(1, "tools/list", json!({})).await;
    assert_eq!(tools["result"]["tools"][1]["name"], "echo");
    for (id, client) in [(2, &client), (3, &there), (4, &client), (5, &there)] {
        let params = json!({ "name": "echo", "arguments": {}, "_meta": { "progressToken": id } });
        let mut stream = client.stream(&rpc(id, "tools/call", params)).await;
        let call = called(&mut app).await;
        progress(&mut app, &call, json!({ "progress": 1 })).await;
        let told = stream.next().await.unwrap();
        assert_eq!(told["params"]["progressToken"], id);
        succeed(&mut app, &call, json!("done")).await;
        let answer = stream.last().await;
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"]["content"][0]["text"], "done");
    }
    // The lists show one session, with the client's first name.
    let threads = [&workers.one, &workers.two].map(|gateway| {
        let runs = gateway.hub.recent_runs(&Identity::anyone(), usize::MAX).0;
        let threads = runs.iter().map(|run| run.thread.clone().unwrap());
        threads.collect::<std::collections::BTreeSet<_>>()
    });
    assert_eq!((threads[0].len(), &threads[0]), (1, &threads[1]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_first_messages_at_once_take_it_up_once() {
    let workers = Workers::start().await;
    let _app = demo(&workers.one).await;
    workers.both_have("demo").await;
    let client = Client::open(&workers.one, "/mcp").await;
    let there = at(&client, &workers.two);
    let asked = (1..=20).map(|id| there.ask(id, "tools/list", json!({})));
    for answer in futures_util::future::join_all(asked).await {
        assert_eq!(answer["result"]["tools"][1]["name"], "echo");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_reaches_the_worker_that_has_the_request() {
    let workers = Workers::start().await;
    let mut app = demo(&workers.two).await;
    workers.both_have("demo").await;
    let client = Client::open(&workers.one, "/mcp").await;
    let there = at(&client, &workers.two);
    let other = Client::open(&workers.one, "/mcp").await;
    // First the other worker has not taken up the session, and then it has.
    for id in [json!(1), json!("1"), json!(2)] {
        let mut stream = client.call_tool(id.clone(), "echo").await;
        let call = called(&mut app).await;
        // A request of another session with the same id.
        let untouched = other.call_tool(id.clone(), "echo").await;
        let others = called(&mut app).await;
        there.cancel(id.clone(), "enough").await;
        assert_eq!(confirm_cancel(&mut app, &call).await, "enough");
        assert_eq!(
            stream.next().await,
            None,
            "a cancelled request is not answered"
        );
        succeed(&mut app, &others, json!("done")).await;
        assert_eq!(untouched.last().await["id"], id);
    }
    // The same in the other direction.
    let mut stream = there.call_tool(3, "echo").await;
    let call = called(&mut app).await;
    client.cancel(3, "back").await;
    assert_eq!(confirm_cancel(&mut app, &call).await, "back");
    assert_eq!(stream.next().await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_ended_at_one_has_ended_at_all() {
    let workers = Workers::start().await;
    let mut app = demo(&workers.one).await;
    workers.both_have("demo").await;
    let client = Client::open(&workers.one, "/mcp").await;
    let there = at(&client, &workers.two);
    let mut stream = client.call_tool(7, "echo").await;
    let call = called(&mut app).await;
    let mut listening = client.listen().await;
    let ended = there.send(there.request(Method::DELETE)).await;
    assert!(ended.status().is_success());
    assert_eq!(
        confirm_cancel(&mut app, &call).await,
        "The session has ended"
    );
    assert_eq!(stream.next().await, None);
    assert_eq!(listening.next().await, None);
    for client in [&client, &there] {
        assert_eq!(status(client).await, 404);
        let twice = client.send(client.request(Method::DELETE)).await;
        assert_eq!(twice.status(), 404);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_ends_although_its_client_does_not_wait_for_that() {
    let workers = Workers::start().await;
    let mut app = demo(&workers.one).await;
    workers.both_have("demo").await;
    let client = Client::open(&workers.one, "/mcp").await;
    let mut listening = at(&client, &workers.two).listen().await;
    let told = listening.next().await.unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    let mut stream = client.call_tool(7, "echo").await;
    let call = called(&mut app).await;
    workers.redis.signal("-STOP");
    let ending = client.request(Method::DELETE);
    let ending = ending.timeout(Duration::from_millis(300)).send().await;
    assert!(ending.unwrap_err().is_timeout());
    assert_eq!(
        confirm_cancel(&mut app, &call).await,
        "The session has ended"
    );
    assert_eq!(stream.next().await, None);
    workers.redis.signal("-CONT");
    assert_eq!(listening.next().await, None);
    assert_eq!(status(&at(&client, &workers.two)).await, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listening_stream_at_any_worker_hears_what_there_is_to_hear() {
    let workers = Workers::start().await;
    let _app = demo(&workers.one).await;
    workers.both_have("demo").await;
    let client = Client::open(&workers.one, "/mcp/demo").await;
    let mut events = at(&client, &workers.two).listen().await;
    // The other worker does not know which changes the client may have missed.
    let told = events.next().await.unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    let _other = offer(&workers.one, "demo", json!([])).await;
    let told = events.next().await.unwrap();
    assert_eq!(told["method"], "notifications/tools/list_changed");
    let notice = Notice::Cancelled(CancelNotice {
        request_id: "r1".into(),
        reason: Some("enough".into()),
        run: None,
    });
    workers.one.hub.cluster().unwrap().tell_all(notice);
    let told = events.next().await.unwrap();
    assert_eq!(told["method"], "notifications/cancelled");
    assert_eq!(
        told["params"],
        json!({ "requestId": "r1", "reason": "enough" })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_began_here_and_was_initialized_elsewhere_is_told_here() {
    let workers = Workers::start().await;
    let _app = demo(&workers.one).await;
    let mut client = Client::new(&workers.one, "/mcp/demo");
    let response = client.post(&initialize(LEGACY)).await;
    let session = response.headers()["mcp-session-id"].to_str().unwrap();
    client.session = Some(session.to_string());
    let initialized = notification("notifications/initialized", json!({}));
    let told = at(&client, &workers.two).post(&initialized).await;
    assert_eq!(told.status(), 202);
    let mut events = client.listen().await;
    // The first message is for changes that the client may have missed. The second is for a later change.
    for _ in 0..2 {
        let told = events.next().await.unwrap();
        assert_eq!(told["method"], "notifications/tools/list_changed");
        offer(&workers.one, "demo", json!([])).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_its_owners_and_its_paths_on_all_workers() {
    let guarded = || {
        let tokens = ["agent=alice", "agent=bob", "app=page"];
        let tokens = Tokens::new(tokens.iter().map(|token| token.parse().unwrap()).collect());
        Config { tokens, ..config() }
    };
    let workers = Workers::with(guarded, guarded).await;
    let mut client = Client::new(&workers.one, "/mcp");
    client.token = Some("alice".into());
    client.initialize().await;
    let there = at(&client, &workers.two);
    let with = |token: &str, path: &str| Client {
        url: format!("http://{}{path}", workers.two.address),
        token: Some(token.into()),
        ..client.clone()
    };
    for stranger in [with("bob", "/mcp"), with("alice", "/mcp/demo")] {
        assert_eq!(status(&stranger).await, 404);
        let ending = stranger.send(stranger.request(Method::DELETE)).await;
        assert_eq!(ending.status(), 404);
    }
    assert_eq!(status(&there).await, 200);
    assert_eq!(status(&with("bob", "/mcp")).await, 404);
    for unknown in ["nope", "00000000-0000-4000-8000-000000000000"] {
        let unknown = Client {
            session: Some(unknown.into()),
            ..there.clone()
        };
        let answer = unknown.post(&rpc(1, "ping", json!({}))).await;
        assert_eq!(answer.status(), 404);
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(-32001), &json!(1))
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_no_worker_has_in_memory_goes_on_at_any_and_redis_knows_nothing_of_it() {
    let soon_idle = || {
        let mcp = McpOptions {
            mcp_session_idle: Duration::from_millis(50),
            ..McpOptions::default()
        };
        Config { mcp, ..config() }
    };
    let workers = Workers::with(soon_idle, soon_idle).await;
    let mut app = demo(&workers.one).await;
    workers.both_have("demo").await;
    let client = Client::open(&workers.one, "/mcp").await;
    for gateway in [&workers.one, &workers.two, &workers.one] {
        let answered = at(&client, gateway).call_tool(1, "echo").await;
        let call = called(&mut app).await;
        succeed(&mut app, &call, json!("done")).await;
        assert_eq!(answered.last().await["id"], 1);
        // The session with the app ends when the worker forgets the session.
        assert_eq!(app.next().await["type"], "shutdown");
    }
    let mut connection = workers.redis.connection().await;
    let keys: Vec<String> = connection.keys("{caphost}:mcp:*").await.unwrap();
    assert_eq!(keys, <[&str; 0]>::default());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_outlives_the_worker_it_began_on() {
    let Workers {
        mut one,
        two,
        redis: _redis,
    } = Workers::start().await;
    let mut app = demo(&two).await;
    let client = Client::open(&one, "/mcp/demo").await;
    one.stop();
    one.stopped().await;
    let there = at(&client, &two);
    let stream = there.call_tool(1, "echo").await;
    let call = called(&mut app).await;
    succeed(&mut app, &call, json!("done")).await;
    assert_eq!(stream.last().await["result"]["content"][0]["text"], "done");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_redis_it_goes_on_at_any_worker() {
    let mut workers = Workers::start().await;
    let client = Client::open(&workers.one, "/mcp").await;
    workers.redis.stop();
    let cluster = workers.two.hub.cluster().unwrap();
    until("its end", || !cluster.standing().connected).await;
    assert_eq!(status(&at(&client, &workers.two)).await, 200);
    assert_eq!(status(&client).await, 200);
    let begun = Client::open(&workers.two, "/mcp").await;
    assert_eq!(status(&begun).await, 200);
    assert_eq!(status(&at(&begun, &workers.one)).await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_has_not_met_redis_yet_does_not_know_whether_there_is_such_a_session() {
    let redis = Redis::start().await;
    let worker = |user| {
        Gateway::with(Config {
            cluster: redis.options(user),
            ..config()
        })
    };
    redis.shut_out("two").await;
    let (one, two) = (worker("one").await, worker("two").await);
    let client = Client::open(&one, "/mcp").await;
    let there = at(&client, &two);
    let answer = there.post(&rpc(1, "ping", json!({}))).await;
    assert_eq!(answer.status(), 503);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["error"]["data"]["retryable"], true);
    // Its own sessions go on when it has met Redis.
    let begun = Client::open(&two, "/mcp").await;
    redis.let_in("two").await;
    soon("the key", async {
        while status(&there).await != 200 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert_eq!(status(&begun).await, 200);
}
