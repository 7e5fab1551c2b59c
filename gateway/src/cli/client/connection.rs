//! An agent of ours at a gateway, over a WebSocket.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{interval, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};
use url::Url;

use super::{Failure, MAX_ANSWER_BYTES};
use crate::cli::agent::{Agent, Hello, Inlet, Patience};
use crate::cli::gateway_args::{Access, GatewayArgs};
use crate::gateway::AbpError;
use crate::http_client::install_crypto;
use caphost::call::Code;

/// For TCP, TLS and the upgrade together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Between two pings: a gateway that answers none for [`SILENCE`] is gone.
const PING_INTERVAL: Duration = Duration::from_secs(10);

/// Without a sign of life of the gateway.
const SILENCE: Duration = Duration::from_secs(30);

/// For the end of the session and the close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

pub(in super::super) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A session with an app. Dropped, it leaves without a word, and what is in flight is cancelled.
pub(in super::super) struct Connection {
    pub agent: Agent,
    /// The result of `initialize`.
    pub session: Arc<Value>,
    socket: JoinHandle<()>,
}

impl Connection {
    /// Opens a session with the app wanted.
    pub async fn open(gateway: &GatewayArgs, patience: Patience) -> Result<Self, Failure> {
        let socket = web_socket(&gateway.access, &gateway.agent_url()).await?;
        let (frames, outgoing) = mpsc::unbounded_channel();
        let hello = Hello {
            name: "caphost".into(),
            version: env!("CARGO_PKG_VERSION").into(),
        };
        let send = move |text| drop(frames.send(text));
        let (agent, inlet) = Agent::start(&hello, patience, send);
        let closed = Arc::new(OnceLock::new());
        let socket = tokio::spawn(carry(socket, outgoing, inlet, closed.clone()));
        match agent.session().await {
            Ok(session) => Ok(Connection {
                agent,
                session,
                socket,
            }),
            Err(error) => Err(no_session(error, closed.get())),
        }
    }

    /// What the app offers, by name, in its order.
    pub fn capabilities(&self) -> impl Iterator<Item = &str> {
        let listed = self.session["capabilities"].as_array();
        let listed = listed.into_iter().flatten();
        listed.filter_map(|it| it["name"].as_str())
    }

    /// Leaves politely, and soon.
    pub async fn close(self) {
        let closing = async {
            self.agent.shutdown(None).await;
            let _ = self.socket.await;
        };
        let _ = timeout(CLOSE_TIMEOUT, closing).await;
    }
}

/// Opens a WebSocket at a gateway.
pub(in super::super) async fn web_socket(access: &Access, url: &Url) -> Result<Socket, Failure> {
    install_crypto();
    let unreachable = |error: &Error| Failure::unreachable(access, error);
    let mut request = url
        .as_str()
        .into_client_request()
        .map_err(|it| unreachable(&it))?;
    if let Some(authorization) = access.authorization() {
        let value = authorization.parse().map_err(Error::from);
        let value = value.map_err(|it| unreachable(&it))?;
        request.headers_mut().insert("authorization", value);
    }
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_ANSWER_BYTES))
        .max_frame_size(Some(MAX_ANSWER_BYTES));
    let connecting = connect_async_with_config(request, Some(config), true);
    match timeout(CONNECT_TIMEOUT, connecting).await {
        Ok(Ok((socket, _))) => Ok(socket),
        Ok(Err(Error::Http(response))) => {
            let body = response.body().as_deref().unwrap_or_default();
            let said = serde_json::from_slice(body).ok();
            let said = said.map(|mut it: Value| it["error"].take());
            let said = said.filter(Value::is_object);
            Err(Failure::refused(access, response.status(), said))
        }
        Ok(Err(error @ (Error::Io(_) | Error::Tls(_) | Error::Url(_)))) => Err(unreachable(&error)),
        Ok(Err(_)) => Err(Failure::no_gateway(access, "no WebSocket")),
        Err(_) => {
            let message = format!("the gateway at {} does not answer", access.shown());
            Err(Failure::new(Code::TIMEOUT, message))
        }
    }
}

/// Carries frames both ways until either side is over.
async fn carry(
    socket: Socket,
    outgoing: mpsc::UnboundedReceiver<String>,
    inlet: Inlet,
    closed: Arc<OnceLock<u16>>,
) {
    let (sink, stream) = socket.split();
    // Apart, because a peer that does not read must not keep us from reading.
    tokio::select! {
        () = receive(stream, &inlet, &closed) => {}
        () = send(sink, outgoing) => {}
    }
}

async fn receive(mut stream: SplitStream<Socket>, inlet: &Inlet, closed: &OnceLock<u16>) {
    loop {
        let next = tokio::select! {
            next = timeout(SILENCE, stream.next()) => next,
            // The sending half closes the connection; this one waits for its answer.
            () = inlet.closed() => {
                while let Some(Ok(_)) = stream.next().await {}
                return;
            }
        };
        match next {
            Ok(Some(Ok(Message::Text(text)))) => drop(inlet.receive(text.as_str().into())),
            Ok(Some(Ok(Message::Close(frame)))) => {
                let code = frame.map_or(1005, |it| it.code.into());
                let _ = closed.set(code);
                return;
            }
            Ok(Some(Ok(_))) => {}
            Ok(Some(Err(_)) | None) | Err(_) => return,
        }
    }
}

async fn send(mut sink: SplitSink<Socket, Message>, mut outgoing: mpsc::UnboundedReceiver<String>) {
    let mut pings = interval(PING_INTERVAL);
    loop {
        let message = tokio::select! {
            text = outgoing.recv() => match text {
                Some(text) => Message::text(text),
                None => break,
            },
            _ = pings.tick() => Message::Ping(Default::default()),
        };
        if sink.send(message).await.is_err() {
            return;
        }
    }
    // The agent is over. Its peer's close frame ends the other half.
    if sink.close().await.is_ok() {
        std::future::pending::<()>().await;
    }
}

/// Why there is no session, in terms of the command line.
fn no_session(error: AbpError, closed: Option<&u16>) -> Failure {
    let failure = Failure::from(error);
    let apps = failure.detail_list("apps");
    if !apps.is_empty() {
        let list = apps.join(", ");
        return failure
            .with_message("several apps are connected: name one with --app")
            .hint(format!("apps: {list}"));
    }
    match (closed, failure.code()) {
        (Some(1001), _) => Failure::new(Code::DISCONNECTED, "the gateway is stopping"),
        (Some(1013), _) => Failure::new(Code::RATE_LIMITED, "the gateway has too many agents"),
        (_, "DISCONNECTED") => {
            failure.hint("Is the app's page open, and connected to the gateway?")
        }
        _ => failure,
    }
}
