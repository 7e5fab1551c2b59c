//! One session: its requests in flight, and its streams.

mod resuming;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    ClientRequest, ErrorData, GetExtensions, GetMeta, JsonRpcRequest, ProgressToken, RequestId,
    ServerJsonRpcMessage, ServerNotification,
};
use rmcp::service::OriginatingRequestId;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;

use super::listening::Listening;
use super::overtaken::Overtaken;
use super::stream::Events;
use crate::fronts::mcp::caller::Caller;

/// Messages that wait in one stream.
pub(super) const STREAM_MESSAGES: usize = 64;

/// What a handler knows of its request beside the message.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// The id the client gave it.
    pub id: RequestId,
    /// The session it came in, by a name that is no key to it.
    pub thread: Arc<str>,
    /// Why it was cancelled, as soon as it is.
    pub reason: Arc<OnceLock<String>>,
}

/// One session.
pub struct Session {
    /// What it is called in lists and logs. Its `Mcp-Session-Id` lets in who knows it.
    pub thread: Arc<str>,
    /// Whose it is, and for which app.
    pub caller: Caller,
    /// For other workers; none in a gateway that is alone.
    pub(super) record: OnceLock<Vec<u8>>,
    idle: Duration,
    state: Mutex<State>,
}

struct State {
    /// To the SDK's loop; none once the session has ended.
    inbound: Option<UnboundedSender<ClientJsonRpcMessage>>,
    last_id: i64,
    exchanges: HashMap<i64, Exchange>,
    overtaken: Overtaken,
    listening: Listening,
    /// The client has said `notifications/initialized`.
    initialized: bool,
    used: Instant,
}

struct Exchange {
    id: RequestId,
    token: Option<ProgressToken>,
    events: mpsc::Sender<ServerSseMessage>,
    reason: Arc<OnceLock<String>>,
}

impl Session {
    /// A new one, and what its client sends.
    pub fn new(
        caller: Caller,
        thread: Arc<str>,
        idle: Duration,
    ) -> (Arc<Self>, UnboundedReceiver<ClientJsonRpcMessage>) {
        let (inbound, messages) = mpsc::unbounded_channel();
        let session = Session {
            thread,
            caller,
            record: OnceLock::new(),
            idle,
            state: Mutex::new(State {
                inbound: Some(inbound),
                last_id: 0,
                exchanges: HashMap::new(),
                overtaken: Overtaken::default(),
                listening: Listening::default(),
                initialized: false,
                used: Instant::now(),
            }),
        };
        (Arc::new(session), messages)
    }

    /// Passes a request on; its answer comes in the stream. `None` when the session has ended.
    pub fn request(self: &Arc<Self>, mut request: JsonRpcRequest<ClientRequest>) -> Option<Events> {
        let mut state = self.state();
        state.used = Instant::now();
        let inbound = state.inbound.clone()?;
        if state.exchanges.values().any(|it| it.id == request.id) {
            let error = ErrorData::invalid_request("A request with this id is in flight", None);
            let refusal = ServerJsonRpcMessage::error(error, Some(request.id));
            return Some(Events::only(ServerSseMessage::from_message(refusal)));
        }
        if state.overtaken.take(&request.id) {
            return Some(Events::none());
        }
        state.last_id += 1;
        let own = state.last_id;
        let ticket = Ticket {
            id: std::mem::replace(&mut request.id, RequestId::Number(own)),
            thread: self.thread.clone(),
            reason: Arc::default(),
        };
        let (sender, receiver) = mpsc::channel(STREAM_MESSAGES);
        let exchange = Exchange {
            id: ticket.id.clone(),
            token: request.request.get_meta().get_progress_token(),
            events: sender,
            reason: ticket.reason.clone(),
        };
        state.exchanges.insert(own, exchange);
        request.request.extensions_mut().insert(ticket);
        let _ = inbound.send(ClientJsonRpcMessage::Request(request));
        drop(state);
        Some(Events::response(receiver, self.clone(), own))
    }

    /// Passes on what is no request, and no cancel of one.
    pub fn deliver(&self, message: ClientJsonRpcMessage) {
        let mut state = self.state();
        state.used = Instant::now();
        if let ClientJsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::InitializedNotification(_) = notification.notification
        {
            state.initialized = true;
        }
        if let Some(inbound) = &state.inbound {
            let _ = inbound.send(message);
        }
    }

