//! What a hub says to the other workers. What they say comes by way of
//! [`Elsewhere`](super::elsewhere::Elsewhere), which knows the hub.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::broker::PeerId;
use crate::cluster::message::{AppKey, Message, Parcel, Replaced};
use crate::cluster::{Cluster, WorkerId};
use crate::remembered::Remembered;

/// Agents that have left apps here and are remembered, of each worker.
const REMEMBERED: usize = 1_024;

/// An agent of another worker, by its app here and its name there.
pub(super) type AgentKey = (AppKey, String);

/// A hub's part in a cluster.
pub(super) struct Clustered {
    pub cluster: Arc<Cluster>,
    /// Apps of this worker that the others may have to be told of.
    changed: Mutex<BTreeSet<AppKey>>,
    more_changed: Notify,
    /// Agents of other workers that have left apps here, as the broker has known them.
    left: Mutex<BTreeMap<WorkerId, Remembered<PeerId, AgentKey, REMEMBERED>>>,
}

impl Clustered {
    pub fn new(cluster: Arc<Cluster>) -> Self {
        Clustered {
            cluster,
            changed: Mutex::default(),
            more_changed: Notify::new(),
            left: Mutex::default(),
        }
    }

    /// An app of this worker has come or gone, or offers something else.
    pub fn app_changed(&self, app: PeerId) {
        self.all_may_have_changed([app.0]);
    }

    /// The others may have to be told of all these.
    pub fn all_may_have_changed(&self, apps: impl IntoIterator<Item = AppKey>) {
        self.changed.lock().extend(apps);
        self.more_changed.notify_one();
    }

    /// Waits for apps that the others may have to be told of.
    pub async fn changed(&self) -> BTreeSet<AppKey> {
        loop {
            let changed = std::mem::take(&mut *self.changed.lock());
            if !changed.is_empty() {
                return changed;
            }
            self.more_changed.notified().await;
        }
    }

    /// The worker that has the session with that token, if it is one of the others.
    pub fn home_of(&self, token: &str) -> Option<WorkerId> {
        let (process, _) = token.split_once('.')?;
        self.cluster.of_process(process.parse().ok()?)
    }

    /// The session that an app has replaced is to end where it is, if it is one of another worker.
    pub fn tell_home(&self, replaced: Replaced) {
        if let Some(worker) = self.home_of(&replaced.token) {
            self.cluster
                .send(worker, &Message::Replaced(replaced).into());
        }
    }

    /// An agent of that worker leaves its app here: its worker is still told how the work ends that it leaves
    /// behind.
    pub fn agent_leaves(&self, worker: WorkerId, peer: PeerId, key: AgentKey) {
        let mut left = self.left.lock();
        left.entry(worker).or_default().insert(peer, key);
    }

    /// That worker is gone.
    pub fn worker_gone(&self, worker: WorkerId) {
        self.left.lock().remove(&worker);
    }

    /// An app here says something to an agent that has left it.
    pub fn say_to_left(&self, agent: PeerId, text: String) {
        let found = self.left.lock().iter().find_map(|(worker, left)| {
            let key = left.get(&agent)?;
            Some((*worker, key.clone()))
        });
        if let Some((worker, (app, agent))) = found {
            let message = Message::ToAgent { app, agent };
            let text = text.into();
            self.cluster.send(worker, &Parcel { message, text });
        }
    }
}
