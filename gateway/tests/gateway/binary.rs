use std::process::{Output, Stdio};

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::support::*;

/// The binary, without variables of the environment.
pub fn caphost(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_caphost"));
    command
        .args(arguments)
        .env_remove("PORT")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CAPHOST_") {
            command.env_remove(name);
        }
    }
    command
}

pub async fn output(arguments: &[&str]) -> Output {
    soon("the end", caphost(arguments).output()).await.unwrap()
}

/// Starts the binary and waits for its ready line.
pub async fn serve(mut command: Command) -> (Child, String) {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = soon("the ready line", lines.next_line())
        .await
        .unwrap()
        .unwrap();
    (child, line)
}

pub fn port_of(line: &str) -> u16 {
    let address = line
        .strip_prefix("caphost: serving http://127.0.0.1:")
        .unwrap();
    address.strip_suffix('/').unwrap().parse().unwrap()
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_says_where_it_serves_and_leaves_on_a_signal() {
    for signal in ["-TERM", "-INT"] {
        let (mut child, line) = serve(caphost(&["serve", "--port", "0"])).await;
        let url = format!("ws://127.0.0.1:{}/abp", port_of(&line));
        let mut agent = Peer::open(url.into_client_request().unwrap())
            .await
            .unwrap();
        agent.send(request("initialize", "1", json!({}))).await;
        assert_eq!(code(&agent.next().await), "DISCONNECTED");
        let pid = child.id().unwrap().to_string();
        assert!(
            std::process::Command::new("kill")
                .args([signal, &pid])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(agent.closed().await, 1001);
        drop(agent);
        let output = soon("the end", child.wait()).await.unwrap();
        assert_eq!(output.code(), Some(0), "{signal}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_port_may_come_from_the_environment() {
    let mut command = caphost(&["serve"]);
    command.env("PORT", "0");
    let (mut child, line) = serve(command).await;
    assert_ne!(port_of(&line), 8787);
    child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_in_use_is_one_line_and_status_1() {
    let (mut child, line) = serve(caphost(&["serve", "--port", "0"])).await;
    let port = port_of(&line).to_string();
    let output = output(&["serve", "--port", &port]).await;
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.starts_with(&format!(
            "caphost: cannot listen on 127.0.0.1:{port}: Address"
        )),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(output.stdout.is_empty());
    child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_tokens_it_listens_on_loopback_only() {
    for host in ["0.0.0.0", "::"] {
        let output = output(&["serve", "--port", "0", "--host", host]).await;
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("--token app=SECRET")
                && said.contains("--host 127.0.0.1")
                && said.lines().count() == 1,
            "{said}"
        );
    }
    let (mut child, line) = serve(caphost(&[
        "serve",
        "--port",
        "0",
        "--host",
        "0.0.0.0",
        "--token",
        "agent=0123456789abcdef",
    ]))
    .await;
    assert!(
        line.starts_with("caphost: serving http://0.0.0.0:"),
        "{line}"
    );
    child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_usage_is_status_2() {
    for arguments in [
        &["serve", "--port", "70000"][..],
        &["serve", "--token", "king=s"],
        &["serve", "--allow-origin", "*"],
        &["serve", "--max-message-bytes", "0"],
        &["serve", "--ping-interval", "soon"],
        &["serve", "--ping-interval", "40s"],
        &["serve", "--log", "[[["],
        &["serve", "--www", "nowhere"],
        &["serve", "--package", "nowhere"],
        &["serve", "--nonsense"],
        &["nonsense"],
        &[],
    ] {
        let output = output(arguments).await;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            !output.stderr.is_empty() && output.stdout.is_empty(),
            "{arguments:?}"
        );
    }
    assert_eq!(output(&["--version"]).await.stdout, b"caphost 0.1.0\n");
}
