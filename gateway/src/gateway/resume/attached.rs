//! The handle of one connection to a session.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::time::sleep;

use super::messages::{self, ACK, AckPayload, RESUME};
use super::session::{AppSession, Inbound};
use crate::broker::{CloseCode, Event, PeerId};
use crate::gateway::counted::Counted;
use crate::gateway::files::MESSAGES;
use crate::gateway::hub::Hub;
use crate::gateway::noticed::Noticed;
use crate::gateway::outbox::{Outbox, Pushed, unread};
use crate::wire::{Envelope, Failure, Incoming, Outgoing, Subject, not_text};
use caphost::call::{Code, Error};
use caphost::dialect::delivery::{Due, IDLE};

/// A session on a connection. The connection's frames go in through [`Attached::beginning`], and the messages to the app wait in [`Attached::outbox`]. If this value is dropped,
/// the connection was lost and the session waits for another connection. [`Attached::end`] ends the session
/// as well.
///
/// When the session moves to another connection, the outbox is closed. Frames that still come in are dropped:
/// they come again on the other connection.
pub struct Attached {
    hub: Arc<Hub>,
    session: Arc<AppSession>,
    outbox: Arc<Outbox>,
}

impl Attached {
    pub(crate) fn new(hub: Arc<Hub>, session: Arc<AppSession>, outbox: Arc<Outbox>) -> Self {
        Attached {
            hub,
            session,
            outbox,
        }
    }

    /// The messages to write to the app. Take each with [`Outbox::next`], write it, and call
    /// [`Outbox::written`]. If that returns `true`, call [`Attached::relieved`].
    pub fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    /// The app has sent a text frame. `shared` is the buffer that contains `text`.
    pub fn text(&self, text: &str, shared: Option<&Bytes>) -> Counted {
        self.beginning(text, text.len(), shared)
    }

    /// [`Attached::text`] for a frame of `bytes` bytes. If the frame is larger than the gateway accepts,
    /// `text` may be only its beginning.
    pub fn beginning(&self, text: &str, bytes: usize, shared: Option<&Bytes>) -> Counted {
        let mut inbound = self.session.inbound();
        if !self.is_on(&inbound) {
            return Counted::Message;
        }
        let peer = self.session.peer;
        let limits = &self.hub.limits;
        let incoming = Incoming::beginning(text, bytes, shared, limits);
        let read = incoming.envelope(limits);
        let kind = match &read {
            Ok(envelope) => Some(&*envelope.kind),
            Err(refusal) => refusal.subject.kind.as_deref(),
        };
        let is_of_file = kind.is_some_and(|kind| MESSAGES.contains(&kind));
        let counts = !is_of_file && !matches!(kind, Some(ACK | RESUME));
        let due = counts.then(|| inbound.received.note(bytes));
        let counted = Counted::of(read.as_ref().ok().map(|it| &*it.kind));
        let written;
        let event = match read {
            Ok(envelope) if is_of_file => {
                self.session.readings.said(&envelope);
                return Counted::Request;
            }
            Ok(envelope) if !counts => match self.control(&envelope) {
                Ok(()) => return Counted::Message,
                Err(error) => Event::refused(peer, envelope.subject(), error),
            },
            Ok(mut envelope) => {
                written = self.hub.with_addresses(&self.session, &envelope);
                if let Some(written) = written.as_deref() {
                    (envelope.payload, envelope.shared) = (Some(written), None);
                }
                Event::received(peer, Ok(envelope))
            }
            read => Event::received(peer, read),
        };
        self.hub.handle(event);
        match due {
            Some(Due::Now) => acknowledge(&self.hub, self.session.peer, &mut inbound),
            Some(Due::Later) if !inbound.is_timed => {
                inbound.is_timed = true;
                let later = acknowledge_later(self.hub.clone(), self.session.clone());
                tokio::spawn(later);
            }
            Some(Due::Later | Due::Pending) | None => {}
        }
        counted
    }

    /// The app has sent a binary frame of `bytes` bytes: a part of a file, of which `frame` is what was kept. The
    /// gateway refuses what it has not asked for.
    pub fn binary(&self, frame: Bytes, bytes: usize) -> Counted {
        let inbound = self.session.inbound();
        if !self.is_on(&inbound) {
            return Counted::Aside;
        }
        if frame.len() == bytes && self.session.readings.bytes(frame) {
            return Counted::Request;
        }
        let (peer, error) = (self.session.peer, not_text(bytes));
        let refused = Event::refused(peer, Subject::default(), error);
        self.hub.handle(refused);
        Counted::Aside
    }

    /// The app lets its files be read. The gateway is at the URL `base`.
    pub(crate) fn reads_files(&self, base: String) {
        self.session.reads_files(base);
    }

    /// The queue has become shorter, as [`Outbox::written`] has reported.
    pub fn relieved(&self) {
        self.hub.relieved(self.session.peer, &self.outbox);
    }

    /// The app has closed the connection or broken a rule. The session is over.
    pub fn end(self) {
        self.hub.end_session(self.session.peer, &self.outbox);
    }

    /// Whether the session is still on this connection.
    fn is_on(&self, inbound: &Inbound) -> bool {
        Arc::ptr_eq(&inbound.outbox, &self.outbox)
    }

    /// Handles a message that is not counted.
    fn control(&self, envelope: &Envelope<'_>) -> Result<(), Failure> {
        if envelope.kind == RESUME {
            let message = "This connection has a session";
            return Err(Error::new(Code::ALREADY_INITIALIZED, message));
        }
        let AckPayload { received } = messages::read(envelope)?;
        let acknowledged = self.outbox.acknowledge(received);
        acknowledged.map_err(|_| Error::invalid_params("`received` does not fit what was sent"))
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let inbound = self.session.inbound();
        if self.is_on(&inbound) {
            self.session.readings.lose();
        }
        drop(inbound);
        self.hub.connection_lost(self.session.peer, &self.outbox);
    }
}

/// Acknowledges the received messages, a little after the first of them.
async fn acknowledge_later(hub: Arc<Hub>, session: Arc<AppSession>) {
    sleep(Duration::from_secs_f64(IDLE / 1_000.0)).await;
    let mut inbound = session.inbound();
    inbound.is_timed = false;
    acknowledge(&hub, session.peer, &mut inbound);
}

fn acknowledge(hub: &Hub, peer: PeerId, inbound: &mut Inbound) {
    let Some(received) = inbound.received.take_untold() else {
        return;
    };
    let ack = messages::ack(hub.now().unix_ms, received);
    push_unkept(hub, peer, &inbound.outbox, ack);
}

/// Sends a message to the app that is for its connection only. Returns whether the app is connected.
pub(crate) fn tell_app(hub: &Hub, session: &AppSession, kind: &str, payload: &Value) -> bool {
    let message = messages::message(hub.now().unix_ms, kind, None, payload);
    let outbox = session.inbound().outbox.clone();
    let is_open = outbox.is_open();
    push_unkept(hub, session.peer, &outbox, message);
    is_open
}

fn push_unkept(hub: &Hub, peer: PeerId, outbox: &Arc<Outbox>, message: Outgoing) {
    match outbox.push_unkept(message) {
        Pushed::Grown(_) => hub.relieved(peer, outbox),
        Pushed::Overflow => {
            let limit = hub.limits.queued_bytes;
            Noticed::Overflow(peer).log(limit);
            outbox.close(CloseCode::POLICY, unread(limit));
            hub.end_session(peer, outbox);
        }
        Pushed::Queued | Pushed::Emptied | Pushed::Unkept => {}
    }
}
