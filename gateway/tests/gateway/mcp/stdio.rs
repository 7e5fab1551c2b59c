//! MCP over standard input and output, with a bridge in this process on pipes.

use std::collections::HashSet;
use std::time::Duration;

use caphost_gateway::for_tests::{Endpoint, carry};
use caphost_gateway::{Config, Tokens};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::app::{called, confirm_cancel, demo, offer, progress, succeed};
use super::client::*;
use crate::support::*;

struct Bridge {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    running: JoinHandle<std::io::Result<()>>,
}

impl Bridge {
    fn to(url: &str, token: Option<&str>) -> Self {
        let endpoint = Endpoint {
            url: url.parse().unwrap(),
            authorization: token.map(|token| format!("Bearer {token}")),
        };
        let (input, stdin) = duplex(1 << 20);
        let (stdout, output) = duplex(1 << 20);
        Bridge {
            input: Some(input),
            output: BufReader::new(output).lines(),
            running: tokio::spawn(carry(stdin, stdout, endpoint, None, std::future::pending())),
        }
    }

    async fn open(gateway: &Gateway) -> Self {
        let mut bridge = Bridge::to(&format!("http://{}/mcp", gateway.address), None);
        bridge.send(&initialize(LEGACY)).await;
        let answer = bridge.next().await;
        assert_eq!(answer["result"]["protocolVersion"], LEGACY);
        bridge
            .send(&notification("notifications/initialized", json!({})))
            .await;
        bridge
    }

    async fn line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    async fn send(&mut self, message: &Value) {
        self.line(&message.to_string()).await;
    }

    async fn call_tool(&mut self, id: impl Into<Value>, name: &str) {
        let params = json!({ "name": name, "arguments": {}, "_meta": { "progressToken": "t" } });
        self.send(&rpc(id, "tools/call", params)).await;
    }

    /// The next message.
    async fn next(&mut self) -> Value {
        let line = soon("a line", self.output.next_line()).await.unwrap();
        let line = line.expect("more output");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("nothing but messages: {line}"))
    }

    /// The messages up to the answer to the request with that id.
    async fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        loop {
            let message = self.next().await;
            if message["id"] == id {
                return message;
            }
        }
    }

    async fn silent(&mut self) {
        let line = tokio::time::timeout(Duration::from_millis(300), self.output.next_line()).await;
        assert!(line.is_err(), "nothing to say, but {line:?}");
    }

    /// Closes the input, and waits for the end.
    async fn close(mut self) {
        drop(self.input.take());
        soon("the end", self.running).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn messages_pass_both_ways() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let mut bridge = Bridge::open(&gateway).await;
    bridge.send(&rpc("l", "tools/list", json!({}))).await;
    let list = bridge.answer("l").await;
    assert_eq!(list["result"]["tools"][0]["name"], "export_pdf");

    bridge.call_tool(0, "export.pdf").await;
    let relayed = called(&mut app).await;
    progress(&mut app, &relayed, json!({ "progress": 1, "total": 2 })).await;
    let told = bridge.next().await;
    assert_eq!(told["params"]["progressToken"], "t");
    succeed(&mut app, &relayed, json!("line\nbreak")).await;
    let answer = bridge.next().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(0), &json!("line\nbreak"))
    );

    bridge.send(&rpc(1, "nope", json!({}))).await;
    assert_eq!(bridge.answer(1).await["error"]["code"], -32601);
    app.send(request("app/update", "u", json!({ "capabilities": [] })))
        .await;
    assert_eq!(
        bridge.next().await["method"],
        "notifications/tools/list_changed"
    );
    bridge.close().await;
}

#[tokio::test]
async fn a_cancel_reaches_the_app_and_is_not_answered() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let mut bridge = Bridge::open(&gateway).await;
    // A cancel directly after the request must not overtake it.
    bridge.call_tool(1, "echo").await;
    let cancel = json!({ "requestId": 1, "reason": "enough" });
    bridge
        .send(&notification("notifications/cancelled", cancel.clone()))
        .await;
    let relayed = called(&mut app).await;
    let told = timeout(Duration::from_secs(3), confirm_cancel(&mut app, &relayed)).await;
    assert_eq!(told.expect("a cancel comes at once"), "enough");
    bridge.silent().await;
    bridge
        .send(&notification("notifications/cancelled", cancel))
        .await;
    bridge.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    succeed(&mut app, &relayed, json!("again")).await;
    assert_eq!(bridge.next().await["result"]["content"][0]["text"], "again");
    bridge.close().await;
}

#[tokio::test]
async fn the_end_of_the_input_cancels_what_is_in_flight() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let mut bridge = Bridge::open(&gateway).await;
    bridge.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    let (reason, ()) = tokio::join!(confirm_cancel(&mut app, &relayed), bridge.close());
    assert!(reason.is_string(), "{reason}");
}

