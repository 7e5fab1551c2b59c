//! Apps and agents of other workers, as peers of the relay here; apps of the relay here, as the
//! others are told of them.

mod agents;
mod apps;
mod delivery;
mod forwarding;
mod local;
mod tunnels;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::link::Frame;
use super::message::{Message, Parcel, VERSION};
use super::peers::Peer;
use super::{Cluster, WorkerId};
use crate::gateway::Resume;

pub(super) use local::announce;
pub use tunnels::Tunnel;
pub(super) use tunnels::Tunnels;

/// Makes itself known to a new worker.
pub(super) fn greet(cluster: &Cluster, worker: WorkerId) {
    let name = cluster.options.name();
    let mut peers = cluster.peers();
    peers.peers.entry(worker).or_default();
    let sessions = cluster.hub.resume_prefix().to_string();
    let greeting = Message::Hello {
        name,
        sessions,
        version: VERSION,
    };
    peers.push(worker, &greeting.into());
    for (app, offer) in peers.announced.clone() {
        peers.push(worker, &Message::App { app, offer }.into());
    }
    drop(peers);
    super::early::pass_on(cluster, worker);
    cluster.outgoing.notify_one();
}

/// A worker has left, or has died.
pub(super) fn forget(cluster: &Cluster, worker: WorkerId) {
    let peer = {
        let mut peers = cluster.peers();
        peers.membership.bury(worker);
        peers.orphans.insert(worker, true);
        // Who waits for an answer of its waits no longer.
        peers.asked.retain(|_, (asked, _)| *asked != worker);
        peers.peers.remove(&worker)
    };
    cluster.orphaned.notify_one();
    if let Some(peer) = peer {
        tracing::info!(%worker, name = peer.name, "another worker is gone");
        dissolve(cluster, peer);
    }
}

/// All others are given up, and this worker joins anew. Whether there were any.
pub(super) fn forget_all(cluster: &Cluster) -> bool {
    let peers = cluster.peers().reset();
    cluster.reborn.notify_one();
    let any = !peers.is_empty();
    for peer in peers.into_values() {
        dissolve(cluster, peer);
    }
    any
}

/// Whoever stood for somebody there leaves the relay.
fn dissolve(cluster: &Cluster, peer: Peer) {
    // Agents first: their apps stop working for nobody.
    let proxies = peer.agents.into_values().chain(peer.apps.into_values());
    proxies.for_each(|proxy| proxy.leave(&cluster.hub));
    peer.tunnels.dissolve();
    peer.room.notify_waiters();
}

/// Takes a frame that has come from another worker.
pub(super) fn receive(cluster: &Cluster, from: WorkerId, frame: Frame) {
    cluster.traffic.frames_received.add(1);
    let (new, body) = {
        let now = cluster.now();
        cluster.peers().take(from, frame, now)
    };
    if new {
        greet(cluster, from);
    }
    let Some(body) = body else { return };
    for parcel in Parcel::unpack(body) {
        let error = match parcel {
            // The frame is acknowledged: one message must not take the others with it.
            Ok(Parcel { message, text }) => {
                let act = AssertUnwindSafe(|| act(cluster, from, message, text));
                match catch_unwind(act) {
                    Ok(()) => continue,
                    Err(_) => "it made this worker panic".into(),
                }
            }
            Err(error) => error,
        };
        cluster.traffic.messages_unread.add(1);
        tracing::error!(worker = %from, error, "a message of another worker is passed over");
    }
}

fn act(cluster: &Cluster, from: WorkerId, message: Message, text: bytes::Bytes) {
    match message {
        Message::Hello {
            name,
            sessions,
            version,
        } => {
            tracing::info!(worker = %from, name, version, "another worker");
            if let Some(peer) = cluster.peers().peers.get_mut(&from) {
                peer.name = name;
                peer.sessions = sessions;
                peer.version = version;
            }
        }
        Message::App { app, offer } => apps::offered(cluster, from, app, &offer),
        Message::AppGone { app } => apps::gone(cluster, from, app),
        Message::ToAgent { app, agent } => apps::said(cluster, from, app, agent, &text),
        Message::AgentLost { app, agent } => apps::lost(cluster, from, app, agent),
        Message::ToApp { app, agent } => agents::said(cluster, from, (app, agent), &text),
        Message::AgentGone { app, agent } => agents::gone(cluster, from, &(app, agent)),
        Message::TakeUp {
            tunnel,
            token,
            received,
            id,
            by,
        } => {
            let resume = Resume {
                token: &token,
                received,
                id: id.as_deref(),
            };
            tunnels::taken_up(cluster, from, tunnel, resume, &by);
        }
        Message::NotTakenUp { tunnel } => tunnels::said(cluster, from, tunnel, &text, true),
        Message::ToConnection { tunnel } => tunnels::said(cluster, from, tunnel, &text, false),
        Message::FromConnection { tunnel } => tunnels::heard(cluster, from, tunnel, &text),
        Message::Written { tunnel, messages } => tunnels::written(cluster, from, tunnel, messages),
        Message::ConnectionOver { tunnel, lost } => tunnels::over(cluster, from, tunnel, lost),
        Message::CloseConnection {
            tunnel,
            code,
            reason,
        } => tunnels::closed(cluster, from, tunnel, (code, reason)),
        Message::Ask { id, question } => super::asking::asked(cluster, from, id, question),
        Message::Answer { id, answer } => {
            let asked = cluster.peers().asked.remove(&id);
            if let Some((_, waiting)) = asked.filter(|(worker, _)| *worker == from) {
                let _ = waiting.send(answer);
            }
        }
        Message::Tell(notice) => super::notice::obey(cluster, from, notice),
        Message::Stopping => apps::stopping(cluster, from),
        Message::Bye => forget(cluster, from),
    }
}
