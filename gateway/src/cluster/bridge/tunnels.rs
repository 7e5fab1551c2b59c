//! Apps that come back to another worker: their session stays where it is, and the worker they came
//! to passes its messages on.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::delivery::{Said, deliver};
use crate::broker::CloseCode;
use crate::cluster::message::{Message, Parcel, SAYS_WRITTEN, TunnelId};
use crate::cluster::{Cluster, WorkerId};
use crate::gateway::Attached;
use crate::gateway::Outbox;
use crate::gateway::OutboxStep;
use crate::gateway::Resume;
use crate::tokens::Identity;
use crate::wire::Outgoing;

/// The ends of tunnels to one other worker.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Tunnels {
    /// Connections here, of sessions there.
    connections: HashMap<TunnelId, Arc<Connection>>,
    /// Sessions here, on connections there.
    sessions: HashMap<TunnelId, Held>,
}

/// A connection, as far as its tunnel knows it.
#[derive(Debug)]
struct Connection {
    said: mpsc::UnboundedSender<Said>,
    refused: AtomicBool,
}

/// A session's hold on its connection.
struct Held {
    end: Arc<End>,
    forwarder: AbortHandle,
}

/// A session's end of a tunnel.
struct End {
    attached: Mutex<Option<Attached>>,
    /// What each message costs that is on its way and not written to the app, so that to the relay it
    /// still waits.
    unwritten: Mutex<VecDeque<usize>>,
}

impl End {
    fn attached(&self) -> MutexGuard<'_, Option<Attached>> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unwritten(&self) -> MutexGuard<'_, VecDeque<usize>> {
        self.unwritten
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Messages of that cost have been written to the app.
    fn written(&self, costs: impl Iterator<Item = usize>) {
        let attached = self.attached();
        let Some(attached) = &*attached else { return };
        let outbox = attached.outbox();
        let mut is_short = false;
        for cost in costs {
            is_short |= outbox.written(cost);
        }
        if is_short {
            attached.relieved();
        }
    }
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Held")
    }
}

/// The way from an app's connection here to its session on another worker. Dropped, the connection
/// was lost, and the session waits for another; [`Tunnel::end`] ends the session as well.
pub struct Tunnel {
    cluster: Arc<Cluster>,
    worker: WorkerId,
    id: TunnelId,
    connection: Arc<Connection>,
}

impl Cluster {
    /// Has a session of another worker go on over the connection behind `outbox`: its app has sent
    /// [`Resume`], and is `by`. Nothing if no worker known has such a session; whether it can be
    /// resumed, the app is told by that worker.
    pub fn take_up(
        &self,
        resume: Resume<'_>,
        by: &Identity,
        outbox: Arc<Outbox>,
    ) -> Option<Tunnel> {
        let (prefix, _) = resume.token.split_once('.')?;
        let (said, to_say) = mpsc::unbounded_channel();
        let connection = Arc::new(Connection {
            said,
            refused: AtomicBool::new(false),
        });
        let mut peers = self.peers();
        let mut others = peers.peers.iter();
        let (worker, _) = others.find(|(_, other)| other.sessions == prefix)?;
        let worker = *worker;
        peers.last_tunnel += 1;
        let id = peers.last_tunnel;
        let other = peers.peers.get_mut(&worker)?;
        let connections = &mut other.tunnels.connections;
        connections.insert(id, connection.clone());
        let message = Message::TakeUp {
            tunnel: id,
            token: resume.token.into(),
            received: resume.received,
            id: resume.id.map(str::to_string),
            by: by.clone(),
        };
        peers.push(worker, &message.into());
        drop(peers);
        self.outgoing.notify_one();
        tokio::spawn(deliver(self.shared(), worker, id, outbox, to_say));
        Some(Tunnel {
            cluster: self.shared(),
            worker,
            id,
            connection,
        })
    }
}

impl Tunnel {
    /// Whether the session was not to be resumed: the app may register on its connection.
    pub fn is_refused(&self) -> bool {
        self.connection.refused.load(Ordering::Acquire)
    }

    /// The app has sent a text frame.
    pub fn text(&self, message: &str) {
        let parcel = Parcel {
            message: Message::FromConnection { tunnel: self.id },
            text: message.to_string().into(),
        };
        self.cluster.send(self.worker, &parcel);
    }

    /// Whether there is room on the way for what the app sends.
    pub fn has_room(&self) -> bool {
        self.cluster.has_room(self.worker)
    }

    /// Waits for room on the way.
    pub fn room(&self) -> impl Future<Output = ()> + Send + use<> {
        let (cluster, worker) = (self.cluster.clone(), self.worker);
        async move { cluster.room(worker).await }
    }

    /// The app has closed the connection, or broken a rule: the session is over.
    pub fn end(self) {
        self.over(false);
    }

    fn over(&self, lost: bool) {
        let known = self.cluster.of(self.worker, |other| {
            other.tunnels.connections.remove(&self.id)
        });
        if known.is_some() {
            let tunnel = self.id;
            let message = Message::ConnectionOver { tunnel, lost };
            self.cluster.send(self.worker, &message.into());
        }
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.over(true);
    }
}

