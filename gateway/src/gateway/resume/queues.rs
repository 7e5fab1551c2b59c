//! What waits to be written, by peer, and the sessions that can be resumed.

use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::session::Session;
use crate::broker::{CloseCode, PeerId};
use crate::gateway::outbox::{Budget, Outbox, Pushed};
use crate::tokens::Identity;
use crate::wire::Outgoing;
use rustc_hash::FxHashMap;

/// A peer counts as not reading when something has waited this long and nothing was written to it.
const STUCK: Duration = Duration::from_secs(1);

/// Weight divisor for peers that are reading.
const READS: usize = 8;

/// Where messages for a peer go.
pub enum Queue {
    /// To its connection.
    Plain(Arc<Outbox>),
    /// To its session.
    Kept(Arc<Session>),
}

impl Queue {
    /// See [`Outbox::push`].
    pub fn push(&self, message: Outgoing) -> Pushed {
        match self {
            Queue::Plain(outbox) => outbox.push(message),
            Queue::Kept(session) => session.push(message),
        }
    }

    /// How many bytes wait, and since when nothing was written. None: nobody writes to this peer.
    pub fn waiting(&self) -> (usize, Option<Instant>) {
        match self {
            Queue::Plain(outbox) => {
                let (bytes, moved) = outbox.waiting();
                (bytes, Some(moved))
            }
            Queue::Kept(session) => session.waiting(),
        }
    }

    /// See [`Outbox::evict`].
    pub fn evict(&self) -> bool {
        match self {
            Queue::Plain(outbox) => outbox.evict(),
            Queue::Kept(session) => {
                session.evict();
                true
            }
        }
    }

    /// What the log is to say of the peer: its address, and which app it says it is.
    pub fn peer(&self) -> (Option<SocketAddr>, Option<String>) {
        match self {
            Queue::Plain(outbox) => outbox.peer(),
            Queue::Kept(session) => session.peer_for_log(),
        }
    }

    /// See [`Outbox::close`].
    pub fn close(&self, code: CloseCode, reason: String) {
        match self {
            Queue::Plain(outbox) => outbox.close(code, reason),
            Queue::Kept(session) => session.close(code, reason),
        }
    }
}

/// All of them.
#[derive(Default)]
pub struct Queues {
    queues: FxHashMap<PeerId, Queue>,
    /// Owners of queues the broker does not know.
    owners: FxHashMap<PeerId, Arc<str>>,
    /// Queues that are no peer's any more, as long as something of them may be written.
    leaving: Vec<Weak<Outbox>>,
    /// What is counted of the sessions.
    pub counts: SessionCounts,
}

/// What is counted of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// That wait for their app.
    pub suspended: usize,
    /// How often one was taken up again.
    pub resumed: u64,
    /// That have ended while they waited for their app.
    pub lost: u64,
}

impl Queues {
    pub fn insert(&mut self, peer: PeerId, outbox: Arc<Outbox>) {
        self.queues.insert(peer, Queue::Plain(outbox));
    }

    /// A queue of `owner` that is no peer's of the broker.
    pub fn insert_of(&mut self, owner: &Arc<str>, peer: PeerId, outbox: Arc<Outbox>) {
        self.owners.insert(peer, owner.clone());
        self.insert(peer, outbox);
    }

    pub fn get(&self, peer: &PeerId) -> Option<&Queue> {
        self.queues.get(peer)
    }

    /// Drops what peers that are forgotten have not read of their last messages. Whether there were
    /// any such peers.
    pub fn drop_leaving(&mut self) -> bool {
        let leaving = self.leaving.iter().filter_map(Weak::upgrade);
        // One that is open may be a session's by now.
        let leaving: Vec<_> = leaving.filter(|outbox| !outbox.is_open()).collect();
        leaving.iter().for_each(|outbox| outbox.end());
        self.leaving
            .retain(|it| it.upgrade().is_some_and(|outbox| outbox.is_open()));
        !leaving.is_empty()
    }

    /// The peer to evict: the largest queue of the owner with most. What waits for a peer that reads
    /// counts less. `owner` tells whose a peer is; a peer without an owner counts for itself.
    pub fn longest<'a>(&'a self, owner: impl Fn(PeerId) -> Option<&'a Arc<str>>) -> Option<PeerId> {
        let now = Instant::now();
        let weights = self.queues.iter().filter_map(|(peer, queue)| {
            let (bytes, moved) = queue.waiting();
            let stuck = moved.is_none_or(|moved| now.duration_since(moved) >= STUCK);
            let weight = if stuck { bytes } else { bytes / READS };
            let owner = self.owners.get(peer).or_else(|| owner(*peer));
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

    /// Forgets a peer, whose session is over.
    pub fn remove(&mut self, peer: &PeerId) -> Option<Queue> {
        self.owners.remove(peer);
        let queue = self.queues.remove(peer)?;
        match &queue {
            Queue::Kept(session) if session.end() => {
                self.counts.suspended -= 1;
                self.counts.lost += 1;
            }
            Queue::Kept(_) => {}
            Queue::Plain(outbox) => {
                self.leaving.retain(|it| it.strong_count() > 0);
                self.leaving.push(Arc::downgrade(outbox));
            }
        }
        Some(queue)
    }

    /// The session with that token, if `by` may take it up.
    pub fn session(&self, token: &str, by: &Identity) -> Option<&Arc<Session>> {
        let (_, rest) = token.split_once('.')?;
        let (peer, _) = rest.split_once('.')?;
        match self.queues.get(&PeerId(peer.parse().ok()?))? {
            Queue::Kept(session) => session.is_of(token, by).then_some(session),
            Queue::Plain(_) => None,
        }
    }

    /// From now on messages to `peer` are kept until it has them. `registered`, with the token in
    /// it, is the last one that is not.
    pub fn keep(
        &mut self,
        peer: PeerId,
        app: (Arc<str>, Identity),
        token: String,
        limits: (usize, Arc<Budget>),
        registered: Outgoing,
    ) {
        let Some(Queue::Plain(outbox)) = self.queues.get(&peer) else {
            return;
        };
        // If there is no room for it the connection is over, and reading from it ends.
        outbox.push(registered);
        let session = Session::new(peer, app, token, limits, outbox.clone());
        self.queues.insert(peer, Queue::Kept(Arc::new(session)));
    }

    /// `app` has registered afresh, as `by`, and says that its session was the one with that token:
    /// closes the session's connection, if it has one. The peer the session was; nothing if it was
    /// not theirs.
    pub fn replaced(&mut self, token: &str, app: &str, by: &Identity) -> Option<PeerId> {
        let session = self.session(token, by)?;
        let peer = (*session.app == *app).then_some(session.peer)?;
        let queue = self.remove(&peer)?;
        let reason = "The app has registered on another connection";
        queue.close(CloseCode::REPLACED, reason.into());
        Some(peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_fills_many_queues_loses_one_before_whoever_fills_one() {
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
        // A front's own queue is somebody's too.
        queues.insert_of(&"modest".into(), PeerId(5), waits(5_000));
        assert_eq!(queues.longest(|peer| names.get(&peer)), Some(PeerId(4)));
        queues.remove(&PeerId(4));
        assert_eq!(queues.longest(|peer| names.get(&peer)), Some(PeerId(2)));
    }
}
