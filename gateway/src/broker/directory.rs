//! Which connections each app has, and which apps have changed what they offer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smallvec::SmallVec;

use super::{Broker, PeerId, Seat};

/// An app has registered or gone, or offers something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Its connection.
    pub peer: PeerId,
    /// What it is called by.
    pub app: Arc<str>,
    /// Whether it is an app of this worker.
    pub here: bool,
    /// How many apps there are now, by their ids.
    pub apps: usize,
}

/// The apps that have registered.
#[derive(Debug, Default)]
pub(super) struct Directory {
    connections: BTreeMap<Arc<str>, BTreeSet<PeerId>>,
    offered: SmallVec<[Offered; 1]>,
}

impl Directory {
    /// The ids there are, in their order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.connections.keys().map(|id| &**id)
    }

    /// The connections of the app with that id.
    pub fn connections(&self, id: &str) -> impl Iterator<Item = PeerId> {
        self.connections.get(id).into_iter().flatten().copied()
    }
}

impl Broker {
    /// An app has registered.
    pub(super) fn app_listed(&mut self, peer: PeerId, id: Arc<str>, seat: Seat) {
        let connections = self.directory.connections.entry(id.clone()).or_default();
        connections.insert(peer);
        self.app_offers(peer, id, seat);
    }

    /// An app that had registered is gone.
    pub(super) fn app_unlisted(&mut self, peer: PeerId, id: Arc<str>, seat: Seat) {
        if let Some(connections) = self.directory.connections.get_mut(&id) {
            connections.remove(&peer);
            if connections.is_empty() {
                self.directory.connections.remove(&id);
            }
        }
        self.app_offers(peer, id, seat);
    }

    /// What an app offers is something else now.
    pub(super) fn app_offers(&mut self, peer: PeerId, app: Arc<str>, seat: Seat) {
        self.directory.offered.push(Offered {
            peer,
            app,
            here: seat != Seat::Elsewhere,
            apps: self.directory.connections.len(),
        });
    }

    /// The apps that have come, gone, or changed what they offer since this was last asked for.
    pub fn take_offered(&mut self) -> SmallVec<[Offered; 1]> {
        std::mem::take(&mut self.directory.offered)
    }
}
