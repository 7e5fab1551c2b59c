//! One session: its requests in flight, and its streams.

use std::collections::{HashMap, VecDeque};
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
use uuid::Uuid;

use super::stream::Events;
use crate::gateway::mcp::caller::Caller;

/// Messages that wait in one stream.
const STREAM_MESSAGES: usize = 64;
/// Streams of one session that are not responses. A client needs one; it may open the next before
/// the last is known to be closed.
const LISTENING_STREAMS: usize = 8;

/// Ids of requests that are over, kept to tell a cancel that comes too late from one that has
/// overtaken its request.
const OVER: usize = 1_024;
/// Cancels that have overtaken their request: so many, for so long.
const EARLY: (usize, Duration) = (64, Duration::from_secs(10));

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
    idle: Duration,
    state: Mutex<State>,
}

struct State {
    /// To the SDK's loop; none once the session has ended.
    inbound: Option<UnboundedSender<ClientJsonRpcMessage>>,
    last_id: i64,
    exchanges: HashMap<i64, Exchange>,
    over: VecDeque<RequestId>,
    early: VecDeque<(RequestId, Instant)>,
    listening: VecDeque<mpsc::Sender<ServerSseMessage>>,
    /// The tools have changed while nobody listened.
    missed_change: bool,
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
        idle: Duration,
    ) -> (Arc<Self>, UnboundedReceiver<ClientJsonRpcMessage>) {
        let (inbound, messages) = mpsc::unbounded_channel();
        let session = Session {
            thread: Uuid::new_v4().to_string().into(),
            caller,
            idle,
            state: Mutex::new(State {
                inbound: Some(inbound),
                last_id: 0,
                exchanges: HashMap::new(),
                over: VecDeque::new(),
                early: VecDeque::new(),
                listening: VecDeque::new(),
                missed_change: false,
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
        if state.was_cancelled(&request.id) {
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

    /// Passes on what is no request. A cancel ends the stream of its request, which is not answered
    /// any more. One that has overtaken its request, which came on another connection and may be
    /// much larger, keeps that from starting; one that comes after the end goes nowhere.
    pub fn deliver(&self, message: ClientJsonRpcMessage) {
        let mut state = self.state();
        state.used = Instant::now();
        if let ClientJsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
        {
            let CancelledNotificationParam {
                request_id, reason, ..
            } = &cancelled.params;
            let Some(id) = request_id else {
                return;
            };
            let meant = state.exchanges.iter().find(|(_, it)| it.id == *id);
            match meant.map(|(own, _)| *own) {
                Some(own) => state.cancel(own, reason.clone()),
                None => state.cancel_early(id),
            }
            return;
        }
        if let Some(inbound) = &state.inbound {
            let _ = inbound.send(message);
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
        let (sender, receiver) = mpsc::channel(STREAM_MESSAGES);
        let mut state = self.state();
        state.used = Instant::now();
        if std::mem::take(&mut state.missed_change) {
            let changed = ServerNotification::ToolListChangedNotification(Default::default());
            let changed = ServerJsonRpcMessage::notification(changed);
            let _ = sender.try_send(ServerSseMessage::from_message(changed));
        }
        state.listening.push_back(sender);
        if state.listening.len() > LISTENING_STREAMS {
            state.listening.pop_front();
        }
        drop(state);
        Events::listening(receiver, self.clone())
    }

    /// A listening stream is closed.
    pub fn unlisten(&self) {
        let mut state = self.state();
        state.used = Instant::now();
        state.listening.retain(|it| !it.is_closed());
    }

    /// Whether somebody listens to what is no answer.
    pub fn is_listened_to(&self) -> bool {
        self.state().listening.iter().any(|it| !it.is_closed())
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
                    .or_else(|| state.listener())?
            }
            ServerJsonRpcMessage::Notification(notification) => match &notification.notification {
                ServerNotification::ProgressNotification(progress) => {
                    let token = &progress.params.progress_token;
                    let mut exchanges = state.exchanges.values();
                    let asked = exchanges.find(|it| it.token.as_ref() == Some(token))?;
                    asked.events.clone()
                }
                ServerNotification::ToolListChangedNotification(_) => {
                    let listener = state.listener();
                    state.missed_change = listener.is_none();
                    listener?
                }
                _ => state.listener()?,
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

    /// When it ends unless it is used before.
    pub(super) fn expires(&self) -> Instant {
        let state = self.state();
        let busy = !state.exchanges.is_empty() || state.listener().is_some();
        let since = if busy { Instant::now() } else { state.used };
        since + self.idle
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
        self.ended(exchange.id);
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
        self.ended(exchange.id.clone());
        *id = exchange.id;
        Some(exchange.events)
    }

    fn ended(&mut self, id: RequestId) {
        self.over.push_back(id);
        if self.over.len() > OVER {
            self.over.pop_front();
        }
    }

    fn cancel_early(&mut self, id: &RequestId) {
        if self.over.contains(id) {
            return;
        }
        self.early.push_back((id.clone(), Instant::now()));
        if self.early.len() > EARLY.0 {
            self.early.pop_front();
        }
    }

    /// Whether the cancel of a request was there before it.
    fn was_cancelled(&mut self, id: &RequestId) -> bool {
        self.early.retain(|(_, at)| at.elapsed() < EARLY.1);
        let before = self.early.len();
        self.early.retain(|(early, _)| early != id);
        let cancelled = self.early.len() < before;
        if cancelled {
            self.ended(id.clone());
        }
        cancelled
    }

    fn listener(&self) -> Option<mpsc::Sender<ServerSseMessage>> {
        let mut newest_first = self.listening.iter().rev();
        newest_first.find(|it| !it.is_closed()).cloned()
    }
}

fn number(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Number(number) => Some(*number),
        RequestId::String(_) => None,
    }
}
