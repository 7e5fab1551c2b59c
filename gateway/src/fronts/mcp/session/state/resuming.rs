//! Sessions that have begun on another worker.

use std::sync::Arc;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, InitializeRequest,
    InitializeRequestParams, InitializedNotification, JsonRpcRequest, RequestId,
};

use super::{Session, State};
use crate::fronts::mcp::session::stream::Events;

/// What the request is called that makes a session here what it is elsewhere.
const ID: &str = "caphost/resume";

impl Session {
    /// Says what its client has said when it began. The answer is nobody's.
    pub fn resume(self: &Arc<Self>, params: InitializeRequestParams) -> Option<Events> {
        let initialize = ClientRequest::InitializeRequest(InitializeRequest::new(params));
        let request = JsonRpcRequest::new(RequestId::String(ID.into()), initialize);
        let answer = self.request(request)?;
        self.state().presume_initialized();
        Some(answer)
    }
}

impl State {
    /// The client has said that it is initialised, if to another worker. What has changed since is
    /// not known.
    pub(super) fn presume_initialized(&mut self) {
        if self.initialized {
            return;
        }
        self.initialized = true;
        self.listening.missed_change = true;
        let initialized =
            ClientNotification::InitializedNotification(InitializedNotification::default());
        if let Some(inbound) = &self.inbound {
            let _ = inbound.send(ClientJsonRpcMessage::notification(initialized));
        }
    }
}
