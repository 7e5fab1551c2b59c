//! A gateway in this process, and peers on real sockets.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Once};
use std::time::Duration;

use caphost_gateway::for_tests::Hub;
use caphost_gateway::{Config, Limits, Server};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::Request;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};
use tokio_util::sync::CancellationToken;

/// Everything takes less time than this, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(30);

pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} did not happen"),
    }
}

/// An HTTP client that connects directly and follows no redirects.
pub fn http() -> reqwest::ClientBuilder {
    static CRYPTO: Once = Once::new();
    CRYPTO.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let direct = reqwest::Client::builder().no_proxy();
    // By default the system gives a connection up whose bytes are not taken for 30 s. On a busy machine, a test of
    // large bodies may last longer.
    #[cfg(target_os = "linux")]
    let direct = direct.tcp_user_timeout(None);
    direct.redirect(reqwest::redirect::Policy::none())
}

/// The same client for requests that end within `time`.
pub fn http_within(time: Duration) -> reqwest::Client {
    http().timeout(time).build().unwrap()
}

pub struct Gateway {
    pub address: SocketAddr,
    pub hub: Arc<Hub>,
    stop: Option<oneshot::Sender<()>>,
    run: JoinHandle<Result<(), caphost_gateway::Error>>,
}

pub fn config() -> Config {
    Config {
        port: 0,
        www: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gateway/www")),
        package: PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/gateway/package"
        )),
        ..Config::default()
    }
}

impl Gateway {
    pub async fn start() -> Self {
        Self::with(config()).await
    }

    /// A gateway whose MCP results have no links in place of what is large.
    pub async fn without_links() -> Self {
        let mut config = config();
        config.limits.references.inline = usize::MAX;
        Self::with(config).await
    }

