//! What apps offer, and who is told that an app offers something else.

use std::sync::Arc;

use tokio::sync::watch;

use super::hub::Hub;
use crate::broker::{AppInfo, ConnectedApp, Instance, Offer, Offered, PeerId};
use crate::tokens::Identity;
use crate::wire::Failure;

impl Hub {
    /// The apps connected, by their ids.
    pub fn apps(&self) -> Vec<AppInfo> {
        self.state().broker.app_infos()
    }

    /// The ids of the first of those that `viewer` may reach, at most so many.
    pub fn app_ids(&self, viewer: &Identity, most: usize) -> Vec<String> {
        self.state().broker.app_ids(viewer, most)
    }

    /// The apps connected that `viewer` may reach, with their instances.
    pub fn connected_apps(&self, viewer: &Identity) -> Vec<ConnectedApp> {
        self.state().broker.connected(viewer)
    }

    /// What the app with that id offers; the only one connected, if none is named.
    /// `DISCONNECTED` when there is none, `INVALID_PARAMS` when there are several.
    pub fn offer(&self, app: Option<&str>) -> Result<Arc<Offer>, Failure> {
        self.state().broker.offer(app)
    }

    /// What the app on that connection offers, if it has registered.
    pub(crate) fn offer_on(&self, peer: PeerId) -> Option<Arc<Offer>> {
        self.state().broker.offer_on(peer)
    }

    /// What the app on that connection offers, and which of its instances it is.
    pub(crate) fn instance_on(&self, peer: PeerId) -> Option<(Arc<Offer>, Instance)> {
        let state = self.state();
        let instance = state.broker.instance(peer)?.clone();
        Some((state.broker.offer_on(peer)?, instance))
    }

    /// What the apps of this worker offer, by their connections.
    pub fn offers_here(&self) -> Vec<(PeerId, Arc<Offer>)> {
        self.state().broker.offers_here()
    }

    /// Changes whenever [`Hub::offer`] of that app may say something else.
    pub fn offer_changes(&self, app: Option<&str>) -> watch::Receiver<u64> {
        self.listeners.listen(app)
    }

    /// Tells listeners which apps offer something else. Not to be called within the hub's lock.
    pub(crate) fn tell_offered(&self, offered: impl IntoIterator<Item = Offered>) {
        for offered in offered {
            self.listeners.tell(&offered);
            if let Some(clustered) = self.clustered().filter(|_| offered.here) {
                clustered.app_changed(offered.peer);
            }
        }
    }
}
