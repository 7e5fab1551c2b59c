//! One session: its requests in flight, and its streams.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification,
    ClientRequest, Implementation, InitializeRequest, InitializeRequestParams,
    InitializedNotification, JsonRpcRequest, RequestId, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::exchanges::{Answer, Exchanges, NotEntered, id_in_use};
use super::streams::{Events, Listening};
use crate::broker::runs::Dialect;
use crate::fronts::mcp::caller::Caller;
use crate::fronts::mcp::log_level::LogLevel;
use crate::gateway::Hub;
use crate::gateway::calls::{self, Canceller, Client};

/// What the request is called that makes a session here what it is elsewhere.
const RESUME: &str = "caphost/resume";

/// One session.
pub struct Session {
    /// What it is called in lists and logs. Its `Mcp-Session-Id` lets in who knows it.
    pub thread: Arc<str>,
    /// Whose it is, and for which app.
    pub caller: Caller,
    /// What its client wants to hear of.
    pub log_level: LogLevel,
    /// Cancelled when it is over.
    pub ended: CancellationToken,
    /// For other workers; none in a gateway that is alone.
    pub(super) record: OnceLock<Vec<u8>>,
    idle: Duration,
    state: Mutex<State>,
}

struct State {
    /// To the SDK's loop; none once the session has ended.
    inbound: Option<UnboundedSender<ClientJsonRpcMessage>>,
    /// What its client said it is called.
    client: Option<Implementation>,
    /// Its way to the app, which is opened with the first call.
    page: Option<calls::Session>,
    exchanges: Exchanges,
    listening: Listening,
    /// The client has said `notifications/initialized`.
    initialized: bool,
    used: Instant,
}

/// What a cancel without a reason is for.
const CANCELLED: &str = "The client cancelled the request";

impl Session {
    /// A new one, and what its client sends.
    pub fn new(
        caller: Caller,
        thread: Arc<str>,
        idle: Duration,
        log_level: LogLevel,
    ) -> (Arc<Self>, UnboundedReceiver<ClientJsonRpcMessage>) {
        let (inbound, messages) = mpsc::unbounded_channel();
        let session = Session {
            thread,
            caller,
            log_level,
            ended: CancellationToken::new(),
            record: OnceLock::new(),
            idle,
            state: Mutex::new(State {
                inbound: Some(inbound),
                client: None,
                page: None,
                exchanges: Exchanges::default(),
                listening: Listening::default(),
                initialized: false,
                used: Instant::now(),
            }),
        };
        (Arc::new(session), messages)
    }

    /// Says what its client has said when it began elsewhere. The answer is nobody's.
    pub fn resume(self: &Arc<Self>, params: InitializeRequestParams) -> Option<Events> {
        let initialize = ClientRequest::InitializeRequest(InitializeRequest::new(params));
        let request = JsonRpcRequest::new(RequestId::String(RESUME.into()), initialize);
        let answer = self.request(request)?;
        self.state().presume_initialized();
        Some(answer)
    }

    /// Passes a request on to the SDK; its answer comes in the stream. `None` when the session has
    /// ended.
    pub fn request(self: &Arc<Self>, mut request: JsonRpcRequest<ClientRequest>) -> Option<Events> {
        let mut state = self.state();
        let (sender, events) = Events::open();
        let own = match state.enter(&request.id, Answer::Sdk(sender.clone())) {
            Ok(own) => own,
            Err(NotEntered::Gone) => return None,
            Err(NotEntered::Cancelled) => return Some(events),
            Err(NotEntered::InFlight) => {
                let refusal = id_in_use(&request.id);
                let _ = sender.try_send(ServerSseMessage::from_message(refusal));
                return Some(events);
            }
        };
        if let ClientRequest::InitializeRequest(initialize) = &request.request {
            state.client = Some(initialize.params.client_info.clone());
        }
        request.id = RequestId::Number(own);
        state.send(ClientJsonRpcMessage::Request(request));
        let session = self.clone();
        Some(events.on_close(move || session.abandon(own)))
    }

    /// Takes the request of a call, which is made by its own answer: the session's own id of it, and
    /// what tells that nobody waits for it any more.
    pub(super) fn enter(&self, id: &RequestId) -> Result<(i64, CancellationToken), NotEntered> {
        let cancelled = CancellationToken::new();
        let answer = Answer::Call(None, cancelled.clone());
        let own = self.state().enter(id, answer)?;
        Ok((own, cancelled))
    }

    /// That call is made.
    pub(super) fn started(&self, own: i64, made: Canceller) {
        match self.state().exchanges.answer_mut(own) {
            Some(Answer::Call(canceller, _)) => *canceller = Some(made),
            // Its client was faster.
            _ => drop(made.cancel(Some(CANCELLED.into()))),
        }
    }

    /// That call is answered.
    pub(super) fn over(&self, own: i64) {
        self.state().exchanges.over(own);
    }

