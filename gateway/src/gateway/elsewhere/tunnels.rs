//! Tunnels for apps that come back to another worker than before. The session stays on its worker. The worker
//! with the new connection passes on the session's messages.

use std::collections::{HashMap, VecDeque};
use std::iter::repeat_n;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::Elsewhere;
use super::delivery::deliver;
use crate::broker::{CloseCode, Event, PeerId};
use crate::cluster::WorkerId;
use crate::cluster::message::{Message, Parcel, TunnelId};
use crate::gateway::outbox::{Outbox, OutboxStep};
use crate::gateway::resume::{Attached, NOT_RESUMED, Resume};
use crate::tokens::Identity;
use crate::wire::Outgoing;

/// The ends of the tunnels between this worker and another worker.
#[derive(Default)]
pub(super) struct Tunnels {
    /// Connections of this worker whose sessions are on the other worker.
    connections: HashMap<TunnelId, Connection>,
    /// Sessions of this worker whose connections are on the other worker.
    sessions: HashMap<TunnelId, Held>,
}

/// A connection of an app.
struct Connection {
    /// The peer that counts the app on this worker.
    peer: PeerId,
    outbox: Arc<Outbox>,
    /// The messages of the session to the app.
    said: mpsc::UnboundedSender<OutboxStep>,
}

/// A session with a connection on another worker.
struct Held {
    end: Arc<End>,
    forwarder: AbortHandle,
}

/// The session's end of a tunnel.
struct End {
    attached: Mutex<Option<Attached>>,
    /// The cost of each message that is on its way and not yet written to the app. The broker still counts
    /// these messages as waiting.
    unwritten: Mutex<VecDeque<usize>>,
}

impl End {
    /// Messages of these costs have been written to the app.
    fn written(&self, costs: impl Iterator<Item = usize>) {
        let attached = self.attached.lock();
        let Some(attached) = &*attached else { return };
        let outbox = attached.outbox();
        let mut is_less = false;
        for cost in costs {
            is_less |= outbox.written(cost);
        }
        if is_less {
            attached.relieved();
        }
    }
}

/// The tunnel from an app's connection here to its session on another worker. If the tunnel is dropped, the
/// connection was lost and the session waits for another connection. [`Tunnel::end`] ends the session as
/// well.
pub struct Tunnel {
    elsewhere: Arc<Elsewhere>,
    worker: WorkerId,
    id: TunnelId,
}

impl Tunnel {
    /// The app has sent a text frame of `bytes` bytes. If the frame is larger than the gateway accepts,
    /// `text` is only its beginning.
    pub fn text(&self, text: &str, bytes: usize) {
        let from = Message::FromConnection { tunnel: self.id };
        let mut text = text.to_string();
        if bytes > text.len() {
            // The other worker refuses the message because of its length.
            let refused = self.elsewhere.hub.limits.message_bytes + 1;
            text.extend(repeat_n(' ', refused.saturating_sub(text.len())));
        }
        self.elsewhere.send_text(self.worker, from, text);
    }

    /// The app has sent a binary frame of `bytes` bytes.
    pub fn binary(&self, bytes: usize) {
        let tunnel = self.id;
        let message = Message::BinaryFromConnection { tunnel, bytes };
        self.elsewhere.send(self.worker, message);
    }

    /// Waits for room for the app's messages on the way to the other worker. `None` means that there is room.
    pub fn room(&self) -> Option<BoxFuture<'static, ()>> {
        let (cluster, worker) = (self.elsewhere.cluster().clone(), self.worker);
        let room = || async move { cluster.room(worker).await }.boxed();
        (!self.elsewhere.cluster().has_room(worker)).then(room)
    }

    /// The app has closed the connection or broken a rule. The session is over.
    pub fn end(self) {
        self.over(false);
    }

    fn over(&self, lost: bool) {
        let (elsewhere, tunnel) = (&self.elsewhere, self.id);
        let known = elsewhere.of(self.worker, |other| {
            other.tunnels.connections.remove(&tunnel)
        });
        if known.is_some() {
            elsewhere.send(self.worker, Message::ConnectionOver { tunnel, lost });
        }
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.over(true);
    }
}

