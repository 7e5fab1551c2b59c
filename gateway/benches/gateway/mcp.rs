//! An MCP client that calls a tool over streamable HTTP. It speaks HTTP by hand, so that little of the
//! measured time is its own work.

use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The end of a chunked response.
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

pub struct Client {
    address: String,
    session: String,
    connections: Vec<Connection>,
}

struct Connection {
    stream: TcpStream,
    serial: usize,
    buffer: Vec<u8>,
}

impl Client {
    /// Opens a session, and `connections` connections for its calls.
    pub async fn connect(address: &str, connections: usize) -> Client {
        let mut first = Connection::open(address).await;
        let params = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}"#;
        let body = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#);
        let answer = first.ask(&request(address, "", &body)).await;
        let session = header(&answer, "mcp-session-id").expect("a session");
        let body = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        first.ask(&request(address, &session, body)).await;
        let mut all = vec![first];
        while all.len() < connections {
            all.push(Connection::open(address).await);
        }
        Client {
            address: address.into(),
            session,
            connections: all,
        }
    }

    /// Calls per second, with one call in flight on each connection.
    pub async fn throughput(&mut self, calls: usize) -> f64 {
        let started = Instant::now();
        let each = calls / self.connections.len();
        let (address, session) = (&*self.address, &*self.session);
        let calling = self.connections.iter_mut().enumerate();
        let calling = calling.map(|(index, connection)| async move {
            for _ in 0..each {
                connection.call(address, session, index).await;
            }
        });
        futures_util::future::join_all(calling).await;
        (each * self.connections.len()) as f64 / started.elapsed().as_secs_f64()
    }

    /// The times of calls that are made one after another, in microseconds.
    pub async fn latencies(&mut self, calls: usize) -> Vec<f64> {
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            let started = Instant::now();
            let connection = &mut self.connections[0];
            connection.call(&self.address, &self.session, 0).await;
            times.push(started.elapsed().as_secs_f64() * 1e6);
        }
        times
    }
}

impl Connection {
    async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        Connection {
            stream,
            serial: 0,
            buffer: Vec::new(),
        }
    }

    async fn call(&mut self, address: &str, session: &str, index: usize) {
        self.serial += 1;
        let id = self.serial * 1_000 + index;
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"value":1}}}}}}"#
        );
        let answer = self.ask(&request(address, session, &body)).await;
        let done = answer.windows(15).any(|it| it == br#""isError":false"#);
        assert!(done, "{}", String::from_utf8_lossy(&answer));
    }

    /// Sends a request, and reads the whole response.
    async fn ask(&mut self, request: &str) -> Vec<u8> {
        let written = self.stream.write_all(request.as_bytes()).await;
        written.expect("a request sent");
        self.buffer.clear();
        while !is_whole(&self.buffer) {
            let read = self.stream.read_buf(&mut self.buffer).await;
            assert_ne!(read.expect("a response"), 0, "the server has closed");
        }
        std::mem::take(&mut self.buffer)
    }
}

fn request(address: &str, session: &str, body: &str) -> String {
    let session = match session {
        "" => String::new(),
        session => format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n"),
    };
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\n{session}content-length: {length}\r\n\r\n{body}"
    )
}

fn is_whole(response: &[u8]) -> bool {
    let Some(end) = response.windows(4).position(|it| it == b"\r\n\r\n") else {
        return false;
    };
    match header(&response[..end], "content-length") {
        Some(length) => response.len() >= end + 4 + length.parse::<usize>().unwrap_or(0),
        None => response.ends_with(LAST_CHUNK),
    }
}

fn header(response: &[u8], name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(response);
    let mut lines = text.lines().take_while(|line| !line.is_empty());
    lines.find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name)
            .then(|| value.trim().to_string())
    })
}
