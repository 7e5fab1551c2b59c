//! The other workers as this one sees them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;

use super::bridge::Tunnels;
use super::link::{Frame, Link, Taken};
use super::membership::{Heard, Membership};
use super::message::{AppKey, Parcel, TunnelId};
use super::question::Answer;
use super::worker::WorkerId;
use crate::broker::{Event, Offer, PeerId};
use crate::gateway::Hub;

/// Frames given out at once: a bound on what is lost with a connection that breaks.
const FRAMES: usize = 64;
/// Bytes of frames given out at once, or one frame: Redis must answer in time.
const BYTES: usize = 2 << 20;
/// Ids of this worker's own that are remembered, 64.
const NAMES: usize = 64;

/// A peer of the relay that stands for somebody on another worker.
#[derive(Debug)]
pub(super) struct Proxy {
    pub peer: PeerId,
    pub forwarder: AbortHandle,
}

impl Proxy {
    /// It leaves the relay: whom it stood for is gone.
    pub fn leave(self, hub: &Hub) {
        self.forwarder.abort();
        hub.handle(Event::Gone { peer: self.peer });
    }
}

/// Another worker.
#[derive(Debug, Default)]
pub(super) struct Peer {
    pub name: String,
    /// The version it has greeted with; 0 before that.
    pub version: u32,
    /// What the tokens of its apps' sessions begin with.
    pub sessions: String,
    pub link: Link,
    pub room: Arc<Notify>,
    /// Its apps, which are apps of the relay here.
    pub apps: HashMap<AppKey, Proxy>,
    /// Its agents on apps of ours, which are agents of the relay here.
    pub agents: HashMap<(AppKey, String), Proxy>,
    pub tunnels: Tunnels,
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
    /// The apps the others have been told of.
    pub announced: BTreeMap<AppKey, Offer>,
    /// Who waits for an answer, and whose.
    pub asked: HashMap<u64, (WorkerId, oneshot::Sender<Answer>)>,
    pub last_asked: u64,
    pub last_tunnel: TunnelId,
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
            announced: BTreeMap::new(),
            asked: HashMap::new(),
            last_asked: 0,
            last_tunnel: 0,
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

    /// Puts a parcel on the way. Whether there is such a worker.
    pub fn push(&mut self, worker: WorkerId, parcel: &Parcel) -> bool {
        let Some(peer) = self.peers.get_mut(&worker) else {
            return false;
        };
        match parcel.pack() {
            Some(bytes) => peer.link.push(bytes),
            None => tracing::error!(%worker, "a message is too large for another worker"),
        }
        true
    }

    /// Puts a parcel on the way to all.
    pub fn push_to_all(&mut self, parcel: &Parcel) {
        let Some(bytes) = parcel.pack() else { return };
        for peer in self.peers.values_mut() {
            peer.link.push(bytes.clone());
        }
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

    /// When [`Peers::frames`] is to be asked again, if nothing happens before.
    pub fn deadline(&self) -> Option<f64> {
        let deadlines = self.peers.values().filter_map(|peer| peer.link.deadline());
        deadlines.min_by(f64::total_cmp)
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

    /// Joins anew, under another id: everybody is new, and is greeted with what is announced. Who the
    /// others were.
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
