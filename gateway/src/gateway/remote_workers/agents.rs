//! Agents of other workers that use apps here. Each is an agent of the broker here.

use std::sync::Arc;

use bytes::Bytes;

use super::RemoteWorkers;
use super::proxy::Proxy;
use crate::broker::calls::Dialect;
use crate::broker::{Event, PeerId, Profile, Seat, Wanted};
use crate::cluster::WorkerId;
use crate::cluster::message::{AppKey, Message, Parcel};
use crate::gateway::clustered::AgentKey;
use crate::tokens::Identity;

impl RemoteWorkers {
    /// An agent of another worker sends a message to its app here.
    pub(super) fn agent_said(
        &self,
        worker: WorkerId,
        key: AgentKey,
        quota_key: Option<Arc<str>>,
        text: &Bytes,
    ) {
        let Ok(message) = std::str::from_utf8(text) else {
            return;
        };
        let known = self.of(worker, |other| Some(other.agents.get(&key)?.peer));
        let peer = known.unwrap_or_else(|| self.join_agent(worker, key, quota_key));
        self.hub.receive(peer, message, Some(text));
    }

    fn join_agent(&self, worker: WorkerId, key: AgentKey, quota_key: Option<Arc<str>>) -> PeerId {
        let joined = self.hub.join(|peer| Event::AgentJoined {
            peer,
            app: Wanted::Peer(PeerId(key.0)),
            profile: Profile {
                // The agent's own worker knows the agent's owner and dialect, because that worker keeps the
                // agent's runs.
                dialect: Dialect::Abp,
                owner: Identity::anyone(),
                quota_key: quota_key.unwrap_or_else(|| worker.to_string().into()),
                name: None,
                seat: Seat::Elsewhere,
            },
        });
        let peer = joined.0;
        let (app, agent) = key.clone();
        let parcel = move |message: String| {
            let agent = agent.clone();
            Some(Parcel {
                message: Message::ToAgent { app, agent },
                text: message.into(),
            })
        };
        let ended = key.clone();
        let closed = move |remote: &RemoteWorkers| {
            remote.of(worker, |other| other.agents.remove(&ended));
            let (app, agent) = ended;
            remote.send(worker, Message::AgentLost { app, agent });
            remote.departed.notify_waiters();
        };
        // The lock is held until the agent is entered, so that the agent cannot end before.
        let mut others = self.others();
        let forwarder = self.forward(worker, joined, parcel, closed);
        if let Some(other) = others.all.get_mut(&worker) {
            other.agents.insert(key, Proxy { peer, forwarder });
        }
        peer
    }

    /// An agent of another worker is gone.
    pub(super) fn agent_gone(&self, worker: WorkerId, key: &AgentKey) {
        let gone = self.of(worker, |other| other.agents.remove(key));
        if let Some(proxy) = gone {
            // This is noted before the agent can leave work behind.
            self.clustered.agent_leaves(worker, proxy.peer, key.clone());
            proxy.leave(&self.hub);
            self.departed.notify_waiters();
        }
    }

    /// Whether agents of other workers use that app of this worker.
    pub(super) fn serves_others(&self, app: AppKey) -> bool {
        let others = self.others();
        let mut agents = others.all.values().flat_map(|other| other.agents.keys());
        agents.any(|(of, _)| *of == app)
    }
}
