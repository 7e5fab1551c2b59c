//! Which sessions there are.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use rmcp::model::{
    CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, ClientRequest,
    ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use rmcp::transport::streamable_http_server::{SessionId, SessionManager};
use uuid::Uuid;

use super::state::Session;
use super::streams::Events;
use super::table::{Room, Table};
use super::transport::Wire;
use crate::fronts::mcp::caller::Caller;
use crate::fronts::mcp::log_level::LogLevel;
use crate::fronts::mcp::options::McpOptions;
use crate::gateway::Hub;
use crate::tokens::Identity;

/// All sessions.
pub struct Sessions {
    pub(super) hub: Arc<Hub>,
    pub(super) idle: Duration,
    max: usize,
    /// Of one token.
    share: usize,
    table: Mutex<Table>,
}

impl Sessions {
    /// None yet.
    pub fn new(hub: Arc<Hub>, options: &McpOptions) -> Self {
        let max = options.mcp_max_sessions;
        // Without tokens all are the same to us.
        let share = match hub.tokens.is_empty() {
            true => max,
            false => options.mcp_max_sessions_per_token,
        };
        Sessions {
            hub,
            idle: options.mcp_session_idle,
            max,
            share,
            table: Mutex::default(),
        }
    }

    /// Whether another of `owner` may begin. A session that is not in use may have to end for it.
    pub fn make_room(&self, owner: &Identity) -> bool {
        let room = self.all().make_room(owner, self.max, self.share);
        match room {
            Room::Left => true,
            Room::MadeBy(ended) => {
                ended.close();
                tracing::debug!(session = %ended.thread, "unused: made room");
                true
            }
            Room::None => false,
        }
    }

    /// The session with that id, if it is the caller's.
    pub fn find(&self, id: &str, caller: &Caller) -> Option<Arc<Session>> {
        let found = self.all().get(id).cloned();
        found.filter(|session| session.caller == *caller)
    }

    pub(super) fn all(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sessions as one caller sees them.
pub struct Manager {
    /// All of them.
    pub sessions: Arc<Sessions>,
    /// Whose request is served.
    pub caller: Caller,
    /// What the client of a session that begins wants to hear of.
    pub log_level: LogLevel,
}

/// The session has ended in the meantime.
#[derive(Debug)]
pub struct Gone;

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the session has ended")
    }
}

impl std::error::Error for Gone {}

impl Manager {
    fn session(&self, id: &SessionId) -> Result<Arc<Session>, Gone> {
        self.sessions.find(id, &self.caller).ok_or(Gone)
    }

    fn stream(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<Events, Gone> {
        let ClientJsonRpcMessage::Request(request) = message else {
            return Err(Gone);
        };
        self.session(id)?.request(request).ok_or(Gone)
    }
}

impl SessionManager for Manager {
    type Error = Gone;
    type Transport = Wire;

    async fn create_session(&self) -> Result<(SessionId, Wire), Gone> {
        let id: SessionId = Uuid::new_v4().to_string().into();
        let thread = Uuid::new_v4().to_string().into();
        let (caller, log_level) = (self.caller.clone(), self.log_level.clone());
        let (session, inbound) = Session::new(caller, thread, self.sessions.idle, log_level);
        self.sessions.all().insert(id.clone(), session.clone());
        tracing::debug!(session = %session.thread, owner = %self.caller.identity.name, "begun");
        Ok((id, Wire::new(session, inbound)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Gone> {
        let params = match &message {
            ClientJsonRpcMessage::Request(request) => match &request.request {
                ClientRequest::InitializeRequest(request) => Some(request.params.clone()),
                _ => None,
            },
            _ => None,
        };
        let mut events = self.stream(id, message)?;
        let answer = events.next().await.and_then(|event| event.message);
        let answer = answer.map(Arc::unwrap_or_clone).ok_or(Gone)?;
        // Before the client knows the id: its next message may come to another worker.
        if let (ServerJsonRpcMessage::Response(_), Some(params)) = (&answer, params) {
            let session = self.session(id)?;
            self.sessions.begun(id, &session, &params).await;
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Gone> {
        let found = self.sessions.find(id, &self.caller);
        if let Some(session) = &found {
            session.touch();
        }
        Ok(found.is_some())
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Gone> {
        if let Ok(session) = self.session(id) {
            self.sessions.all().remove(id);
            session.close();
            tracing::debug!(session = %session.thread, "ended");
        }
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Gone> {
        self.stream(id, message)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Gone> {
        let session = self.session(id)?;
        let ClientJsonRpcMessage::Notification(notification) = &message else {
            session.deliver(message);
            return Ok(());
        };
        let ClientNotification::CancelledNotification(cancelled) = &notification.notification
        else {
            session.deliver(message);
            return Ok(());
        };
        let CancelledNotificationParam {
            request_id, reason, ..
        } = &cancelled.params;
        if let Some(request_id) = request_id
            && !session.cancel(request_id, reason.clone())
        {
            self.sessions.pass_on(id, request_id, reason.clone());
        }
        Ok(())
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Gone> {
        Ok(self.session(id)?.listen())
    }

    /// Events have no ids, so there is nothing to take up again: a new stream.
    async fn resume(
        &self,
        id: &SessionId,
        _last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Gone> {
        Ok(self.session(id)?.listen())
    }
}
