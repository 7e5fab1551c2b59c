//! What waits to be written to one peer.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

use crate::broker::CloseCode;
use crate::wire::Outgoing;

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Messages come and go.
    Open,
    /// Nothing is queued any more; what is queued is written, then the close frame.
    Closing,
    /// Nothing more is written.
    Over,
}

/// What became of a message pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It waits.
    Queued,
    /// It waits, and with it the queue has passed half of its limit.
    Congested,
    /// There was no room for it: the queue is over.
    Overflow,
    /// There was no room for it in a queue that lasts: it and what waited are dropped, but for
    /// farewells.
    Emptied,
}

/// What is to be written next.
#[derive(Debug)]
pub enum Step {
    /// A message, and what to give to [`Outbox::written`] afterwards.
    Message(Outgoing, usize),
    /// The close frame, the last of all.
    Close(CloseCode, String),
}

/// A queue bounded in bytes, which counts a message until it is written.
#[derive(Debug)]
pub struct Outbox {
    limit: usize,
    lasts: bool,
    queue: Mutex<Queue>,
    wake: Notify,
    drained: Notify,
    phase: watch::Sender<Phase>,
    congested: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Outgoing>,
    bytes: usize,
    close: Option<(CloseCode, String)>,
    /// Somebody waits for so few bytes to be left.
    awaited: Option<usize>,
}

impl Outbox {
    /// An empty queue for at most `limit` bytes, or one message.
    pub fn new(limit: usize) -> Self {
        Outbox {
            limit,
            lasts: false,
            queue: Mutex::default(),
            wake: Notify::new(),
            drained: Notify::new(),
            phase: watch::Sender::new(Phase::Open),
            congested: watch::Sender::new(false),
        }
    }

    /// One that is emptied, and goes on, when there is no room.
    pub fn lasting(limit: usize) -> Self {
        Outbox {
            lasts: true,
            ..Outbox::new(limit)
        }
    }

    /// Queues a message. After [`Outbox::close`] it is dropped.
    pub fn push(&self, message: Outgoing) -> Pushed {
        let mut queue = self.queue();
        if *self.phase.borrow() != Phase::Open {
            return Pushed::Queued;
        }
        let cost = message.cost();
        if queue.bytes > 0 && queue.bytes + cost > self.limit {
            if self.lasts {
                queue.messages.retain(Outgoing::is_farewell);
                queue
                    .messages
                    .extend(Some(message).filter(Outgoing::is_farewell));
                queue.bytes = queue.messages.iter().map(Outgoing::cost).sum();
                self.congested.send_replace(false);
                drop(queue);
                self.wake.notify_one();
                return Pushed::Emptied;
            }
            drop(queue);
            self.end();
            return Pushed::Overflow;
        }
        queue.bytes += cost;
        queue.messages.push_back(message);
        let congested = queue.bytes > self.limit / 2 && !self.congested.send_replace(true);
        drop(queue);
        self.wake.notify_one();
        if congested {
            Pushed::Congested
        } else {
            Pushed::Queued
        }
    }

    /// Queues messages whatever the limit, for a connection that takes over from another.
    pub fn refill(&self, messages: impl Iterator<Item = Outgoing>) {
        let mut queue = self.queue();
        if *self.phase.borrow() != Phase::Open {
            return;
        }
        for message in messages {
            queue.bytes += message.cost();
            queue.messages.push_back(message);
        }
        if queue.bytes > self.limit / 2 {
            self.congested.send_replace(true);
        }
        drop(queue);
        self.wake.notify_one();
    }

    /// Closes after what is queued. The first reason given is the one sent.
    pub fn close(&self, code: CloseCode, reason: String) {
        let mut queue = self.queue();
        if queue.close.is_none() {
            queue.close = Some((code, reason));
        }
        self.phase.send_if_modified(|phase| {
            let open = *phase == Phase::Open;
            *phase = (*phase).max(Phase::Closing);
            open
        });
        drop(queue);
        self.wake.notify_one();
        self.drained.notify_one();
    }

    /// Drops what is queued: nothing more is written.
    pub fn end(&self) {
        let mut queue = self.queue();
        queue.messages.clear();
        queue.bytes = 0;
        self.phase.send_replace(Phase::Over);
        self.congested.send_replace(false);
        self.drained.notify_one();
    }

    /// Takes out what is next, if there is anything.
    pub fn pop(&self) -> Option<Step> {
        let mut queue = self.queue();
        match queue.messages.pop_front() {
            Some(message) => {
                let cost = message.cost();
                Some(Step::Message(message, cost))
            }
            None => queue
                .close
                .take()
                .map(|(code, reason)| Step::Close(code, reason)),
        }
    }

    /// Waits for what is next.
    pub async fn next(&self) -> Step {
        loop {
            if let Some(step) = self.pop() {
                return step;
            }
            self.wake.notified().await;
        }
    }

    /// A message that was taken out has been written. Whether the queue is short again, having
    /// been congested.
    pub fn written(&self, cost: usize) -> bool {
        let mut queue = self.queue();
        queue.bytes = queue.bytes.saturating_sub(cost);
        if queue.awaited.is_some_and(|few| queue.bytes <= few) {
            queue.awaited = None;
            self.drained.notify_one();
        }
        queue.bytes < self.limit / 4 && self.congested.send_if_modified(std::mem::take)
    }

