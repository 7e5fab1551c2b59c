//! Which connection of an app is meant. Each connection is an instance of the app, such as a tab, with an id
//! of its own.

use uuid::Uuid;

use super::instance::Instance;
use super::offer::AppInfo;
use super::{App, Apps};
use crate::broker::sessions::Sessions;
use crate::broker::{Now, PeerId, Seat};
use crate::tokens::{INSTANCE, Identity};
use crate::wire::clipped;

/// Length of an instance's id, in characters.
const ID_CHARS: usize = 8;
/// How many characters of a title are kept.
const TITLE_CHARS: usize = 200;

/// A connected app and its instances.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectedApp {
    /// The app, as its latest instance describes it.
    pub app: AppInfo,
    /// Its instances. New sessions go to the first.
    pub instances: Vec<Listed>,
}

/// One instance in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The instance.
    pub instance: Instance,
    /// How many agents the instance has.
    pub agents: usize,
    /// The connection was lost, and the instance may come back.
    pub suspended: bool,
}

impl Apps {
    /// The instance of a connection that registers the app with that id. For a connection on another worker,
    /// that worker has said which instance it is.
    pub(in crate::broker) fn new_instance(
        &self,
        (app, owner, seat): (&str, &Identity, Seat),
        told: Option<Instance>,
        title: Option<String>,
        now: Now,
    ) -> Instance {
        if let Some(told) = told.filter(|_| seat == Seat::Elsewhere) {
            return told;
        }
        let mut id = Uuid::new_v4().simple().to_string();
        id.truncate(ID_CHARS);
        // Clocks may be set back, and differ between workers.
        let before = self.directory.connections(app);
        let before = before.filter_map(|peer| Some(self.instance(peer)?.since));
        let since = before.max().map_or(0, |since| since + 1);
        let title = title.filter(|title| !title.trim().is_empty());
        Instance {
            id: id.into(),
            owner: owner.name.clone(),
            since: since.max(now.unix_ms),
            title: title.map(|title| clipped(title.trim(), TITLE_CHARS).into()),
        }
    }

    /// The connection that new sessions of this app go to. Connections whose worker does not drain come
    /// first; among these, connections inside this gateway, because a tool server may run on every worker;
    /// then the most recent. An instance id names exactly one connection.
    pub(crate) fn latest(&self, wanted: &str) -> Option<PeerId> {
        let connections = self.directory.connections(wanted);
        let latest = connections.max_by_key(|peer| self.rank(*peer));
        latest.or_else(|| {
            let (app, id) = wanted.split_once(INSTANCE)?;
            let is_it = |peer: &PeerId| self.instance(*peer).is_some_and(|it| *it.id == *id);
            self.directory.connections(app).find(is_it)
        })
    }

    /// New sessions go to the connection with the greatest rank.
    fn rank(&self, peer: PeerId) -> (bool, bool, u64, PeerId) {
        let app = self.get(&peer);
        let stays = app.is_some_and(|app| !self.drains(app));
        let is_own = app.is_some_and(|app| app.seat == Seat::Own);
        let since = app.and_then(|app| app.instance.as_ref()).map(|it| it.since);
        (stays, is_own, since.unwrap_or_default(), peer)
    }

    /// The instance of that connection, if it has registered.
    pub fn instance(&self, peer: PeerId) -> Option<&Instance> {
        self.get(&peer)?.instance.as_ref()
    }

    /// The connected apps that `viewer` may reach, by id.
    pub(in crate::broker) fn connected(
        &self,
        viewer: &Identity,
        sessions: &Sessions,
    ) -> Vec<ConnectedApp> {
        let ids = self.directory.ids().filter(|id| viewer.may_reach(id));
        ids.filter_map(|id| self.connections_of(id, sessions))
            .collect()
    }

    fn connections_of(&self, id: &str, sessions: &Sessions) -> Option<ConnectedApp> {
        let mut peers: Vec<_> = self.directory.connections(id).collect();
        peers.sort_unstable_by_key(|peer| std::cmp::Reverse(self.rank(*peer)));
        let listed = |app: &App| {
            let agents = app.agents.values();
            Some(Listed {
                instance: app.instance.clone()?,
                agents: agents.filter(|it| !sessions.has_left(**it)).count(),
                suspended: app.suspended.is_some(),
            })
        };
        let apps = || peers.iter().filter_map(|peer| self.get(peer));
        let latest = apps().find_map(|app| app.registration.as_ref())?;
        Some(ConnectedApp {
            app: latest.app.clone(),
            instances: apps().filter_map(listed).collect(),
        })
    }
}
