//! The offers of apps, and the listeners that hear of changed offers.

use std::sync::Arc;

use tokio::sync::watch;

use super::hub::Hub;
use crate::broker::{AppInfo, Assortment, ConnectedApp, Instance, Offer, Offered, PeerId};
use crate::tokens::Identity;
use crate::wire::{Failure, clipped};
use caphost::call::{Code, Error};

/// How many characters of a name an error has.
const NAME_CHARS: usize = 128;

impl Hub {
    /// The apps that are connected, by their ids.
    pub fn apps(&self) -> Vec<AppInfo> {
        self.state().broker.apps().app_infos()
    }

    /// The ids of apps that `viewer` may reach, at most `most` of them.
    pub fn app_ids(&self, viewer: &Identity, most: usize) -> Vec<String> {
        self.state().broker.apps().app_ids(viewer, most)
    }

    /// The connected apps that `viewer` may reach, with their instances.
    pub fn connected_apps(&self, viewer: &Identity) -> Vec<ConnectedApp> {
        self.state().broker.connected(viewer)
    }

    /// The offer of the app with that id. Without an id, the offer of the only app. Returns `DISCONNECTED` if
    /// there is no such app, and `INVALID_PARAMS` if there are several.
    pub fn offer(&self, app: Option<&str>) -> Result<Arc<Offer>, Failure> {
        self.state().broker.apps().offer(app)
    }

    /// The offers behind an address that names that app. Without a name, those of all connected apps. Returns
    /// `DISCONNECTED` if there is none.
    pub fn assortment(&self, app: Option<&str>) -> Result<Arc<Assortment>, Failure> {
        self.state().broker.apps().assortment(app)
    }

    /// Why a call at the address of all apps finds no capability or tool of that name, if the app that had one is
    /// gone: `DISCONNECTED`.
    pub fn departed(&self, name: &str, viewer: &Identity) -> Option<Failure> {
        let app = self.state().broker.apps().departed_with(name, viewer)?;
        let name = clipped(name, NAME_CHARS);
        let message = format!(
            "The app {app:?}, which had {name:?}, is not connected. Its page may be loading: try again in a moment"
        );
        Some(Error::new(Code::DISCONNECTED, message))
    }

    /// The offer of the app on that connection, if the app has registered.
    pub(crate) fn offer_on(&self, peer: PeerId) -> Option<Arc<Offer>> {
        self.state().broker.apps().offer_on(peer)
    }

    /// The offer of the app on that connection, and the app's instance.
    pub(crate) fn instance_on(&self, peer: PeerId) -> Option<(Arc<Offer>, Instance)> {
        let state = self.state();
        let instance = state.broker.apps().instance(peer)?.clone();
        Some((state.broker.apps().offer_on(peer)?, instance))
    }

    /// The offers of the apps of this worker, by their connections.
    pub fn offers_here(&self) -> Vec<(PeerId, Arc<Offer>)> {
        self.state().broker.apps().offers_here()
    }

    /// A receiver that changes whenever [`Hub::assortment`] of that app may return something else.
    pub fn offer_changes(&self, app: Option<&str>) -> watch::Receiver<u64> {
        self.listeners.listen(app)
    }

    /// Tells the listeners which apps offer something else. Must not be called while the hub is locked.
    pub(crate) fn tell_offered(&self, offered: impl IntoIterator<Item = Offered>) {
        for offered in offered {
            self.listeners.tell(&offered);
            if let Some(clustered) = self.clustered().filter(|_| offered.here) {
                clustered.app_changed(offered.peer);
            }
        }
    }
}
