//! The queue of messages to one peer. The agents of an app take [turns](lanes).
//!
//! If the peer may come back on another connection, the queue also keeps the messages that the peer has not
//! acknowledged. The queue of the next connection takes these messages over. Until there is a next
//! connection, messages are only kept.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::broker::{Backlog, CloseCode};
use crate::wire::{Outgoing, for_log};
use caphost::dialect::delivery::Misfit;
use kept::Kept;
use lanes::{Lanes, Waiting};

mod kept;
mod lanes;

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutboxPhase {
    /// Messages are queued and written.
    Open,
    /// Nothing is queued any more. The queued messages are written, then the close frame.
    Closing,
    /// Nothing more is written.
    Over,
}

/// The result of pushing a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The message waits.
    Queued,
    /// The message waits, and with it the queue has passed half or three quarters of its limit.
    Grown(Backlog),
    /// There was no room for the message. The queue is over.
    Overflow,
    /// There was no room for the message in a lasting queue. The message and all waiting messages are
    /// dropped, except farewells.
    Emptied,
    /// The message waits, but the peer cannot come back any more: too much was kept for that.
    Unkept,
}

/// The close reason for a peer whose queue has no room.
pub(crate) fn unread(limit: usize) -> String {
    format!("More than {limit} bytes were left unread")
}

/// The next thing to write.
#[derive(Debug)]
pub enum OutboxStep {
    /// A message, and the cost to give to [`Outbox::written`] afterwards.
    Message(Outgoing, usize),
    /// The close frame, which is always last.
    Close(CloseCode, String),
}

/// The bytes that wait for all peers together: in queues, and kept for sending again.
#[derive(Debug, Default)]
pub(crate) struct QueuedBytes(AtomicUsize);

