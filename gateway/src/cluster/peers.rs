//! The other workers: which workers there are, according to their leases and messages, and the queues to
//! them. Has no sockets or clocks.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use super::link::{Frame, Gap, Link};
use super::message::Answer;
use super::worker::WorkerId;
use crate::remembered::Remembered;

/// How many frames are given out at once.
const FRAMES: usize = 64;
/// How many bytes of frames are given out at once, or one frame. This keeps the answers of Redis fast.
const BYTES: usize = 2 << 20;
/// How many workers that were taken for dead are remembered: 1 024. Their further messages must not count.
const DEAD: usize = 1_024;

/// The fraction of its lifetime that a lease must be missing before its worker counts as dead. A living
/// worker renews its lease sooner.
const MISSING: f64 = 0.25;

/// Another worker.
#[derive(Debug)]
pub(super) struct OtherWorker {
    /// The worker's name for people. Empty until the worker has greeted.
    pub name: String,
    pub link: Link,
    pub room: Arc<Notify>,
    /// When the worker last spoke, or was first seen.
    pub last_heard: f64,
    /// Since when the worker has been without a lease.
    pub missing: Option<f64>,
}

impl OtherWorker {
    /// A worker that is seen for the first time.
    pub fn new(now: f64) -> Self {
        OtherWorker {
            name: String::new(),
            link: Link::default(),
            room: Arc::default(),
            last_heard: now,
            missing: None,
        }
    }
}

/// What is known of a worker that has sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The worker is known.
    Known,
    /// The worker is new.
    New,
    /// The worker was taken for dead and does not know.
    Dead,
}

/// What the leases tell about the other workers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// The new workers.
    pub new: Vec<WorkerId>,
    /// The workers that have died.
    pub gone: Vec<WorkerId>,
    /// The workers that were taken for dead but live, and may not know.
    pub undead: Vec<WorkerId>,
}

/// The state that the tasks of a cluster share. Times are milliseconds on a monotonic clock.
#[derive(Debug)]
pub(super) struct Peers {
    /// The id of this worker.
    pub me: WorkerId,
    pub others: BTreeMap<WorkerId, OtherWorker>,
    pub dead: Remembered<WorkerId, (), DEAD>,
    /// How long a lease lasts.
    pub lease: f64,
    /// Since when Redis has answered without a break.
    pub healthy_since: f64,
    /// The waiting questions: which worker was asked, and where its answer goes.
    pub asked: HashMap<u64, (WorkerId, oneshot::Sender<Answer>)>,
    last_asked: u64,
    /// The worker whose frame was given out last.
    last_served: Option<WorkerId>,
    /// The workers that must be told that they were taken for dead.
    pub obituaries: BTreeSet<WorkerId>,
    /// The processes that have left or died, and may have had a run which would still be remembered.
    pub lost: BTreeSet<Uuid>,
    /// The id up to which this worker's stream has been read.
    pub read: Option<String>,
}

impl Peers {
    /// This worker without other workers.
    pub fn new(me: WorkerId, lease: Duration) -> Self {
        Peers {
            me,
            others: BTreeMap::new(),
            dead: Remembered::default(),
            lease: lease.as_secs_f64() * 1_000.0,
            healthy_since: 0.0,
            asked: HashMap::new(),
            last_asked: 0,
            last_served: None,
            obituaries: BTreeSet::new(),
            lost: BTreeSet::new(),
            read: None,
        }
    }

    /// Queues a packed parcel if there is room. Returns whether there was room. Returns true if the worker is
    /// gone, because there is nothing to wait for.
    pub fn push_into_room(&mut self, worker: WorkerId, bytes: Bytes) -> bool {
        let Some(peer) = self.others.get_mut(&worker) else {
            return true;
        };
        let has_room = peer.link.has_room();
        if has_room {
            peer.link.push(bytes);
        }
        has_room
    }

    /// Queues a packed parcel, unless the worker is gone.
    pub fn push(&mut self, worker: WorkerId, bytes: Bytes) {
        if let Some(peer) = self.others.get_mut(&worker) {
            peer.link.push(bytes);
        }
    }

    /// The current worker of a process.
    pub fn of_process(&self, process: Uuid) -> Option<WorkerId> {
        // The last id of the process counts: an earlier id may not be known to be over.
        let mut others = self.others.keys();
        others.rfind(|id| id.process == process).copied()
    }

    /// Notes that a question waits for that worker's answer. Returns the question's number.
    pub fn waits_for(&mut self, worker: WorkerId, answer: oneshot::Sender<Answer>) -> u64 {
        self.last_asked += 1;
        self.asked.insert(self.last_asked, (worker, answer));
        self.last_asked
    }

