//! Apps and agents of other workers, which are peers of the broker here. The other workers are also told of
//! the apps of this worker.
//!
//! Each worker holds the apps and agents that are connected to it. An app of one worker is an app on the
//! brokers of all other workers. An agent that calls this app from another worker is an agent on the broker
//! of the app's worker. So a call across workers follows the same rules as a call within one worker.
//!
//! | module | contents |
//! |---|---|
//! | `announcing` | telling other workers of the apps of this worker |
//! | `apps`, `agents` | apps and agents of other workers |
//! | `proxy` | the peers of the broker here that stand for these apps and agents |

mod agents;
mod announcing;
mod apps;
mod proxy;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use self::proxy::Proxy;
use crate::cluster::message::{AppKey, Message};
use crate::cluster::{Answer, CancelMessage, Cluster, Here, Question, WorkerId};
use crate::gateway::clustered::{AgentKey, Clustered};
use crate::gateway::hub::Hub;
use crate::gateway::lifecycle::Phase;

/// The part of this worker that deals with other workers.
pub struct RemoteWorkers {
    me: Weak<RemoteWorkers>,
    hub: Arc<Hub>,
    clustered: Arc<Clustered>,
    others: Mutex<Others>,
    /// Held while an app is looked at and told, so that no worker gets an older offer after a newer one.
    announcing: Mutex<()>,
    /// An agent of another worker has left its app here.
    departed: Notify,
}

/// The other workers, with their peers here.
#[derive(Default)]
struct Others {
    all: BTreeMap<WorkerId, Other>,
}

/// The peers of another worker.
#[derive(Default)]
struct Other {
    /// The apps of that worker, which are apps of the broker here.
    apps: HashMap<AppKey, Proxy>,
    /// The agents of that worker on apps here, which are agents of the broker here.
    agents: HashMap<AgentKey, Proxy>,
}

impl RemoteWorkers {
    /// Makes the worker of `hub` part of a cluster.
    pub fn join(hub: Arc<Hub>, cluster: Arc<Cluster>) -> Arc<Self> {
        let clustered = Arc::new(Clustered::new(cluster));
        hub.join_cluster(clustered.clone());
        Arc::new_cyclic(|me| RemoteWorkers {
            me: me.clone(),
            hub,
            clustered,
            others: Mutex::default(),
            announcing: Mutex::default(),
            departed: Notify::new(),
        })
    }

    /// The cluster this worker is part of.
    pub fn cluster(&self) -> &Arc<Cluster> {
        &self.clustered.cluster
    }

    fn shared(&self) -> Arc<RemoteWorkers> {
        let shared = self.me.upgrade();
        shared.unwrap_or_else(|| unreachable!("the caller holds a reference"))
    }

    /// Calls `look` with the peers of that worker, unless the worker is gone. `look` runs under the lock, so
    /// it must not call the hub.
    fn of<T>(&self, worker: WorkerId, look: impl FnOnce(&mut Other) -> Option<T>) -> Option<T> {
        self.others().all.get_mut(&worker).and_then(look)
    }

    fn send(&self, worker: WorkerId, message: Message) {
        self.cluster().send(worker, &message.into());
    }

    fn others(&self) -> MutexGuard<'_, Others> {
        self.others.lock()
    }
}

impl Here for RemoteWorkers {
    fn reaches_others(&self, reached: bool) {
        self.hub.reaches_others(reached);
    }

    fn came(&self, worker: WorkerId) {
        self.others().all.entry(worker).or_default();
        self.announce_all_to(worker);
        if self.hub.lifecycle.phase() > Phase::Serving {
            self.send(worker, Message::Draining);
        }
        self.hub.pass_on_early_cancels(worker);
        self.hub.arrivals.send_replace(());
    }

    fn gone(&self, worker: WorkerId) {
        let Some(other) = self.others().all.remove(&worker) else {
            return;
        };
        // Remove the agents first, so that the apps here stop working for them before anything else happens.
        let proxies = other.agents.into_values().chain(other.apps.into_values());
        proxies.for_each(|proxy| proxy.leave(&self.hub));
        self.clustered.worker_gone(worker);
    }

    fn received(&self, from: WorkerId, message: Message, text: Bytes) {
        match message {
            Message::App {
                app,
                offer,
                instance,
            } => self.app_offers(from, app, (&offer, &instance)),
            Message::AppGone { app } => self.app_gone(from, app),
            Message::ToAgent { app, agent } => self.app_said(from, app, agent, &text),
            Message::AgentLost { app, agent } => self.app_lost_agent(from, app, agent),
            Message::Draining => self.apps_drain(from),
            Message::Stopping => self.cancel_on_apps_of(from),
            Message::ToApp {
                app,
                agent,
                quota_key,
            } => {
                self.agent_said(from, (app, agent), quota_key, &text);
            }
            Message::AgentGone { app, agent } => self.agent_gone(from, &(app, agent)),
            Message::Replaced(replaced) => self.hub.session_replaced(&replaced),
            Message::Tell(notice) => self.hub.obey(from, notice),
            // The cluster itself handles these messages.
            Message::Hello { .. } | Message::Ask { .. } | Message::Answer { .. } | Message::Bye => {
            }
        }
    }

    fn answer(&self, question: Question) -> BoxFuture<'static, Answer> {
        let hub = self.hub.clone();
        async move { hub.answer(question).await }.boxed()
    }

    fn cancel_heard(&self, message: CancelMessage) {
        self.hub.obey_channel(message);
    }
}
