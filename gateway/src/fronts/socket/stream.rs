//! What is noted of a connection while it is read and written: signs of life of a peer that is busy
//! taking what it is sent, what it has sent of a message that is not finished, and for how long it has
//! not read its answer.
//!
//! A peer that is busy answers no ping before it has read what was sent ahead of it, and what it says
//! itself may not be read meanwhile. But a write that had to wait for room only gets through once the
//! peer's system has taken some of what was written before.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep, sleep};

use super::cuts::Cuts;
use crate::fronts::ledger::{Account, FREE, Ledgers, NoRoom, Party};

/// Bytes of a ping or pong before its payload: of any that a client may send.
const CONTROL_HEAD: usize = 6;

/// How long the rest of a larger one may take to come.
pub(crate) const UNFINISHED_TIME: Duration = Duration::from_secs(120);

/// A connection, as those know it who serve it.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Noted>);

#[derive(Debug)]
struct Noted {
    /// When the other end was last seen to take something.
    taken: Mutex<Instant>,
    /// Since when a write waits for the other end to take something.
    waits: Mutex<Option<Instant>>,
    /// Whether it is a WebSocket by now, whose peers have bounds of their own.
    is_socket: AtomicBool,
    /// The largest message of a WebSocket that is read.
    most: AtomicUsize,
    /// Bytes read since the last message was finished, and how many of them the ledger knows.
    unfinished: AtomicUsize,
    charged: AtomicUsize,
    /// Bytes of that message that were read and not kept.
    dropped: AtomicUsize,
    cuts: Cuts,
    ledgers: Arc<Ledgers>,
    party: Mutex<Party>,
    /// While the ledger knows of any, and since when.
    account: Mutex<Option<(Account, Instant)>>,
    /// Told when they have to make room.
    evicted: Arc<Notify>,
}

/// Why no more of a message is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// It is larger than that.
    Message(usize),
    /// There are too many unfinished messages on all connections together, and most of them here.
    Budget,
    /// It takes too long to come.
    Late,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Message(most) => write!(f, "A message may have at most {most} bytes here"),
            Excess::Budget => NoRoom.fmt(f),
            Excess::Late => f.write_str("The rest of a message did not come in time"),
        }
    }
}

impl std::error::Error for Excess {}

impl Watch {
    /// A connection that is just opened. What it leaves unfinished is on `ledgers`.
    pub(crate) fn new(ledgers: Arc<Ledgers>, party: Party) -> Self {
        Watch(Arc::new(Noted {
            taken: Mutex::new(Instant::now()),
            waits: Mutex::default(),
            is_socket: AtomicBool::new(false),
            most: AtomicUsize::new(usize::MAX),
            unfinished: AtomicUsize::new(0),
            charged: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            cuts: Cuts::default(),
            ledgers,
            party: Mutex::new(party),
            account: Mutex::default(),
            evicted: Arc::default(),
        }))
    }

    /// When the other end was last seen to take something; until it is, when the connection was
    /// opened.
    pub(crate) fn last_taken(&self) -> Instant {
        *self.taken()
    }

    /// Since when a write of HTTP waits for the other end to take something.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        *self.0.waits.lock()
    }

    /// From now on it is a WebSocket, whose messages have at most this many bytes.
    pub(crate) fn is_socket(&self, most: usize) {
        self.0.is_socket.store(true, Relaxed);
        self.allow(most);
    }

    /// From now on messages have at most this many bytes.
    pub(crate) fn allow(&self, most: usize) {
        self.0.most.store(most, Relaxed);
    }

    /// It is that party's from now on.
    pub(crate) fn belongs_to(&self, party: Party) {
        *self.0.party.lock() = party;
        self.0.give_back();
    }

    /// Whose it is.
    pub(crate) fn party(&self) -> Party {
        self.0.party.lock().clone()
    }

    /// A message is finished, and handled: until then its bytes count.
    pub(crate) fn finished(&self) {
        self.0.unfinished.store(0, Relaxed);
        self.0.dropped.store(0, Relaxed);
        self.0.give_back();
    }

    /// Notes that this many bytes read are not kept, and that no more comes of those messages.
    pub(super) fn dropped(&self, bytes: u64, cuts: impl IntoIterator<Item = (u64, u64)>) {
        let noted = &*self.0;
        let kept = noted
            .unfinished
            .load(Relaxed)
            .saturating_sub(bytes as usize);
        noted.unfinished.store(kept, Relaxed);
        noted.dropped.fetch_add(bytes as usize, Relaxed);
        noted.cuts.add(cuts);
    }

    /// How many bytes that message of this connection had, when this many have come.
    pub(super) fn bytes_of(&self, number: u64, came: usize) -> usize {
        self.0.cuts.bytes(number, came)
    }

    /// A ping or pong with this many bytes was read. It may have come between the fragments of a message.
    pub(crate) fn control_frame(&self, bytes: usize) {
        let noted = &*self.0;
        let less = |it: &AtomicUsize| {
            let left = it.load(Relaxed).saturating_sub(bytes + CONTROL_HEAD);
            it.store(left, Relaxed);
            left
        };
        less(&noted.unfinished);
        if noted.charged.load(Relaxed) > 0 {
            let charged = less(&noted.charged);
            let mut account = noted.account.lock();
            match &*account {
                Some((account, _)) if charged > 0 => drop(account.set(charged)),
                _ => drop(account.take()),
            }
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

    fn taken(&self) -> MutexGuard<'_, Instant> {
        self.0.taken.lock()
    }

    /// Whether more may be read.
    fn has_room(&self) -> Result<(), Excess> {
        let most = self.0.most.load(Relaxed);
        // Some of it may be of the message after.
        let came = self.0.unfinished.load(Relaxed) + self.0.dropped.load(Relaxed);
        if came > most.saturating_add(FREE) {
            return Err(Excess::Message(most));
        }
        if self.0.charged.load(Relaxed) > 0
            && let Some((_, since)) = &*self.0.account.lock()
            && since.elapsed() > UNFINISHED_TIME
        {
            return Err(Excess::Late);
        }
        Ok(())
    }

    /// Notes that this many bytes were read.
    fn received(&self, bytes: usize) -> Result<(), Excess> {
        let noted = &*self.0;
        if !noted.is_socket.load(Relaxed) {
            return Ok(());
        }
        // There is one reader.
        let unfinished = noted.unfinished.load(Relaxed) + bytes;
        noted.unfinished.store(unfinished, Relaxed);
        let charged = noted.charged.load(Relaxed);
        if unfinished > charged + FREE {
            let mut account = noted.account.lock();
            let open = || {
                let party = noted.party.lock().clone();
                let account = noted.ledgers.open(party, noted.evicted.clone());
                (account, Instant::now())
            };
            if !account.get_or_insert_with(open).0.set(unfinished) {
                return Err(Excess::Budget);
            }
            noted.charged.store(unfinished, Relaxed);
        }
        self.has_room()
    }
}

impl Noted {
    fn give_back(&self) {
        if self.charged.swap(0, Relaxed) > 0 {
            drop(self.account.lock().take());
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
                *self.watch.taken() = Instant::now();
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
        let it = &mut *self;
        it.watch.has_room().map_err(io::Error::other)?;
        let before = buffer.filled().len();
        let polled = Pin::new(&mut it.stream).poll_read(context, buffer);
        let bytes = buffer.filled().len() - before;
        it.watch.received(bytes).map_err(io::Error::other)?;
        polled
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
