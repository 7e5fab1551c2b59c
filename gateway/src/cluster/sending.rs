//! Sending to other workers. What is for another worker waits in one queue, in order. Only what must not wait goes
//! into a queue without room.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::Cluster;
use super::message::{Message, Notice, Parcel};
use super::worker::WorkerId;

/// How often to look for room without a notification.
const LOOK: Duration = Duration::from_millis(50);

impl Cluster {
    /// Sends to one worker, unless the worker is gone.
    pub fn send(&self, worker: WorkerId, parcel: &Parcel) {
        self.push([worker], parcel);
    }

    /// Sends to all other workers.
    pub fn send_all(&self, parcel: &Parcel) {
        self.push(self.known(), parcel);
    }

    /// Waits for room in the queue to a worker, and then sends. Does nothing if the worker is gone.
    pub async fn send_in_turn(&self, worker: WorkerId, parcel: &Parcel) {
        let Some(bytes) = packed(parcel) else { return };
        // Another sender may take the room first.
        while !self.peers().push_into_room(worker, bytes.clone()) {
            self.room(worker).await;
        }
        self.outgoing.notify_one();
    }

    /// Tells all other workers that have room in their queues. Returns whether all of them had room.
    pub fn tell_all(&self, notice: Notice) -> bool {
        let Some(bytes) = packed(&Message::Tell(notice).into()) else {
            return false;
        };
        let mut is_told = true;
        for worker in self.known() {
            is_told &= self.peers().push_into_room(worker, bytes.clone());
        }
        self.outgoing.notify_one();
        is_told
    }

    /// Tells all other workers, each when its queue has room.
    pub async fn tell_all_in_turn(&self, notice: Notice) {
        let parcel: Parcel = Message::Tell(notice).into();
        for worker in self.known() {
            self.send_in_turn(worker, &parcel).await;
        }
    }

    /// Waits, at most `patience`, for room in the queues to all other workers.
    pub async fn room_everywhere(&self, patience: Duration) {
        let all = async {
            for worker in self.known() {
                self.room(worker).await;
            }
        };
        let _ = timeout(patience, all).await;
    }

    /// Waits for room in the queue to a worker.
    async fn room(&self, worker: WorkerId) {
        while let Some(room) = self.full(worker) {
            // The notification may have come between the check and the wait.
            let _ = timeout(LOOK, room.notified()).await;
        }
    }

    /// The notification of room in the queue to a worker. `None` if there is room now or the worker is gone.
    fn full(&self, worker: WorkerId) -> Option<Arc<Notify>> {
        let peers = self.peers();
        let peer = peers.others.get(&worker)?;
        (!peer.link.has_room()).then(|| peer.room.clone())
    }

    fn push(&self, workers: impl IntoIterator<Item = WorkerId>, parcel: &Parcel) {
        // The parcel is packed outside the lock, so that others may send meanwhile.
        let Some(bytes) = packed(parcel) else { return };
        let mut peers = self.peers();
        for worker in workers {
            peers.push(worker, bytes.clone());
        }
        drop(peers);
        self.outgoing.notify_one();
    }

    /// The other workers, also while Redis is away.
    fn known(&self) -> Vec<WorkerId> {
        self.peers().others.keys().copied().collect()
    }
}

fn packed(parcel: &Parcel) -> Option<Bytes> {
    let bytes = parcel.pack();
    if bytes.is_none() {
        tracing::error!("a message is too large for other workers");
    }
    bytes
}
