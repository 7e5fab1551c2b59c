//! A stream of server-sent events.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::mpsc;

use super::state::Session;

/// What one HTTP response carries. No event has an id: nothing is kept for a client that comes back,
/// so closing the stream of a request gives its answer up, and cancels it.
pub struct Events {
    receiver: mpsc::Receiver<ServerSseMessage>,
    _open: Option<Open>,
}

/// Tells the session when the stream is closed.
struct Open {
    session: Arc<Session>,
    /// The session's own id of the request whose response this is.
    request: Option<i64>,
}

impl Drop for Open {
    fn drop(&mut self) {
        match self.request {
            Some(own) => self.session.abandon(own),
            None => self.session.unlisten(),
        }
    }
}

impl Events {
    pub(super) fn response(
        receiver: mpsc::Receiver<ServerSseMessage>,
        session: Arc<Session>,
        own: i64,
    ) -> Self {
        Events {
            receiver,
            _open: Some(Open {
                session,
                request: Some(own),
            }),
        }
    }

    pub(super) fn listening(
        receiver: mpsc::Receiver<ServerSseMessage>,
        session: Arc<Session>,
    ) -> Self {
        Events {
            receiver,
            _open: Some(Open {
                session,
                request: None,
            }),
        }
    }

    /// Nothing at all.
    pub(super) fn none() -> Self {
        let (_, receiver) = mpsc::channel(1);
        Events {
            receiver,
            _open: None,
        }
    }

    /// One event, of no request in flight.
    pub(super) fn only(event: ServerSseMessage) -> Self {
        let (sender, receiver) = mpsc::channel(1);
        let _ = sender.try_send(event);
        Events {
            receiver,
            _open: None,
        }
    }
}

impl Stream for Events {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(context)
    }
}
