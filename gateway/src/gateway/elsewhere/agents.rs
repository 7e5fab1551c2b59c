//! Agents of other workers on apps here, as agents of the broker here. When one has left, its worker is
//! still told how the work ends that it has left behind.

use bytes::Bytes;

use super::Elsewhere;
use super::proxy::Proxy;
use crate::broker::runs::Dialect;
use crate::broker::{Event, PeerId, Profile, Seat, Wanted};
use crate::cluster::WorkerId;
use crate::cluster::message::{AppKey, Message, Parcel};
use crate::remembered::Remembered;
use crate::tokens::Identity;

/// Agents that have left apps here and are remembered, of each worker.
const REMEMBERED: usize = 1_024;

/// An agent, by its app and its name there.
pub(super) type Key = (AppKey, String);

/// Those of one worker that have left, as the broker here has known them.
pub(super) type Left = Remembered<PeerId, Key, REMEMBERED>;

impl Elsewhere {
    /// An agent there says something to its app here.
    pub(super) fn agent_said(&self, worker: WorkerId, key: Key, text: &Bytes) {
        let Ok(message) = std::str::from_utf8(text) else {
            return;
        };
        let known = self.of(worker, |other| Some(other.agents.get(&key)?.peer));
        let peer = known.unwrap_or_else(|| self.join_agent(worker, key));
        self.hub.receive(peer, message, Some(text));
    }

    fn join_agent(&self, worker: WorkerId, key: Key) -> PeerId {
        let joined = self.hub.join(|peer| Event::AgentJoined {
            peer,
            app: Wanted::Peer(PeerId(key.0)),
            profile: Profile {
                // Whose it is and what it speaks, its own worker knows: it keeps its runs.
                dialect: Dialect::Abp,
                owner: Identity::anyone(),
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
        let closed = move |elsewhere: &Elsewhere| {
            elsewhere.of(worker, |other| other.agents.remove(&ended));
            let (app, agent) = ended;
            elsewhere.send(worker, Message::AgentLost { app, agent });
            elsewhere.departed.notify_waiters();
        };
        // Entered before it can end.
        let mut others = self.others();
        let forwarder = self.forward(worker, joined, parcel, closed);
        if let Some(other) = others.all.get_mut(&worker) {
            other.agents.insert(key, Proxy { peer, forwarder });
        }
        peer
    }

    /// An agent there has gone.
    pub(super) fn agent_gone(&self, worker: WorkerId, key: &Key) {
        let gone = self.of(worker, |other| {
            let proxy = other.agents.remove(key)?;
            other.left.insert(proxy.peer, key.clone());
            Some(proxy)
        });
        if let Some(proxy) = gone {
            proxy.leave(&self.hub);
            self.departed.notify_waiters();
        }
    }

    /// An app here says something to an agent that has left it.
    pub(in crate::gateway) fn to_left(&self, agent: PeerId, text: String) {
        let others = self.others();
        let found = others.all.iter().find_map(|(worker, other)| {
            let key = other.left.get(&agent)?;
            Some((*worker, key.clone()))
        });
        drop(others);
        if let Some((worker, (app, agent))) = found {
            self.send_text(worker, Message::ToAgent { app, agent }, text);
        }
    }

    /// Whether agents there are on that app here.
    pub(super) fn serves_others(&self, app: AppKey) -> bool {
        let others = self.others();
        let mut agents = others.all.values().flat_map(|other| other.agents.keys());
        agents.any(|(of, _)| *of == app)
    }
}
