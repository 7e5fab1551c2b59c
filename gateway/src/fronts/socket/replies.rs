//! The answers that a WebSocket gives by itself: pongs, and the close frame of a peer that closes.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tungstenite::protocol::frame::Frame;

use super::bursts::AT_ONCE;

/// The answers that are due. If there are too many, only the newest count.
#[derive(Debug, Default)]
pub(super) struct Replies {
    all: Mutex<VecDeque<Frame>>,
    due: Notify,
}

impl Replies {
    /// Adds an answer.
    pub fn give(&self, reply: Frame) {
        let mut all = self.all.lock();
        if all.len() >= AT_ONCE {
            all.pop_front();
        }
        all.push_back(reply);
        drop(all);
        self.due.notify_one();
    }

    /// Removes and returns the next answer, if there is one.
    pub fn take(&self) -> Option<Frame> {
        self.all.lock().pop_front()
    }

    /// Waits for the next answer.
    pub async fn next(&self) -> Frame {
        loop {
            if let Some(reply) = self.take() {
                return reply;
            }
            self.due.notified().await;
        }
    }
}
