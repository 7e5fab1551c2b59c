//! Which sessions there are.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use rmcp::transport::streamable_http_server::{SessionId, SessionManager};
use uuid::Uuid;

use super::state::Session;
use super::transport::Wire;
use crate::gateway::mcp::caller::Caller;

/// All sessions.
pub struct Sessions {
    max: usize,
    idle: Duration,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
}

impl Sessions {
    /// None yet, of at most `max`, each ended after `idle` without use.
    pub fn new(max: usize, idle: Duration) -> Self {
        Sessions {
            max,
            idle,
            sessions: Mutex::default(),
        }
    }

    /// Whether another may begin.
    pub fn has_room(&self) -> bool {
        self.all().len() < self.max
    }

    /// The session with that id, if it is the caller's.
    pub fn find(&self, id: &str, caller: &Caller) -> Option<Arc<Session>> {
        let found = self.all().get(id).cloned();
        found.filter(|session| session.caller == *caller)
    }

    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sessions as one caller sees them.
pub struct Manager {
    /// All of them.
    pub sessions: Arc<Sessions>,
    /// Whose request is served.
    pub caller: Caller,
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

    fn stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<super::stream::Events, Gone> {
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
        let (session, inbound) = Session::new(self.caller.clone(), self.sessions.idle);
        self.sessions.all().insert(id.clone(), session.clone());
        tracing::debug!(session = %session.thread, owner = %self.caller.identity.name, "begun");
        Ok((id, Wire::new(session, inbound)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Gone> {
        let mut events = self.stream(id, message)?;
        let answer = events.next().await.and_then(|event| event.message);
        answer.map(Arc::unwrap_or_clone).ok_or(Gone)
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
        self.session(id)?.deliver(message);
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
