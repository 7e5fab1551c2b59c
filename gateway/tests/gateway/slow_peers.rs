use std::time::{Duration, Instant};

use caphost_gateway::{Config, Limits};
use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::hardening::tokens;
use crate::support::*;

const QUEUED_BYTES: usize = 1 << 20;

async fn gateway() -> Gateway {
    Gateway::limited(Limits {
        queued_bytes: QUEUED_BYTES,
        ..Limits::default()
    })
    .await
}

fn progress(agent: &Value, bytes: usize) -> Value {
    json!({ "type": "progress", "agent": agent, "payload": { "operationId": "c", "status": "x".repeat(bytes) } })
}

/// Whether the message tells an app that an agent is gone. First the agent's calls are cancelled.
fn is_farewell(message: &Value) -> bool {
    let kind = message["type"].as_str();
    matches!(kind, Some("capabilities/cancel" | "agent/closed"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_does_not_read_is_disconnected_and_delays_nobody() {
    let gateway = gateway().await;
    let (mut app, mut slow) = gateway.session().await;
    let mut quick = gateway.agent().await;
    quick.initialize(&mut app).await;
    slow.send(call("1", "c")).await;
    let calling = app.next().await;
    // The sockets' own buffers take some of it. The queue beside them is bounded.
    let mut sent = 0;
    let mut worst = Duration::ZERO;
    while gateway.hub.peers().0 == 2 {
        app.send(progress(&calling["agent"], 64 << 10)).await;
        sent += 64 << 10;
        assert!(sent < 256 << 20, "the slow agent is never disconnected");
        let since = Instant::now();
        quick.send(call("through", "through")).await;
        // When the slow agent is gone, the app is told so in between.
        let relayed = loop {
            let message = app.next().await;
            if !is_farewell(&message) {
                break message;
            }
        };
        app.send(answer(
            &relayed,
            "capabilities/call-result",
            json!({ "success": true }),
        ))
        .await;
        quick.next().await;
        worst = worst.max(since.elapsed());
    }
    assert!(worst < Duration::from_secs(1), "{worst:?}");
    let end = loop {
        match soon("the end", slow.socket.next()).await {
            Some(Ok(Message::Text(_) | Message::Ping(_))) => {}
            other => break other,
        }
    };
    // Either the close frame arrived, or the connection broke.
    match end {
        Some(Ok(Message::Close(Some(frame)))) => assert_eq!(u16::from(frame.code), 1008),
        Some(Ok(other)) => panic!("{other:?}"),
        Some(Err(_)) | None => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_goes_while_much_waits_for_it_is_gone_at_once() {
    let gateway = Gateway::start().await;
    let (mut app, mut slow) = gateway.session().await;
    slow.send(call("1", "c")).await;
    let calling = app.next().await;
    // More than half of the queue's limit, so that the gateway does not read from the peer either.
    for _ in 0..44 {
        app.send(progress(&calling["agent"], 1 << 20)).await;
    }
    // The agent's next message is the last that the gateway reads.
    let mut quick = gateway.agent().await;
    quick.initialize(&mut app).await;
    slow.send(cancel("2", "c")).await;
    assert_eq!(app.next().await["type"], "capabilities/cancel");
    let stream = match slow.socket.get_ref() {
        MaybeTlsStream::Plain(stream) => stream,
        _ => panic!("TLS"),
    };
    SockRef::from(stream)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(slow);
    let farewell = tokio::time::timeout(Duration::from_secs(10), app.next()).await;
    let farewell = farewell.expect("it is not noticed");
    assert!(is_farewell(&farewell), "{farewell}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_does_not_keep_up_gets_no_more_calls_and_stays() {
    let gateway = gateway().await;
    let (mut app, mut agent) = gateway.session().await;
    let mut sent = 0;
    let refused = loop {
        let mut message = call(&sent.to_string(), &sent.to_string());
        message["payload"]["params"] = json!({ "text": "x".repeat(64 << 10) });
        agent.send(message).await;
        sent += 1;
        assert!(sent < 4_096, "no call is refused");
        let answered = tokio::time::timeout(Duration::from_millis(2), agent.socket.next());
        if let Ok(Some(Ok(Message::Text(text)))) = answered.await {
            break serde_json::from_str::<Value>(&text).unwrap();
        }
    };
    assert_eq!(code(&refused), "RATE_LIMITED");
    assert_eq!(
        refused["payload"]["error"]["details"]["limit"],
        "queuedBytes"
    );
    // The app reads again: all accepted calls arrive, and the app accepts calls again.
    let first = app.next().await;
    assert_eq!(first["payload"]["options"]["callId"], "0");
    let accepted: usize = refused["id"].as_str().unwrap().parse().unwrap();
    for number in 1..accepted {
        assert_eq!(
            app.next().await["payload"]["options"]["callId"],
            number.to_string()
        );
    }
    agent.send(cancel("cancel", "0")).await;
    let next = loop {
        let next = app.next().await;
        if next["type"] == "capabilities/cancel" {
            break next;
        }
    };
    assert_eq!(next["payload"]["callId"], "0");
    assert_eq!(gateway.hub.peers(), (1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_sends_faster_than_it_reads_waits_and_loses_nothing() {
    let gateway = gateway().await;
    let agent = gateway.agent().await;
    const MESSAGES: usize = 40_000;
    let (mut sink, mut stream) = agent.socket.split();
    let flooding = tokio::spawn(async move {
        for number in 0..MESSAGES {
            let text = call(&number.to_string(), "c").to_string();
            sink.send(Message::text(text)).await.unwrap();
        }
        sink
    });
    // The answers are several times larger than the queue. Each of them arrives, in order.
    for number in 0..MESSAGES {
        let text = loop {
            match soon("an answer", stream.next()).await {
                Some(Ok(Message::Text(text))) => break text,
                Some(Ok(Message::Ping(_))) => {}
                other => panic!("{other:?}"),
            }
        };
        let got: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (code(&got), &got["id"]),
            ("NOT_INITIALIZED", &json!(number.to_string()))
        );
    }
    drop(flooding.await.unwrap());
}

/// How long a slow peer may be silent in these tests before it counts as gone.
const SILENCE: Duration = Duration::from_secs(3);

async fn impatient(queued_bytes: usize) -> Gateway {
    Gateway::limited(Limits {
        queued_bytes,
        ping_interval: Duration::from_millis(300),
        dead_peer_timeout: SILENCE,
        ..Limits::default()
    })
    .await
}

/// Keeps the peer's receive buffer small, because the gateway cannot see whether the peer reads what its
/// system has received.
fn without_a_buffer(peer: &Peer) {
    let MaybeTlsStream::Plain(stream) = peer.socket.get_ref() else {
        panic!("no TLS here");
    };
    let socket = SockRef::from(stream);
    socket.set_recv_buffer_size(64 << 10).unwrap();
}

/// Reads a little at a time until `bytes` bytes were read. This takes several times as long as a peer may be
/// silent. The peer answers nothing meanwhile.
async fn sip(peer: &mut Peer, bytes: usize) {
    const MOUTHFULS: u32 = 80;
    let MaybeTlsStream::Plain(stream) = peer.socket.get_mut() else {
        panic!("no TLS here");
    };
    let mut mouthful = vec![0; bytes / MOUTHFULS as usize];
    for _ in 0..MOUTHFULS {
        soon("more", stream.read_exact(&mut mouthful))
            .await
            .unwrap();
        tokio::time::sleep(3 * SILENCE / MOUTHFULS).await;
    }
}

/// An app that reads and answers pings, whatever the test does.
struct Attentive {
    sink: SplitSink<WebSocketStream<MaybeTlsStream<TcpStream>>, Message>,
    heard: mpsc::UnboundedReceiver<Value>,
}

impl Attentive {
    fn new(app: Peer) -> Self {
        let (sink, mut stream) = app.socket.split();
        let (hears, heard) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(Ok(message)) = stream.next().await {
                if let Message::Text(text) = message {
                    let _ = hears.send(serde_json::from_str(&text).unwrap());
                }
            }
        });
        Attentive { sink, heard }
    }

    async fn send(&mut self, message: Value) {
        let text = Message::text(message.to_string());
        soon("sending", self.sink.send(text)).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        soon("a message", self.heard.recv()).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_reads_slowly_while_it_is_not_read_is_not_silent() {
    const MESSAGES: usize = 56;
    let gateway = impatient(4 << 20).await;
    let (mut app, mut agent) = gateway.session().await;
    without_a_buffer(&agent);
    agent.send(call("1", "c")).await;
    let calling = app.next().await;
    let mut app = Attentive::new(app);
    // More than half of the queue's limit, besides what the sockets take. So the gateway does not read from
    // the agent.
    for _ in 0..MESSAGES {
        app.send(progress(&calling["agent"], 64 << 10)).await;
    }
    agent.send(call("2", "unread")).await;
    sip(&mut agent, 3 << 20).await;
    assert_eq!(gateway.hub.peers(), (1, 1), "the agent is still there");
    // The agent's message is not lost.
    assert_eq!(app.next().await["payload"]["options"]["callId"], "unread");
    // The agent stops reading for good.
    for _ in 0..40 {
        app.send(progress(&calling["agent"], 64 << 10)).await;
    }
    assert!(is_farewell(&app.next().await));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_takes_long_over_one_message_is_not_silent() {
    const BYTES: usize = 1 << 20;
    let gateway = impatient(64 << 20).await;
    let (mut app, mut agent) = gateway.session().await;
    without_a_buffer(&agent);
    agent.send(call("1", "c")).await;
    let calling = app.next().await;
    let mut app = Attentive::new(app);
    app.send(progress(&calling["agent"], BYTES)).await;
    sip(&mut agent, BYTES).await;
    assert_eq!(gateway.hub.peers(), (1, 1), "the agent is still there");
    agent.send(call("2", "next")).await;
    assert_eq!(app.next().await["payload"]["options"]["callId"], "next");
}

/// A text frame of a client, masked with zeros. It may be the first and the final frame of its message, or
/// not.
fn frame(payload: &[u8], is_first: bool, is_final: bool) -> Vec<u8> {
    let mut frame = vec![u8::from(is_first) | if is_final { 0x80 } else { 0 }];
    match payload.len() {
        short @ 0..126 => frame.push(0x80 | short as u8),
        long => {
            frame.push(0x80 | 127);
            frame.extend((long as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(payload);
    frame
}

fn tcp(peer: &mut Peer) -> &mut TcpStream {
    let MaybeTlsStream::Plain(stream) = peer.socket.get_mut() else {
        panic!("no TLS here");
    };
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_sends_one_message_for_long_is_not_silent_whichever_side_it_is() {
    const PARTS: u32 = 40;
    let gateway = impatient(64 << 20).await;
    let (mut app, mut agent) = gateway.session().await;
    let params = json!({ "text": "x".repeat(200_000) });
    let mut large = call("1", "c");
    large["payload"]["params"] = params.clone();
    let drip = async |peer: &mut Peer, message: Value| {
        let bytes = frame(message.to_string().as_bytes(), true, true);
        for part in bytes.chunks(bytes.len().div_ceil(PARTS as usize)) {
            tcp(peer).write_all(part).await.unwrap();
            tokio::time::sleep(3 * SILENCE / PARTS).await;
        }
    };
    // The other end answers pings while it reads.
    tokio::join!(drip(&mut agent, large), async {
        assert_eq!(app.next().await["payload"]["params"], params);
    });
    let mut next = call("2", "d");
    next["payload"]["params"] = json!({});
    agent.send(next).await;
    let calling = app.next().await;
    let result = answer(
        &calling,
        "capabilities/call-result",
        json!({ "success": true, "data": params }),
    );
    tokio::join!(drip(&mut app, result), async {
        assert_eq!(agent.next().await["payload"]["data"], params);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_whose_many_fragments_the_gateway_slows_down_is_not_silent() {
    // Fragments are read at 1000 per second, after the first 1000.
    const FRAGMENTS: usize = 8_000;
    let gateway = impatient(64 << 20).await;
    let (mut app, mut agent) = gateway.session().await;
    let mut large = call("1", "c");
    large["payload"]["params"] = json!({ "text": "x".repeat(10 * FRAGMENTS) });
    let text = large.to_string();
    let parts: Vec<_> = text
        .as_bytes()
        .chunks(text.len().div_ceil(FRAGMENTS))
        .collect();
    let mut bytes = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        bytes.extend(frame(part, index == 0, index + 1 == parts.len()));
    }
    tcp(&mut agent).write_all(&bytes).await.unwrap();
    assert_eq!(
        app.next().await["payload"]["params"],
        large["payload"]["params"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_says_nothing_is_gone_after_the_timeout() {
    let gateway = impatient(64 << 20).await;
    let (app, _agent) = gateway.session().await;
    let begun = Instant::now();
    // The app has registered and reads nothing more, so pings stay unanswered.
    let gone = async {
        while gateway.hub.peers().1 > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon("its end", gone).await;
    let after = begun.elapsed();
    assert!(after > SILENCE / 2 && after < 2 * SILENCE, "{after:?}");
    drop(app);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unread_sockets_share_one_bound_and_a_healthy_peer_is_never_the_one_that_goes() {
    const OF_ALL: usize = 4 << 20;
    let gateway = Gateway::limited(Limits {
        queued_bytes: 3 << 20,
        queued_bytes_of_all: OF_ALL,
        ..Limits::default()
    })
    .await;
    let (mut app, mut healthy) = gateway.session().await;
    let mut unread = Vec::new();
    for _ in 0..20 {
        let mut agent = gateway.agent().await;
        agent.initialize(&mut app).await;
        agent.send(call("1", "c")).await;
        let calling = app.next().await;
        unread.push((agent, calling["agent"].clone()));
    }
    // Each stays below its own limit. The buffers of the agents' systems take some of it.
    let mut calls = 0;
    for round in 0..12 {
        for (_, agent) in &unread {
            app.send(progress(agent, 512 << 10)).await;
        }
        let since = Instant::now();
        let id = format!("healthy-{round}");
        healthy.send(call(&id, &id)).await;
        let relayed = loop {
            let message = app.next().await;
            if !is_farewell(&message) {
                break message;
            }
        };
        let done = json!({ "success": true, "data": "x".repeat(64 << 10) });
        let done = answer(&relayed, "capabilities/call-result", done);
        app.send(done).await;
        assert_eq!(healthy.next().await["id"], json!(id));
        assert!(since.elapsed() < Duration::from_secs(5));
        assert!(
            gateway.hub.queued_bytes() <= OF_ALL,
            "{}",
            gateway.hub.queued_bytes()
        );
        calls += 1;
    }
    assert_eq!(calls, 12);
    let (agents, apps) = gateway.hub.peers();
    assert!(agents < 21, "somebody who does not read was disconnected");
    assert_eq!(apps, 1);
    // After the attack everything is as before.
    drop(unread);
    let gone = async {
        while gateway.hub.peers().0 > 1 || gateway.hub.queued_bytes() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon("the end of the attack", gone).await;
    healthy.send(call("after", "after")).await;
    let relayed = loop {
        let message = app.next().await;
        if message["type"] == "capabilities/call" {
            break message;
        }
    };
    let done = json!({ "success": true });
    app.send(answer(&relayed, "capabilities/call-result", done))
        .await;
    assert_eq!(healthy.next().await["id"], "after");
}

/// As `agent`: sends the messages of `make`, each with 64 KiB, until one is refused. Returns the refusal.
async fn flood(agent: &mut Peer, make: impl Fn(&str) -> Value) -> Value {
    for sent in 0..4_096 {
        agent.send(make(&sent.to_string())).await;
        let answered = tokio::time::timeout(Duration::from_millis(2), agent.socket.next());
        if let Ok(Some(Ok(Message::Text(text)))) = answered.await {
            return serde_json::from_str(&text).unwrap();
        }
    }
    panic!("nothing is refused");
}

fn large_call(id: &str) -> Value {
    let mut message = call(id, id);
    message["payload"]["params"] = json!({ "text": "x".repeat(64 << 10) });
    message
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_several_slow_apps_is_refused_and_no_app_is_disconnected() {
    let (gateway, mut apps, mut greedy) = with_slow_apps().await;
    for (agent, app) in greedy.iter_mut().zip(&mut apps) {
        agent.initialize(app).await;
    }
    for agent in &mut greedy {
        assert_eq!(code(&flood(agent, large_call).await), "RATE_LIMITED");
        // The apps do not read for so long that they count as not reading.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
    }
    assert!(gateway.hub.queued_bytes() <= 9 << 20);
    assert_eq!(gateway.hub.peers().1, 3, "every app is still there");
    // Other tokens are served meanwhile.
    let mut agent = gateway.peer("/abp?token=honest&app=c").await;
    agent.send(request("initialize", "init", json!({}))).await;
    let mut seen = 0;
    let relayed = loop {
        let message = apps[2].next().await;
        seen += 1;
        if message["type"] == "initialize" {
            break message;
        }
    };
    assert!(seen <= MOST_ON_THE_WAY, "{seen}");
    let session = json!({ "sessionId": "s" });
    apps[2]
        .send(answer(&relayed, "initialize-result", session))
        .await;
    assert_eq!(agent.next().await["payload"]["sessionId"], "s");
    agent.send(call("honest", "honest")).await;
    let mut seen = 0;
    while apps[2].next().await["agent"] != relayed["agent"] {
        seen += 1;
    }
    assert!(seen <= MOST_ON_THE_WAY, "{seen}");
}

/// How many messages of 64 KiB the gateway and the system have taken to send, before the agents of an app take
/// turns. Twenty times as many wait.
const MOST_ON_THE_WAY: usize = 12;

/// A gateway with little room for all, three apps that do not read, and an agent of one token for each app.
async fn with_slow_apps() -> (Gateway, Vec<Peer>, Vec<Peer>) {
    let gateway = Gateway::with(Config {
        tokens: tokens(&["agent=greedy", "agent=honest", "app=a", "app=b", "app=c"]),
        limits: Limits {
            queued_bytes: 8 << 20,
            queued_bytes_of_all: 9 << 20,
            ..Limits::default()
        },
        ..config()
    })
    .await;
    let (mut apps, mut agents) = (Vec::new(), Vec::new());
    for id in ["a", "b", "c"] {
        let mut app = gateway.peer(&format!("/abp/app?token={id}")).await;
        without_a_buffer(&app);
        app.send(register(id)).await;
        assert_eq!(app.next().await["type"], "app/registered");
        agents.push(gateway.peer(&format!("/abp?token=greedy&app={id}")).await);
        apps.push(app);
    }
    (gateway, apps, agents)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_initialize_to_several_slow_apps_is_refused_as_well() {
    let (gateway, _apps, mut agents) = with_slow_apps().await;
    for agent in &mut agents {
        let text = "x".repeat(64 << 10);
        let large = |id: &str| request("initialize", id, json!({ "text": text }));
        assert_eq!(code(&flood(agent, large).await), "RATE_LIMITED");
        tokio::time::sleep(Duration::from_millis(1_100)).await;
    }
    assert_eq!(gateway.hub.peers().1, 3, "every app is still there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_reasons_of_cancels_do_not_fill_the_queues_of_slow_apps() {
    let (gateway, mut apps, mut agents) = with_slow_apps().await;
    let reason = "x".repeat(64 << 10);
    for (agent, app) in agents.iter_mut().zip(&mut apps) {
        agent.initialize(app).await;
    }
    for agent in &mut agents {
        for sent in 0..200 {
            let payload = json!({ "callId": "none", "reason": reason });
            let cancel = request("capabilities/cancel", &sent.to_string(), payload);
            agent.send(cancel).await;
        }
        // All cancels have come.
        agent.send(request("initialize", "last", json!({}))).await;
        tokio::time::sleep(Duration::from_millis(1_100)).await;
    }
    assert!(
        gateway.hub.queued_bytes() < 7 << 20,
        "{}",
        gateway.hub.queued_bytes()
    );
    assert_eq!(gateway.hub.peers().1, 3, "every app is still there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_keeps_up_is_called_while_others_of_its_callers_do_not() {
    let (gateway, mut apps, mut agents) = with_slow_apps().await;
    for (agent, app) in agents.iter_mut().zip(&mut apps) {
        agent.initialize(app).await;
    }
    let refused = [
        flood(&mut agents[0], large_call).await,
        flood(&mut agents[1], large_call).await,
    ];
    assert_eq!(
        refused.map(|it| code(&it).to_string()),
        ["RATE_LIMITED", "RATE_LIMITED"]
    );
    agents[2].call_through(&mut apps[2]).await;
    assert_eq!(gateway.hub.peers().1, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ping_is_answered_within_a_long_message() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
    let calling = app.next().await;
    // The result is much larger than the sockets' buffers, so most of it is written only when the agent
    // reads.
    let result = json!({ "success": true, "data": "x".repeat(15 << 20) });
    app.send(answer(&calling, "capabilities/call-result", result))
        .await;
    let MaybeTlsStream::Plain(stream) = agent.socket.get_ref() else {
        panic!("a connection without TLS");
    };
    let begun = async { while stream.peek(&mut [0; 64 << 10]).await.unwrap() < 64 << 10 {} };
    soon("the beginning of the result", begun).await;
    agent
        .socket
        .send(Message::Ping("are you there".into()))
        .await
        .unwrap();
    let first = loop {
        match soon("something", agent.socket.next()).await {
            Some(Ok(Message::Ping(_))) => {}
            other => break other.unwrap().unwrap(),
        }
    };
    assert_eq!(first, Message::Pong("are you there".into()));
    assert_eq!(agent.next().await["payload"]["success"], true);
}
