//! A server on the gateway's stack that knows nothing of calls: it echoes, or passes every message
//! of its one agent on to its one app and back.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::any;
use axum::serve::ListenerExt;
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub const FLAG: &str = "--bare-server";

type End = (UnboundedSender<Message>, UnboundedReceiver<Message>);

/// The two ends of the way between agent and app, until each is taken.
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
    let router = Router::new()
        .route("/echo", any(echo))
        .route("/agent", any(agent))
        .route("/app", any(app))
        .with_state(Arc::new(Mutex::new(ends)));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("http://{}/", listener.local_addr().expect("its address"));
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await.expect("serving");
}

async fn echo(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(|mut socket: WebSocket| async move {
        while let Some(Ok(message)) = socket.next().await {
            if socket.send(message).await.is_err() {
                break;
            }
        }
    })
}

async fn agent(State(ends): State<Arc<Mutex<Ends>>>, upgrade: WebSocketUpgrade) -> Response {
    let end = ends.lock().expect("the ends").agent.take();
    upgrade.on_upgrade(|socket| pass(socket, end))
}

async fn app(State(ends): State<Arc<Mutex<Ends>>>, upgrade: WebSocketUpgrade) -> Response {
    let end = ends.lock().expect("the ends").app.take();
    upgrade.on_upgrade(|socket| pass(socket, end))
}

async fn pass(socket: WebSocket, end: Option<End>) {
    let Some((to_other, mut from_other)) = end else {
        return;
    };
    let (mut sink, mut stream) = socket.split();
    let writing = async {
        // What waits is written in one go, as the gateway does.
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
