//! One app's session, which outlives the connection it is on.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Mutex, MutexGuard};
use subtle::ConstantTimeEq;
use tokio::sync::{Notify, watch};

use super::delivery::{Misfit, Received, Sent};
use super::messages::Lost;
use crate::broker::{Backlog, CloseCode, PeerId};
use crate::gateway::outbox::{Budget, Outbox, Pushed};
use crate::tokens::Identity;
use crate::wire::Outgoing;

/// The link of a session that is over.
const ENDED: u64 = u64::MAX;

/// A session. Each connection it is on is a *link*, and later ones have greater numbers.
pub struct Session {
    /// A connection that knows it may take the session up.
    pub token: String,
    /// What the app is called by.
    pub app: Arc<str>,
    /// Who has registered it.
    owner: Identity,
    /// The app, to the broker.
    pub peer: PeerId,
    /// Told when a message has come that is to be acknowledged a little later.
    pub untold: Notify,
    limit: usize,
    budget: Arc<Budget>,
    inbound: Mutex<Inbound>,
    outbound: Mutex<Outbound>,
    link: watch::Sender<u64>,
}

/// The way in.
pub struct Inbound {
    /// The link whose messages are taken.
    pub link: u64,
    /// What was taken.
    pub received: Received,
}

struct Outbound {
    /// What is kept for another connection; nothing once it was too much.
    sent: Option<Sent<Outgoing>>,
    /// The queue of the connection the session is on, or was on when it ended.
    outbox: Option<Arc<Outbox>>,
    backlog: Backlog,
    ended: bool,
}

/// What became of a session whose connection was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing: it is over, or on another connection.
    Nothing,
    /// It cannot be taken up again.
    Over,
    /// It waits, and this much waits to be written.
    Waiting { backlog: Backlog },
}

impl Session {
    /// A session on the connection behind `outbox`, which is its link 1.
    pub fn new(
        peer: PeerId,
        (app, owner): (Arc<str>, Identity),
        token: String,
        (limit, budget): (usize, Arc<Budget>),
        outbox: Arc<Outbox>,
    ) -> Self {
        Session {
            token,
            app,
            owner,
            peer,
            untold: Notify::new(),
            limit,
            budget,
            inbound: Mutex::new(Inbound {
                link: 1,
                received: Received::default(),
            }),
            outbound: Mutex::new(Outbound {
                sent: Some(Sent::default()),
                outbox: Some(outbox),
                backlog: Backlog::Short,
                ended: false,
            }),
            link: watch::Sender::new(1),
        }
    }

    /// Whether `by`, which shows `token`, may take it up, or have it ended. How long this
    /// takes tells nothing of the token.
    pub fn is_of(&self, token: &str, by: &Identity) -> bool {
        let known = bool::from(self.token.as_bytes().ct_eq(token.as_bytes()));
        known && by.may_reach(&self.app) && (by.is_admin() || by.name == self.owner.name)
    }

