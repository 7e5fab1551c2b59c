//! The queue of each peer, and the sessions that can be resumed.

use std::ptr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tokio::task::AbortHandle;

use super::messages::Lost;
use super::session::AppSession;
use crate::broker::{CloseCode, PeerId};
use crate::gateway::outbox::Outbox;
use crate::tokens::Identity;
use crate::wire::Outgoing;

/// A peer counts as not reading if something has waited this long and nothing was written to the peer.
const STUCK: Duration = Duration::from_secs(1);

/// The weight divisor for peers that are reading.
const READS: usize = 8;

/// The queue to a peer.
struct Queue {
    outbox: Arc<Outbox>,
    /// The peer's owner, if the broker does not know the peer.
    owner: Option<Arc<str>>,
    session: Option<Held>,
}

/// A session that the peer may resume.
struct Held {
    session: Arc<AppSession>,
    /// The timer that gives the session up, while there is no connection.
    suspended: Option<AbortHandle>,
}

/// All queues.
#[derive(Default)]
pub struct Queues {
    queues: FxHashMap<PeerId, Queue>,
    /// The queues of forgotten peers, as long as some of their messages may still be written.
    leaving: Vec<Weak<Outbox>>,
    /// The counts of sessions.
    pub counts: SessionCounts,
}

/// The counts of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// How many sessions wait for their app.
    pub suspended: usize,
    /// How many times a session was resumed.
    pub resumed: u64,
    /// How many sessions have ended while they waited for their app.
    pub lost: u64,
}

impl Queues {
    pub fn insert(&mut self, peer: PeerId, outbox: Arc<Outbox>) {
        self.insert_of(None, peer, outbox);
    }

    /// Inserts a queue. A queue to a peer that the broker does not know has an `owner`.
    pub fn insert_of(&mut self, owner: Option<Arc<str>>, peer: PeerId, outbox: Arc<Outbox>) {
        let session = None;
        let queue = Queue {
            outbox,
            owner,
            session,
        };
        self.queues.insert(peer, queue);
    }

    /// The queue of the connection that the peer is on, or was on before the connection was lost.
    pub fn get(&self, peer: &PeerId) -> Option<&Arc<Outbox>> {
        self.queues.get(peer).map(|queue| &queue.outbox)
    }

    /// Whether a peer is on the connection behind `outbox`.
    pub fn is_on(&self, peer: PeerId, outbox: &Outbox) -> bool {
        self.get(&peer).is_some_and(|it| ptr::eq(&**it, outbox))
    }

    /// Drops the unread last messages of peers that are forgotten. Returns whether there were any such peers.
    pub fn drop_leaving(&mut self) -> bool {
        let leaving = self.leaving.iter().filter_map(Weak::upgrade);
        // An open queue may belong to a session by now.
        let leaving: Vec<_> = leaving.filter(|outbox| !outbox.is_open()).collect();
        leaving.iter().for_each(|outbox| outbox.end());
        self.leaving
            .retain(|it| it.upgrade().is_some_and(|outbox| outbox.is_open()));
        !leaving.is_empty()
    }

