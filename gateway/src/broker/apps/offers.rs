//! The registered apps: the connections of each, how one is chosen, and how offers are read.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use smallvec::SmallVec;

use super::assortment::Assortment;
use super::capability_info::CapabilityInfo;
use super::departed::Departed;
use super::offer::{AppInfo, MAX_NAME_CHARS, Offer};
use super::{App, Apps};
use crate::broker::{PeerId, Seat, Wanted};
use crate::tokens::Identity;
use crate::wire::{Failure, invalid_at};
use caphost::call::{Code, Error};

/// An app has registered, left, or changed its offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Its connection.
    pub peer: PeerId,
    /// The id of the app.
    pub app: Arc<str>,
    /// Whether the app is connected to this worker.
    pub here: bool,
}

/// The apps that have registered.
#[derive(Debug, Default)]
pub(in crate::broker) struct Directory {
    connections: BTreeMap<Arc<str>, BTreeSet<PeerId>>,
    offered: SmallVec<[Offered; 1]>,
    /// The offers of all apps, if they have not changed since somebody asked for them.
    all: OnceLock<Arc<Assortment>>,
    departed: Departed,
}

impl Directory {
    /// All ids, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.connections.keys().map(|id| &**id)
    }

    /// The connections of the app with that id.
    pub fn connections(&self, id: &str) -> impl Iterator<Item = PeerId> {
        self.connections.get(id).into_iter().flatten().copied()
    }
}

/// How many apps are named, at most, to an agent whose app is not connected.
const MAX_NAMED: usize = 100;

/// The app whose manifest is shown when several apps are connected and the request names none.
const PREFERRED_APP: &str = "caphost-demo";

impl Apps {
    /// The offer of the named app. Without a name, that of the only app or of the demo app. Also the place
    /// that keeps the text made of the offer: see [`Offer::manifest`].
    pub fn shown(
        &self,
        wanted: Option<&str>,
    ) -> Result<(Arc<Offer>, Arc<OnceLock<Bytes>>), Failure> {
        let preferred = || self.latest(PREFERRED_APP).filter(|_| wanted.is_none());
        let chosen = self.choose_app(wanted);
        let peer = chosen.or_else(|error| preferred().ok_or(error))?;
        let app = self.get(&peer);
        let shown = app.and_then(|app| Some((app.registration.clone()?, app.manifest.clone())));
        shown.ok_or_else(none_connected)
    }

    /// The offer of the app with that id. Without an id, that of the only connected app.
    pub fn offer(&self, wanted: Option<&str>) -> Result<Arc<Offer>, Failure> {
        let peer = self.choose_app(wanted)?;
        let offer = self.offer_on(peer);
        offer.ok_or_else(none_connected)
    }

    /// The offers behind an address that names that app. Without a name, those of all connected apps, and
    /// `DISCONNECTED` if there is none.
    pub fn assortment(&self, wanted: Option<&str>) -> Result<Arc<Assortment>, Failure> {
        if wanted.is_some() {
            return Ok(Arc::new(Assortment::of([self.offer(wanted)?])));
        }
        if let Some(all) = self.directory.all.get() {
            return Ok(all.clone());
        }
        let latest = self.directory.ids().filter_map(|id| self.latest(id));
        let all = Assortment::of(latest.filter_map(|peer| self.offer_on(peer)));
        if all.offers().is_empty() {
            self.choose_app(None)?;
        }
        Ok(self.directory.all.get_or_init(|| Arc::new(all)).clone())
    }

    /// The gateway is about to stop. New sessions of an app go to other workers, which may offer something else.
    pub(in crate::broker) fn stop(&mut self) {
        self.stopping = true;
        self.forget_assortment();
    }

    fn forget_assortment(&mut self) {
        self.directory.all = OnceLock::new();
    }

    /// The offer of the app on that connection, if it has registered.
    pub fn offer_on(&self, peer: PeerId) -> Option<Arc<Offer>> {
        self.get(&peer)?.registration.clone()
    }

    /// The connected apps, by id. Of several with the same id, the most recent.
    pub fn app_infos(&self) -> Vec<AppInfo> {
        let latest = self.directory.ids().filter_map(|id| self.latest(id));
        let offers = latest.filter_map(|peer| self.offer_on(peer));
        offers.map(|offer| offer.app.clone()).collect()
    }

