//! The command line's agent, connected to a gateway over a WebSocket.

use std::future::poll_fn;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::{Instant, Interval, interval, sleep_until, timeout, timeout_at};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};
use url::Url;

use super::agent::{Agent, Event};
use super::api::MAX_ANSWER_BYTES;
use super::failure::Failure;
use super::gateway_args::{Access, GatewayArgs};
use crate::http_client::install_crypto;
use caphost::agent::Outgoing;
use caphost::call::{CallId, Code};

/// How long TCP, TLS and the upgrade may take together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long opening a session may take by default.
pub(super) const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// The time between two pings. A gateway that is silent for [`SILENCE`] counts as gone.
const PING_INTERVAL: Duration = Duration::from_secs(10);

/// How long the gateway may be silent.
const SILENCE: Duration = Duration::from_secs(30);

/// How long ending the session and closing may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A session with an app. If the connection is dropped, it closes without a shutdown and the calls in flight
/// are cancelled.
pub(super) struct Connection {
    agent: Agent,
    socket: Socket,
    /// Whether the last messages may still have to be written.
    unwritten: bool,
    heard: Instant,
    pings: Interval,
    /// The code in the gateway's close frame.
    closed: Option<u16>,
}

impl Connection {
    /// Opens a session with the app within `patience`. See [`Agent::new`] for `grace`.
    pub async fn open(
        gateway: &GatewayArgs,
        grace: Duration,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let until = Instant::now() + patience;
        let url = gateway.agent_url();
        let connecting = web_socket(&gateway.access, &url);
        let socket = match timeout_at(until, connecting).await {
            Ok(socket) => socket?,
            Err(_) => return Err(silent(&gateway.access)),
        };
        let mut connection = Connection {
            socket,
            agent: Agent::new(grace),
            unwritten: false,
            heard: Instant::now(),
            pings: interval(PING_INTERVAL),
            closed: None,
        };
        let answered = async {
            while connection.agent.session().is_none() {
                connection.go_on().await;
            }
        };
        let answered = timeout_at(until, answered).await;
        match connection.agent.session() {
            Some(Ok(_)) => Ok(connection),
            Some(Err(error)) if answered.is_ok() => {
                Err(no_session(error.clone(), connection.closed))
            }
            _ => {
                let message = "The page does not respond; its tab may be frozen";
                Err(Failure::new(Code::TIMEOUT, message))
            }
        }
    }

    /// The result of `initialize`.
    pub fn session(&self) -> &Value {
        match self.agent.session() {
            Some(Ok(session)) => session,
            _ => &Value::Null,
        }
    }

    /// The names of the capabilities that the app offers, in the app's order.
    pub fn capabilities(&self) -> impl Iterator<Item = &str> {
        let listed = self.session()["capabilities"].as_array();
        let listed = listed.into_iter().flatten();
        listed.filter_map(|it| it["name"].as_str())
    }

    /// Makes the call.
    pub fn call(&mut self, call: Outgoing<Value>) {
        self.agent.call(call);
    }

    /// Cancels the call.
    pub fn cancel(&mut self, call: CallId, reason: &str) {
        self.agent.cancel(call, Some(reason.into()));
    }

    /// The next event of the call or its cancel. If the future is dropped, no event is lost.
    pub async fn next(&mut self) -> Event {
        loop {
            if let Some(event) = self.agent.next_event() {
                return event;
            }
            self.go_on().await;
        }
    }

    /// Ends the session and closes the connection, within [`CLOSE_TIMEOUT`].
    pub async fn close(mut self) {
        let closing = async {
            self.agent.shut_down();
            while !self.agent.is_over() {
                self.go_on().await;
            }
            if self.socket.close(None).await.is_ok() {
                while let Some(Ok(_)) = self.socket.next().await {}
            }
        };
        let _ = timeout(CLOSE_TIMEOUT, closing).await;
    }

    /// Sends, receives or waits until something has happened. The future may be dropped at any time.
    async fn go_on(&mut self) {
        if self.agent.is_over() {
            return;
        }
        let deadline = self.agent.deadline();
        let silence = self.heard + SILENCE;
        // The socket buffers sent messages, so sending does not delay reading.
        while let Some(text) = self.agent.outgoing().pop_front() {
            if self.socket.start_send_unpin(Message::text(text)).is_err() {
                return self.agent.lost();
            }
            self.unwritten = true;
        }
        let Connection {
            socket, unwritten, ..
        } = self;
        // Writing and reading must not wait for each other.
        let either = poll_fn(|context| {
            use std::task::Poll;
            if *unwritten && let Poll::Ready(flushed) = socket.poll_flush_unpin(context) {
                *unwritten = false;
                if let Err(error) = flushed {
                    return Poll::Ready(Some(Err(error)));
                }
            }
            socket.poll_next_unpin(context)
        });
        tokio::select! {
            // Messages are handled first: a timeout must not overtake a response that has come before it.
            biased;
            message = either => self.received(message),
            () = sleep_until(deadline.unwrap_or(silence)), if deadline.is_some() => {
                self.agent.handle_timeout();
            }
            () = sleep_until(silence) => self.agent.lost(),
            _ = self.pings.tick() => {
                let ping = Message::Ping(Default::default());
                match self.socket.start_send_unpin(ping) {
                    Ok(()) => self.unwritten = true,
                    Err(_) => self.agent.lost(),
                }
            }
        }
    }

    fn received(&mut self, message: Option<Result<Message, Error>>) {
        self.heard = Instant::now();
        match message {
            Some(Ok(Message::Text(text))) => self.agent.receive(&text),
            Some(Ok(Message::Close(frame))) => {
                self.closed = Some(frame.map_or(1005, |it| it.code.into()));
                self.agent.lost();
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => self.agent.lost(),
        }
    }
}

/// Opens a WebSocket at a gateway.
pub(super) async fn web_socket(access: &Access, url: &Url) -> Result<Socket, Failure> {
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
        Ok(Err(_)) => Err(Failure::not_a_gateway(access, "no WebSocket")),
        Err(_) => Err(silent(access)),
    }
}

fn silent(access: &Access) -> Failure {
    let message = format!("the gateway at {} does not answer", access.shown());
    Failure::new(Code::TIMEOUT, message)
}

/// The error for a session that could not be opened, in terms of the command line.
fn no_session(failure: Failure, closed: Option<u16>) -> Failure {
    let apps = failure.detail_list("apps");
    if !apps.is_empty() {
        let failure = match failure.code() {
            // The named app is not connected.
            "DISCONNECTED" => failure,
            _ => failure.with_message("several apps are connected: name one with --app"),
        };
        return failure.hint(format!("apps: {}", apps.join(", ")));
    }
    match (closed, failure.code()) {
        (Some(1001), _) | (_, "CAPABILITY_UNAVAILABLE") => {
            let message = "the gateway is stopping and takes no new calls: nothing was called";
            Failure::new(Code::CAPABILITY_UNAVAILABLE, message)
        }
        (Some(1013), _) => Failure::new(Code::RATE_LIMITED, "the gateway has too many agents"),
        (_, "DISCONNECTED") => {
            failure.hint("Is the app's page open, and connected to the gateway?")
        }
        _ => failure,
    }
}
