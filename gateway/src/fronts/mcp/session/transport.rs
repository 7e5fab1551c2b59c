//! A session as the SDK reads from it and writes to it.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use futures_util::FutureExt;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use super::state::Session;

/// One session's messages.
pub struct Wire {
    session: Arc<Session>,
    inbound: UnboundedReceiver<ClientJsonRpcMessage>,
}

impl Wire {
    pub(super) fn new(
        session: Arc<Session>,
        inbound: UnboundedReceiver<ClientJsonRpcMessage>,
    ) -> Self {
        Wire { session, inbound }
    }
}

impl Transport<RoleServer> for Wire {
    type Error = Infallible;

    fn name() -> Cow<'static, str> {
        "MCP session".into()
    }

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        self.session.send(message).map(Ok)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let expires = self.session.expires();
            tokio::select! {
                message = self.inbound.recv() => return message,
                () = sleep_until(expires) => {}
            }
            if self.session.expires() <= Instant::now() {
                tracing::debug!(session = %self.session.thread, "unused: ended");
                self.session.close();
            }
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        self.session.close();
        Ok(())
    }
}
