//! What is noted of a connection while it is read and written: signs of life of a peer that is busy
//! taking what it is sent, what it has sent of a message that is not finished, and for how long it has
//! not read its answer.
//!
//! A peer that is busy answers no ping before it has read what was sent ahead of it, and what it says
//! itself may not be read meanwhile. But a write that had to wait for room only gets through once the
//! peer's system has taken some of what was written before.

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

use crate::bounds::ledger::{Account, FREE, Ledgers, Party};
use crate::broker::CloseCode;

/// How long the rest of a message may take once more than [`FREE`] bytes of it have come, if it comes
/// slower than [`SLOWEST`].
pub(crate) const UNFINISHED_TIME: Duration = Duration::from_secs(120);
/// Bytes per second of a message that may take as long as it does.
pub(crate) const SLOWEST: usize = 16 << 10;

/// Why reading ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The gateway closes, or the peer has.
    Closed,
    /// The connection broke.
    Lost,
    /// The beginning of a message had to make room for others: the peer may try again.
    NoRoom,
    /// The peer has shown no sign of life for this long.
    Silent(Duration),
    /// The peer broke the WebSocket protocol or sent too much: what it still sends is not read.
    Broken(CloseCode, String),
}

/// A connection, as those know it who serve it.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Noted>);

#[derive(Debug)]
struct Noted {
    /// When the other end was last seen to take something, or something of it came.
    life: Mutex<Instant>,
    /// Since when a write waits for the other end to take something.
    waits: Mutex<Option<Instant>>,
    /// Whether it is a WebSocket by now, whose peers have bounds of their own.
    is_socket: AtomicBool,
    /// The largest message of a WebSocket that is read.
    most: AtomicUsize,
    ledgers: Arc<Ledgers>,
    party: Mutex<Party>,
    /// How many bytes of an unfinished message the ledger knows.
    charged: AtomicUsize,
    /// While it knows of any, and since when.
    account: Mutex<Option<(Account, Instant)>>,
    /// Told when they have to make room.
    evicted: Arc<Notify>,
}

impl Watch {
    /// A connection that is just opened. What it leaves unfinished is on `ledgers`.
    pub(crate) fn new(ledgers: Arc<Ledgers>, party: Party) -> Self {
        Watch(Arc::new(Noted {
            life: Mutex::new(Instant::now()),
            waits: Mutex::default(),
            is_socket: AtomicBool::new(false),
            most: AtomicUsize::new(usize::MAX),
            ledgers,
            party: Mutex::new(party),
            charged: AtomicUsize::new(0),
            account: Mutex::default(),
            evicted: Arc::default(),
        }))
    }

    /// When the other end was last seen to take something, or something of it came; until then, when
    /// the connection was opened.
    pub(super) fn last_life(&self) -> Instant {
        *self.0.life.lock()
    }

    /// The other end lives.
    fn note_life(&self) {
        *self.0.life.lock() = Instant::now();
    }

    /// Since when a write of HTTP waits for the other end to take something.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        *self.0.waits.lock()
    }

    /// From now on it is a WebSocket.
    pub(super) fn becomes_socket(&self) {
        self.0.is_socket.store(true, Relaxed);
    }

    /// From now on messages have at most this many bytes.
    pub(crate) fn allow(&self, most: usize) {
        self.0.most.store(most, Relaxed);
    }

    /// How many bytes a message may have.
    pub(super) fn most(&self) -> usize {
        self.0.most.load(Relaxed)
    }

    /// It is that party's from now on.
    pub(crate) fn belongs_to(&self, party: Party) {
        *self.0.party.lock() = party;
        self.finished();
    }

    /// Whose it is.
    pub(crate) fn party(&self) -> Party {
        self.0.party.lock().clone()
    }

    /// More has come, and of a message that is not finished this many bytes: so many were `sent`, and so
    /// many are kept. Only the reader says so.
    pub(super) fn unfinished(&self, sent: usize, bytes: usize) -> Result<(), End> {
        self.note_life();
        let noted = &*self.0;
        let charged = noted.charged.load(Relaxed);
        if charged == 0 && bytes <= FREE {
            return Ok(());
        }
        let mut account = noted.account.lock();
        let open = || {
            let account = noted.ledgers.open(self.party(), noted.evicted.clone());
            (account, Instant::now())
        };
        let (account, since) = account.get_or_insert_with(open);
        let steadily = Duration::from_secs((sent / SLOWEST) as u64);
        if since.elapsed() > UNFINISHED_TIME + steadily {
            let reason = "The rest of a message did not come in time";
            return Err(End::Broken(CloseCode::POLICY, reason.into()));
        }
        if bytes > charged + FREE {
            if !account.set(bytes) {
                return Err(End::NoRoom);
            }
            noted.charged.store(bytes, Relaxed);
        }
        Ok(())
    }

    /// The reader has waited that long before it went on: it is not the peer who is slow.
    pub(super) fn held_up(&self, time: Duration) {
        if let Some((_, since)) = &mut *self.0.account.lock() {
            *since += time;
        }
    }

    /// A message is finished, and handled: until then its bytes count.
    pub(crate) fn finished(&self) {
        if self.0.charged.swap(0, Relaxed) > 0 {
            drop(self.0.account.lock().take());
        }
    }

    /// Waits until what is unfinished has to make room for others.
    pub(crate) async fn evicted(&self) {
        loop {
            self.0.evicted.notified().await;
            let account = self.0.account.lock();
            // It may have been finished just then.
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

/// A connection that is watched.
#[derive(Debug)]
pub(crate) struct Watched<S> {
    stream: S,
    watch: Watch,
    /// How long an answer may wait to be read.
    patience: Duration,
    /// When that is over, if something waits.
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

    /// Notes a sign of life when something that had to wait gets through, and gives up what waits for
    /// too long.
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

    /// It waits with TLS only, which accepts more than it can pass on.
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
