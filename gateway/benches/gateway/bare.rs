//! A server on the gateway's stack that knows nothing about calls. It echoes, or passes every message of its
//! one agent on to its one app and back.

use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

pub const FLAG: &str = "--bare-server";

type WebSocket = WebSocketStream<TcpStream>;
type End = (UnboundedSender<Message>, UnboundedReceiver<Message>);

/// The two ends of the connection between agent and app, until each is taken.
#[derive(Default)]
struct Ends {
    agent: Option<End>,
    app: Option<End>,
}

pub async fn serve() {
    let (to_app, from_agent) = unbounded_channel();
    let (to_agent, from_app) = unbounded_channel();
    let ends = Ends {
        agent: Some((to_app, from_app)),
        app: Some((to_agent, from_agent)),
    };
    let ends = Arc::new(Mutex::new(ends));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("http://{}/", listener.local_addr().expect("its address"));
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        let _ = stream.set_nodelay(true);
        tokio::spawn(one(stream, ends.clone()));
    }
}

async fn one(stream: TcpStream, ends: Arc<Mutex<Ends>>) {
    let mut path = String::new();
    #[expect(clippy::result_large_err, reason = "tungstenite wants it")]
    let noted = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        path = request.uri().path().into();
        Ok(response)
    };
    let Ok(socket) = accept_hdr_async(stream, noted).await else {
        return;
    };
    let end = match path.as_str() {
        "/agent" => ends.lock().expect("the ends").agent.take(),
        "/app" => ends.lock().expect("the ends").app.take(),
        _ => return echo(socket).await,
    };
    pass(socket, end).await;
}

async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.next().await {
        if socket.send(message).await.is_err() {
            break;
        }
    }
}

async fn pass(socket: WebSocket, end: Option<End>) {
    let Some((to_other, mut from_other)) = end else {
        return;
    };
    let (mut sink, mut stream) = socket.split();
    let writing = async {
        // Waiting messages are written in one go, as in the gateway.
        while let Some(message) = from_other.recv().await {
            let _ = sink.feed(message).await;
            while let Ok(message) = from_other.try_recv() {
                let _ = sink.feed(message).await;
            }
            if sink.flush().await.is_err() {
                break;
            }
        }
    };
    let reading = async {
        while let Some(Ok(message)) = stream.next().await {
            if matches!(message, Message::Text(_)) {
                let _ = to_other.send(message);
            }
        }
    };
    tokio::join!(writing, reading);
}