    /// The peer to evict: the peer with the largest queue, of the owner with most bytes waiting. The bytes of
    /// a peer that reads count less. `owner` returns the owner of a peer. A peer without an owner counts for
    /// itself.
    pub fn longest<'a>(&'a self, owner: impl Fn(PeerId) -> Option<&'a Arc<str>>) -> Option<PeerId> {
        let now = Instant::now();
        let weights = self.queues.iter().filter_map(|(peer, queue)| {
            let (bytes, moved) = queue.outbox.waiting();
            let stuck = moved.is_none_or(|moved| now.duration_since(moved) >= STUCK);
            let weight = if stuck { bytes } else { bytes / READS };
            let owner = queue.owner.as_ref().or_else(|| owner(*peer));
            (bytes > 0).then_some((owner, weight, *peer))
        });
        let weights: Vec<_> = weights.collect();
        let mut sums: FxHashMap<&Arc<str>, usize> = FxHashMap::default();
        for (owner, weight, _) in &weights {
            if let Some(owner) = owner {
                *sums.entry(owner).or_default() += weight;
            }
        }
        let most = weights.iter().max_by_key(|(owner, weight, peer)| {
            let of_owner = owner.and_then(|owner| sums.get(owner)).unwrap_or(weight);
            (*of_owner, *weight, *peer)
        });
        most.map(|(_, _, peer)| *peer)
    }

    /// Forgets a peer whose session is over.
    pub fn remove(&mut self, peer: &PeerId) -> Option<Arc<Outbox>> {
        let Queue {
            outbox, session, ..
        } = self.queues.remove(peer)?;
        if let Some(held) = session {
            outbox.forget();
            if let Some(timer) = held.suspended {
                timer.abort();
                self.counts.suspended -= 1;
                self.counts.lost += 1;
            }
        }
        self.leaving.retain(|it| it.strong_count() > 0);
        self.leaving.push(Arc::downgrade(&outbox));
        Some(outbox)
    }

    /// The peer whose session has that token, if the session belongs to that app. The broker checks the
    /// owner.
    pub fn peer_of_session(&self, token: &str, app: &str) -> Option<PeerId> {
        let session = self.session_named(token)?;
        (session.has(token) && *session.app == *app).then_some(session.peer)
    }

    /// The session with that token, if `by` may resume it.
    pub fn session(&self, token: &str, by: &Identity) -> Option<&Arc<AppSession>> {
        let session = self.session_named(token)?;
        session.is_of(token, by).then_some(session)
    }

    /// The session of the peer that a token names. The rest of the token is not checked.
    fn session_named(&self, token: &str) -> Option<&Arc<AppSession>> {
        let (_, rest) = token.split_once('.')?;
        let (peer, _) = rest.split_once('.')?;
        self.session_of(PeerId(peer.parse().ok()?))
    }

    /// The session of that peer.
    pub fn session_of(&self, peer: PeerId) -> Option<&Arc<AppSession>> {
        Some(&self.queues.get(&peer)?.session.as_ref()?.session)
    }

    /// From now on, messages to `peer` are kept until the peer acknowledges them. `registered`, which
    /// contains the token, is the last message that is not kept.
    pub fn keep(
        &mut self,
        peer: PeerId,
        app: (Arc<str>, Identity),
        token: String,
        registered: Outgoing,
    ) {
        let Some(queue) = self.queues.get_mut(&peer) else {
            return;
        };
        // If there is no room for this message, the connection is over, and its reader stops.
        queue.outbox.push(registered);
        queue.outbox.keep();
        let session = AppSession::new(peer, app, token, queue.outbox.clone());
        queue.session = Some(Held {
            session: Arc::new(session),
            suspended: None,
        });
    }

    /// The session of that peer has no connection. `timer` will give the session up.
    pub fn suspend(&mut self, peer: PeerId, timer: AbortHandle) {
        let queue = self.queues.get_mut(&peer);
        if let Some(held) = queue.and_then(|queue| queue.session.as_mut()) {
            held.suspended = Some(timer);
            self.counts.suspended += 1;
        }
    }

    /// Continues the session of that peer, which has received `received` messages, on the connection behind
    /// `outbox`. Queues `first` there, then the messages that the peer lacks. Closes the connection before.
    /// Returns whether there was no connection before.
    pub fn resume(
        &mut self,
        peer: PeerId,
        received: u64,
        outbox: &Arc<Outbox>,
        first: Outgoing,
    ) -> Result<bool, Lost> {
        let queue = self.queues.get_mut(&peer).ok_or(Lost::Unknown)?;
        let held = queue.session.as_mut().ok_or(Lost::Unknown)?;
        let taken_over = outbox.take_over(&queue.outbox, received, first);
        taken_over.map_err(|_| Lost::Misfit)?;
        outbox.log_app(&held.session.app);
        let before = std::mem::replace(&mut queue.outbox, outbox.clone());
        let reason = "The app has resumed on another connection";
        before.close(CloseCode::REPLACED, reason.into());
        // The new connection writes the messages that the old one has not written.
        before.end();
        self.counts.resumed += 1;
        let timer = held.suspended.take();
        if let Some(timer) = &timer {
            timer.abort();
            self.counts.suspended -= 1;
        }
        Ok(timer.is_some())
    }

    /// `app` has registered again as `by`, and claims that its session had that token. Closes the session's
    /// connection, if there is one. Returns the peer of the session, or `None` if the session does not belong
    /// to that app and identity.
    pub fn replaced(&mut self, token: &str, app: &str, by: &Identity) -> Option<PeerId> {
        let session = self.session(token, by)?;
        let peer = (*session.app == *app).then_some(session.peer)?;
        let reason = "The app has registered on another connection";
        self.remove(&peer)?
            .close(CloseCode::REPLACED, reason.into());
        Some(peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_of_many_full_queues_loses_one_before_an_owner_of_one() {
        let mut queues = Queues::default();
        let waits = |bytes| {
            let outbox = Outbox::new(1 << 20, Arc::default());
            outbox.push(Outgoing::text("x".repeat(bytes)));
            Arc::new(outbox)
        };
        let owners: [(u64, &str, usize); 4] = [
            (1, "greedy", 4_000),
            (2, "greedy", 5_000),
            (3, "greedy", 4_000),
            (4, "modest", 9_000),
        ];
        let names: FxHashMap<_, _> = owners
            .iter()
            .map(|(peer, owner, _)| (PeerId(*peer), Arc::from(*owner)))
            .collect();
        for (peer, _, bytes) in owners {
            queues.insert(PeerId(peer), waits(bytes));
        }
        assert_eq!(queues.longest(|peer| names.get(&peer)), Some(PeerId(2)));
        assert_eq!(queues.longest(|_| None), Some(PeerId(4)), "each for itself");
        // A front's own queue has an owner, too.
        queues.insert_of(Some("modest".into()), PeerId(5), waits(5_000));
        assert_eq!(queues.longest(|peer| names.get(&peer)), Some(PeerId(4)));
        queues.remove(&PeerId(4));
        assert_eq!(queues.longest(|peer| names.get(&peer)), Some(PeerId(2)));
    }
}
