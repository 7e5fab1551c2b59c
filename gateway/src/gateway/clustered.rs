//! What a hub tells the other workers. Messages of other workers come in through
//! [`RemoteWorkers`](super::remote_workers::RemoteWorkers), which knows the hub.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::broker::PeerId;
use crate::cluster::message::{AppKey, Message, Parcel, Replaced};
use crate::cluster::{Cluster, WorkerId};
use crate::remembered::Remembered;

/// How many agents of one worker are remembered after they have left apps here.
const REMEMBERED: usize = 1_024;

/// The key of an agent of another worker: its app here, and its name on its own worker.
pub(super) type AgentKey = (AppKey, String);

/// The part of a hub that belongs to the cluster.
pub(super) struct Clustered {
    pub cluster: Arc<Cluster>,
    /// The apps of this worker that may have changed since the other workers were told.
    changed: Mutex<BTreeSet<AppKey>>,
    more_changed: Notify,
    /// The agents of other workers that have left apps here, by their ids on the broker here.
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

    /// Notes that all these apps may have changed.
    pub fn all_may_have_changed(&self, apps: impl IntoIterator<Item = AppKey>) {
        self.changed.lock().extend(apps);
        self.more_changed.notify_one();
    }

    /// Waits for an app that may have changed.
    pub async fn next_changed(&self) -> AppKey {
        loop {
            let next = self.changed.lock().pop_first();
            if let Some(app) = next {
                return app;
            }
            self.more_changed.notified().await;
        }
    }

    /// The worker that holds the session with that token, if it is another worker.
    pub fn home_of(&self, token: &str) -> Option<WorkerId> {
        let (process, _) = token.split_once('.')?;
        self.cluster.of_process(process.parse().ok()?)
    }

    /// Tells another worker that an app has replaced its session there, so that the worker ends the session.
    /// Does nothing if the session belongs to this worker.
    pub fn tell_home(&self, replaced: Replaced) {
        if let Some(worker) = self.home_of(&replaced.token) {
            self.cluster
                .send(worker, &Message::Replaced(replaced).into());
        }
    }

    /// An agent of that worker leaves its app here. The worker is still told how the agent's remaining work
    /// ends.
    pub fn agent_leaves(&self, worker: WorkerId, peer: PeerId, key: AgentKey) {
        let mut left = self.left.lock();
        left.entry(worker).or_default().insert(peer, key);
    }

    /// That worker is gone.
    pub fn worker_gone(&self, worker: WorkerId) {
        self.left.lock().remove(&worker);
    }

    /// An app here sends a message to an agent that has left the app.
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