impl Tunnels {
    /// The other worker is gone: its sessions are, and sessions here wait for another connection.
    pub fn dissolve(self) {
        for held in self.sessions.into_values() {
            held.forwarder.abort();
        }
        for connection in self.connections.into_values() {
            let reason = "The worker that held the session is gone";
            let close = Said::Close(CloseCode::TRY_AGAIN, reason.into());
            // After what the session has said.
            let _ = connection.said.send(close);
        }
    }
}

/// An app has come back to another worker.
pub(super) fn taken_up(
    cluster: &Cluster,
    worker: WorkerId,
    tunnel: TunnelId,
    resume: Resume<'_>,
    by: &Identity,
) {
    let outbox = Arc::new(Outbox::new(cluster.hub.limits.queued_bytes));
    let end = match cluster.hub.resume(resume, by, outbox.clone()) {
        Ok(attached) => Arc::new(End {
            attached: Mutex::new(Some(attached)),
            unwritten: Mutex::default(),
        }),
        Err(why) => {
            let answer = cluster.hub.lost(resume.id, why).into_text();
            let parcel = Parcel {
                message: Message::NotTakenUp { tunnel },
                text: answer.into(),
            };
            return cluster.send(worker, &parcel);
        }
    };
    let mut peers = cluster.peers();
    let forwarder = forward(cluster, worker, tunnel, outbox, end.clone());
    if let Some(other) = peers.peers.get_mut(&worker) {
        let held = Held { end, forwarder };
        other.tunnels.sessions.insert(tunnel, held);
    } else {
        // Nobody would ever end it.
        forwarder.abort();
    }
}

/// Passes on what a session says, until it is on another connection or over.
fn forward(
    cluster: &Cluster,
    worker: WorkerId,
    tunnel: TunnelId,
    outbox: Arc<Outbox>,
    end: Arc<End>,
) -> AbortHandle {
    let cluster = cluster.shared();
    let forwarding = tokio::spawn(async move {
        let (code, reason) = loop {
            match outbox.next().await {
                OutboxStep::Close(code, reason) => break (code.0, reason),
                OutboxStep::Message(message, cost) => {
                    let parcel = Parcel {
                        message: Message::ToConnection { tunnel },
                        text: message.into_text().into(),
                    };
                    let is_told = cluster.knows(worker, SAYS_WRITTEN);
                    if is_told {
                        end.unwritten().push_back(cost);
                    }
                    cluster.send_in_turn(worker, &parcel).await;
                    if !is_told {
                        end.written([cost].into_iter());
                    }
                }
            }
        };
        let message = Message::CloseConnection {
            tunnel,
            code,
            reason,
        };
        cluster.send(worker, &message.into());
        drop(cluster.of(worker, |other| other.tunnels.sessions.remove(&tunnel)));
    });
    forwarding.abort_handle()
}

/// The app has sent something over its connection there.
pub(super) fn heard(cluster: &Cluster, worker: WorkerId, tunnel: TunnelId, text: &Bytes) {
    let (Some(end), Ok(message)) = (end_of(cluster, worker, tunnel), std::str::from_utf8(text))
    else {
        return;
    };
    if let Some(attached) = &*end.attached() {
        attached.text(message, Some(text));
    }
}

/// So many more messages have been written to the app there.
pub(super) fn written(cluster: &Cluster, worker: WorkerId, tunnel: TunnelId, messages: usize) {
    let Some(end) = end_of(cluster, worker, tunnel) else {
        return;
    };
    let costs: Vec<_> = {
        let mut unwritten = end.unwritten();
        let count = messages.min(unwritten.len());
        unwritten.drain(..count).collect()
    };
    end.written(costs.into_iter());
}

fn end_of(cluster: &Cluster, worker: WorkerId, tunnel: TunnelId) -> Option<Arc<End>> {
    cluster.of(worker, |other| {
        Some(other.tunnels.sessions.get(&tunnel)?.end.clone())
    })
}

/// The app's connection there is over.
pub(super) fn over(cluster: &Cluster, worker: WorkerId, tunnel: TunnelId, lost: bool) {
    let held = cluster.of(worker, |other| other.tunnels.sessions.remove(&tunnel));
    let Some(held) = held else { return };
    held.forwarder.abort();
    let attached = held.end.attached().take();
    match attached {
        Some(attached) if !lost => attached.end(),
        lost => drop(lost),
    }
}

/// The session there says something to the app here, or `refused` it.
pub(super) fn said(
    cluster: &Cluster,
    worker: WorkerId,
    tunnel: TunnelId,
    text: &Bytes,
    refused: bool,
) {
    let connection = cluster.of(worker, |other| match refused {
        true => other.tunnels.connections.remove(&tunnel),
        false => other.tunnels.connections.get(&tunnel).cloned(),
    });
    let (Some(connection), Ok(message)) = (connection, std::str::from_utf8(text)) else {
        return;
    };
    // Before the app can answer.
    connection.refused.store(refused, Ordering::Release);
    let message = Outgoing::text(message.to_string());
    let _ = connection.said.send(Said::Message(message));
}

/// The session there closes the connection here.
pub(super) fn closed(
    cluster: &Cluster,
    worker: WorkerId,
    tunnel: TunnelId,
    (code, reason): (u16, String),
) {
    let connection = cluster.of(worker, |other| other.tunnels.connections.remove(&tunnel));
    if let Some(connection) = connection {
        let _ = connection.said.send(Said::Close(CloseCode(code), reason));
    }
}
