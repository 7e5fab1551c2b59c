//! The files of one app that are being read, and the messages of its page about them.

use bytes::Bytes;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::opened::{Head, Lost};
use crate::wire::Envelope;

/// The messages of a page about a file. They belong to the connection, so they are not counted.
pub(crate) const MESSAGES: [&str; 2] = [FOUND, ENDED];
const FOUND: &str = "file/found";
const ENDED: &str = "file/ended";

/// A binary frame begins with the number of the reading.
const NUMBER_BYTES: usize = size_of::<u32>();
/// The largest binary frame that is kept: 256 KiB of a file.
pub(crate) const MOST_BINARY: usize = (256 << 10) + NUMBER_BYTES;

/// A part of a file, or why no more parts come.
pub(super) enum Piece {
    /// The page has found the file.
    Found(Head),
    /// The next bytes.
    Bytes(Bytes),
    /// There are no more bytes.
    End,
}

/// The files of one app that are being read.
#[derive(Default)]
pub(crate) struct Readings(Mutex<Table>);

#[derive(Default)]
struct Table {
    last: u32,
    open: FxHashMap<u32, Open>,
}

struct Open {
    pieces: UnboundedSender<Result<Piece, Lost>>,
    /// How many bytes the page may still send.
    allowed: usize,
}

/// The payload of a page's message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    file: u32,
    size: Option<u64>,
    mime_type: Option<String>,
    error: Option<String>,
}

impl Readings {
    /// A new reading: its number, and what comes of it. The page may send `bytes` bytes.
    pub(super) fn begin(&self, bytes: usize) -> (u32, UnboundedReceiver<Result<Piece, Lost>>) {
        // The window bounds what waits here.
        let (pieces, coming) = unbounded_channel();
        let mut table = self.0.lock();
        table.last = table.last.wrapping_add(1);
        let (number, allowed) = (table.last, bytes);
        table.open.insert(number, Open { pieces, allowed });
        (number, coming)
    }

    /// The page may send so many bytes more.
    pub(super) fn allow(&self, number: u32, bytes: usize) {
        if let Some(open) = self.0.lock().open.get_mut(&number) {
            open.allowed += bytes;
        }
    }

    /// Ends a reading. Returns whether the page may still send parts of it.
    pub(super) fn end(&self, number: u32) -> bool {
        self.0.lock().open.remove(&number).is_some()
    }

    /// The connection of the page is lost.
    pub(crate) fn lose(&self) {
        self.0.lock().open.clear();
    }

    /// The page has sent a binary frame. Returns whether the gateway has asked for it.
    pub(crate) fn bytes(&self, mut frame: Bytes) -> bool {
        let Some(number) = frame.first_chunk().map(|it| u32::from_be_bytes(*it)) else {
            return false;
        };
        let bytes = frame.split_off(NUMBER_BYTES);
        let mut table = self.0.lock();
        let was_begun = (1..=table.last).contains(&number);
        let Some(open) = table.open.get_mut(&number) else {
            // The reading has been stopped meanwhile.
            return was_begun;
        };
        match open.allowed.checked_sub(bytes.len()) {
            Some(rest) => {
                open.allowed = rest;
                let _ = open.pieces.send(Ok(Piece::Bytes(bytes)));
                true
            }
            None => {
                let what = "the app has sent more than the gateway has asked for";
                let _ = open.pieces.send(Err(Lost::Unreadable(what.into())));
                table.open.remove(&number);
                false
            }
        }
    }

    /// The page has said something about a file.
    pub(crate) fn said(&self, envelope: &Envelope<'_>) {
        let payload = envelope.payload.unwrap_or_default();
        let Ok(said) = serde_json::from_str::<Said>(payload) else {
            return;
        };
        let mut table = self.0.lock();
        if envelope.kind == FOUND {
            if let Some(open) = table.open.get(&said.file) {
                let head = Head {
                    size: said.size,
                    media_type: said.mime_type.filter(|it| !it.is_empty()),
                    filename: None,
                };
                let _ = open.pieces.send(Ok(Piece::Found(head)));
            }
            return;
        }
        if let Some(open) = table.open.remove(&said.file) {
            let end = said.error.map(Lost::Unreadable);
            let _ = open.pieces.send(end.map_or(Ok(Piece::End), Err));
        }
    }
}
