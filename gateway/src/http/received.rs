//! The bodies of requests while they come. They are gathered, so that one takes no more memory than it has
//! bytes, and counted, so that the party with most of them makes room.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use bytes::BytesMut;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::fronts::ledger::{Account, Ledgers, NoRoom, Party};

/// Bytes of a request's head, and of an answer that wait in a connection to be written; and of a body
/// that are read at once.
pub(crate) const BUFFERED: usize = 32 << 10;

/// Bytes of each body that are not counted: it is less than what a connection takes.
const FREE: usize = 4 << 10;
/// Recount after this many more bytes.
const STEP: usize = 4 << 10;
/// Bytes of a connection whose body has not come yet, with its buffer for what comes next.
const CONNECTION: usize = 64 << 10;
/// A frame that is passed on as it is, and a block of smaller ones.
const BLOCK: usize = 16 << 10;

/// What has come of the body of one request.
pub(super) struct Received {
    ledgers: Arc<Ledgers>,
    party: Party,
    account: Mutex<Option<Account>>,
    evicted: Arc<Notify>,
    /// Whether there was no room for it.
    refused: AtomicBool,
}

impl Received {
    pub fn new(ledgers: Arc<Ledgers>, party: Party) -> Arc<Self> {
        Arc::new(Received {
            ledgers,
            party,
            account: Mutex::default(),
            evicted: Arc::default(),
            refused: AtomicBool::new(false),
        })
    }

    /// Whether there was no room for it.
    pub fn is_refused(&self) -> bool {
        self.refused.load(Relaxed)
    }

    /// Sets how many bytes are kept. Returns whether there is room for them.
    fn set(&self, bytes: usize) -> bool {
        let mut account = self.account.lock();
        let open = || self.ledgers.open(self.party.clone(), self.evicted.clone());
        account.get_or_insert_with(open).set(bytes)
    }
}

/// A body that breaks off when it has to make room.
///
/// Every frame is a piece of its connection's buffer of up to [`BUFFERED`] bytes, and a chunk may be one
/// byte. Keeping the frames would keep many times what has come, so small ones are copied into blocks. A
/// body that comes at once is passed on as it is, and not counted.
pub(super) struct Gathered {
    body: Body,
    received: Arc<Received>,
    /// Small frames, for the next block.
    block: BytesMut,
    /// What comes after it.
    trailers: Option<Frame<Bytes>>,
    has_ended: bool,
    /// Bytes that have come, bytes that the body's reader keeps for them, and bytes counted.
    came: usize,
    handed: usize,
    counted: usize,
    /// Ends when it has to make room.
    evicted: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

type Polled = Poll<Option<Result<Frame<Bytes>, axum::Error>>>;

impl Gathered {
    pub fn new(body: Body, received: Arc<Received>) -> Self {
        Gathered {
            body,
            received,
            block: BytesMut::new(),
            trailers: None,
            has_ended: false,
            came: 0,
            handed: 0,
            counted: 0,
            evicted: None,
        }
    }

    /// Takes a frame, and says what is passed on.
    fn take(&mut self, data: Bytes) -> Option<Bytes> {
        self.came += data.len();
        let is_last = self.body.is_end_stream();
        if self.block.is_empty() && (is_last || data.len() >= BLOCK) {
            self.handed += data.len().max(BUFFERED);
            return Some(data);
        }
        self.block.extend_from_slice(&data);
        (is_last || self.block.len() >= BLOCK).then(|| self.finish_block())
    }

    fn finish_block(&mut self) -> Bytes {
        self.handed += self.block.capacity();
        std::mem::take(&mut self.block).freeze()
    }

    /// Counts what is kept. Whether there is room for it.
    fn count(&mut self) -> bool {
        let kept = self.handed + self.block.capacity() + CONNECTION;
        if self.came <= FREE || self.body.is_end_stream() || kept < self.counted + STEP {
            return true;
        }
        self.counted = kept;
        self.received.set(kept)
    }

    fn refuse(&self) -> Polled {
        self.received.refused.store(true, Relaxed);
        Poll::Ready(Some(Err(axum::Error::new(NoRoom))))
    }

    /// What is left when nothing more comes.
    fn rest(&mut self) -> Polled {
        if !self.block.is_empty() {
            let block = self.finish_block();
            return Poll::Ready(Some(Ok(Frame::data(block))));
        }
        Poll::Ready(self.trailers.take().map(Ok))
    }
}

impl HttpBody for Gathered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        let it = &mut *self;
        while !it.has_ended {
            let frame = match Pin::new(&mut it.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => {
                    it.has_ended = true;
                    break;
                }
                Poll::Pending => {
                    let told = it.received.evicted.clone();
                    let evicted = it
                        .evicted
                        .get_or_insert_with(|| Box::pin(async move { told.notified().await }));
                    return match evicted.as_mut().poll(context) {
                        Poll::Ready(()) => it.refuse(),
                        Poll::Pending => Poll::Pending,
                    };
                }
            };
            let passed_on = match frame.into_data() {
                Ok(data) => it.take(data),
                Err(trailers) => {
                    it.trailers = Some(trailers);
                    it.has_ended = true;
                    break;
                }
            };
            if !it.count() {
                return it.refuse();
            }
            if let Some(data) = passed_on {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
        }
        it.rest()
    }

    fn is_end_stream(&self) -> bool {
        let is_over = self.has_ended || self.body.is_end_stream();
        is_over && self.block.is_empty() && self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let (kept, hint) = (self.block.len() as u64, self.body.size_hint());
        let mut all = SizeHint::new();
        all.set_lower(hint.lower() + kept);
        if let Some(upper) = hint.upper() {
            all.set_upper(upper + kept);
        }
        all
    }
}

#[cfg(test)]
mod tests;
