//! The notices of this worker to all other workers.

use std::collections::VecDeque;

use bytes::Bytes;
use parking_lot::Mutex;

use super::Cluster;
use super::message::{Message, Notice, Parcel};
use super::worker::WorkerId;

/// How many notices are kept for workers that come later: 1 024.
const LASTING: usize = 1_024;

/// The newest notices for workers that come later, packed.
#[derive(Debug, Default)]
pub(super) struct Lasting(Mutex<VecDeque<Bytes>>);

impl Lasting {
    fn keep(&self, notice: Bytes) {
        let mut all = self.0.lock();
        all.push_back(notice);
        if all.len() > LASTING {
            all.pop_front();
        }
    }
}

impl Cluster {
    /// Tells all other workers that have room in their queues. Returns whether all of them had room.
    pub fn tell_all(&self, notice: Notice) -> bool {
        let parcel: Parcel = Message::Tell(notice).into();
        let Some(bytes) = parcel.pack() else {
            return false;
        };
        let mut peers = self.peers();
        let others: Vec<_> = peers.others.keys().copied().collect();
        let mut is_told = true;
        for worker in others {
            is_told &= peers.push_into_room(worker, bytes.clone());
        }
        drop(peers);
        self.outgoing.notify_one();
        is_told
    }

    /// Tells all other workers, and the workers that come later. A worker that could not be reached joins
    /// again and is told then.
    pub async fn tell_all_to_come(&self, notice: Notice) {
        let parcel: Parcel = Message::Tell(notice).into();
        if let Some(bytes) = parcel.pack() {
            self.lasting.keep(bytes);
        }
        // Workers are told even while Redis is away: the queued notices are sent later.
        let others: Vec<_> = self.peers().others.keys().copied().collect();
        for worker in others {
            self.send_in_turn(worker, &parcel).await;
        }
    }

    /// Tells a new worker the lasting notices.
    pub(super) fn tell_lasting(&self, worker: WorkerId) {
        let notices = self.lasting.0.lock().clone();
        let mut peers = self.peers();
        for notice in notices {
            peers.push(worker, notice);
        }
        drop(peers);
        self.outgoing.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_last() {
        let lasting = Lasting::default();
        for _ in 0..LASTING {
            lasting.keep(Bytes::from_static(b"old"));
        }
        lasting.keep(Bytes::from_static(b"new"));
        let all = lasting.0.lock();
        assert_eq!((all.len(), &*all[LASTING - 1]), (LASTING, &b"new"[..]));
    }
}
