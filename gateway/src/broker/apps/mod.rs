//! Apps: what each offers, and what each may send.

pub(super) mod assortment;
pub(super) mod capability_info;
mod departed;
pub(super) mod given_up;
pub(super) mod instance;
pub(super) mod instances;
pub(super) mod left_behind;
pub(super) mod load;
pub(super) mod offer;
pub(super) mod offering;
pub(super) mod offers;
pub(super) mod questions;
pub(super) mod registered;
pub(super) mod tool_names;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use rustc_hash::{FxHashMap, FxHashSet};

use super::amount::Amount;
use super::{Backlog, PeerId, Seat};
use crate::bounds::Budget;
use crate::tokens::Identity;
use given_up::GivenUp;
use instance::Instance;
use left_behind::LeftBehind;
use load::Load;
use offer::Offer;
use offers::Directory;
use questions::QuestionBytes;
use registered::Registered;

/// The connection of one app.
pub(super) struct App {
    /// The identity of the app, if it has shown a token or needs none.
    pub identity: Option<Identity>,
    /// The id of the app, once it has registered.
    pub id: Option<Arc<str>>,
    /// What the app offers, once it has registered.
    pub registration: Option<Arc<Offer>>,
    /// The size of the registration.
    pub bytes: usize,
    /// Which connection of the app this is, once it has registered.
    pub instance: Option<Instance>,
    /// The app's `/abp.json`, once somebody has asked for it.
    pub manifest: Arc<OnceLock<Bytes>>,
    /// The agents bound to the app, by the names that the broker has given them. Agents that have left stay
    /// until the app is told.
    pub agents: FxHashMap<String, PeerId>,
    /// The places of sessions with the app, by holder.
    pub sessions: Arc<Budget<Arc<str>>>,
    /// Agents of other workers that are not bound to the app yet.
    pub unbound: FxHashSet<PeerId>,
    /// Calls of agents that have left the app, which may still work on them.
    pub left_behind: LeftBehind,
    /// Requests that nobody waits for any more, and that the app has not answered.
    pub given_up: GivenUp,
    /// The work that agents have given to the app.
    pub load: Load,
    /// How much waits to be written to the app.
    pub backlog: Backlog,
    /// Where the app is connected.
    pub seat: Seat,
    /// Set while the connection is lost and the app may come back. The number rises with each loss.
    pub suspended: Option<u64>,
    /// The app is on another worker that is about to stop and takes no new calls.
    pub draining: bool,
}

impl App {
    /// The owner, if the app counts among the registered apps of this worker.
    pub fn counted(&self) -> Option<&Arc<str>> {
        let is_counted = self.registration.is_some() && self.seat != Seat::Elsewhere;
        let owner = self.identity.as_ref().filter(|_| is_counted);
        owner.map(|owner| &owner.name)
    }

    /// Work of that size for `owner` is no longer waited for.
    pub fn give_up(&mut self, owner: &Arc<str>, bytes: usize) {
        match self.backlog {
            Backlog::Short => self.load.give_back(owner, bytes),
            // The messages sent still wait to be written.
            Backlog::Long | Backlog::Full => self.load.leave(owner, bytes),
        }
    }
}

/// The connected apps.
#[derive(Default)]
pub struct Apps {
    /// Ordered by connection: of two apps with the same id, the later is the more recent.
    pub(super) all: BTreeMap<PeerId, App>,
    pub(super) directory: Directory,
    pub(super) registered: Registered,
    /// The size of questions, by the names of the owners of the asking apps.
    pub(super) asked: FxHashMap<Arc<str>, QuestionBytes>,
    /// The gateway is stopping or about to stop, and takes no new peers and calls.
    pub(super) stopping: bool,
    /// This worker is cut off: apps of other workers, if there are any, are not known.
    pub(super) cut_off: bool,
}

impl Apps {
    pub(super) fn get(&self, peer: &PeerId) -> Option<&App> {
        self.all.get(peer)
    }

    pub(super) fn get_mut(&mut self, peer: &PeerId) -> Option<&mut App> {
        self.all.get_mut(peer)
    }

    /// The owner of the registration, if the peer is a registered app.
    pub fn registered_by(&self, peer: PeerId) -> Option<&Identity> {
        let app = self.get(&peer)?;
        app.identity.as_ref().filter(|_| app.registration.is_some())
    }

    /// Gives back everything that an app has registered.
    pub(super) fn unregister(&mut self, peer: PeerId, app: &App) {
        if let Some(owner) = app.counted() {
            self.registered.give_back(owner, Amount::one(app.bytes));
        }
        if let Some(id) = &app.id {
            self.unlisted(peer, id.clone(), app);
        }
    }

    /// Whether the worker of an app is about to stop, be it this worker or another.
    pub(super) fn drains(&self, app: &App) -> bool {
        app.draining || (self.stopping && app.seat != Seat::Elsewhere)
    }

    /// Whether new calls of that app are accepted, both here and on the app's worker.
    pub(super) fn takes_calls(&self, app: PeerId) -> bool {
        let app = self.get(&app);
        !self.stopping && !app.is_some_and(|app| app.draining)
    }

    /// How many apps this worker has.
    pub(super) fn here(&self) -> usize {
        let here = |app: &&App| app.seat != Seat::Elsewhere;
        self.all.values().filter(here).count()
    }

    /// Whether an app is inside the gateway.
    pub(super) fn is_inside(&self, app: PeerId) -> bool {
        let app = self.get(&app);
        app.is_some_and(|app| app.seat == Seat::Own)
    }
}