    /// The way in. The one that takes a message holds it until the broker knows the message.
    pub fn inbound(&self) -> MutexGuard<'_, Inbound> {
        self.inbound.lock()
    }

    /// Queues a message for the app, and keeps it until the app has it.
    pub fn push(&self, message: Outgoing) -> Pushed {
        let out = &mut *self.outbound.lock();
        if out.ended {
            return Pushed::Queued;
        }
        let Some(sent) = &mut out.sent else {
            return match &out.outbox {
                Some(outbox) => outbox.push(message),
                None => Pushed::Queued,
            };
        };
        let cost = message.cost();
        let fits = sent.bytes() == 0 || sent.bytes() + cost <= self.limit;
        match &out.outbox {
            Some(outbox) if fits => {
                self.budget.add(cost);
                sent.keep(message.clone(), cost);
                outbox.push(message)
            }
            Some(outbox) => {
                self.budget.give_back(sent.bytes());
                out.sent = None;
                match outbox.push(message) {
                    Pushed::Queued => Pushed::Unkept,
                    pushed => pushed,
                }
            }
            None if !fits => Pushed::Overflow,
            None => {
                self.budget.add(cost);
                sent.keep(message, cost);
                let grown = out.backlog.grow(sent.bytes(), self.limit);
                grown.map_or(Pushed::Queued, Pushed::from)
            }
        }
    }

    /// See [`Queue::peer`](super::queues::Queue::peer).
    pub(super) fn peer_for_log(&self) -> (Option<SocketAddr>, Option<String>) {
        let outbound = self.outbound.lock();
        let outbox = outbound.outbox.as_ref();
        let address = outbox.and_then(|outbox| outbox.peer().0);
        (address, Some(self.app.to_string()))
    }

    /// Closes the connection, if the session is on one.
    pub fn close(&self, code: CloseCode, reason: String) {
        if let Some(outbox) = &self.outbound.lock().outbox {
            outbox.close(code, reason);
        }
    }

    /// The app has received this many messages.
    pub fn acknowledge(&self, received: u64) -> Result<(), Misfit> {
        match &mut self.outbound.lock().sent {
            Some(sent) => self.taken(sent, received),
            None => Ok(()),
        }
    }

    /// The connection of `link` was lost.
    pub fn suspend(&self, link: u64) -> Left {
        let mut out = self.outbound.lock();
        if out.ended || *self.link.borrow() != link {
            return Left::Nothing;
        }
        let Some(sent) = &out.sent else {
            return Left::Over;
        };
        let backlog = Backlog::of(sent.bytes(), self.limit);
        out.backlog = backlog;
        out.outbox = None;
        Left::Waiting { backlog }
    }

    /// Moves to another connection, whose app has received this many messages: `first` goes there,
    /// then what is lacking. Closes the connection before. Returns the number of the link.
    pub fn attach(
        &self,
        inbound: &mut Inbound,
        received: u64,
        outbox: Arc<Outbox>,
        first: Outgoing,
    ) -> Result<u64, Lost> {
        let out = &mut *self.outbound.lock();
        if out.ended {
            return Err(Lost::Unknown);
        }
        // Nothing is kept of a session that was too much.
        let sent = out.sent.as_mut().ok_or(Lost::Misfit)?;
        self.taken(sent, received).map_err(|_| Lost::Misfit)?;
        outbox.refill([first].into_iter().chain(sent.kept().cloned()));
        if let Some(before) = out.outbox.replace(outbox) {
            let reason = "The app has resumed on another connection";
            before.close(CloseCode::REPLACED, reason.into());
            // What it has not written goes over the new one.
            before.end();
        }
        out.backlog = Backlog::Short;
        inbound.link += 1;
        self.link.send_replace(inbound.link);
        Ok(inbound.link)
    }

    /// Ends, if it is still on `link`. Whether it has.
    pub fn end_link(&self, link: u64) -> bool {
        let mut out = self.outbound.lock();
        let current = !out.ended && *self.link.borrow() == link;
        if current {
            out.ended = true;
            self.link.send_replace(ENDED);
        }
        current
    }

    /// Ends. Whether it was suspended.
    pub fn end(&self) -> bool {
        let mut out = self.outbound.lock();
        out.ended = true;
        if let Some(sent) = out.sent.take() {
            self.budget.give_back(sent.bytes());
        }
        self.link.send_replace(ENDED);
        out.outbox.is_none()
    }

    /// The queue of the connection of `link`, while the session is on it.
    pub fn outbox(&self, link: u64) -> Option<Arc<Outbox>> {
        let out = self.outbound.lock();
        let current = !out.ended && *self.link.borrow() == link;
        out.outbox.clone().filter(|_| current)
    }

    /// Waits until it is on another link than `link`, or over.
    pub async fn moved_on(&self, link: u64) {
        let _ = self.link.subscribe().wait_for(|now| *now > link).await;
    }

    /// Waits until it is over.
    pub async fn over(&self) {
        self.moved_on(ENDED - 1).await;
    }

    /// How many bytes wait for the app, and since when nothing was written; of one that is
    /// suspended, for ever.
    pub fn waiting(&self) -> (usize, Option<Instant>) {
        let out = self.outbound.lock();
        let kept = out.sent.as_ref().map_or(0, Sent::bytes);
        match &out.outbox {
            Some(outbox) => {
                let (bytes, moved) = outbox.waiting();
                (bytes + kept, Some(moved))
            }
            None => (kept, None),
        }
    }

    /// Drops what waits, and closes the connection: nothing of it will be sent.
    pub fn evict(&self) {
        self.end();
        if let Some(outbox) = &self.outbound.lock().outbox {
            outbox.end();
        }
    }

    /// The app has received this many messages: they are no longer kept.
    fn taken(&self, sent: &mut Sent<Outgoing>, received: u64) -> Result<(), Misfit> {
        let before = sent.bytes();
        let taken = sent.acknowledge(received);
        self.budget.give_back(before - sent.bytes());
        taken
    }
}
