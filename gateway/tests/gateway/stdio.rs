//! `caphost stdio`: the command between pipes and a gateway in this process.

use std::process::Stdio;
use std::time::Duration;

use caphost_gateway::{Limits, Tokens};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::support::*;

/// How the client separates messages.
#[derive(Clone, Copy, PartialEq)]
enum Framing {
    Lines,
    Headers,
}

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    framing: Framing,
}

impl Client {
    fn start(gateway: &Gateway, framing: Framing, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_caphost"))
            .arg("stdio")
            .args(arguments)
            .env("CAPHOST_GATEWAY", format!("http://{}", gateway.address))
            .env_remove("CAPHOST_TOKEN")
            .env_remove("CAPHOST_APP")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Client {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            framing,
        }
    }

    async fn text(&mut self, text: &str) {
        let framed = match self.framing {
            Framing::Lines => format!("{text}\n"),
            Framing::Headers => format!("Content-Length: {}\r\n\r\n{text}", text.len()),
        };
        let input = self.input.as_mut().unwrap();
        soon("writing", input.write_all(framed.as_bytes()))
            .await
            .unwrap();
    }

    async fn send(&mut self, message: Value) {
        self.text(&message.to_string()).await;
    }

    async fn next(&mut self) -> Value {
        let text = soon("a message", self.read()).await;
        serde_json::from_str(&text).unwrap()
    }

    async fn read(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        if self.framing == Framing::Lines {
            return line;
        }
        let length = line.strip_prefix("Content-Length: ").unwrap().trim();
        let mut body = vec![0; length.parse::<usize>().unwrap() + 2];
        self.output.read_exact(&mut body).await.unwrap();
        String::from_utf8(body.split_off(2)).unwrap()
    }

    /// Ends the input. Returns the exit status, and the output on standard error.
    async fn ended(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        self.gave_up().await
    }

    /// The same as `ended`, but the input stays open.
    async fn gave_up(self) -> (Option<i32>, String) {
        let output = soon("the end", self.child.wait_with_output()).await;
        let output = output.unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    }
}

fn call(id: Value) -> Value {
    let params = json!({ "capability": "a.b" });
    json!({ "jsonrpc": "2.0", "id": id, "method": "_capabilities/call", "params": params })
}

/// The next call that comes to the app.
async fn called(app: &mut Peer) -> Value {
    loop {
        let message = app.next().await;
        if message["type"] == "capabilities/call" {
            return message;
        }
        let payload = json!({ "sessionId": "s" });
        app.send(answer(&message, "initialize-result", payload))
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_come_in_the_framing_of_the_requests() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    for framing in [Framing::Lines, Framing::Headers] {
        let mut client = Client::start(&gateway, framing, &["--app", "demo"]);
        client.send(call(json!(0))).await;
        let calling = called(&mut app).await;
        let data = "ü\nline";
        app.send(answer(
            &calling,
            "capabilities/call-result",
            json!({ "success": true, "data": data }),
        ))
        .await;
        let answer = client.next().await;
        assert_eq!(
            (&answer["id"], &answer["result"]["data"]),
            (&json!(0), &json!(data))
        );
        client.text("{").await;
        assert_eq!(client.next().await["error"]["code"], -32700);
        client.text(r#"{"jsonrpc":"2.0","method":"exit"}"#).await;
        assert_eq!(client.ended().await, (Some(0), String::new()));
        while app.next().await["type"] != "agent/closed" {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_that_ends_cancels_its_calls_after_what_was_asked_is_answered() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let mut client = Client::start(&gateway, Framing::Lines, &[]);
    client.send(call(json!("held"))).await;
    called(&mut app).await;
    let list = r#"{"jsonrpc":"2.0","id":"list","method":"_capabilities/list"}"#;
    // There is no line break: the end of the input ends the message.
    let input = client.input.as_mut().unwrap();
    input.write_all(list.as_bytes()).await.unwrap();
    drop(client.input.take());
    let listed = client.next().await;
    assert_eq!(listed["id"], "list");
    assert!(listed["result"]["capabilities"].is_array());
    let settled = client.next().await;
    assert_eq!(settled["id"], "held");
    assert_eq!(settled["error"]["data"]["code"], "DISCONNECTED");
    assert_eq!(client.ended().await, (Some(0), String::new()));
    assert_eq!(app.next().await["type"], "capabilities/cancel");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_goes_leaves_no_request_unanswered() {
    // The app does not confirm that the call is cancelled.
    let limits = Limits {
        close_timeout: Duration::from_millis(200),
        ..Limits::default()
    };
    let mut gateway = Gateway::limited(limits).await;
    let mut app = gateway.app("demo").await;
    let mut client = Client::start(&gateway, Framing::Headers, &[]);
    client.send(call(json!(""))).await;
    called(&mut app).await;
    gateway.stop();
    let settled = client.next().await;
    assert_eq!(
        (&settled["id"], &settled["error"]["data"]["code"]),
        (&json!(""), &json!("DISCONNECTED"))
    );
    let (status, said) = client.gave_up().await;
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("1001"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_understood_is_said_and_is_the_end() {
    let gateway = Gateway::start().await;
    let mut client = Client::start(&gateway, Framing::Headers, &[]);
    let input = client.input.as_mut().unwrap();
    input.write_all(b"Content-Type: x\r\n\r\n{}").await.unwrap();
    assert_eq!(client.next().await["error"]["code"], -32700);
    let (status, said) = client.gave_up().await;
    assert_eq!(status, Some(1));
    assert!(said.contains("Content-Length"), "{said}");

    let mut client = Client::start(&gateway, Framing::Headers, &[]);
    client
        .send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} }))
        .await;
    assert_eq!(client.next().await["id"], 1);
    let mut input = client.input.take().unwrap();
    input
        .write_all(b"Content-Length: 20\r\n\r\n{\"jsonrpc\"")
        .await
        .unwrap();
    drop(input);
    assert_eq!(client.next().await["error"]["code"], -32700);
    let (status, said) = client.gave_up().await;
    assert_eq!(status, Some(1));
    assert!(said.contains("ends within a message"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_passed_on_and_a_refusal_is_explained() {
    let mut config = config();
    config.tokens = Tokens::new(vec!["agent=secret".parse().unwrap()]);
    let gateway = Gateway::with(config).await;
    let (status, said) = Client::start(&gateway, Framing::Lines, &[]).ended().await;
    assert_eq!(status, Some(1));
    assert!(said.contains("token"), "{said}");
    let mut client = Client::start(&gateway, Framing::Lines, &["--token", "secret"]);
    client
        .send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} }))
        .await;
    assert_eq!(
        client.next().await["result"]["serverInfo"]["name"],
        "caphost"
    );
    let unreachable = Client::start(
        &gateway,
        Framing::Lines,
        &["--gateway", "http://127.0.0.1:9"],
    );
    let (status, said) = unreachable.ended().await;
    assert_eq!(status, Some(1));
    assert!(said.contains("http://127.0.0.1:9"), "{said}");
}
