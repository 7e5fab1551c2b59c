//! What apps offer: reading it, choosing one, and its manifest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::apps::App;
use super::{PeerId, Relay, Seat, Wanted};
use crate::wire::Failure;
use caphost::call::{Code, Error};

/// Who an app is.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct AppInfo {
    /// What it is called by.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// One capability, as the manifest shows it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityInfo {
    /// What it is called by.
    pub name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// JSON Schema of its parameters.
    pub input_schema: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// JSON Schema of its data.
    pub output_schema: Option<Box<RawValue>>,
}

/// What an app has registered.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Registration {
    /// Who it is.
    pub app: AppInfo,
    /// What it offers.
    pub capabilities: Vec<CapabilityInfo>,
}

#[derive(Serialize)]
struct Manifest<'a> {
    abp: &'static str,
    app: &'a AppInfo,
    capabilities: &'a [CapabilityInfo],
}

/// Whose manifest is shown when several apps are connected and none is named.
const PREFERRED_APP: &str = "caphost-demo";

impl Relay {
    /// `/abp.json` of the app named; of the only one, or the demo app, when none is.
    pub fn manifest(&self, wanted: Option<&str>) -> Option<String> {
        let peer = match wanted {
            Some(id) => self.latest(id),
            None => self
                .choose_app(None)
                .ok()
                .or_else(|| self.latest(PREFERRED_APP)),
        }?;
        let Registration { app, capabilities } = self.apps.get(&peer)?.registration.as_ref()?;
        serde_json::to_string(&Manifest {
            abp: "0.1",
            app,
            capabilities,
        })
        .ok()
    }

    /// What the app with that id offers; the only one connected, if none is named.
    pub fn offer(&self, wanted: Option<&str>) -> Result<Registration, Failure> {
        let peer = self.choose_app(wanted)?;
        let app = self.apps.get(&peer);
        let registration = app.and_then(|app| app.registration.clone());
        registration.ok_or_else(|| Error::new(Code::DISCONNECTED, "No app is connected"))
    }

    /// The apps connected, by their ids; of several with the same id the most recent.
    pub fn app_infos(&self) -> Vec<AppInfo> {
        let registered = self
            .apps
            .values()
            .filter_map(|app| app.registration.as_ref());
        let by_id = registered.map(|registration| (&registration.app.id, &registration.app));
        let latest: BTreeMap<_, _> = by_id.collect();
        latest.into_values().cloned().collect()
    }

    /// The app an agent is bound to that wants that one.
    pub(super) fn choose(&self, wanted: &Wanted) -> Result<PeerId, Failure> {
        match wanted {
            Wanted::Any => self.choose_app(None),
            Wanted::Id(id) => self.choose_app(Some(id)),
            Wanted::Peer(peer) if self.apps.contains_key(peer) => Ok(*peer),
            Wanted::Peer(_) => Err(Error::new(Code::DISCONNECTED, "The app has disconnected")),
        }
    }

    /// What the apps of this worker offer, by their connections.
    pub fn offers_here(&self) -> Vec<(PeerId, Registration)> {
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
        let mut ids: Vec<_> = self.apps.values().filter_map(app_id).collect();
        ids.sort_unstable();
        ids.dedup();
        match ids[..] {
            [] => Err(disconnected("No app is connected".into())),
            [id] => self
                .latest(id)
                .ok_or_else(|| disconnected("No app is connected".into())),
            _ => {
                let message = "Several apps are connected: name one with `?app=`";
                Err(Error::invalid_params(message).with_details(Box::new(json!({ "apps": ids }))))
            }
        }
    }

    /// The most recent connection of that app; the gateway's own, if it is a tool server's: every
    /// worker may have that.
    fn latest(&self, id: &str) -> Option<PeerId> {
        let connections = self.apps.iter();
        let found = connections.filter(|(_, app)| app_id(app) == Some(id));
        let latest = found.max_by_key(|(peer, app)| (app.seat == Seat::Own, **peer));
        latest.map(|(peer, _)| *peer)
    }
}

fn app_id(app: &App) -> Option<&str> {
    app.registration
        .as_ref()
        .map(|registration| registration.app.id.as_str())
}

/// Reads a list of capabilities that is at `path`.
pub(super) fn read_capabilities(
    list: &RawValue,
    path: &str,
) -> Result<Vec<CapabilityInfo>, Failure> {
    let items: Vec<&RawValue> = read(list.get(), path)?;
    let read_one =
        |(index, item): (usize, &&RawValue)| read(item.get(), &format!("{path}[{index}]"));
    items.iter().enumerate().map(read_one).collect()
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
    Error::invalid_params(format!("`{path}`: {message}"))
        .with_details(Box::new(json!({ "path": path })))
}
