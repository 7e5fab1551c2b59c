//! The state of a connection while it is read and written: signs of life of a peer that is busy reading, the
//! received part of an unfinished message, and how long the peer has not read its answer.
//!
//! A busy peer does not answer a ping before it has read everything that was sent before the ping. The
//! gateway may not read the peer's own messages meanwhile. But a write that had to wait for room succeeds
//! only after the peer's system has accepted some earlier bytes.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep};

use crate::bounds::{Account, FREE_BYTES, Ledgers, QuotaKey};
use crate::broker::CloseCode;

/// How long the rest of a message may take after more than [`FREE_BYTES`] bytes of it have come, if it comes slower
/// than [`SLOWEST`].
pub(crate) const UNFINISHED_TIME: Duration = Duration::from_secs(120);
/// How many bytes per second a message must have to be allowed any time.
pub(crate) const SLOWEST: usize = 16 << 10;

/// Why reading ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The gateway closes, or the peer has closed.
    Closed,
    /// The connection broke.
    Lost,
    /// The beginning of a message had to make room for other messages. The peer may try again.
    NoRoom,
    /// The peer has shown no sign of life for this long.
    Silent(Duration),
    /// The peer has broken the WebSocket protocol or sent too much. Its further input is not parsed.
    Broken(CloseCode, String),
}

/// The state of a connection, for the tasks that serve it.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Noted>);

#[derive(Debug)]
struct Noted {
    /// When the other end last accepted or sent something.
    life: Mutex<Instant>,
    /// Since when a write waits for the other end.
    waits: Mutex<Option<Instant>>,
    /// Whether the connection is a WebSocket by now. WebSockets have their own limits.
    is_socket: AtomicBool,
    /// The size of the largest WebSocket message that is read.
    most: AtomicUsize,
    ledgers: Arc<Ledgers>,
    quota_key: Mutex<QuotaKey>,
    /// How many bytes of an unfinished message the ledger counts.
    charged: AtomicUsize,
    /// The ledger's account and since when it is open, while the ledger counts any bytes.
    account: Mutex<Option<(Account, Instant)>>,
    /// Notified when the bytes must make room.
    evicted: Arc<Notify>,
}

impl Watch {
    /// The state of a new connection. `ledgers` count its unfinished messages.
    pub(crate) fn new(ledgers: Arc<Ledgers>, quota_key: QuotaKey) -> Self {
        Watch(Arc::new(Noted {
            life: Mutex::new(Instant::now()),
            waits: Mutex::default(),
            is_socket: AtomicBool::new(false),
            most: AtomicUsize::new(usize::MAX),
            ledgers,
            quota_key: Mutex::new(quota_key),
            charged: AtomicUsize::new(0),
            account: Mutex::default(),
            evicted: Arc::default(),
        }))
    }

    /// When the other end last accepted or sent something. Before that, when the connection was opened.
    pub(super) fn last_life(&self) -> Instant {
        *self.0.life.lock()
    }

    /// Notes a sign of life of the other end.
    fn note_life(&self) {
        *self.0.life.lock() = Instant::now();
    }

