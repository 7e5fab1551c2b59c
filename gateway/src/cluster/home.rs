//! Whether a worker that something is kept of still lives. Its id does not tell: one that joins anew
//! has another, and all do when Redis was away for long.

use std::sync::atomic::Ordering;

use super::{Cluster, WorkerId};

/// What is known of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It is this one.
    Here,
    /// It takes part.
    There,
    /// It has left, or has died.
    Over,
    /// Not all may have introduced themselves yet.
    Unsure,
}

impl Cluster {
    /// What this worker is called for as long as its process lives.
    pub fn home(&self) -> &str {
        self.hub.resume_prefix()
    }

    /// What is known of the worker with that home, which was called so when that was written.
    pub fn life_of(&self, home: &str, worker: WorkerId) -> Life {
        if home == self.home() {
            return Life::Here;
        }
        let now = self.now();
        let peers = self.peers();
        let lives = |(id, peer): (&WorkerId, &super::Peer)| {
            *id == worker || (!home.is_empty() && peer.sessions == home)
        };
        if peers.peers.iter().any(lives) {
            return Life::There;
        }
        if peers.membership.is_buried(worker) {
            return Life::Over;
        }
        let strange = peers.peers.values().any(|peer| peer.sessions.is_empty());
        let connected = self.connected.load(Ordering::Relaxed);
        match connected && peers.membership.is_settled(now) && !strange {
            true => Life::Over,
            false => Life::Unsure,
        }
    }
}