    /// The newest run, once it is in that state.
    pub async fn run_once(&self, state: &str) -> Value {
        let waiting = async {
            loop {
                let run = self.get("/api/runs", "").await.json()["runs"][0].clone();
                if run["state"] == state {
                    return run;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        soon(state, waiting).await
    }

    pub async fn limited(limits: Limits) -> Self {
        Self::with(Config { limits, ..config() }).await
    }

    pub async fn with(config: Config) -> Self {
        let server = Server::bind(config).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        Gateway {
            address: server.address().unwrap(),
            hub: server.hub(),
            stop: Some(stop),
            run: tokio::spawn(server.run(async {
                let _ = stopped.await;
            })),
        }
    }

    /// A gateway beside the program's own `routes`, served by axum.
    pub async fn embedded(config: Config, routes: axum::Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let gateway = caphost_gateway::Gateway::new(config, address).unwrap();
        let hub = gateway.hub();
        let routes = routes
            .merge(gateway.router())
            .into_make_service_with_connect_info::<SocketAddr>();
        let (stop, stopped) = oneshot::channel();
        let stopping = CancellationToken::new();
        let asked = stopping.clone();
        tokio::spawn(async move {
            let _ = stopped.await;
            asked.cancel();
        });
        let run = async move {
            let until = stopping.clone().cancelled_owned();
            let serving = axum::serve(listener, routes).with_graceful_shutdown(until);
            let (served, ended) = tokio::join!(serving, gateway.run(stopping.cancelled()));
            served.unwrap();
            ended
        };
        Gateway {
            address,
            hub,
            stop: Some(stop),
            run: tokio::spawn(run),
        }
    }

    /// Starts stopping the gateway.
    pub fn stop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
    }

    /// Waits until the gateway has started to stop.
    pub async fn drains(&self) {
        let unready = async {
            while self.get("/readyz", "").await.status == 200 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        soon("the beginning of the end", unready).await;
    }

    pub async fn stopped(self) {
        soon("the end of the gateway", self.run)
            .await
            .unwrap()
            .unwrap();
    }

    pub async fn app(&self, id: &str) -> Peer {
        let mut app = self.peer("/abp/app").await;
        app.send(register(id)).await;
        assert_eq!(app.next().await["type"], "app/registered");
        app
    }

    pub async fn agent(&self) -> Peer {
        self.peer("/abp").await
    }

    pub async fn peer(&self, path: &str) -> Peer {
        Peer::open(self.request(path)).await.unwrap()
    }

    /// An upgrade request that headers can be added to.
    pub fn request(&self, path: &str) -> Request {
        format!("ws://{}{path}", self.address)
            .into_client_request()
            .unwrap()
    }

    /// An app, and an agent with a session on it.
    pub async fn session(&self) -> (Peer, Peer) {
        let mut app = self.app("demo").await;
        let mut agent = self.agent().await;
        agent.initialize(&mut app).await;
        (app, agent)
    }
}

pub struct Peer {
    pub socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Peer {
    pub async fn open(request: Request) -> Result<Peer, Error> {
        let config = WebSocketConfig::default()
            .max_message_size(None)
            .max_frame_size(None);
        let connecting = connect_async_with_config(request, Some(config), true);
        let (socket, _) = soon("the upgrade", connecting).await?;
        Ok(Peer { socket })
    }

    pub async fn send(&mut self, message: Value) {
        self.text(message.to_string()).await;
    }

    pub async fn text(&mut self, text: impl Into<String>) {
        let text = Message::text(text.into());
        soon("sending", self.socket.send(text)).await.unwrap();
    }

    /// The next message.
    pub async fn next(&mut self) -> Value {
        // The timeout is for the whole message, because pings come all the time.
        soon("a message", self.message()).await
    }

    async fn message(&mut self) -> Value {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("no message but {other:?}"),
            }
        }
    }

    /// The code that the connection is closed with. The close must come next.
    pub async fn closed(&mut self) -> u16 {
        loop {
            match soon("the close frame", self.socket.next()).await {
                Some(Ok(Message::Close(frame))) => return frame.map_or(1005, |it| it.code.into()),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("no close frame but {other:?}"),
            }
        }
    }

    pub async fn initialize(&mut self, app: &mut Peer) {
        let hello = json!({ "agent": { "name": "tester", "version": "1" } });
        self.send(request("initialize", "init", hello)).await;
        let relayed = app.next().await;
        app.send(answer(
            &relayed,
            "initialize-result",
            json!({ "sessionId": "s" }),
        ))
        .await;
        assert_eq!(self.next().await["payload"]["sessionId"], "s");
    }

    /// As an agent: makes a call that `app` answers.
    pub async fn call_through(&mut self, app: &mut Peer) {
        self.send(call("through", "through")).await;
        let relayed = app.next().await;
        app.send(answer(
            &relayed,
            "capabilities/call-result",
            json!({ "success": true }),
        ))
        .await;
        let result = self.next().await;
        assert_eq!(
            (&result["id"], &result["payload"]["success"]),
            (&json!("through"), &json!(true))
        );
    }
}

/// A payload of a cancelled call that says how far the work was seen to stop.
pub fn stopped(mut payload: Value, stop: &str) -> Value {
    payload["cancelled"] = true.into();
    payload["metadata"] = json!({ "stop": stop });
    payload
}

pub fn register(id: &str) -> Value {
    json!({ "type": "app/register", "id": "r", "timestamp": 1, "payload": {
        "app": { "id": id, "name": "Demo", "version": "1.0.0" },
        "capabilities": [{ "name": "a.b", "description": "d", "inputSchema": {}, "outputSchema": {} }],
    } })
}

pub fn request(kind: &str, id: &str, payload: Value) -> Value {
    json!({ "type": kind, "id": id, "timestamp": 5, "payload": payload })
}

pub fn call(id: &str, call_id: &str) -> Value {
    let payload = json!({ "capability": "a.b", "options": { "callId": call_id } });
    request("capabilities/call", id, payload)
}

pub fn cancel(id: &str, call_id: &str) -> Value {
    request("capabilities/cancel", id, json!({ "callId": call_id }))
}

pub fn answer(relayed: &Value, kind: &str, payload: Value) -> Value {
    json!({
        "type": kind, "id": relayed["id"], "agent": relayed["agent"], "timestamp": 6,
        "payload": payload,
    })
}

pub fn code(message: &Value) -> &str {
    message["payload"]["error"]["code"]
        .as_str()
        .unwrap_or("none")
}
