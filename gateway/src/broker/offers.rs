//! Which apps there are: the connections of each, and choosing one. And reading what they offer.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use smallvec::SmallVec;

use super::capability_info::CapabilityInfo;
use super::offer::{AppInfo, MAX_NAME_CHARS, Offer};
use super::{Broker, PeerId, Seat, Wanted};
use crate::tokens::Identity;
use crate::wire::{Failure, invalid_at};
use caphost::call::{Code, Error};

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

/// Apps that are named to an agent whose app is not connected, at most.
const MAX_NAMED: usize = 100;

/// Whose manifest is shown when several apps are connected and none is named.
const PREFERRED_APP: &str = "caphost-demo";

impl Broker {
    /// What the app named offers; the only one, or the demo app, when none is. And where the text is
    /// kept that is made of it: see [`Offer::manifest`].
    pub fn shown(
        &self,
        wanted: Option<&str>,
    ) -> Result<(Arc<Offer>, Arc<OnceLock<Bytes>>), Failure> {
        let preferred = || self.latest(PREFERRED_APP).filter(|_| wanted.is_none());
        let chosen = self.choose_app(wanted);
        let peer = chosen.or_else(|error| preferred().ok_or(error))?;
        let app = self.apps.get(&peer);
        let shown = app.and_then(|app| Some((app.registration.clone()?, app.manifest.clone())));
        shown.ok_or_else(none_connected)
    }

    /// What the app with that id offers; the only one connected, if none is named.
    pub fn offer(&self, wanted: Option<&str>) -> Result<Arc<Offer>, Failure> {
        let peer = self.choose_app(wanted)?;
        let offer = self.offer_on(peer);
        offer.ok_or_else(none_connected)
    }

    /// What the app on that connection offers, if it has registered.
    pub fn offer_on(&self, peer: PeerId) -> Option<Arc<Offer>> {
        self.apps.get(&peer)?.registration.clone()
    }

    /// The connected apps, by their ids. If several have the same id, the most recent.
    pub fn app_infos(&self) -> Vec<AppInfo> {
        let latest = self.directory.ids().filter_map(|id| self.latest(id));
        let offers = latest.filter_map(|peer| self.offer_on(peer));
        offers.map(|offer| offer.app.clone()).collect()
    }

    /// The ids of the first apps connected that `viewer` may reach, at most so many.
    pub fn app_ids(&self, viewer: &Identity, most: usize) -> Vec<String> {
        let ids = self.directory.ids().filter(|id| viewer.may_reach(id));
        ids.take(most).map(str::to_string).collect()
    }

    /// Chooses the connection for an agent that wants `wanted`.
    pub(super) fn choose(&self, wanted: &Wanted, by: &Identity) -> Result<PeerId, Failure> {
        match wanted {
            Wanted::Any => self.choose_app(None),
            Wanted::Id(id) => self.choose_app(Some(id)).map_err(|mut error| {
                let ids = self.app_ids(by, MAX_NAMED);
                if !ids.is_empty() {
                    error.details = Some(Box::new(json!({ "apps": ids })));
                }
                error
            }),
            Wanted::Peer(peer) if self.apps.contains_key(peer) => Ok(*peer),
            Wanted::Peer(_) => Err(Error::new(Code::DISCONNECTED, "The app has disconnected")),
        }
    }

    /// What the apps of this worker offer, by their connections.
    pub fn offers_here(&self) -> Vec<(PeerId, Arc<Offer>)> {
        let here = self
            .apps
            .iter()
            .filter(|(_, app)| app.seat != Seat::Elsewhere);
        here.filter_map(|(peer, app)| Some((*peer, app.registration.clone()?)))
            .collect()
    }

    /// The app a new session is bound to.
    pub(super) fn choose_app(&self, wanted: Option<&str>) -> Result<PeerId, Failure> {
        let cut_off = match self.cut_off {
            true => " to this worker, and the others cannot be reached: Redis does not answer",
            false => "",
        };
        let disconnected =
            |message: String| Error::new(Code::DISCONNECTED, format!("{message}{cut_off}"));
        if let Some(id) = wanted {
            let none = || disconnected(format!("No app with id {id:?} is connected"));
            return self.latest(id).ok_or_else(none);
        }
        let mut ids = self.directory.ids();
        match ids.len() {
            0 | 1 => {
                let only = ids.next().and_then(|id| self.latest(id));
                only.ok_or_else(|| disconnected("No app is connected".into()))
            }
            _ => {
                let ids: Vec<_> = ids.take(MAX_NAMED).collect();
                let message = "Several apps are connected: name one with `?app=<id>`, in the path \
                    as `/rap/<id>` or `/mcp/<id>`, or with `--app <id>`";
                Err(Error::invalid_params(message).with_details(Box::new(json!({ "apps": ids }))))
            }
        }
    }

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

fn none_connected() -> Failure {
    Error::new(Code::DISCONNECTED, "No app is connected")
}

/// Reads a list of capabilities that is at `path`.
pub(super) fn read_capabilities(
    list: &RawValue,
    path: &str,
) -> Result<Vec<CapabilityInfo>, Failure> {
    let items: Vec<&RawValue> = read(list.get(), path)?;
    let read_one =
        |(index, item): (usize, &&RawValue)| read(item.get(), &format!("{path}[{index}]"));
    let capabilities = items.iter().enumerate().map(read_one);
    let capabilities: Vec<CapabilityInfo> = capabilities.collect::<Result<_, _>>()?;
    check_names(&capabilities, path)?;
    Ok(capabilities)
}

/// Each name is one that a page takes, and there once.
fn check_names(capabilities: &[CapabilityInfo], path: &str) -> Result<(), Failure> {
    let mut names = HashSet::new();
    for (index, CapabilityInfo { name, .. }) in capabilities.iter().enumerate() {
        let path = || format!("{path}[{index}].name");
        if !(1..=MAX_NAME_CHARS).contains(&name.chars().count()) {
            let message = format!("it must have 1 to {MAX_NAME_CHARS} characters");
            return Err(wrong(&path(), &message));
        }
        if !names.insert(name) {
            return Err(wrong(&path(), &format!("{name:?} is there twice")));
        }
    }
    Ok(())
}

/// Reads what is at `path`, or the whole payload.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a str, path: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| {
        let at = if path.is_empty() { "payload" } else { path };
        wrong(at, &error.to_string())
    })
}

/// An error that says what is wrong at `path`.
pub(super) fn wrong(path: &str, message: &str) -> Failure {
    invalid_at(path, format!("`{path}`: {message}"))
}