    /// The ids of the connected apps that `viewer` may reach, at most `most`.
    pub fn app_ids(&self, viewer: &Identity, most: usize) -> Vec<String> {
        let ids = self.directory.ids().filter(|id| viewer.may_reach(id));
        ids.take(most).map(str::to_string).collect()
    }

    /// Chooses the connection for an agent that wants `wanted`.
    pub(in crate::broker) fn choose(
        &self,
        wanted: &Wanted,
        by: &Identity,
    ) -> Result<PeerId, Failure> {
        match wanted {
            Wanted::Any => self.choose_app(None),
            Wanted::Id(id) => self.choose_app(Some(id)).map_err(|mut error| {
                let ids = self.app_ids(by, MAX_NAMED);
                if !ids.is_empty() {
                    error.details = Some(Box::new(json!({ "apps": ids })));
                }
                error
            }),
            Wanted::Peer(peer) if self.all.contains_key(peer) => Ok(*peer),
            Wanted::Peer(_) => Err(Error::new(Code::DISCONNECTED, "The app has disconnected")),
        }
    }

    /// The offers of this worker's apps, by connection.
    pub fn offers_here(&self) -> Vec<(PeerId, Arc<Offer>)> {
        let here = self
            .all
            .iter()
            .filter(|(_, app)| app.seat != Seat::Elsewhere);
        here.filter_map(|(peer, app)| Some((*peer, app.registration.clone()?)))
            .collect()
    }

    /// The app that a new session is bound to.
    pub(in crate::broker) fn choose_app(&self, wanted: Option<&str>) -> Result<PeerId, Failure> {
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
                let message =
                    "Several apps are connected: name one with `?app=<id>` or `--app <id>`";
                Err(Error::invalid_params(message).with_details(Box::new(json!({ "apps": ids }))))
            }
        }
    }

    /// An app has registered.
    pub(in crate::broker) fn listed(&mut self, peer: PeerId, id: Arc<str>, seat: Seat) {
        let connections = self.directory.connections.entry(id.clone()).or_default();
        connections.insert(peer);
        self.directory.departed.came(&id);
        self.offers(peer, id, seat);
    }

    /// An app that had registered is gone.
    pub(super) fn unlisted(&mut self, peer: PeerId, id: Arc<str>, app: &App) {
        if let Some(connections) = self.directory.connections.get_mut(&id) {
            connections.remove(&peer);
            if connections.is_empty() {
                self.directory.connections.remove(&id);
                if let Some(offer) = &app.registration {
                    self.directory.departed.left(id.clone(), offer);
                }
            }
        }
        self.offers(peer, id, app.seat);
    }

    /// The id of an app that is not connected any more, that `viewer` may reach, and that had a capability or tool
    /// of that name.
    pub fn departed_with(&self, name: &str, viewer: &Identity) -> Option<Arc<str>> {
        self.directory.departed.with(name, viewer)
    }

    /// An app has changed its offer.
    pub(in crate::broker) fn offers(&mut self, peer: PeerId, app: Arc<str>, seat: Seat) {
        self.forget_assortment();
        self.directory.offered.push(Offered {
            peer,
            app,
            here: seat != Seat::Elsewhere,
        });
    }

    /// The apps that have come, left, or changed their offers since the last call of this function.
    pub fn take_offered(&mut self) -> SmallVec<[Offered; 1]> {
        std::mem::take(&mut self.directory.offered)
    }
}

fn none_connected() -> Failure {
    Error::new(Code::DISCONNECTED, "No app is connected")
}

/// Reads the list of capabilities at `path`.
pub(in crate::broker) fn read_capabilities(
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

/// Checks that a page would accept each name, and that no name comes twice.
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

/// Reads the value at `path`, or the whole payload.
pub(in crate::broker) fn read<'a, T: Deserialize<'a>>(
    text: &'a str,
    path: &str,
) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| {
        let at = if path.is_empty() { "payload" } else { path };
        wrong(at, &error.to_string())
    })
}

/// The error for a bad value at `path`.
pub(in crate::broker) fn wrong(path: &str, message: &str) -> Failure {
    invalid_at(path, format!("`{path}`: {message}"))
}
