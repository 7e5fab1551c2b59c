//! The other workers as this one sees them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{Notify, oneshot};

use super::link::{Frame, Link, Taken};
use super::membership::{Heard, Membership};
use super::message::Answer;
use super::workers::WorkerId;

/// Frames given out at once: a bound on what is lost with a connection that breaks.
const FRAMES: usize = 64;
/// Bytes of frames given out at once, or one frame: Redis must answer in time.
const BYTES: usize = 2 << 20;
/// Ids of this worker's own that are remembered, 64.
const NAMES: usize = 64;

/// Another worker.
#[derive(Debug, Default)]
pub(super) struct Peer {
    pub name: String,
    /// What its process is called; empty before it has greeted.
    pub home: String,
    pub link: Link,
    pub room: Arc<Notify>,
}

/// What the tasks of a cluster share.
#[derive(Debug)]
pub(super) struct Peers {
    /// This worker.
    pub me: WorkerId,
    /// What it was called when it has taken part, the latest last.
    pub names: VecDeque<WorkerId>,
    pub membership: Membership,
    pub peers: BTreeMap<WorkerId, Peer>,
    /// Who waits for an answer, and whose.
    pub asked: HashMap<u64, (WorkerId, oneshot::Sender<Answer>)>,
    pub last_asked: u64,
    /// Workers that have to be told that they were taken for dead.
    pub obituaries: Vec<WorkerId>,
    /// Workers that are gone and whose runs are not known to be taken over; whether they are to be.
    pub orphans: BTreeMap<WorkerId, bool>,
    /// Everything in this worker's stream up to that id has been read.
    pub read: Option<String>,
}

impl Peers {
    pub fn new(membership: Membership) -> Self {
        Peers {
            me: WorkerId::random(),
            names: VecDeque::new(),
            membership,
            peers: BTreeMap::new(),
            asked: HashMap::new(),
            last_asked: 0,
            obituaries: Vec::new(),
            orphans: BTreeMap::new(),
            read: None,
        }
    }

    /// This worker takes part, under its present id.
    pub fn take_part(&mut self) -> WorkerId {
        if !self.names.contains(&self.me) {
            self.names.push_back(self.me);
        }
        if self.names.len() > NAMES {
            self.names.pop_front();
        }
        self.me
    }

    /// Puts a packed parcel on the way. Whether there is such a worker.
    pub fn push(&mut self, worker: WorkerId, bytes: Bytes) -> bool {
        let peer = self.peers.get_mut(&worker);
        peer.map(|peer| peer.link.push(bytes)).is_some()
    }

    /// The worker with that home, if it has introduced itself.
    pub fn at_home(&self, home: &str) -> Option<WorkerId> {
        let mut others = self.peers.iter();
        let found = others.find(|(_, peer)| !home.is_empty() && peer.home == home);
        found.map(|(worker, _)| *worker)
    }

    /// Notes that somebody waits for that worker's answer. Returns the question's number.
    pub fn waits_for(&mut self, worker: WorkerId, answer: oneshot::Sender<Answer>) -> u64 {
        self.last_asked += 1;
        self.asked.insert(self.last_asked, (worker, answer));
        self.last_asked
    }

    /// What is to be sent now.
    pub fn frames(&mut self, now: f64) -> Vec<(WorkerId, Frame)> {
        let (mut frames, mut bytes) = (Vec::new(), 0);
        for (worker, peer) in &mut self.peers {
            while frames.len() < FRAMES
                && bytes < BYTES
                && let Some(frame) = peer.link.next_frame(now)
            {
                bytes += frame.body.len();
                frames.push((*worker, frame));
            }
        }
        frames
    }

    /// Workers that are gone for good and whose runs are to be taken over.
    pub fn to_adopt(&self) -> Vec<WorkerId> {
        let due = self.orphans.iter().filter(|(_, due)| **due);
        due.map(|(id, _)| *id).collect()
    }

    /// What was to be sent at `then` has been sent by `now`.
    pub fn written(&mut self, then: f64, now: f64) {
        for peer in self.peers.values_mut() {
            peer.link.written(then, now);
        }
    }

    /// When [`Peers::frames`] is to be asked again, if nothing happens before.
    pub fn deadline(&self) -> Option<f64> {
        let deadlines = self.peers.values().filter_map(|peer| peer.link.deadline());
        deadlines.min_by(f64::total_cmp)
    }

    /// Whether there is somebody who has not introduced itself.
    pub fn has_strangers(&self) -> bool {
        self.peers.values().any(|peer| peer.home.is_empty())
    }

    /// Whether everybody has acknowledged everything.
    pub fn are_settled(&self) -> bool {
        self.peers.values().all(|peer| peer.link.is_settled())
    }

    /// What was sent may be lost.
    pub fn send_again(&mut self) {
        for peer in self.peers.values_mut() {
            peer.link.send_again();
        }
    }

    /// Takes a frame that has come: whether its sender is new, and its messages.
    pub fn take(&mut self, from: WorkerId, frame: Frame, now: f64) -> (bool, Option<Bytes>) {
        let heard = self.membership.heard(from, now);
        if heard == Heard::Dead {
            self.obituaries.push(from);
            return (false, None);
        }
        let peer = self.peers.entry(from).or_default();
        let taken = peer.link.take(frame, now);
        if peer.link.has_room() {
            peer.room.notify_waiters();
        }
        match taken {
            Taken::Next(body) => (heard == Heard::New, Some(body)),
            Taken::Nothing | Taken::Early => (heard == Heard::New, None),
        }
    }

    /// Joins anew, under another id: everybody is new. Who the others were.
    pub fn reset(&mut self) -> BTreeMap<WorkerId, Peer> {
        self.me = WorkerId::random();
        self.membership.reset();
        self.asked.clear();
        self.obituaries.clear();
        self.orphans.clear();
        self.read = None;
        std::mem::take(&mut self.peers)
    }
}