    /// Whether messages still come and go.
    pub fn is_open(&self) -> bool {
        *self.phase.borrow() == Phase::Open
    }

    /// Whether the queue has passed half of its limit and is not short again.
    pub fn is_congested(&self) -> bool {
        *self.congested.borrow()
    }

    /// Waits until the queue is not congested.
    pub async fn short(&self) {
        let _ = self
            .congested
            .subscribe()
            .wait_for(|congested| !congested)
            .await;
    }

    /// Waits until at most `few` bytes are queued, or nothing is queued any more. For one at a time.
    pub async fn drained(&self, few: usize) {
        loop {
            {
                let mut queue = self.queue();
                if queue.bytes <= few || *self.phase.borrow() != Phase::Open {
                    return;
                }
                queue.awaited = Some(few);
            }
            self.drained.notified().await;
        }
    }

    /// Waits until the connection has come as far as `phase`.
    pub async fn reached(&self, phase: Phase) {
        let _ = self.phase.subscribe().wait_for(|now| *now >= phase).await;
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Header;

    fn message(bytes: usize) -> Outgoing {
        let header = Header {
            kind: "progress",
            id: None,
            agent: None,
            timestamp: "0",
        };
        Outgoing::new(header, &"x".repeat(bytes), None)
    }

    #[test]
    fn a_queue_says_when_it_is_long_and_when_it_is_short_again() {
        let outbox = Outbox::new(10_000);
        assert_eq!(outbox.push(message(4_000)), Pushed::Queued);
        assert_eq!(outbox.push(message(2_000)), Pushed::Congested);
        assert_eq!(outbox.push(message(2_000)), Pushed::Queued);
        let mut short = Vec::new();
        while let Some(Step::Message(_, cost)) = outbox.pop() {
            short.push(outbox.written(cost));
        }
        assert_eq!(short, [false, true, false]);
    }

    #[test]
    fn a_queue_past_its_limit_is_over() {
        let outbox = Outbox::new(10_000);
        assert_eq!(
            outbox.push(message(20_000)),
            Pushed::Congested,
            "one message always fits"
        );
        assert_eq!(outbox.push(message(1)), Pushed::Overflow);
        assert!(outbox.pop().is_none());
        assert_eq!(*outbox.phase.borrow(), Phase::Over);
    }

    #[test]
    fn a_queue_that_lasts_is_emptied_but_for_farewells() {
        let outbox = Outbox::lasting(10_000);
        let header = Header {
            kind: "agent/closed",
            id: None,
            agent: Some("a1"),
            timestamp: "0",
        };
        outbox.push(Outgoing::new(header, "{}", None));
        assert_eq!(outbox.push(message(9_000)), Pushed::Congested);
        assert_eq!(outbox.push(message(9_000)), Pushed::Emptied);
        assert!(outbox.is_open() && !outbox.is_congested());
        assert!(matches!(outbox.pop(), Some(Step::Message(farewell, _)) if farewell.is_farewell()));
        assert!(outbox.pop().is_none());
        assert_eq!(outbox.push(message(9_000)), Pushed::Congested);
    }

    #[test]
    fn a_farewell_that_finds_no_room_in_a_queue_that_lasts_is_kept() {
        let outbox = Outbox::lasting(10_000);
        let farewell = |agent| {
            let header = Header {
                kind: "agent/closed",
                id: None,
                agent: Some(agent),
                timestamp: "0",
            };
            Outgoing::new(header, "{}", None)
        };
        outbox.push(farewell("a1"));
        outbox.push(message(9_000));
        while outbox.push(farewell("a2")) != Pushed::Emptied {}
        let mut left = 0;
        while let Some(Step::Message(farewell, cost)) = outbox.pop() {
            assert!(farewell.is_farewell());
            outbox.written(cost);
            left += 1;
        }
        let cost = farewell("a2").cost();
        assert_eq!(left, 1 + (10_000 - message(9_000).cost() - cost) / cost + 1);
        assert_eq!(
            outbox.push(message(5_000)),
            Pushed::Congested,
            "nothing is counted twice"
        );
    }

    #[tokio::test]
    async fn whoever_waits_for_a_short_queue_is_told() {
        let outbox = Outbox::new(10_000);
        outbox.push(message(4_000));
        outbox.push(message(400));
        let mut waiting = std::pin::pin!(outbox.drained(1_000));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        let Some(Step::Message(_, cost)) = outbox.pop() else {
            panic!("no message");
        };
        outbox.written(cost);
        waiting.await;
        let mut waiting = std::pin::pin!(outbox.drained(0));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        outbox.close(CloseCode::NORMAL, String::new());
        waiting.await;
    }

    #[test]
    fn the_close_frame_comes_after_what_was_queued_and_nothing_after_it() {
        let outbox = Outbox::new(10_000);
        outbox.push(message(1));
        outbox.close(CloseCode::APP_GONE, "first".into());
        outbox.close(CloseCode::GOING_AWAY, "second".into());
        outbox.push(message(2));
        assert!(matches!(outbox.pop(), Some(Step::Message(..))));
        assert!(
            matches!(outbox.pop(), Some(Step::Close(CloseCode::APP_GONE, reason)) if reason == "first")
        );
        assert!(outbox.pop().is_none());
    }
}