#[tokio::test]
async fn a_request_in_flight_at_the_end_is_answered_unless_its_client_has_cancelled_it() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let mut bridge = Bridge::open(&gateway).await;
    bridge.call_tool(1, "echo").await;
    let relayed = called(&mut app).await;
    bridge
        .send(&notification(
            "notifications/cancelled",
            json!({ "requestId": 1 }),
        ))
        .await;
    confirm_cancel(&mut app, &relayed).await;
    bridge.call_tool(2, "echo").await;
    called(&mut app).await;
    // It belongs to no session.
    bridge
        .send(&modern(
            "alone",
            "tools/call",
            json!({ "name": "echo", "arguments": {} }),
        ))
        .await;
    called(&mut app).await;
    bridge.input = None;
    let mut answered = HashSet::new();
    while let Some(line) = soon("a line", bridge.output.next_line()).await.unwrap() {
        let said: Value = serde_json::from_str(&line).unwrap();
        let message = said["error"]["message"].as_str().unwrap();
        assert!(message.contains("outcome is unknown"), "{said}");
        assert_eq!(said["error"]["data"]["code"], "DISCONNECTED");
        answered.insert(said["id"].to_string());
    }
    assert_eq!(answered, ["2", "\"alone\""].map(String::from).into());
    assert!(soon("the end", bridge.running).await.unwrap().is_ok());
}

#[tokio::test]
async fn what_a_script_has_asked_is_answered_after_the_end_of_its_input() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let url = format!("http://{}/mcp", gateway.address);
    let mut bridge = Bridge::to(&url, None);
    // The byte order mark that some shells write.
    bridge
        .line(&format!("\u{feff}{}", initialize("2025-03-26")))
        .await;
    let call = rpc(2, "tools/call", json!({ "name": "echo", "arguments": {} }));
    let told = notification("notifications/initialized", json!({}));
    let batch = json!([told, rpc(1, "tools/list", json!({})), call]);
    bridge.send(&batch).await;
    bridge.input = None;
    let answered = async {
        let relayed = called(&mut app).await;
        succeed(&mut app, &relayed, json!("a\u{2028}b")).await;
    };
    let read = async {
        let mut lines = Vec::new();
        while let Some(line) = soon("a line", bridge.output.next_line()).await.unwrap() {
            lines.push(line);
        }
        lines
    };
    let (lines, ()) = tokio::join!(read, answered);
    let said: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ids: HashSet<_> = said.iter().map(|it| it["id"].to_string()).collect();
    assert_eq!(ids, ["0", "1", "2"].map(String::from).into(), "{said:?}");
    let text = lines.iter().find(|it| it.contains("a\\u2028b"));
    assert!(text.is_some(), "no reader of lines splits it: {lines:?}");
    assert!(soon("the end", bridge.running).await.unwrap().is_ok());
}

