//! One HTTP request on its own connection.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::*;

pub struct Response {
    pub status: u16,
    /// The status line and the headers, in lower case.
    pub head: String,
    pub body: String,
}

impl Response {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The value of a header, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let start = format!("{name}: ");
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(&*start))
    }
}

impl Gateway {
    pub async fn get(&self, path: &str, headers: &str) -> Response {
        self.ask("GET", path, headers, "").await
    }

    /// Posts JSON.
    pub async fn post(&self, path: &str, headers: &str, body: &str) -> Response {
        let headers = format!("Content-Type: application/json\r\n{headers}");
        self.ask("POST", path, &headers, body).await
    }

    /// Sends a request. `headers` are lines, each with its line break.
    pub async fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> Response {
        let (host, length) = (self.address, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut answer = Vec::new();
        let asking = async {
            // A gateway that refuses a large body does not read all of it.
            let _ = stream.write_all(request.as_bytes()).await;
            let _ = stream.read_to_end(&mut answer).await;
        };
        soon("an answer", asking).await;
        let text = String::from_utf8(answer).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Response {
            status: head[9..12].parse().unwrap(),
            head: head.to_lowercase(),
            body: body.to_string(),
        }
    }
}

pub fn bearer(secret: &str) -> String {
    format!("Authorization: Bearer {secret}\r\n")
}