    /// Its way to the app, as its client introduced itself.
    pub(super) fn page(&self, hub: &Arc<Hub>) -> calls::Session {
        let mut state = self.state();
        let State { client, page, .. } = &mut *state;
        let open = || {
            let unnamed = || Implementation::new("mcp", "unknown");
            let client = client.clone().unwrap_or_else(unnamed);
            hub.open(Client {
                dialect: Dialect::Mcp,
                owner: self.caller.identity.clone(),
                app: self.caller.app.as_deref().map(str::to_string),
                name: client.name,
                version: client.version,
            })
        };
        page.get_or_insert_with(open).clone()
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
        state.send(message);
    }

    /// The client cancels a request, which is not answered any more: its stream ends. A cancel that
    /// has overtaken its request, which came on another connection and may be much larger, keeps
    /// that from starting; one that comes after the end goes nowhere. Whether the request is or was
    /// known here.
    pub fn cancel(&self, id: &RequestId, reason: Option<String>) -> bool {
        let mut state = self.state();
        state.used = Instant::now();
        match state.exchanges.find(id) {
            Some(own) => {
                state.cancel(own, reason.unwrap_or_else(|| CANCELLED.into()));
                true
            }
            None => !state.exchanges.cancelled(id),
        }
    }

    /// The stream of a request is closed: if it is not answered yet, nobody waits for it any more.
    pub(super) fn abandon(&self, own: i64) {
        let mut state = self.state();
        state.used = Instant::now();
        state.cancel(own, "The response stream was closed".into());
    }

    /// A stream of what is no answer, which begins with what was missed. The newest one open gets
    /// it.
    pub fn listen(self: &Arc<Self>) -> Events {
        let mut state = self.state();
        state.used = Instant::now();
        if self.record.get().is_some() {
            state.presume_initialized();
        }
        let session = self.clone();
        state.listening.open().on_close(move || session.unlisten())
    }

    /// A listening stream is closed.
    fn unlisten(&self) {
        let mut state = self.state();
        state.used = Instant::now();
        state.listening.tidy();
    }

    /// Sends a message of ours, under the id its reader knows, once there is room in the stream it
    /// goes to. Nobody reads a message whose stream is closed, which is no failure of the session.
    pub fn send(&self, message: ServerJsonRpcMessage) -> impl Future<Output = ()> + Send + use<> {
        let routed = self.state().route(message);
        async move {
            if let Some((stream, message)) = routed {
                let _ = stream.send(ServerSseMessage::from_message(message)).await;
            }
        }
    }

    /// Ends the session: what is in flight is cancelled, its streams end.
    pub fn close(&self) {
        let mut state = self.state();
        for own in state.exchanges.all() {
            state.cancel(own, "The session has ended".into());
        }
        state.inbound = None;
        state.listening.clear();
        let page = state.page.take();
        drop(state);
        drop(page);
        self.ended.cancel();
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
    /// A request comes: the session's own id of it.
    fn enter(&mut self, id: &RequestId, answer: Answer) -> Result<i64, NotEntered> {
        self.used = Instant::now();
        if self.inbound.is_none() {
            return Err(NotEntered::Gone);
        }
        self.exchanges.enter(id, answer)
    }

    fn cancel(&mut self, own: i64, reason: String) {
        match self.exchanges.over(own) {
            None => {}
            Some((_, Answer::Sdk(_))) => {
                let params = CancelledNotificationParam::new(Some(RequestId::Number(own)), None);
                let cancelled = CancelledNotification::new(params);
                let cancelled = ClientNotification::CancelledNotification(cancelled);
                self.send(ClientJsonRpcMessage::notification(cancelled));
            }
            Some((_, Answer::Call(canceller, cancelled))) => {
                // On its way to the app at once; what comes of it is for the record only.
                drop(canceller.map(|it| it.cancel(Some(reason))));
                cancelled.cancel();
            }
        }
    }

    fn send(&self, message: ClientJsonRpcMessage) {
        if let Some(inbound) = &self.inbound {
            let _ = inbound.send(message);
        }
    }

    /// The client has said that it is initialised, if to another worker. What has changed since is
    /// not known.
    fn presume_initialized(&mut self) {
        if self.initialized {
            return;
        }
        self.initialized = true;
        self.listening.missed_change = true;
        let initialized = InitializedNotification::default();
        let initialized = ClientNotification::InitializedNotification(initialized);
        self.send(ClientJsonRpcMessage::notification(initialized));
    }

    /// Where a message goes. None: to nobody.
    fn route(
        &mut self,
        mut message: ServerJsonRpcMessage,
    ) -> Option<(mpsc::Sender<ServerSseMessage>, ServerJsonRpcMessage)> {
        let answered = match &mut message {
            ServerJsonRpcMessage::Response(response) => Some(&mut response.id),
            ServerJsonRpcMessage::Error(error) => Some(error.id.as_mut()?),
            _ => None,
        };
        if let Some(id) = answered {
            let RequestId::Number(own) = *id else {
                return None;
            };
            let answer;
            (*id, answer) = self.exchanges.over(own)?;
            return match answer {
                Answer::Sdk(stream) => Some((stream, message)),
                Answer::Call(..) => None,
            };
        }
        let listener = self.listening.newest().cloned();
        if let ServerJsonRpcMessage::Notification(notification) = &message
            && let ServerNotification::ToolListChangedNotification(_) = notification.notification
        {
            self.listening.missed_change = listener.is_none();
        }
        Some((listener?, message))
    }
}
