//! The streams of what is no answer.

use std::collections::VecDeque;

use rmcp::model::{ServerJsonRpcMessage, ServerNotification};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::state::STREAM_MESSAGES;

/// Streams of one session. A client needs one; it may open the next before the last is known to be
/// closed.
const STREAMS: usize = 8;

/// Who listens to one session.
#[derive(Debug, Default)]
pub struct Listening {
    streams: VecDeque<Sender<ServerSseMessage>>,
    /// The tools have changed while nobody listened.
    pub missed_change: bool,
}

impl Listening {
    /// Another stream, which begins with what was missed.
    pub fn open(&mut self) -> Receiver<ServerSseMessage> {
        let (sender, receiver) = channel(STREAM_MESSAGES);
        if std::mem::take(&mut self.missed_change) {
            let changed = ServerNotification::ToolListChangedNotification(Default::default());
            let changed = ServerJsonRpcMessage::notification(changed);
            let _ = sender.try_send(ServerSseMessage::from_message(changed));
        }
        self.streams.push_back(sender);
        if self.streams.len() > STREAMS {
            self.streams.pop_front();
        }
        receiver
    }

    /// The newest stream that is open: each message goes to one only.
    pub fn newest(&self) -> Option<Sender<ServerSseMessage>> {
        let mut newest_first = self.streams.iter().rev();
        newest_first.find(|it| !it.is_closed()).cloned()
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
