//! Reads a file that a page has. The page sends as many bytes as the gateway has asked for, and the gateway asks
//! for more as its reader takes them.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::opened::{Head, Lost};
use super::readings::Piece;
use crate::gateway::hub::Hub;
use crate::gateway::resume::{AppSession, tell_app};

/// How many bytes the page may send before the reader has taken any: 1 MiB.
pub(super) const WINDOW: usize = 1 << 20;
/// How many bytes the reader takes before the gateway asks for as many more.
const STEP: usize = WINDOW / 4;

/// A file of a page that is being read. Dropping it before its end stops the page.
pub(super) struct Reading {
    hub: Arc<Hub>,
    session: Arc<AppSession>,
    number: u32,
    pieces: UnboundedReceiver<Result<Piece, Lost>>,
    /// The bytes that the reader has taken since the gateway last asked for more.
    taken: usize,
    is_over: bool,
}

impl Reading {
    /// Asks the page for the file at that URL.
    pub fn begin(hub: Arc<Hub>, session: Arc<AppSession>, url: &str) -> Result<Self, Lost> {
        let (number, pieces) = session.readings.begin(WINDOW);
        let reading = Reading {
            hub,
            session,
            number,
            pieces,
            taken: 0,
            is_over: false,
        };
        let more = json!({ "url": url, "bytes": WINDOW });
        match reading.tell("file/read", more) {
            true => Ok(reading),
            false => Err(Lost::Disconnected),
        }
    }

    /// Waits until the page has found the file.
    pub async fn found(&mut self) -> Result<Head, Lost> {
        match self.piece().await? {
            Piece::Found(head) => Ok(head),
            Piece::Bytes(_) | Piece::End => Err(Lost::Unreadable("the app did not begin".into())),
        }
    }

    /// The next bytes. `None` after the last.
    pub async fn next(&mut self) -> Option<Result<Bytes, Lost>> {
        loop {
            return match self.piece().await {
                Ok(Piece::Bytes(bytes)) => {
                    self.took(bytes.len());
                    Some(Ok(bytes))
                }
                Ok(Piece::End) => {
                    self.is_over = true;
                    None
                }
                Ok(Piece::Found(_)) => continue,
                Err(lost) => Some(Err(lost)),
            };
        }
    }

    async fn piece(&mut self) -> Result<Piece, Lost> {
        let patience = self.hub.limits.dead_peer_timeout;
        match timeout(patience, self.pieces.recv()).await {
            Ok(Some(piece)) => piece,
            Ok(None) | Err(_) => Err(Lost::Disconnected),
        }
    }

    /// The reader has taken so many bytes: the page may send as many more.
    fn took(&mut self, bytes: usize) {
        self.taken += bytes;
        if self.taken >= STEP {
            let more = std::mem::take(&mut self.taken);
            self.session.readings.allow(self.number, more);
            self.tell("file/more", json!({ "bytes": more }));
        }
    }

    /// Sends a message about the file to the page. Returns whether the page is connected.
    fn tell(&self, kind: &str, mut payload: Value) -> bool {
        payload["file"] = self.number.into();
        tell_app(&self.hub, &self.session, kind, &payload)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let was_open = self.session.readings.end(self.number);
        if was_open && !self.is_over {
            self.tell("file/stop", json!({}));
        }
    }
}
