use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio_tungstenite::tungstenite::protocol::Role;

use super::*;

const CALL: &str = r#"{"jsonrpc":"2.0","id":0,"method":"m"}"#;

struct Ends {
    input: DuplexStream,
    output: BufReader<DuplexStream>,
    gateway: DuplexStream,
    bridge: tokio::task::JoinHandle<Ended>,
}

/// A bridge, with access to the bytes on all its ends.
async fn bridge(bounds: Bounds) -> Ends {
    let (input, from_peer) = duplex(1 << 16);
    let (to_peer, output) = duplex(1 << 16);
    let (gateway, near) = duplex(1 << 16);
    let socket = WebSocketStream::from_raw_socket(near, Role::Client, None).await;
    Ends {
        input,
        output: BufReader::new(output),
        gateway,
        bridge: tokio::spawn(carry(from_peer, to_peer, socket, bounds)),
    }
}

async fn heard(output: &mut BufReader<DuplexStream>) -> Value {
    let mut line = String::new();
    output.read_line(&mut line).await.unwrap();
    serde_json::from_str(&line).unwrap()
}

#[tokio::test]
async fn a_gateway_that_falls_silent_is_given_up() {
    let bounds = Bounds {
        ping_interval: Duration::from_millis(20),
        dead_peer_timeout: Duration::from_millis(200),
        ..Bounds::default()
    };
    let mut ends = bridge(bounds).await;
    let line = format!("{CALL}\n");
    ends.input.write_all(line.as_bytes()).await.unwrap();
    let answer = heard(&mut ends.output).await;
    assert_eq!(answer["id"], 0);
    assert_eq!(answer["error"]["data"]["code"], "DISCONNECTED");
    let ended = ends.bridge.await.unwrap().unwrap_err();
    assert!(ended.contains("no sign of life"), "{ended}");
}

#[tokio::test]
async fn a_gateway_that_answers_pings_is_not() {
    let bounds = Bounds {
        ping_interval: Duration::from_millis(20),
        dead_peer_timeout: Duration::from_millis(400),
        ..Bounds::default()
    };
    let ends = bridge(bounds).await;
    let mut gateway = WebSocketStream::from_raw_socket(ends.gateway, Role::Server, None).await;
    // Counts the pings within three times the silence that a gateway may have.
    let mut pings = 0;
    while pings < 60 {
        let heard = tokio::time::timeout(Duration::from_secs(10), gateway.next()).await;
        let message = heard.expect("a ping").expect("an open connection").unwrap();
        pings += usize::from(message.is_ping());
    }
    assert!(!ends.bridge.is_finished());
    ends.bridge.abort();
}

/// The test's one thread runs the bridge and the gateway.
#[tokio::test]
async fn a_gateway_that_stood_still_together_with_the_bridge_is_asked_first() {
    let bounds = Bounds {
        ping_interval: Duration::from_millis(80),
        dead_peer_timeout: Duration::from_millis(400),
        ..Bounds::default()
    };
    let ends = bridge(bounds).await;
    let mut gateway = WebSocketStream::from_raw_socket(ends.gateway, Role::Server, None).await;
    for _ in 0..2 {
        for _ in 0..5 {
            let heard = tokio::time::timeout(Duration::from_secs(10), gateway.next()).await;
            let message = heard.expect("a ping").expect("an open connection");
            assert!(message.unwrap().is_ping());
            gateway.flush().await.unwrap();
        }
        // Waits until the bridge has read the last answer.
        tokio::time::sleep(Duration::from_millis(20)).await;
        std::thread::sleep(Duration::from_secs(1));
    }
    assert!(!ends.bridge.is_finished());
    ends.bridge.abort();
}

#[tokio::test]
async fn what_is_too_large_is_refused_here_and_the_next_goes_on() {
    let bounds = Bounds {
        message_bytes: 100,
        ..Bounds::default()
    };
    let mut ends = bridge(bounds).await;
    let mut gateway = WebSocketStream::from_raw_socket(ends.gateway, Role::Server, None).await;
    let lines = format!("{}\n\u{a0}\n{CALL}\n", "x".repeat(1_000));
    ends.input.write_all(lines.as_bytes()).await.unwrap();
    let answer = heard(&mut ends.output).await;
    assert_eq!(answer["error"]["code"], -32600);
    // The gateway itself refuses text that is not JSON.
    for expected in ["\u{a0}", CALL] {
        let Some(Ok(Message::Text(text))) = gateway.next().await else {
            panic!("no message")
        };
        assert_eq!(text.as_str(), expected);
    }
    // The peer leaves. The gateway is told, and has the last word.
    drop(ends.input);
    let Some(Ok(Message::Text(text))) = gateway.next().await else {
        panic!("no message")
    };
    assert!(text.contains("\"exit\""), "{text}");
    let last = r#"{"jsonrpc":"2.0","id":0,"result":1}"#;
    gateway.send(Message::text(last)).await.unwrap();
    gateway.close(None).await.unwrap();
    assert_eq!(heard(&mut ends.output).await["result"], 1);
    assert_eq!(ends.bridge.await.unwrap(), Ok(()));
}

fn settled(pending: &mut Pending) -> Vec<Value> {
    let mut ids: Vec<_> = pending
        .settle("gone")
        .iter()
        .map(|it| serde_json::from_str::<Value>(it).unwrap())
        .inspect(|it| assert_eq!(it["error"]["data"]["code"], "DISCONNECTED"))
        .map(|it| it["id"].clone())
        .collect();
    ids.sort_by_key(Value::to_string);
    ids
}

#[test]
fn requests_wait_until_they_are_answered() {
    let mut pending = Pending::default();
    for id in ["0", "\"\"", "null", "1", "\"1\"", "1"] {
        pending.sent(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#));
    }
    pending.sent(r#"{"jsonrpc":"2.0","method":"m"}"#);
    pending.sent(r#"{"jsonrpc":"2.0","id":9,"result":1}"#);
    pending.sent("nonsense");
    pending.sent(r#"{"jsonrpc":"2.0","id":8,"method":"m","params":[1e400]}"#);
    pending.received(r#"{"jsonrpc":"2.0","id":0,"result":null}"#);
    pending.received(r#"{"jsonrpc":"2.0","id":1.0,"error":{}}"#);
    pending.received(r#"{"jsonrpc":"2.0","id":7,"error":{}}"#);
    pending.received(r#"{"jsonrpc":"2.0","method":"m"}"#);
    assert_eq!(
        settled(&mut pending),
        [json!(""), json!("1"), json!(1), json!(8), json!(null)]
    );
    assert!(settled(&mut pending).is_empty());
}