    /// The client cancels a request, which is not answered any more: its stream ends. A cancel that
    /// has overtaken its request, which came on another connection and may be much larger, keeps
    /// that from starting; one that comes after the end goes nowhere. Whether the request is or was
    /// known here.
    pub fn cancel(&self, id: &RequestId, reason: Option<String>) -> bool {
        let mut state = self.state();
        state.used = Instant::now();
        let meant = state.exchanges.iter().find(|(_, it)| it.id == *id);
        match meant.map(|(own, _)| *own) {
            Some(own) => {
                state.cancel(own, reason);
                true
            }
            None => !state.overtaken.cancelled(id),
        }
    }

    /// The stream of a request is closed: if it is not answered yet, nobody waits for it any more.
    pub fn abandon(&self, own: i64) {
        let mut state = self.state();
        state.used = Instant::now();
        state.cancel(own, Some("The response stream was closed".into()));
    }

    /// A stream of what is no answer. The newest one open gets it.
    pub fn listen(self: &Arc<Self>) -> Events {
        let mut state = self.state();
        state.used = Instant::now();
        if self.record.get().is_some() {
            state.presume_initialized();
        }
        let receiver = state.listening.open();
        drop(state);
        Events::listening(receiver, self.clone())
    }

    /// A listening stream is closed.
    pub fn unlisten(&self) {
        let mut state = self.state();
        state.used = Instant::now();
        state.listening.tidy();
    }

    /// Where a message of ours goes, under the id its reader knows. None: to nobody.
    pub(super) fn route(
        &self,
        mut message: ServerJsonRpcMessage,
    ) -> Option<(mpsc::Sender<ServerSseMessage>, ServerSseMessage)> {
        let mut state = self.state();
        let sender = match &mut message {
            ServerJsonRpcMessage::Response(response) => state.answered(&mut response.id)?,
            ServerJsonRpcMessage::Error(error) => state.answered(error.id.as_mut()?)?,
            ServerJsonRpcMessage::Request(request) => {
                let asked = request.request.extensions().get::<OriginatingRequestId>();
                let exchange = asked.and_then(|asked| state.exchanges.get(&number(&asked.0)?));
                exchange
                    .map(|it| it.events.clone())
                    .or_else(|| state.listening.newest())?
            }
            ServerJsonRpcMessage::Notification(notification) => match &notification.notification {
                ServerNotification::ProgressNotification(progress) => {
                    let token = &progress.params.progress_token;
                    let mut exchanges = state.exchanges.values();
                    let asked = exchanges.find(|it| it.token.as_ref() == Some(token))?;
                    asked.events.clone()
                }
                ServerNotification::ToolListChangedNotification(_) => {
                    let listener = state.listening.newest();
                    state.listening.missed_change = listener.is_none();
                    listener?
                }
                _ => state.listening.newest()?,
            },
        };
        Some((sender, ServerSseMessage::from_message(message)))
    }

    /// Ends the session: what is in flight is cancelled, its streams end.
    pub fn close(&self) {
        let mut state = self.state();
        let in_flight: Vec<_> = state.exchanges.keys().copied().collect();
        for own in in_flight {
            state.cancel(own, Some("The session has ended".into()));
        }
        state.inbound = None;
        state.listening.clear();
    }

    /// Whether it was used within that time, or is in use.
    pub(super) fn used_within(&self, time: Duration) -> bool {
        self.expires() + time >= Instant::now() + self.idle
    }

    /// When it was last used, unless it is in use.
    pub(super) fn unused_since(&self) -> Option<Instant> {
        let state = self.state();
        let busy = !state.exchanges.is_empty() || state.listening.newest().is_some();
        (!busy).then_some(state.used)
    }

    /// When it ends unless it is used before.
    pub(super) fn expires(&self) -> Instant {
        self.unused_since().unwrap_or_else(Instant::now) + self.idle
    }

    /// It was asked for.
    pub fn touch(&self) {
        self.state().used = Instant::now();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn cancel(&mut self, own: i64, reason: Option<String>) {
        let Some(exchange) = self.exchanges.remove(&own) else {
            return;
        };
        self.overtaken.over(exchange.id);
        if let Some(reason) = reason {
            let _ = exchange.reason.set(reason);
        }
        let params = CancelledNotificationParam::new(Some(RequestId::Number(own)), None);
        let cancelled =
            ClientNotification::CancelledNotification(CancelledNotification::new(params));
        if let Some(inbound) = &self.inbound {
            let _ = inbound.send(ClientJsonRpcMessage::notification(cancelled));
        }
    }

    /// The stream of the request that is answered now.
    fn answered(&mut self, id: &mut RequestId) -> Option<mpsc::Sender<ServerSseMessage>> {
        let exchange = self.exchanges.remove(&number(id)?)?;
        self.overtaken.over(exchange.id.clone());
        *id = exchange.id;
        Some(exchange.events)
    }
}

fn number(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Number(number) => Some(*number),
        RequestId::String(_) => None,
    }
}