impl Tunnels {
    /// The other worker is gone, and its sessions with it. Sessions here wait for another connection.
    pub fn dissolve(self) {
        for held in self.sessions.into_values() {
            held.forwarder.abort();
            let attached = held.end.attached.lock().take();
            if let Some(attached) = attached {
                // Unwritten messages take no more room: the next connection gets them.
                attached.outbox().end();
            }
        }
        for connection in self.connections.into_values() {
            let reason = "The worker that held the session is gone";
            let close = OutboxStep::Close(CloseCode::TRY_AGAIN, reason.into());
            // The close frame follows the last messages of the session.
            let _ = connection.said.send(close);
        }
    }
}

impl Elsewhere {
    /// Continues a session of another worker on the connection behind `outbox`. The app has sent [`Resume`],
    /// and its identity is `by`. Returns `None` if no known worker has the session. If a worker has the
    /// session, that worker tells the app whether it can resume.
    pub fn take_up(
        &self,
        resume: Resume<'_>,
        by: &Identity,
        (peer, outbox): (PeerId, Arc<Outbox>),
    ) -> Option<Tunnel> {
        let worker = self.clustered.home_of(resume.token)?;
        let (said, to_say) = mpsc::unbounded_channel();
        let id = {
            let mut others = self.others();
            others.last_tunnel += 1;
            let id = others.last_tunnel;
            let connections = &mut others.all.get_mut(&worker)?.tunnels.connections;
            let connection = Connection {
                peer,
                outbox: outbox.clone(),
                said,
            };
            connections.insert(id, connection);
            id
        };
        let message = Message::TakeUp {
            tunnel: id,
            token: resume.token.into(),
            received: resume.received,
            id: resume.id.map(str::to_string),
            by: by.clone(),
        };
        self.send(worker, message);
        tokio::spawn(deliver(self.shared(), worker, id, outbox, to_say));
        Some(Tunnel {
            elsewhere: self.shared(),
            worker,
            id,
        })
    }

    /// This worker stops. Apps with sessions on other workers lose their connections without a close frame,
    /// and resume their sessions on another connection.
    pub fn let_go(&self) {
        let mut others = self.others();
        let tunnels = others.all.iter_mut();
        let lost: Vec<_> = tunnels
            .flat_map(|(worker, other)| {
                let connections = std::mem::take(&mut other.tunnels.connections);
                connections.into_iter().map(|lost| (*worker, lost))
            })
            .collect();
        drop(others);
        for (worker, (tunnel, connection)) in lost {
            let lost = true;
            self.send(worker, Message::ConnectionOver { tunnel, lost });
            // Otherwise the broker would close the connection with all apps here.
            let peer = connection.peer;
            self.hub.handle(Event::Gone { peer });
            connection.outbox.end();
        }
    }

    /// An app of this worker's session has connected to another worker.
    pub(super) fn taken_up(
        &self,
        worker: WorkerId,
        tunnel: TunnelId,
        resume: Resume<'_>,
        by: &Identity,
    ) {
        let outbox = Arc::new(self.hub.new_outbox());
        let end = match self.hub.resume(resume, by, outbox.clone()) {
            Ok(attached) => Arc::new(End {
                attached: Mutex::new(Some(attached)),
                unwritten: Mutex::default(),
            }),
            Err(why) => {
                let answer = self.hub.app_lost_message(resume.id, why).into_text();
                return self.send_text(worker, Message::NotTakenUp { tunnel }, answer);
            }
        };
        let mut others = self.others();
        let forwarder = self.forward_session(worker, tunnel, outbox, end.clone());
        if let Some(other) = others.all.get_mut(&worker) {
            let held = Held { end, forwarder };
            other.tunnels.sessions.insert(tunnel, held);
        } else {
            // The worker is gone, so nothing else would end the forwarder.
            forwarder.abort();
        }
    }