#[tokio::test]
async fn requests_of_2026_07_28_pass_without_a_session() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let url = format!("http://{}/mcp/demo", gateway.address);
    let mut bridge = Bridge::to(&url, None);
    bridge
        .send(&modern("d", "server/discover", json!({})))
        .await;
    let found = bridge.next().await;
    assert_eq!(found["result"]["supportedVersions"], json!(ALL_VERSIONS));
    let call = |id: i64| modern(id, "tools/call", json!({ "name": "echo", "arguments": {} }));
    bridge.send(&call(1)).await;
    let relayed = called(&mut app).await;
    succeed(&mut app, &relayed, json!({ "a": 1 })).await;
    let answer = bridge.next().await;
    assert_eq!(answer["result"]["resultType"], "complete");

    bridge.send(&call(2)).await;
    let relayed = called(&mut app).await;
    let cancel = json!({ "requestId": 2 });
    bridge
        .send(&notification("notifications/cancelled", cancel))
        .await;
    confirm_cancel(&mut app, &relayed).await;
    bridge.silent().await;
    bridge.close().await;
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_disturbs_nothing() {
    let gateway = Gateway::start().await;
    let _app = demo(&gateway).await;
    let mut bridge = Bridge::open(&gateway).await;
    for (line, code) in [
        ("{", -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, -32600),
    ] {
        bridge.line(line).await;
        let answer = bridge.next().await;
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &Value::Null),
            "{line}"
        );
    }
    bridge.line("").await;
    bridge.send(&rpc(1, "ping", json!({}))).await;
    assert_eq!(bridge.answer(1).await["result"], json!({}));
    bridge.close().await;
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_under_its_id() {
    let gateway = Gateway::start().await;
    let mut app = demo(&gateway).await;
    let mut bridge = Bridge::open(&gateway).await;
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    for (argument, limit) in [
        ("1e400", Value::Null),
        (r#"{"$serde_json::private::Number":"1"}"#, Value::Null),
        (&deep, json!("depth")),
    ] {
        let params = json!({ "name": "echo", "arguments": { "a": "A" } });
        let call = rpc("c", "tools/call", params).to_string();
        bridge.line(&call.replace("\"A\"", argument)).await;
        let answer = bridge.answer("c").await;
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert_eq!(answer["error"]["data"]["limit"], limit, "{answer}");
    }
    bridge.call_tool("c", "echo").await;
    let relayed = called(&mut app).await;
    assert_eq!(
        relayed["payload"]["params"],
        json!({}),
        "nothing came before"
    );
    bridge.close().await;
}

#[tokio::test]
async fn a_gateway_that_is_not_there_or_wants_a_token_is_told_in_the_answer() {
    let mut bridge = Bridge::to("http://127.0.0.1:9/mcp", None);
    bridge.send(&initialize(LEGACY)).await;
    let error = bridge.next().await["error"].take();
    assert!(
        error["message"].as_str().unwrap().contains("caphost serve"),
        "{error}"
    );
    bridge.close().await;

    let tokens = ["app=p", "agent=a"].map(|it| it.parse().unwrap());
    let tokens = Tokens::new(tokens.into());
    let gateway = Gateway::with(Config { tokens, ..config() }).await;
    let url = format!("http://{}/mcp", gateway.address);
    for (token, code) in [
        (None, Some(-32600)),
        (Some("p"), Some(-32600)),
        (Some("a"), None),
    ] {
        let mut bridge = Bridge::to(&url, token);
        bridge.send(&initialize(LEGACY)).await;
        let answer = bridge.next().await;
        assert_eq!(answer["id"], 0, "{token:?}");
        assert_eq!(answer["error"]["code"].as_i64(), code, "{token:?}");
        bridge.close().await;
    }
}

#[tokio::test]
async fn a_gateway_that_comes_back_is_met_again_in_the_clients_words() {
    let mut gateway = Gateway::start().await;
    let port = gateway.address.port();
    let mut bridge = Bridge::open(&gateway).await;
    bridge.send(&rpc(1, "tools/list", json!({}))).await;
    bridge.answer(1).await;
    gateway.stop();
    gateway.stopped().await;
    let gateway = Gateway::with(Config { port, ..config() }).await;
    let _app = demo(&gateway).await;
    let mut tools = Value::Null;
    for id in 2..100 {
        bridge.send(&rpc(id, "tools/list", json!({}))).await;
        tools = bridge.answer(id).await["result"]["tools"].take();
        if tools[0]["name"] == "export_pdf" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(tools[0]["name"], "export_pdf");
    bridge.close().await;
}

#[tokio::test]
async fn a_client_may_begin_before_its_page_is_open() {
    let gateway = Gateway::start().await;
    let mut bridge = Bridge::to(&format!("http://{}/mcp/demo", gateway.address), None);
    bridge.send(&initialize(LEGACY)).await;
    assert_eq!(bridge.next().await["result"]["protocolVersion"], LEGACY);
    bridge
        .send(&notification("notifications/initialized", json!({})))
        .await;
    bridge.send(&rpc(1, "tools/list", json!({}))).await;
    assert_eq!(bridge.answer(1).await["result"], json!({ "tools": [] }));
    let _app = demo(&gateway).await;
    let told = bridge.next().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    bridge.send(&rpc(2, "tools/list", json!({}))).await;
    let list = bridge.answer(2).await;
    assert_eq!(list["result"]["tools"][0]["name"], "export_pdf");
    bridge.close().await;
}

#[tokio::test]
async fn without_a_session_it_reaches_each_app_that_comes() {
    let gateway = Gateway::start().await;
    let mut bridge = Bridge::to(&format!("http://{}/mcp", gateway.address), None);
    bridge.send(&modern(0, "tools/list", json!({}))).await;
    assert_eq!(bridge.answer(0).await["result"]["tools"], json!([]));
    let mut app = demo(&gateway).await;
    let mut other = offer(&gateway, "other / ü", json!([{ "name": "echo" }])).await;
    bridge.send(&modern(1, "tools/list", json!({}))).await;
    let list = bridge.answer(1).await;
    let tools = list["result"]["tools"].as_array().unwrap().iter();
    let names: Vec<_> = tools.map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["export_pdf", "demo_echo", "other_____echo"]);
    for (id, name, app) in [
        (2, "demo_echo", &mut app),
        (3, "other_____echo", &mut other),
    ] {
        let params = json!({ "name": name, "arguments": {} });
        bridge.send(&modern(id, "tools/call", params)).await;
        let relayed = called(app).await;
        succeed(app, &relayed, json!("here")).await;
        let answer = bridge.answer(id).await;
        assert_eq!(answer["result"]["content"][0]["text"], "here", "{answer}");
    }
    bridge.close().await;
}