    /// Takes the frames to send now.
    pub fn frames(&mut self) -> Vec<(WorkerId, Frame)> {
        let (mut frames, mut bytes) = (Vec::new(), 0);
        // Workers take turns, one frame each. The next call starts with the worker after the last one.
        let mut workers: VecDeque<_> = self.others.keys().copied().collect();
        let first = workers.partition_point(|it| Some(*it) <= self.last_served);
        workers.rotate_left(first);
        while frames.len() < FRAMES
            && bytes < BYTES
            && let Some(worker) = workers.pop_front()
        {
            let peer = self.others.get_mut(&worker);
            if let Some(frame) = peer.and_then(|peer| peer.link.next_frame()) {
                bytes += frame.body.len();
                frames.push((worker, frame));
                workers.push_back(worker);
                self.last_served = Some(worker);
            }
        }
        frames
    }

    /// All frames that were being written are in the streams now.
    pub fn written(&mut self) {
        for peer in self.others.values_mut() {
            peer.link.written();
        }
    }

    /// The workers that may be so far behind that Redis should be asked how far they have read.
    pub fn behind(&self) -> Vec<WorkerId> {
        let others = self.others.iter();
        let behind = others.filter(|(_, peer)| peer.link.may_be_behind());
        behind.map(|(id, _)| *id).collect()
    }

    /// How many entries are left in the stream of that worker.
    pub fn left(&mut self, worker: WorkerId, left: usize) {
        if let Some(peer) = self.others.get_mut(&worker) {
            peer.link.left(left);
            if peer.link.has_room() {
                peer.room.notify_waiters();
            }
        }
    }

    /// Whether a worker has not greeted yet.
    pub fn has_strangers(&self) -> bool {
        self.others.values().any(|peer| peer.name.is_empty())
    }

    /// Whether everything is written for all workers.
    pub fn all_written(&self) -> bool {
        self.others.values().all(|peer| peer.link.is_written())
    }

    /// The ids that the process of that worker had before, as far as they are known.
    pub fn former(&self, worker: WorkerId) -> Vec<WorkerId> {
        let is_former = |id: &&WorkerId| id.process == worker.process && **id < worker;
        self.others.keys().filter(is_former).copied().collect()
    }

    /// A worker has sent a message.
    pub fn hears(&mut self, worker: WorkerId, now: f64) -> Heard {
        if self.is_buried(worker) {
            return Heard::Dead;
        }
        match self.others.entry(worker) {
            Entry::Occupied(known) => {
                known.into_mut().last_heard = now;
                Heard::Known
            }
            Entry::Vacant(new) => {
                new.insert(OtherWorker::new(now));
                Heard::New
            }
        }
    }

    /// Whether a worker is known to have left or died.
    pub fn is_buried(&self, worker: WorkerId) -> bool {
        self.dead.get(&worker).is_some()
    }

    /// Handles a received frame of a worker that is not buried. Returns its messages.
    pub fn take(&mut self, from: WorkerId, frame: Frame) -> Result<Bytes, Gap> {
        let peer = self.others.get_mut(&from);
        peer.map_or(Err(Gap), |peer| peer.link.take(frame))
    }

    /// Updates the other workers. `alive` are the workers that have a lease now.
    pub fn leases(&mut self, alive: &[WorkerId], now: f64) -> Census {
        let mut census = Census::default();
        for worker in alive.iter().filter(|id| !self.others.contains_key(*id)) {
            match self.is_buried(*worker) {
                true => census.undead.push(*worker),
                false => census.new.push(*worker),
            }
        }
        for worker in &census.new {
            self.others.insert(*worker, OtherWorker::new(now));
        }
        // A missing lease was not renewed for its whole lifetime, unless Redis has lost the lease.
        for (worker, peer) in &mut self.others {
            let missing = !alive.contains(worker);
            peer.missing = missing.then(|| peer.missing.unwrap_or(now));
            let is_missing = |since| now - since >= self.lease * MISSING;
            let is_silent = now - peer.last_heard.max(self.healthy_since) > self.lease;
            if is_silent && peer.missing.is_some_and(is_missing) {
                census.gone.push(*worker);
            }
        }
        census
    }

    /// Notes which processes are lost. `alive` are the workers of the `directory` that have a lease now.
    pub fn note_lost(&mut self, directory: &[WorkerId], alive: &[WorkerId]) {
        // A worker that has just left may still have a lease.
        let is_gone = |id: &&WorkerId| !alive.contains(id) || self.is_buried(**id);
        let gone = directory.iter().filter(is_gone).map(|id| id.process);
        self.lost = gone
            .filter(|process| self.of_process(*process).is_none())
            .collect();
    }

    /// Removes a worker that has left or is taken for dead.
    pub fn bury(&mut self, worker: WorkerId) -> Option<OtherWorker> {
        self.dead.insert(worker, ());
        self.others.remove(&worker)
    }

    /// Whether Redis has answered long enough that every living worker has a lease again.
    pub fn leases_are_back(&self, now: f64) -> bool {
        now - self.healthy_since > self.lease
    }

    /// Takes a new id and forgets the other workers, so that all of them are new. Returns the forgotten
    /// workers.
    pub fn reset(&mut self) -> BTreeMap<WorkerId, OtherWorker> {
        self.me = self.me.next_life();
        self.asked.clear();
        self.obituaries.clear();
        self.read = None;
        std::mem::take(&mut self.others)
    }
}

#[cfg(test)]
mod tests;