impl QueuedBytes {
    pub(crate) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn give_back(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn used(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A queue that is bounded in bytes. A message counts until it is written.
#[derive(Debug)]
pub struct Outbox {
    limit: usize,
    lasts: bool,
    budget: Arc<QueuedBytes>,
    queue: Mutex<Queue>,
    /// Signals that there is something to write.
    wake: Notify,
    /// Signals that something else has changed.
    changed: Notify,
    /// For the log: the peer's address, and the app id that the peer claims.
    address: OnceLock<SocketAddr>,
    app: OnceLock<String>,
}

#[derive(Debug)]
struct Queue {
    waiting: Lanes,
    bytes: usize,
    /// The messages that are kept for another connection, if there may be one.
    kept: Option<Kept>,
    close: Option<(CloseCode, String)>,
    phase: OutboxPhase,
    backlog: Backlog,
    /// When something was last written, or when the queue last began to fill.
    moved: Instant,
}

impl Outbox {
    /// An empty queue for one message, or for several of at most `limit` bytes. The bytes count towards
    /// `budget`.
    pub(crate) fn new(limit: usize, budget: Arc<QueuedBytes>) -> Self {
        Outbox {
            limit,
            lasts: false,
            budget,
            queue: Mutex::new(Queue {
                waiting: Lanes::default(),
                bytes: 0,
                kept: None,
                close: None,
                phase: OutboxPhase::Open,
                backlog: Backlog::Short,
                moved: Instant::now(),
            }),
            wake: Notify::new(),
            changed: Notify::new(),
            address: OnceLock::new(),
            app: OnceLock::new(),
        }
    }

    /// Sets the peer's address for the log.
    pub(crate) fn log_address(&self, address: SocketAddr) {
        let _ = self.address.set(address);
    }

    /// Sets the app id that the peer claims, for the log.
    pub(crate) fn log_app(&self, app: &str) {
        let _ = self.app.set(for_log(app));
    }

    /// What the log says of the peer: its address and the app id that it claims.
    pub(crate) fn peer(&self) -> (Option<SocketAddr>, Option<String>) {
        (self.address.get().copied(), self.app.get().cloned())
    }

    /// Makes the queue lasting: without room, the queue is emptied and goes on.
    pub(crate) fn lasting(mut self) -> Self {
        self.lasts = true;
        self
    }

    /// Queues a message. After [`Outbox::close`] the message is dropped, unless it is kept.
    pub fn push(&self, message: Outgoing) -> Pushed {
        let mut queue = self.queue.lock();
        let (cost, is_open) = (message.cost(), queue.phase == OutboxPhase::Open);
        let Some(kept) = &mut queue.kept else {
            return self.queue(queue, message, false);
        };
        let fits = kept.has_room(cost, self.limit);
        if fits {
            self.budget.add(cost);
            kept.expect(cost);
        }
        match (fits, is_open) {
            (true, true) => self.queue(queue, message, true),
            (true, false) => {
                let bytes = kept.bytes();
                queue.settle();
                if let Some(kept) = &mut queue.kept {
                    kept.keep(message);
                }
                let grown = queue.backlog.grow(bytes, self.limit);
                grown.map_or(Pushed::Queued, Pushed::Grown)
            }
            (false, true) => {
                self.give_up(&mut queue);
                match self.queue(queue, message, false) {
                    Pushed::Queued => Pushed::Unkept,
                    pushed => pushed,
                }
            }
            (false, false) => Pushed::Overflow,
        }
    }

    /// Queues a message that is for this connection only.
    pub(crate) fn push_unkept(&self, message: Outgoing) -> Pushed {
        self.queue(self.queue.lock(), message, false)
    }

    fn queue(&self, mut queue: MutexGuard<'_, Queue>, message: Outgoing, is_kept: bool) -> Pushed {
        if queue.phase != OutboxPhase::Open {
            return Pushed::Queued;
        }
        let cost = message.cost();
        if queue.bytes > 0 && queue.bytes + cost > self.limit {
            if self.lasts {
                queue.settle();
                self.empty(&mut queue, Some(message));
                return Pushed::Emptied;
            }
            drop(queue);
            self.end();
            return Pushed::Overflow;
        }
        if queue.bytes == 0 {
            queue.moved = Instant::now();
        }
        self.count(&mut queue, message.cost());
        queue.waiting.push(message, is_kept);
        let grown = queue.grow(self.limit);
        drop(queue);
        self.wake.notify_one();
        grown.map_or(Pushed::Queued, Pushed::Grown)
    }

    /// From now on, keeps each pushed message until the peer acknowledges it.
    pub(crate) fn keep(&self) {
        self.queue.lock().kept = Some(Kept::default());
    }

    /// The peer has received this many of the kept messages in total.
    pub(crate) fn acknowledge(&self, received: u64) -> Result<(), Misfit> {
        let mut queue = self.queue.lock();
        let Some(kept) = &mut queue.kept else {
            return Ok(());
        };
        let (bytes, taken) = kept.acknowledge(received);
        self.budget.give_back(bytes);
        taken
    }

    /// The connection is lost. Until another connection takes over, messages are only kept. Returns how full
    /// the queue is with kept messages, or `None` if there can be no other connection.
    pub(crate) fn suspend(&self) -> Option<Backlog> {
        let mut queue = self.queue.lock();
        let kept = queue.kept.as_ref()?.bytes();
        queue.settle();
        queue.phase = queue.phase.max(OutboxPhase::Closing);
        queue.backlog = Backlog::of(kept, self.limit);
        let backlog = queue.backlog;
        drop(queue);
        self.changed.notify_waiters();
        Some(backlog)
    }

    /// Takes over from the connection before, of which the peer has received `received` messages. Queues
    /// `first`, then the messages that the peer lacks, even beyond the limit.
    pub(crate) fn take_over(
        &self,
        before: &Outbox,
        received: u64,
        first: Outgoing,
    ) -> Result<(), Misfit> {
        before.acknowledge(received)?;
        let kept = {
            let mut queue = before.queue.lock();
            queue.settle();
            queue.kept.take().ok_or(Misfit)?
        };
        let mut queue = self.queue.lock();
        if queue.phase == OutboxPhase::Open {
            for message in [first].into_iter().chain(kept.written().cloned()) {
                self.count(&mut queue, message.cost());
                queue.waiting.push_ahead(message);
            }
        }
        queue.kept = Some(kept);
        queue.grow(self.limit);
        drop(queue);
        self.wake.notify_one();
        Ok(())
    }

    /// The peer does not come back: drops the messages that were kept for it.
    pub(crate) fn forget(&self) {
        self.give_up(&mut self.queue.lock());
    }

    fn give_up(&self, queue: &mut Queue) {
        let kept = queue.kept.take();
        queue.waiting.keep_none();
        self.budget.give_back(kept.map_or(0, |kept| kept.bytes()));
    }

    /// A message of that cost begins to wait.
    fn count(&self, queue: &mut Queue, cost: usize) {
        self.budget.add(cost);
        queue.bytes += cost;
    }

    /// Drops the waiting messages and `last`, except farewells.
    fn empty(&self, queue: &mut Queue, last: Option<Outgoing>) {
        let all = queue.waiting.take().map(|it| it.message).chain(last);
        self.budget.give_back(std::mem::take(&mut queue.bytes));
        for farewell in all.filter(Outgoing::is_farewell) {
            self.count(queue, farewell.cost());
            queue.waiting.push(farewell, false);
        }
        queue.backlog = Backlog::Short;
        self.wake.notify_one();
        self.changed.notify_waiters();
    }

    /// Drops the waiting messages, because too much waits for all peers. Returns whether the queue is over. A
    /// lasting queue is only emptied.
    pub(crate) fn evict(&self) -> bool {
        match self.lasts {
            true => self.empty(&mut self.queue.lock(), None),
            false => {
                self.forget();
                self.end();
            }
        }
        !self.lasts
    }

    /// How many bytes wait or are kept, and since when nothing was written. The time is `None` if there is no
    /// connection.
    pub(crate) fn waiting(&self) -> (usize, Option<Instant>) {
        let queue = self.queue.lock();
        let kept = queue.kept.as_ref().map(Kept::bytes);
        let is_suspended = kept.is_some() && queue.phase != OutboxPhase::Open;
        let moved = (!is_suspended).then_some(queue.moved);
        (queue.bytes + kept.unwrap_or_default(), moved)
    }

    /// Closes the connection after the queued messages. The first reason given is the one sent.
    pub fn close(&self, code: CloseCode, reason: String) {
        let mut queue = self.queue.lock();
        queue.close.get_or_insert((code, reason));
        queue.phase = queue.phase.max(OutboxPhase::Closing);
        drop(queue);
        self.wake.notify_one();
        self.changed.notify_waiters();
    }

    /// Drops the queued messages. Nothing more is written.
    pub fn end(&self) {
        let mut queue = self.queue.lock();
        queue.settle();
        queue.waiting = Lanes::default();
        self.budget.give_back(std::mem::take(&mut queue.bytes));
        queue.phase = OutboxPhase::Over;
        queue.backlog = Backlog::Short;
        drop(queue);
        self.changed.notify_waiters();
    }

    /// Takes out the next step, if there is one.
    pub fn pop(&self) -> Option<OutboxStep> {
        let mut queue = self.queue.lock();
        match queue.waiting.pop() {
            Some(Waiting { message, is_kept }) => {
                if let Some(kept) = queue.kept.as_mut().filter(|_| is_kept) {
                    kept.keep(message.clone());
                }
                let cost = message.cost();
                Some(OutboxStep::Message(message, cost))
            }
            None => queue
                .close
                .take()
                .map(|(code, reason)| OutboxStep::Close(code, reason)),
        }
    }

    /// Waits for the next step.
    pub async fn next(&self) -> OutboxStep {
        loop {
            if let Some(step) = self.pop() {
                return step;
            }
            self.wake.notified().await;
        }
    }

    /// A message that was taken out has been written. Returns whether [`Outbox::backlog`] became less.
    pub fn written(&self, cost: usize) -> bool {
        let mut queue = self.queue.lock();
        let gone = cost.min(queue.bytes);
        queue.bytes -= gone;
        queue.moved = Instant::now();
        self.budget.give_back(gone);
        let less = queue.phase == OutboxPhase::Open && queue.shrink(self.limit);
        drop(queue);
        // Not after every message: as a rule, the waiter is the task that writes.
        if less {
            self.changed.notify_waiters();
        }
        less
    }

    /// Whether messages are still queued and written.
    pub fn is_open(&self) -> bool {
        self.queue.lock().phase == OutboxPhase::Open
    }

    /// Whether nothing more is written.
    pub fn is_over(&self) -> bool {
        self.queue.lock().phase == OutboxPhase::Over
    }

    /// Whether the queue has passed half of its limit and has not become short again.
    pub fn is_congested(&self) -> bool {
        self.backlog() != Backlog::Short
    }

    /// How full the queue became, until it becomes short again.
    pub fn backlog(&self) -> Backlog {
        self.queue.lock().backlog
    }

    /// Waits until the queue is not congested.
    pub async fn short(&self) {
        self.until(|queue| queue.backlog == Backlog::Short).await;
    }

    /// Waits until the connection reaches `phase`.
    pub async fn reached(&self, phase: OutboxPhase) {
        self.until(|queue| queue.phase >= phase).await;
    }

    async fn until(&self, holds: impl Fn(&mut Queue) -> bool) {
        let mut changed = pin!(self.changed.notified());
        loop {
            // From here on, a change during the check below wakes this task.
            changed.as_mut().enable();
            if holds(&mut self.queue.lock()) {
                return;
            }
            changed.as_mut().await;
            changed.set(self.changed.notified());
        }
    }
}

impl Queue {
    /// See [`Backlog::grow`].
    fn grow(&mut self, limit: usize) -> Option<Backlog> {
        self.backlog.grow(self.bytes, limit)
    }

    /// See [`Backlog::shrink`].
    fn shrink(&mut self, limit: usize) -> bool {
        self.backlog.shrink(self.bytes, limit)
    }

    /// Settles the order in which the waiting messages are written and kept.
    fn settle(&mut self) {
        let Some(kept) = &mut self.kept else {
            return;
        };
        for Waiting { message, is_kept } in self.waiting.take() {
            if is_kept {
                kept.keep(message.clone());
            }
            self.waiting.push_ahead(message);
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.budget.give_back(self.queue.lock().bytes);
        self.forget();
    }
}

#[cfg(test)]
mod tests;
