//! The streams of one session.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use rmcp::model::{ServerJsonRpcMessage, ServerNotification};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Messages that wait in one stream.
const STREAM_MESSAGES: usize = 64;
/// Streams of what is no answer. A client needs one; it may open the next before the last is known
/// to be closed.
const LISTENING: usize = 8;

/// What one HTTP response carries. No event has an id: nothing is kept for a client that comes back,
/// so closing the stream of a request gives its answer up, and cancels it.
pub struct Events {
    receiver: Receiver<ServerSseMessage>,
    on_close: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Events {
    /// A stream, and where its messages are put.
    pub fn open() -> (Sender<ServerSseMessage>, Self) {
        let (sender, receiver) = channel(STREAM_MESSAGES);
        let on_close = None;
        (sender, Events { receiver, on_close })
    }

    /// With something to do when it is closed.
    pub fn on_close(mut self, close: impl FnOnce() + Send + Sync + 'static) -> Self {
        self.on_close = Some(Box::new(close));
        self
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some(close) = self.on_close.take() {
            close();
        }
    }
}

impl Stream for Events {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(context)
    }
}

/// The streams of what is no answer.
#[derive(Debug, Default)]
pub struct Listening {
    streams: VecDeque<Sender<ServerSseMessage>>,
    /// The tools have changed while nobody listened.
    pub missed_change: bool,
}

impl Listening {
    /// Another stream, which begins with what was missed.
    pub fn open(&mut self) -> Events {
        let (sender, events) = Events::open();
        if std::mem::take(&mut self.missed_change) {
            let changed = ServerNotification::ToolListChangedNotification(Default::default());
            let changed = ServerJsonRpcMessage::notification(changed);
            let _ = sender.try_send(ServerSseMessage::from_message(changed));
        }
        self.streams.push_back(sender);
        if self.streams.len() > LISTENING {
            self.streams.pop_front();
        }
        events
    }

    /// The newest stream that is open: each message goes to one only.
    pub fn newest(&self) -> Option<&Sender<ServerSseMessage>> {
        let mut newest_first = self.streams.iter().rev();
        newest_first.find(|it| !it.is_closed())
    }

    /// Forgets those that are closed.
    pub fn tidy(&mut self) {
        self.streams.retain(|it| !it.is_closed());
    }

    /// Closes all.
    pub fn clear(&mut self) {
        self.streams.clear();
    }
}
