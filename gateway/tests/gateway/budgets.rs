//! Attacks on the memory and places that all clients share, with an honest client beside each attack.

use std::time::{Duration, Instant};

use caphost_gateway::{Config, HttpLimits, Limits};
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use crate::hardening::{MIB, tokens};
use crate::resuming::{App, next_of_session, registering};
use crate::support::*;

impl Peer {
    /// Sends 100 kB of an unfinished message `times` times, or until the connection is closed.
    async fn unfinished(&mut self, times: usize) {
        for part in 0..times {
            let code = [OpCode::Data(Data::Text), OpCode::Data(Data::Continue)];
            let code = code[usize::from(part > 0)];
            let fragment = Frame::message(vec![b' '; 100_000], code, false);
            if self.socket.send(Message::Frame(fragment)).await.is_err() {
                return;
            }
        }
    }

    /// The code of the close frame, if the connection is closed.
    async fn closed_by_now(&mut self) -> Option<u16> {
        let next = tokio::time::timeout(Duration::from_millis(500), self.socket.next()).await;
        match next {
            Ok(Some(Ok(Message::Close(frame)))) => frame.map(|it| it.code.into()),
            _ => None,
        }
    }

    /// As an agent: makes a call that `app` answers. Both messages have half a mebibyte.
    async fn large_call_through(&mut self, app: &mut Peer) {
        let mut large = call("large", "large");
        large["payload"]["params"] = json!({ "x": "x".repeat(MIB / 2) });
        self.send(large).await;
        let relayed = app.next().await;
        let done = json!({ "success": true, "data": "y".repeat(MIB / 2) });
        app.send(answer(&relayed, "capabilities/call-result", done))
            .await;
        let result = self.next().await;
        assert_eq!(result["payload"]["success"], true, "{}", result["type"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_messages_of_one_token_disconnect_nobody_else() {
    let gateway = Gateway::with(Config {
        tokens: tokens(&["agent=greedy", "agent=honest", "app=c"]),
        limits: Limits {
            unfinished_bytes: 2 * MIB,
            ..Limits::default()
        },
        ..config()
    })
    .await;
    let mut app = gateway.peer("/abp/app?token=c").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let mut agent = gateway.peer("/abp?token=honest").await;
    agent.initialize(&mut app).await;
    let mut attackers = Vec::new();
    for path in ["/abp", "/jsonrpc", "/abp", "/jsonrpc"] {
        let mut attacker = gateway.peer(&format!("{path}?token=greedy")).await;
        attacker.unfinished(10).await;
        attackers.push(attacker);
        agent.large_call_through(&mut app).await;
    }
    let mut closed = Vec::new();
    for attacker in &mut attackers {
        closed.extend(attacker.closed_by_now().await);
    }
    assert!(closed.len() >= 2, "{closed:?}");
    assert!(closed.iter().all(|code| *code == 1013), "{closed:?}");
    // Without its token's share, this connection beside an honest one would be closed only for its own size.
    let mut largest = gateway.peer("/abp?token=greedy").await;
    largest.unfinished(25).await;
    agent.large_call_through(&mut app).await;
    drop((attackers, largest));
    agent.large_call_through(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_messages_of_strangers_take_from_strangers_alone() {
    let gateway = Gateway::limited(Limits {
        unfinished_bytes: MIB,
        unfinished_stranger_bytes: MIB,
        ..Limits::default()
    })
    .await;
    let (mut app, mut agent) = gateway.session().await;
    let mut strangers = Vec::new();
    for _ in 0..5 {
        let mut stranger = gateway.peer("/abp/app").await;
        stranger.unfinished(9).await;
        strangers.push(stranger);
        agent.large_call_through(&mut app).await;
    }
    let mut closed = 0;
    for stranger in &mut strangers {
        closed += usize::from(stranger.closed_by_now().await == Some(1013));
    }
    assert!(closed >= 4, "{closed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_has_to_make_room_may_come_back() {
    let gateway = Gateway::limited(Limits {
        unfinished_bytes: 300_000,
        ..Limits::default()
    })
    .await;
    let (mut app, mut agent) = App::with_agent(&gateway).await;
    app.peer.unfinished(5).await;
    assert_eq!(app.closed().await, 1013);
    let mut again = gateway.peer("/abp/app").await;
    let resume = json!({ "resume": app.token, "received": app.received });
    again.send(request("app/resume", "r", resume)).await;
    assert_eq!(again.next().await["type"], "app/resumed");
    agent.send(call("1", "c")).await;
    let called = next_of_session(&mut again).await;
    let done = json!({ "success": true });
    again
        .send(answer(&called, "capabilities/call-result", done))
        .await;
    assert_eq!(agent.next().await["payload"]["success"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_only_answers_pings_is_not_closed() {
    let gateway = Gateway::limited(Limits {
        unfinished_bytes: 70_000,
        ..Limits::default()
    })
    .await;
    let (mut app, mut agent) = gateway.session().await;
    for _ in 0..2_000 {
        let pong = Message::Pong(vec![0; 125].into());
        agent.socket.send(pong).await.unwrap();
    }
    agent.call_through(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn apps_with_a_token_that_never_register_have_a_bound() {
    let gateway = Gateway::with(Config {
        tokens: tokens(&["app=greedy", "app=honest"]),
        limits: Limits {
            unregistered_apps_per_address: 5,
            ..Limits::default()
        },
        ..config()
    })
    .await;
    let mut honest = gateway.peer("/abp/app?token=honest").await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(gateway.peer("/abp/app?token=greedy").await);
    }
    for peer in silent.iter_mut().take(15) {
        assert_eq!(peer.closed().await, 1013);
    }
    // An app that has registered does not wait any more. Apps of other tokens were not counted.
    let mut last = silent.pop().unwrap();
    for (peer, id) in [(&mut honest, "honest"), (&mut last, "last")] {
        peer.send(register(id)).await;
        assert_eq!(peer.next().await["type"], "app/registered");
    }
    for _ in 0..10 {
        silent.push(gateway.peer("/abp/app?token=greedy").await);
    }
    assert_eq!(last.closed_by_now().await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_register_is_answered_once() {
    let gateway = Gateway::start().await;
    for (text, answered) in [
        (call("1", "c").to_string(), "NOT_IMPLEMENTED"),
        ("nonsense".into(), "INVALID_PARAMS"),
        (
            request("app/resume", "r", json!(7)).to_string(),
            "INVALID_PARAMS",
        ),
    ] {
        let mut stranger = gateway.peer("/abp/app").await;
        stranger.text(text.clone()).await;
        stranger.text(text).await;
        assert_eq!(code(&stranger.next().await), answered);
        assert_eq!(stranger.closed().await, 1008);
    }
    let mut stranger = gateway.peer("/abp/app").await;
    for _ in 0..2 {
        let binary = Message::Binary(vec![0; 10].into());
        stranger.socket.send(binary).await.unwrap();
    }
    assert_eq!(code(&stranger.next().await), "INVALID_PARAMS");
    assert_eq!(stranger.closed().await, 1008);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_says_too_much_waits_and_nothing_is_lost() {
    let gateway = Gateway::limited(Limits {
        app_messages_per_second: 5.0,
        ..Limits::default()
    })
    .await;
    let (mut app, mut agent) = gateway.session().await;
    let began = Instant::now();
    for _ in 0..12 {
        agent.call_through(&mut app).await;
    }
    // Five calls come at once, and two of them were made before.
    assert!(began.elapsed() > Duration::from_secs(1), "{began:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_updates_all_the_time_waits_with_a_session_or_without() {
    let gateway = Gateway::start().await;
    for more in [json!({}), json!({ "resume": true })] {
        let mut app = gateway.peer("/abp/app").await;
        app.send(registering(more)).await;
        assert_eq!(app.next().await["type"], "app/registered");
        let mut agent = gateway.agent().await;
        agent.send(request("initialize", "i", json!({}))).await;
        let relayed = next_of_session(&mut app).await;
        let began = Instant::now();
        for _ in 0..110 {
            app.send(request("app/update", "u", json!({ "capabilities": [] })))
                .await;
        }
        let session = json!({ "sessionId": "s" });
        app.send(answer(&relayed, "initialize-result", session))
            .await;
        assert_eq!(agent.next().await["payload"]["sessionId"], "s");
        assert!(began.elapsed() > Duration::from_millis(800), "{began:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_of_who_connects_without_a_token_are_no_larger_than_a_message() {
    let gateway = Gateway::with(Config {
        tokens: tokens(&["app=c"]),
        limits: Limits {
            message_bytes: 2 * MIB,
            frame_bytes: 8 * MIB,
            ..Limits::default()
        },
        ..config()
    })
    .await;
    for (path, id, closed) in [
        ("/abp/app", "late", true),
        ("/abp/app?token=c", "known", false),
    ] {
        let mut app = gateway.peer(path).await;
        let mut message = register(id);
        message["payload"]["token"] = "c".into();
        app.send(message).await;
        assert_eq!(app.next().await["type"], "app/registered");
        app.send(request(
            "progress",
            "p",
            json!({ "x": "x".repeat(3 * MIB) }),
        ))
        .await;
        match closed {
            true => assert_eq!(app.closed().await, 1009),
            false => assert_eq!(code(&app.next().await), "INVALID_PARAMS"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn preflights_and_guesses_at_callbacks_count_towards_the_rate() {
    let preflight = "Origin: http://localhost\r\nAccess-Control-Request-Method: POST\r\n";
    for (method, path, headers) in [
        ("OPTIONS", "/mcp", preflight),
        ("POST", "/rap/callback/guess/1", ""),
    ] {
        let gateway = Gateway::with(Config {
            http_limits: HttpLimits {
                requests_per_second: 20.0,
                ..HttpLimits::default()
            },
            ..config()
        })
        .await;
        let port = format!(":{}\r\n", gateway.address.port());
        let headers = headers.replacen("\r\n", &port, 1);
        let first = gateway.ask(method, path, &headers, "").await.status;
        assert!([200, 404].contains(&first), "{path}: {first}");
        let mut refused = 0;
        for _ in 0..60 {
            let status = gateway.ask(method, path, &headers, "").await.status;
            refused += u32::from(status == 429);
        }
        assert!(refused > 10, "{path}: {refused}");
    }
}