    /// Since when a write of HTTP waits for the other end.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        *self.0.waits.lock()
    }

    /// From now on, the connection is a WebSocket.
    pub(super) fn becomes_socket(&self) {
        self.0.is_socket.store(true, Relaxed);
    }

    /// From now on, messages have at most `most` bytes.
    pub(crate) fn allow(&self, most: usize) {
        self.0.most.store(most, Relaxed);
    }

    /// How many bytes a message may have.
    pub(super) fn most(&self) -> usize {
        self.0.most.load(Relaxed)
    }

    /// From now on, the connection belongs to `quota_key`.
    pub(crate) fn belongs_to(&self, quota_key: QuotaKey) {
        *self.0.quota_key.lock() = quota_key;
        self.finished();
    }

    /// The party of the connection.
    pub(crate) fn quota_key(&self) -> QuotaKey {
        self.0.quota_key.lock().clone()
    }

    /// More input has come. `sent` bytes of the unfinished message were sent, and `bytes` bytes are kept.
    /// Only the reader calls this.
    pub(super) fn unfinished(&self, sent: usize, bytes: usize) -> Result<(), End> {
        self.note_life();
        let noted = &*self.0;
        let charged = noted.charged.load(Relaxed);
        if charged == 0 && bytes <= FREE_BYTES {
            return Ok(());
        }
        let mut account = noted.account.lock();
        let open = || {
            let account = noted.ledgers.open(self.quota_key(), noted.evicted.clone());
            (account, Instant::now())
        };
        let (account, since) = account.get_or_insert_with(open);
        let steadily = Duration::from_secs((sent / SLOWEST) as u64);
        if since.elapsed() > UNFINISHED_TIME + steadily {
            let reason = "The rest of a message did not come in time";
            return Err(End::Broken(CloseCode::POLICY, reason.into()));
        }
        if bytes > charged + FREE_BYTES {
            if !account.set(bytes) {
                return Err(End::NoRoom);
            }
            noted.charged.store(bytes, Relaxed);
        }
        Ok(())
    }

    /// The reader has paused for that time, so the peer is not to blame for it.
    pub(super) fn held_up(&self, time: Duration) {
        if let Some((_, since)) = &mut *self.0.account.lock() {
            *since += time;
        }
    }

    /// A message is finished and handled. Until then its bytes count.
    pub(crate) fn finished(&self) {
        if self.0.charged.swap(0, Relaxed) > 0 {
            drop(self.0.account.lock().take());
        }
    }

    /// Waits until the unfinished message must make room for others.
    pub(crate) async fn evicted(&self) {
        loop {
            self.0.evicted.notified().await;
            let account = self.0.account.lock();
            // The message may have been finished just then.
            if matches!(&*account, Some((account, _)) if account.is_evicted()) {
                return;
            }
        }
    }

    #[cfg(test)]
    pub(super) fn began_before(&self, time: Duration) {
        if let Some((_, since)) = &mut *self.0.account.lock() {
            *since -= time;
        }
    }
}

/// A stream whose state a [`Watch`] keeps.
#[derive(Debug)]
pub(crate) struct Watched<S> {
    stream: S,
    watch: Watch,
    /// How long an answer may wait for the client to read it.
    patience: Duration,
    /// Ends when the answer has waited too long, if an answer waits.
    unread: Option<Pin<Box<Sleep>>>,
    /// Whether the last write had to wait.
    write_waits: bool,
    /// Whether the last flush had to wait.
    flush_waits: bool,
}

impl<S> Watched<S> {
    pub(crate) fn new(stream: S, watch: Watch, patience: Duration) -> Self {
        Watched {
            stream,
            watch,
            patience,
            unread: None,
            write_waits: false,
            flush_waits: false,
        }
    }

    /// Notes a sign of life when a delayed write succeeds, and fails a write that waits too long.
    fn note<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
        waits: fn(&mut Self) -> &mut bool,
    ) -> Poll<io::Result<T>> {
        let waited = std::mem::replace(waits(self), polled.is_pending());
        if polled.is_ready() {
            if waited && matches!(polled, Poll::Ready(Ok(_))) {
                self.watch.note_life();
            }
            if !self.write_waits && !self.flush_waits && self.unread.take().is_some() {
                *self.watch.0.waits.lock() = None;
            }
            return polled;
        }
        if self.watch.0.is_socket.load(Relaxed) {
            return Poll::Pending;
        }
        let (patience, waits) = (self.patience, &self.watch.0.waits);
        let unread = self.unread.get_or_insert_with(|| {
            *waits.lock() = Some(Instant::now());
            Box::pin(sleep(patience))
        });
        unread.as_mut().poll(context).map(|()| {
            let error = "the client does not read its answer";
            Err(io::Error::new(io::ErrorKind::TimedOut, error))
        })
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(context, polled, |it| &mut it.write_waits)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.note(context, polled, |it| &mut it.write_waits)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// A flush waits only with TLS, which accepts more bytes than it can pass on.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.note(context, polled, |it| &mut it.flush_waits)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests;
