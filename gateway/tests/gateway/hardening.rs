//! Attacks that are bounded in time and number, with a healthy client beside each attack.

use std::time::{Duration, Instant};

use caphost_gateway::{Config, HttpLimits, Limits, Tokens};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use crate::binary::{caphost, output, port_of, serve};
use crate::mcp::client::{MODERN, initialize, modern};
use crate::request::bearer;
use crate::support::*;

pub const MIB: usize = 1 << 20;

pub fn tokens(texts: &[&str]) -> Tokens {
    Tokens::new(texts.iter().map(|text| text.parse().unwrap()).collect())
}

/// A connection that has sent only this part of a request.
pub async fn half(port: u16, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// The status of `GET path`. `None` if the connection is closed instead.
pub async fn status(port: u16, path: &str) -> Option<u16> {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    let mut stream = half(port, &request).await;
    let mut answer = Vec::new();
    let _ = soon("an answer", stream.read_to_end(&mut answer)).await;
    str::from_utf8(answer.get(9..12)?).ok()?.parse().ok()
}

/// The memory of a process in bytes.
pub fn memory(pid: u32) -> usize {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap();
    let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4_096
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sockets_that_never_register_take_no_place_of_an_app() {
    let gateway = Gateway::with(Config {
        tokens: tokens(&["app=app-secret", "agent=agent-secret"]),
        limits: Limits {
            apps: 3,
            unregistered_apps_per_address: 20,
            ..Limits::default()
        },
        ..config()
    })
    .await;
    let mut strangers = Vec::new();
    for _ in 0..200 {
        strangers.push(gateway.peer("/abp/app").await);
    }
    // The app shows its token with the connection, or with the registration.
    let mut app = gateway.peer("/abp/app?token=app-secret").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let mut late = gateway.peer("/abp/app").await;
    let mut message = register("late");
    message["payload"]["token"] = "app-secret".into();
    late.send(message).await;
    assert_eq!(late.next().await["type"], "app/registered");
    let mut agent = gateway.peer("/abp?token=agent-secret&app=demo").await;
    agent.initialize(&mut app).await;
    agent.call_through(&mut app).await;
    // The oldest connections of strangers were closed.
    for stranger in strangers.iter_mut().take(170) {
        assert_eq!(stranger.closed().await, 1013);
    }
    assert_eq!(gateway.hub.peers().1, 2 + 20 - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_sends_no_more_than_a_registration() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let mut stranger = gateway.peer("/abp/app").await;
    // The message never ends, whatever length its header announces.
    let mut head = vec![0x81, 0x80 | 127];
    head.extend_from_slice(&(249_u64 * MIB as u64 / 2).to_be_bytes());
    head.extend_from_slice(&[0; 4]);
    let stream = match stranger.socket.get_mut() {
        tokio_tungstenite::MaybeTlsStream::Plain(stream) => stream,
        _ => panic!("TLS"),
    };
    stream.write_all(&head).await.unwrap();
    stream.write_all(&vec![b' '; MIB + 100_000]).await.unwrap();
    assert_eq!(stranger.closed().await, 1009);
    agent.call_through(&mut app).await;
    // The message comes in one frame or in fragments.
    let mut stranger = gateway.peer("/abp/app").await;
    let mut code = OpCode::Data(Data::Text);
    for _ in 0..12 {
        let fragment = Frame::message(vec![b' '; 100_000], code, false);
        let _ = stranger.socket.send(Message::Frame(fragment)).await;
        code = OpCode::Data(Data::Continue);
    }
    assert_eq!(stranger.closed().await, 1009);
    agent.call_through(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registration_and_an_update_have_at_most_a_mebibyte() {
    let gateway = Gateway::start().await;
    let with = |bytes: usize, mut message: Value| {
        message["payload"]["capabilities"] =
            json!([{ "name": "a.b", "description": "d".repeat(bytes) }]);
        message
    };
    let mut app = gateway.peer("/abp/app").await;
    app.send(with(MIB + 1_000, register("large"))).await;
    let refused = app.next().await;
    assert_eq!(
        refused["payload"]["error"]["details"]["limit"],
        "registrationBytes"
    );
    let mut app = gateway.peer("/abp/app").await;
    app.send(with(MIB - 1_000, register("fits"))).await;
    assert_eq!(app.next().await["type"], "app/registered");
    app.send(with(MIB + 1_000, request("app/update", "u", json!({}))))
        .await;
    let refused = app.next().await;
    assert_eq!(
        refused["payload"]["error"]["details"]["limit"],
        "registrationBytes"
    );
    // A registered app may send longer messages.
    let mut agent = gateway.agent().await;
    agent.initialize(&mut app).await;
    agent.send(call("1", "c")).await;
    let called = app.next().await;
    let done = json!({ "success": true, "data": "x".repeat(3 * MIB) });
    app.send(answer(&called, "capabilities/call-result", done))
        .await;
    assert_eq!(agent.next().await["payload"]["success"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pings_and_garbage_wait_past_a_rate() {
    let gateway = Gateway::start().await;
    let (mut app, mut agent) = gateway.session().await;
    let began = Instant::now();
    let mut floods = Vec::new();
    for flood in [
        Message::text("garbage"),
        Message::Ping("p".into()),
        Message::binary("b"),
    ] {
        let attacker = gateway.agent().await;
        floods.push(tokio::spawn(async move {
            let (mut sink, mut stream) = attacker.socket.split();
            let sending = async { while sink.send(flood.clone()).await.is_ok() {} };
            let counting = async {
                let (mut count, mut told) = (0, Instant::now());
                while let Ok(Some(Ok(_))) =
                    tokio::time::timeout(Duration::from_secs(5), stream.next()).await
                {
                    count += 1;
                    if told.elapsed() > Duration::from_millis(1) && began.elapsed().as_secs() >= 3 {
                        break;
                    }
                    told = Instant::now();
                }
                count
            };
            tokio::select! {
                count = counting => count,
                () = sending => 0,
            }
        }));
    }
    let mut slowest = Duration::ZERO;
    while began.elapsed() < Duration::from_secs(3) {
        let called = Instant::now();
        agent.call_through(&mut app).await;
        slowest = slowest.max(called.elapsed());
    }
    for flood in floods {
        let count = soon("the end of the flood", flood).await.unwrap();
        // A second's worth comes at once, and then a thousand per second.
        let most = 1_000.0 + 1_100.0 * began.elapsed().as_secs_f64();
        assert!(f64::from(count) <= most, "{count} in {:?}", began.elapsed());
        assert!(count >= 1_000, "{count}");
    }
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_on_many_sockets_of_one_token_waits_together() {
    let gateway = Gateway::with(Config {
        tokens: tokens(&["agent=greedy", "agent=honest", "app=c"]),
        ..config()
    })
    .await;
    let mut app = gateway.peer("/abp/app?token=c").await;
    app.send(register("demo")).await;
    assert_eq!(app.next().await["type"], "app/registered");
    let mut honest = gateway.peer("/abp?token=honest").await;
    honest.initialize(&mut app).await;
    let began = Instant::now();
    let mut floods = Vec::new();
    for number in 0..12 {
        let (path, text) = match number % 2 {
            0 => ("/abp?token=greedy", r#"{"type":"x"}"#),
            _ => (
                "/jsonrpc?token=greedy",
                r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#,
            ),
        };
        let (mut sink, mut stream) = gateway.peer(path).await.socket.split();
        floods.push(tokio::spawn(async move {
            let sending = async { while sink.send(Message::text(text)).await.is_ok() {} };
            let mut count = 0;
            let counting = async {
                while let Some(Ok(_)) = stream.next().await {
                    count += 1;
                }
            };
            let time = Duration::from_secs(5);
            let _ = tokio::time::timeout(time, async { tokio::join!(sending, counting) }).await;
            count
        }));
    }
    let mut slowest = Duration::ZERO;
    while began.elapsed() < Duration::from_secs(4) {
        let called = Instant::now();
        honest.call_through(&mut app).await;
        slowest = slowest.max(called.elapsed());
    }
    let mut count = 0;
    for flood in floods {
        count += soon("the end of the flood", flood).await.unwrap();
    }
    let most = 10_000.0 + 5_500.0 * began.elapsed().as_secs_f64();
    assert!(f64::from(count) <= most, "{count} in {:?}", began.elapsed());
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_requests_make_room_for_whole_ones_and_are_closed() {
    let gateway = Gateway::with(Config {
        http_limits: HttpLimits {
            connections_per_address: 20,
            head_timeout: Duration::from_secs(2),
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    let port = gateway.address.port();
    let (mut app, mut agent) = gateway.session().await;
    let mut halves = Vec::new();
    for _ in 0..100 {
        halves.push(half(port, "GET / HTTP/1.1\r\nHost: 127.0.0.1").await);
        if halves.len() % 10 == 0 {
            assert_eq!(status(port, "/").await, Some(200));
        }
    }
    agent.call_through(&mut app).await;
    for mut stream in halves {
        let mut rest = Vec::new();
        let _ = soon("the end", stream.read_to_end(&mut rest)).await;
        assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
    }
}

/// The binary in a shell with that limit of open files. With `S` only the soft limit is set, otherwise both
/// limits.
#[cfg(unix)]
fn with_open_files(kind: &str, limit: u32) -> Command {
    let binary = caphost(&[]).as_std().get_program().to_owned();
    let script = format!("ulimit -{kind}n {limit} && exec \"$0\" serve --port 0 --log info");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(binary).kill_on_drop(true);
    shell
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_half_requests_than_descriptors_keep_nobody_out() {
    let (mut child, ready) = serve(with_open_files("", 200)).await;
    let port = port_of(&ready);
    let mut halves = Vec::new();
    for _ in 0..400 {
        halves.push(half(port, "GET / HTTP/1.1\r\n").await);
    }
    for _ in 0..20 {
        assert_eq!(status(port, "/healthz").await, Some(200));
    }
    drop(halves);
    child.kill().await.unwrap();
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).await.unwrap();
    assert!(
        said.contains("the bounds of connections are lowered"),
        "{said}"
    );
    for bound in ["http_connections", "sessions", "apps", "unregistered_apps"] {
        assert!(said.contains(&format!("max_{bound}=")), "{bound}: {said}");
    }

    let (mut child, _) = serve(with_open_files("S", 300)).await;
    child.kill().await.unwrap();
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).await.unwrap();
    assert!(said.contains("raised the limit of open files"), "{said}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_descriptors_the_log_says_so_now_and_then() {
    let (mut child, ready) = serve(caphost(&["serve", "--port", "0"])).await;
    let (port, pid) = (port_of(&ready), child.id().unwrap());
    assert_eq!(status(port, "/healthz").await, Some(200));
    let limit_open_files = |soft: usize| {
        let limit = format!("--nofile={soft}:");
        let mut prlimit = std::process::Command::new("prlimit");
        let set = prlimit.args(["--pid", &pid.to_string(), &limit]).status();
        assert!(set.unwrap().success());
    };
    // The next connection would get the lowest free number.
    let is_open = |number: &usize| std::fs::exists(format!("/proc/{pid}/fd/{number}")).unwrap();
    let free = (0..).find(|number| !is_open(number)).unwrap();
    limit_open_files(free);
    let waiting = half(port, "GET /healthz HTTP/1.1\r\nConnection: close\r\n").await;
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = soon("a line of the log", said.next_line()).await.unwrap();
    let line = line.unwrap();
    assert!(line.contains("ERROR"), "{line}");
    assert!(line.contains("cannot accept connections"), "{line}");
    assert!(line.contains("Too many open files"), "{line}");
    // The gateway tries again several times a second, but logs the error at most once in ten seconds.
    let again = tokio::time::timeout(Duration::from_secs(2), said.next_line()).await;
    assert!(again.is_err(), "{again:?}");
    limit_open_files(1_000);
    assert_eq!(status(port, "/healthz").await, Some(200));
    drop(waiting);
    child.kill().await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unread_answers_take_little_memory() {
    let folder = std::env::temp_dir().join(format!("caphost-unread-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("large"), vec![b'x'; 16 * MIB]).unwrap();
    let www = folder.to_str().unwrap();
    let (mut child, ready) = serve(caphost(&["serve", "--port", "0", "--www", www])).await;
    let (port, pid) = (port_of(&ready), child.id().unwrap());
    assert_eq!(status(port, "/large").await, Some(200));
    let before = memory(pid);
    let request = format!("GET /large HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    let mut unread = Vec::new();
    for _ in 0..400 {
        unread.push(half(port, &request).await);
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let grown = memory(pid).saturating_sub(before);
    // Each takes a quarter of a megabyte, because debug builds have large futures.
    assert!(grown < 100 * MIB, "{} MiB", grown / MIB);
    assert_eq!(status(port, "/healthz").await, Some(200));
    child.kill().await.unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

/// The highest memory use of a process.
#[cfg(target_os = "linux")]
fn most_memory(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: usize = line
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kib << 10
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_of_100_mb_take_little_memory_before_they_are_refused() {
    let (mut child, ready) = serve(caphost(&["serve", "--port", "0"])).await;
    let (port, pid) = (port_of(&ready), child.id().unwrap());
    let before = most_memory(pid);
    let mut sending = Vec::new();
    // The message comes in one frame and in many frames.
    for frames in [1, 1, 25, 100] {
        sending.push(tokio::spawn(async move {
            let request = format!("ws://127.0.0.1:{port}/abp");
            let mut agent = Peer::open(request.into_client_request().unwrap())
                .await
                .unwrap();
            let text = call("large", "c").to_string();
            let start = text[..text.len() - 1].to_string() + ",\"padding\":\"";
            let mut sent = Message::Frame(Frame::message(start, OpCode::Data(Data::Text), false));
            for left in (0..frames).rev() {
                soon("sending", agent.socket.send(sent)).await.unwrap();
                let mut padding = vec![b'x'; 100_000_000 / frames];
                if left == 0 {
                    padding.extend_from_slice(b"\"}");
                }
                let part = Frame::message(padding, OpCode::Data(Data::Continue), left == 0);
                sent = Message::Frame(part);
            }
            soon("sending", agent.socket.send(sent)).await.unwrap();
            agent.next().await
        }));
    }
    for sent in sending {
        let refused = sent.await.unwrap();
        let message = refused["payload"]["error"]["message"].as_str().unwrap();
        assert_eq!(
            (&refused["id"], code(&refused)),
            (&json!("large"), "INVALID_PARAMS")
        );
        assert!(message.contains("has 1000001"), "{message}");
    }
    // Of a message in many frames, the gateway keeps an acceptable size until more comes.
    let grown = most_memory(pid) - before;
    assert!(grown < 96 * MIB, "{} MiB", grown / MIB);
    child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_not_read_is_given_up() {
    let folder = std::env::temp_dir().join(format!("caphost-given-up-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("large"), vec![b'x'; 32 * MIB]).unwrap();
    let gateway = Gateway::with(Config {
        www: folder.clone(),
        http_limits: HttpLimits {
            write_timeout: Duration::from_millis(500),
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    let request = format!("GET /large HTTP/1.1\r\nHost: {}\r\n\r\n", gateway.address);
    let mut unread = half(gateway.address.port(), &request).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut answer = Vec::new();
    let _ = soon("its end", unread.read_to_end(&mut answer)).await;
    assert!(answer.len() < 32 * MIB, "{}", answer.len());
    // A client that reads slowly gets the whole answer.
    let mut slow = half(gateway.address.port(), &request).await;
    let mut buffer = vec![0; 4 * MIB];
    let (mut read, mut last) = (0, 1);
    while last > 0 && read < 32 * MIB {
        tokio::time::sleep(Duration::from_millis(100)).await;
        last = soon("a part", slow.read(&mut buffer)).await.unwrap();
        read += last;
    }
    assert!(read >= 32 * MIB, "{read}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_strangers_write_makes_no_long_log() {
    let rate = "--max-http-requests-per-second";
    let arguments = ["serve", "--port", "0", "--log", "info", rate, "20"];
    let (mut child, ready) = serve(caphost(&arguments)).await;
    let port = port_of(&ready);
    let long = "x".repeat(15_000);
    let mut statuses = Vec::new();
    for _ in 0..60 {
        for (host, origin) in [
            (&*long, ""),
            ("127.0.0.1", "Origin: http://evil.example\r\n"),
        ] {
            let request = format!(
                "POST /mcp/{long} HTTP/1.1\r\nHost: {host}\r\n{origin}Connection: close\r\n\r\n"
            );
            let mut stream = half(port, &request[..request.len().min(30_000)]).await;
            if request.len() > 30_000 {
                stream.write_all(&request.as_bytes()[30_000..]).await.ok();
            }
            let mut answer = Vec::new();
            let _ = soon("an answer", stream.read_to_end(&mut answer)).await;
            let answer = String::from_utf8_lossy(&answer).into_owned();
            assert!(answer.len() < 2_000, "{}", answer.len());
            statuses.push(answer.get(9..12).unwrap_or_default().to_string());
        }
    }
    assert!(statuses.iter().any(|it| it == "429"), "{statuses:?}");
    assert_eq!(status(port, "/healthz").await, Some(200));
    child.kill().await.unwrap();
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).await.unwrap();
    assert!(said.lines().all(|line| line.len() < 1_000), "{said}");
    assert!(said.len() < 60_000, "{}", said.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_is_told_while_its_address_is_flooded() {
    let gateway = Gateway::with(Config {
        http_limits: HttpLimits {
            requests_per_second: 30.0,
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    let mut refused = 0;
    for _ in 0..20 {
        for _ in 0..5 {
            refused += u32::from(gateway.get("/", "").await.status == 429);
        }
        assert_eq!(gateway.get("/healthz", "").await.status, 200);
    }
    assert!(refused > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_not_framed_by_others() {
    let gateway = Gateway::start().await;
    for path in ["/", "/caphost/index.js", "/readyz"] {
        let answer = gateway.get(path, "").await;
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.ends_with("; frame-ancestors 'self'"), "{policy}");
        assert_eq!(answer.header("x-frame-options"), Some("sameorigin"));
    }
    // No page has a reason to frame the page that cancels runs.
    let runs = gateway.get("/runs", "").await;
    assert_eq!(runs.header("x-frame-options"), Some("deny"));
    let ancestors = [
        "serve",
        "--port",
        "0",
        "--frame-ancestors",
        "https://a.example",
    ];
    let (mut child, ready) = serve(caphost(&ancestors)).await;
    let mut stream = half(
        port_of(&ready),
        &format!(
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n",
            port_of(&ready)
        ),
    )
    .await;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let answer = answer.to_lowercase();
    assert!(
        answer.contains("frame-ancestors https://a.example\r\n"),
        "{answer}"
    );
    assert!(!answer.contains("x-frame-options"), "{answer}");
    child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_that_can_be_guessed_are_for_loopback_only() {
    let short = "app@shop=0123456789abcde";
    let host = [
        "serve", "--port", "0", "--host", "0.0.0.0", "--token", short,
    ];
    let output = output(&host).await;
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.starts_with("caphost: the secret of --token app@shop=… is too short")
            && said.contains("at least 16 characters")
            && !said.contains("0123"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    let (mut child, _) = serve(caphost(&["serve", "--port", "0", "--token", short])).await;
    child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_token_does_not_take_all_sockets() {
    let gateway = Gateway::with(Config {
        tokens: tokens(&["agent=a", "agent=b", "app=c", "app=d"]),
        limits: Limits {
            sessions_per_token: 2,
            apps_per_token: 2,
            ..Limits::default()
        },
        ..config()
    })
    .await;
    {
        let path = "/abp";
        let open =
            async |token: &str| Peer::open(gateway.request(&format!("{path}?token={token}"))).await;
        let mut taken = [open("a").await.unwrap(), open("a").await.unwrap()];
        let refused = gateway.upgrade_refused(&format!("{path}?token=a")).await;
        assert_eq!(refused, 429, "{path}");
        open("b").await.unwrap();
        // After one connection has gone, there is room for another.
        taken[0].socket.close(None).await.unwrap();
        taken[0].closed().await;
        let room = async {
            while open("a").await.is_err() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        soon("room", room).await;
    }
    let mut apps = Vec::new();
    for (token, id, answered) in [
        ("c", "1", "app/registered"),
        ("c", "2", "app/registered"),
        ("c", "3", "error"),
        ("d", "4", "app/registered"),
    ] {
        // The token comes with the connection or with the registration.
        let mut app = if id == "2" {
            gateway.peer("/abp/app").await
        } else {
            gateway.peer(&format!("/abp/app?token={token}")).await
        };
        let mut message = register(id);
        if id == "2" {
            message["payload"]["token"] = token.into();
        }
        app.send(message).await;
        assert_eq!(app.next().await["type"], answered, "{id}");
        apps.push(app);
    }
}

impl Gateway {
    /// The status of an upgrade that must be refused.
    pub async fn upgrade_refused(&self, path: &str) -> u16 {
        match Peer::open(self.request(path)).await {
            Err(tokio_tungstenite::tungstenite::Error::Http(response)) => {
                response.status().as_u16()
            }
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("it was opened"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_stops_is_not_waited_for() {
    let gateway = Gateway::start().await;
    let head = format!(
        "POST /cancellation/cancel HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{{",
        gateway.address
    );
    let began = Instant::now();
    let mut stopped = half(gateway.address.port(), &head).await;
    assert_eq!(gateway.get("/", &bearer("none")).await.status, 200);
    let mut start = [0; 12];
    soon("an answer", stopped.read_exact(&mut start))
        .await
        .unwrap();
    assert_eq!(&start, b"HTTP/1.1 408");
    assert!(began.elapsed() < Duration::from_secs(28));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_readers_and_slow_writers_hold_no_place_that_others_need() {
    let folder = std::env::temp_dir().join(format!("caphost-slow-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("large"), vec![b'x'; 16 * MIB]).unwrap();
    let gateway = Gateway::with(Config {
        www: folder.clone(),
        http_limits: HttpLimits {
            connections_per_address: 20,
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    let (host, port) = (gateway.address, gateway.address.port());
    let request = format!("GET /large HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let mut slow = Vec::new();
    for _ in 0..20 {
        slow.push(half(port, &request).await);
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    for _ in 0..10 {
        assert_eq!(status(port, "/large").await, Some(200));
    }
    // No connection that waits for the rest of a request makes room, but `/healthz` is still answered.
    drop(slow);
    let request = format!(
        "POST /cancellation/cancel HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{{"
    );
    let mut halves = Vec::new();
    for _ in 0..40 {
        halves.push(half(port, &request).await);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    for _ in 0..20 {
        assert_eq!(status(port, "/healthz").await, Some(200));
        assert_eq!(status(port, "/large").await, Some(503));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_come_and_come_cut_off_nobody_who_asks_how_the_gateway_is() {
    let gateway = Gateway::with(Config {
        http_limits: HttpLimits {
            connections_per_address: 4,
            head_timeout: Duration::from_secs(600),
            ..HttpLimits::default()
        },
        ..config()
    })
    .await;
    let (host, port) = (gateway.address, gateway.address.port());
    let request = format!(
        "POST /cancellation/cancel HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{{"
    );
    let mut halves = Vec::new();
    // A connection whose request was not read yet makes room.
    while status(port, "/").await != Some(503) {
        halves.push(half(port, &request).await);
    }
    let mut silent = half(port, "").await;
    for _ in 0..10 {
        let mut honest = half(port, "").await;
        let mut others = Vec::new();
        for _ in 0..50 {
            others.push(half(port, "").await);
        }
        let request = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n");
        honest.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        soon("an answer", honest.read_to_string(&mut answer))
            .await
            .unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    // A connection without a request does not keep a spare place.
    let _ = soon("the end", silent.read_u8()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_about_an_app_of_tens_of_thousands_of_tiny_capabilities_take_no_longer() {
    let (mut child, ready) = serve(caphost(&["serve", "--port", "0"])).await;
    let port = port_of(&ready);
    let mut apps = Vec::new();
    for (id, count) in [("small", 1), ("large", 40_000)] {
        let url = format!("ws://127.0.0.1:{port}/abp/app");
        let mut app = Peer::open(url.into_client_request().unwrap())
            .await
            .unwrap();
        let mut message = register(id);
        let names = (0..count).map(|number| json!({ "name": format!("c.{number:x}") }));
        message["payload"]["capabilities"] = names.collect();
        app.send(message).await;
        assert_eq!(app.next().await["type"], "app/registered");
        apps.push(app);
    }
    let client = http().build().unwrap();
    let rap = |app: &str| format!("http://127.0.0.1:{port}/rap/{app}");
    let mcp = |app: &str, body: &Value| {
        let request = client.post(format!("http://127.0.0.1:{port}/mcp/{app}"));
        let request = request.header("accept", "application/json, text/event-stream");
        request.json(body)
    };
    let called = modern(1, "tools/call", json!({ "name": "zzz" }));
    let invoked = json!({
        "operation": "zzz", "arguments": {}, "id": "1", "group_id": "g",
        "callback_url": "http://127.0.0.1:9/",
    });
    let initialized = initialize("2025-11-25");
    let each = |kind: usize, app: &str| match kind {
        0 => mcp(app, &called)
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", "tools/call")
            .header("mcp-name", "zzz"),
        1 => mcp(app, &initialized),
        _ => client.post(rap(app) + "/invoke").json(&invoked),
    };
    for kind in 0..3 {
        let mut times = [const { Vec::new() }; 2];
        // The requests take turns, so that a busy machine delays both kinds. The first round fills the
        // caches.
        for round in 0..=100 {
            for (app, times) in ["small", "large"].into_iter().zip(&mut times) {
                let since = Instant::now();
                assert_eq!(each(kind, app).send().await.unwrap().status(), 200);
                if round > 0 {
                    times.push(since.elapsed());
                }
            }
        }
        let [small, large] = times.map(|mut times| {
            times.sort();
            times[times.len() / 2]
        });
        assert!(
            large < small * 3 + Duration::from_millis(2),
            "{kind}: {small:?}, {large:?}"
        );
    }
    child.kill().await.unwrap();
}
