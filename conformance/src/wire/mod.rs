//! Messages of JSON to a peer and back, in order: over a program's standard input and output, or over a WebSocket.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::timeout;

pub mod frames;
pub mod program;
pub mod socket;

/// Where the peer is.
#[derive(Clone, Debug)]
pub enum Target {
    Url { url: String, token: Option<String> },
    Command { command: Vec<String>, verbose: bool },
}

/// What is asked of a wire.
pub(crate) enum Out {
    Message(Value),
    /// No more messages: the input of a program is closed, or a socket says goodbye.
    End,
}

/// Takes each message of the peer. What it gives is sent back.
pub type Receive = Box<dyn Fn(Value) -> Option<Value> + Send + Sync>;

/// An ordered connection to a peer.
#[derive(Clone)]
pub struct Wire {
    out: mpsc::UnboundedSender<Out>,
    over: watch::Receiver<bool>,
    cut: Arc<Notify>,
}

/// The other half of a [`Wire`], for the task that moves its messages.
pub(crate) struct Ends {
    pub out: mpsc::UnboundedReceiver<Out>,
    /// To send what [`Receive`] gives.
    pub back: mpsc::WeakUnboundedSender<Out>,
    pub over: watch::Sender<bool>,
    pub cut: Arc<Notify>,
}

impl Wire {
    pub(crate) fn new() -> (Self, Ends) {
        let (sender, out) = mpsc::unbounded_channel();
        let (over, is_over) = watch::channel(false);
        let cut = Arc::new(Notify::new());
        let back = sender.downgrade();
        (
            Self {
                out: sender,
                over: is_over,
                cut: cut.clone(),
            },
            Ends {
                out,
                back,
                over,
                cut,
            },
        )
    }

    /// Sends a message. Messages that are sent without an await between them leave together.
    pub fn send(&self, message: Value) {
        let _ = self.out.send(Out::Message(message));
    }

    /// Sends no more messages, and waits until the peer has ended too. `false` if the peer has not within `within`.
    pub async fn end(&self, within: Duration) -> bool {
        let _ = self.out.send(Out::End);
        let mut over = self.over.clone();
        timeout(within, over.wait_for(|it| *it)).await.is_ok()
    }

    /// Loses the connection. A program is killed.
    pub fn cut(&self) {
        self.cut.notify_one();
    }

    pub fn is_over(&self) -> bool {
        *self.over.borrow()
    }
}
