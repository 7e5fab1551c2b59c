//! Agents of other workers, on apps of this one.

use bytes::Bytes;

use super::forwarding::forward;
use crate::broker::runs::Dialect;
use crate::broker::{Event, PeerId, Profile, Seat, Wanted};
use crate::cluster::message::{AppKey, Message, Parcel};
use crate::cluster::peers::Proxy;
use crate::cluster::{Cluster, WorkerId};
use crate::tokens::Identity;

/// An agent, by its app and its name there.
type Key = (AppKey, String);

/// It says something to its app.
pub(super) fn said(cluster: &Cluster, worker: WorkerId, key: Key, text: &Bytes) {
    let Ok(message) = std::str::from_utf8(text) else {
        return;
    };
    let peer = proxy_of(cluster, worker, &key).unwrap_or_else(|| join(cluster, worker, key));
    cluster.hub.receive(peer, message, Some(text), None);
}

fn join(cluster: &Cluster, worker: WorkerId, key: Key) -> PeerId {
    let joined = cluster.hub.join(|peer| Event::AgentJoined {
        peer,
        app: Wanted::Peer(PeerId(key.0)),
        profile: Profile {
            // Whose it is and what it speaks, its own worker knows: it keeps its runs.
            dialect: Dialect::Abp,
            owner: Identity::anyone(),
            seat: Seat::Elsewhere,
        },
    });
    let peer = joined.0;
    let cluster = cluster.shared();
    let (app, agent) = key.clone();
    let parcel = move |message: String| {
        let agent = agent.clone();
        Some(Parcel {
            message: Message::ToAgent { app, agent },
            text: message.into(),
        })
    };
    let ended = key.clone();
    let closed = move |cluster: &Cluster| {
        cluster.of(worker, |other| other.agents.remove(&ended));
        let (app, agent) = ended;
        cluster.send(worker, &Message::AgentLost { app, agent }.into());
        cluster.departed.notify_waiters();
    };
    // Entered before it can end.
    let mut peers = cluster.peers();
    let forwarder = forward(&cluster, worker, joined, parcel, closed);
    if let Some(other) = peers.peers.get_mut(&worker) {
        other.agents.insert(key, Proxy { peer, forwarder });
    }
    peer
}

/// It has gone.
pub(super) fn gone(cluster: &Cluster, worker: WorkerId, key: &Key) {
    if let Some(proxy) = cluster.of(worker, |other| other.agents.remove(key)) {
        proxy.leave(&cluster.hub);
        cluster.departed.notify_waiters();
    }
}

fn proxy_of(cluster: &Cluster, worker: WorkerId, key: &Key) -> Option<PeerId> {
    cluster.of(worker, |other| Some(other.agents.get(key)?.peer))
}
