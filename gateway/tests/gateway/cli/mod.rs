//! The command line as its users run it: the binary, a gateway, and an app on a connection.

mod calls;
mod errors;
mod interrupts;
mod output;
mod queries;
mod tls;
mod types;

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use crate::support::*;

/// The binary with that gateway, and without other variables of the environment.
pub fn caphost(gateway: &Gateway, arguments: &[&str]) -> Command {
    at(&format!("http://{}", gateway.address), arguments)
}

fn at(url: &str, arguments: &[&str]) -> Command {
    let mut command = crate::binary::caphost(arguments);
    command
        .env("CAPHOST_GATEWAY", url)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub async fn finished(mut command: Command) -> Ended {
    soon("the end", command.output()).await.unwrap().into()
}

/// The end of a process, and its output.
#[derive(Debug)]
pub struct Ended {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Ended {
            status: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// Standard output, which must be one JSON document.
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A running process, and its lines on standard error.
pub struct Running {
    child: Child,
    err: Lines<BufReader<ChildStderr>>,
    said: Vec<String>,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let err = BufReader::new(child.stderr.take().unwrap()).lines();
        Running {
            child,
            err,
            said: Vec::new(),
        }
    }

    /// Waits for a line on standard error.
    async fn says(&mut self, what: &str) {
        while !self.said.iter().any(|line| line.contains(what)) {
            let line = soon(what, self.err.next_line()).await.unwrap();
            let line = line.unwrap_or_else(|| panic!("no {what:?} in {:?}", self.said));
            self.said.push(line);
        }
    }

    #[cfg(unix)]
    fn signal(&self, name: &str) {
        let pid = self.child.id().unwrap().to_string();
        let sent = std::process::Command::new("kill")
            .args([name, &pid])
            .status();
        assert!(sent.unwrap().success());
    }

    pub async fn ended(mut self) -> Ended {
        let out = self.child.stdout.take().map(all);
        let out = match out {
            Some(out) => soon("the end of standard output", out).await,
            None => String::new(),
        };
        while let Some(line) = soon("the end of standard error", self.err.next_line())
            .await
            .unwrap()
        {
            self.said.push(line);
        }
        let status = soon("the end", self.child.wait()).await.unwrap();
        Ended {
            status: status.code(),
            out,
            err: self.said.join("\n"),
        }
    }
}

async fn all(mut stream: impl AsyncRead + Unpin) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

/// As an app: accepts the session of the command line. Returns its call.
pub async fn called(app: &mut Peer) -> Value {
    let hello = app.next().await;
    assert_eq!(hello["type"], "initialize");
    assert_eq!(hello["payload"]["agent"]["name"], "caphost");
    let capabilities = json!([{ "name": "a.b", "available": true }]);
    let who = json!({ "id": "demo", "name": "Demo", "version": "1.0.0" });
    let session = json!({ "sessionId": "s", "protocolVersion": "0.1", "app": who, "capabilities": capabilities });
    app.send(answer(&hello, "initialize-result", session)).await;
    let call = app.next().await;
    assert_eq!(call["type"], "capabilities/call");
    call
}

/// As an app: answers a call.
async fn returns(app: &mut Peer, call: &Value, response: Value) {
    app.send(answer(call, "capabilities/call-result", response))
        .await;
}

/// As an app: reports the progress of a call.
async fn progresses(app: &mut Peer, call: &Value, mut info: Value) {
    info["operationId"] = call["payload"]["options"]["progressToken"].clone();
    let agent = &call["agent"];
    app.send(json!({ "type": "progress", "agent": agent, "timestamp": 1, "payload": info }))
        .await;
}

/// As an app: waits for a message of the type `kind`.
async fn receives(app: &mut Peer, kind: &str) -> Value {
    loop {
        let message = app.next().await;
        if message["type"] == kind {
            return message;
        }
    }
}

/// Runs the command against an app that answers its call with `response`. Returns the end of the command.
async fn answered(gateway: &Gateway, app: &mut Peer, command: Command, response: Value) -> Ended {
    let running = Running::start(command);
    let call = called(app).await;
    returns(app, &call, response).await;
    let ended = running.ended().await;
    assert_eq!(gateway.hub.apps().len(), 1);
    ended
}

/// A temporary directory, which is removed when this value is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("caphost-cli-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&folder).unwrap();
        Folder(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().into()
    }

    fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = names
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(Path::new(&self.0));
    }
}