    /// Passes on the messages of a session until the session moves to another connection or ends.
    fn forward_session(
        &self,
        worker: WorkerId,
        tunnel: TunnelId,
        outbox: Arc<Outbox>,
        end: Arc<End>,
    ) -> AbortHandle {
        let elsewhere = self.shared();
        let forwarding = tokio::spawn(async move {
            let cluster = elsewhere.cluster();
            let (code, reason) = loop {
                match outbox.next().await {
                    OutboxStep::Close(code, reason) => break (code.0, reason),
                    OutboxStep::Message(message, cost) => {
                        let parcel = Parcel {
                            message: Message::ToConnection { tunnel },
                            text: message.into_text().into(),
                        };
                        end.unwritten.lock().push_back(cost);
                        cluster.send_in_turn(worker, &parcel).await;
                    }
                }
            };
            let message = Message::CloseConnection {
                tunnel,
                code,
                reason,
            };
            elsewhere.send(worker, message);
            drop(elsewhere.of(worker, |other| other.tunnels.sessions.remove(&tunnel)));
        });
        forwarding.abort_handle()
    }

    /// The app has sent a text frame over its connection on the other worker.
    pub(super) fn connection_said(&self, worker: WorkerId, tunnel: TunnelId, text: &Bytes) {
        let (Some(end), Ok(message)) = (self.end_of(worker, tunnel), std::str::from_utf8(text))
        else {
            return;
        };
        if let Some(attached) = &*end.attached.lock() {
            attached.text(message, Some(text));
        }
    }

    /// The app has sent a binary frame over its connection on the other worker.
    pub(super) fn connection_sent_binary(&self, worker: WorkerId, tunnel: TunnelId, bytes: usize) {
        if let Some(end) = self.end_of(worker, tunnel)
            && let Some(attached) = &*end.attached.lock()
        {
            attached.binary(bytes);
        }
    }

    /// Notes that this many more messages were written to the app on the other worker.
    pub(super) fn written(&self, worker: WorkerId, tunnel: TunnelId, messages: usize) {
        let Some(end) = self.end_of(worker, tunnel) else {
            return;
        };
        let costs: Vec<_> = {
            let mut unwritten = end.unwritten.lock();
            let count = messages.min(unwritten.len());
            unwritten.drain(..count).collect()
        };
        end.written(costs.into_iter());
    }

    fn end_of(&self, worker: WorkerId, tunnel: TunnelId) -> Option<Arc<End>> {
        self.of(worker, |other| {
            Some(other.tunnels.sessions.get(&tunnel)?.end.clone())
        })
    }

    /// The app's connection on the other worker is over.
    pub(super) fn connection_over(&self, worker: WorkerId, tunnel: TunnelId, lost: bool) {
        let held = self.of(worker, |other| other.tunnels.sessions.remove(&tunnel));
        let Some(held) = held else { return };
        held.forwarder.abort();
        let attached = held.end.attached.lock().take();
        match attached {
            Some(attached) if !lost => attached.end(),
            Some(attached) => attached.outbox().end(),
            None => {}
        }
    }

    /// A session of the other worker sends a message to the app here.
    pub(super) fn session_said(&self, worker: WorkerId, tunnel: TunnelId, text: &Bytes) {
        let said = self.of(worker, |other| {
            Some(other.tunnels.connections.get(&tunnel)?.said.clone())
        });
        if let Some(said) = said {
            say(&said, text);
        }
    }

    /// The other worker has no session for the app here. The text tells the app so.
    pub(super) fn session_refused(&self, worker: WorkerId, tunnel: TunnelId, text: &Bytes) {
        let connection = self.of(worker, |other| other.tunnels.connections.remove(&tunnel));
        if let Some(connection) = connection {
            say(&connection.said, text);
            let close = OutboxStep::Close(CloseCode::POLICY, NOT_RESUMED.into());
            let _ = connection.said.send(close);
        }
    }

    /// A session of the other worker closes the app's connection here.
    pub(super) fn session_closes(
        &self,
        worker: WorkerId,
        tunnel: TunnelId,
        code: u16,
        reason: String,
    ) {
        let connection = self.of(worker, |other| other.tunnels.connections.remove(&tunnel));
        if let Some(connection) = connection {
            let close = OutboxStep::Close(CloseCode(code), reason);
            let _ = connection.said.send(close);
        }
    }
}

fn say(connection: &mpsc::UnboundedSender<OutboxStep>, text: &Bytes) {
    if let Ok(text) = std::str::from_utf8(text) {
        let message = Outgoing::text(text.to_string());
        let cost = message.cost();
        let _ = connection.send(OutboxStep::Message(message, cost));
    }
}
