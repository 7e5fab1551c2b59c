//! Apps. An app's connection is a new peer of the broker, or continues the session of an earlier connection.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tungstenite::Utf8Bytes;

use crate::broker::{CloseCode, Event, PeerId};
use crate::fronts::socket::bounds::{FIRST_BYTES, LobbyPlace};
use crate::fronts::socket::{Connection, Endpoint};
use crate::gateway::files::MOST_BINARY;
use crate::gateway::resume::{Attached, Lost, NOT_RESUMED, RESUME, Resume, ResumePayload, read};
use crate::gateway::{Counted, Hub, Outbox};
use crate::tokens::{Identity, Role};
use crate::wire::{Envelope, Failure, Incoming, Subject, member, not_text};
use caphost::call::{Code, Error};

/// An app's connection.
pub(crate) struct AppPeer {
    hub: Arc<Hub>,
    identity: Option<Identity>,
    outbox: Arc<Outbox>,
    connection: Connection,
    /// The URL of the gateway, as the app reaches it.
    base: String,
    /// The connection's place in the lobby, until the app has registered.
    place: Mutex<Option<LobbyPlace>>,
    stage: Mutex<Stage>,
}

/// What the connection stands for.
enum Stage {
    /// A peer of the broker, which ends with the connection.
    Plain(PeerId),
    /// A session, which may outlive the connection.
    Attached(Attached),
    Over,
}

impl AppPeer {
    /// The connection of `peer` to the gateway at the URL `base`. `identity` is the app's identity, if the app has
    /// shown a token or needs none.
    pub fn new(
        hub: Arc<Hub>,
        peer: PeerId,
        identity: Option<Identity>,
        outbox: Arc<Outbox>,
        (connection, base): (Connection, String),
    ) -> Self {
        connection.watch.allow(FIRST_BYTES);
        // The party in the ledger is also the party in the lobby: a token, or a network.
        let lobby = &connection.bounds.lobby;
        let place = lobby.enter(connection.watch.quota_key(), outbox.clone());
        AppPeer {
            hub,
            identity,
            outbox,
            connection,
            base,
            place: Mutex::new(Some(place)),
            stage: Mutex::new(Stage::Plain(peer)),
        }
    }

    /// Handles a message before there is a session. Returns the connection's new stage, if the stage changes,
    /// and the kind that the message counts as.
    fn plain(
        &self,
        peer: PeerId,
        text: &str,
        bytes: usize,
        shared: &Bytes,
    ) -> (Option<Stage>, Counted) {
        let limits = &self.hub.limits;
        let incoming = Incoming::beginning(text, bytes, Some(shared), limits);
        let event = match incoming.envelope(limits) {
            Ok(envelope) if envelope.kind == RESUME => {
                let resumed = self.resume(peer, &envelope).unwrap_or_else(|error| {
                    self.refuse(peer, envelope.subject(), error);
                    self.answered_once();
                    None
                });
                return (resumed, Counted::Message);
            }
            read => Event::received(peer, read),
        };
        let message = match &event {
            Event::Message { message, .. } => Some(message),
            _ => None,
        };
        let kind = message.map(|it| &*it.envelope.kind);
        let payload = message
            .and_then(|it| it.envelope.payload)
            .unwrap_or_default();
        let reads_files = member(payload.as_bytes(), "files") == Some(b"true");
        let (counted, registers) = (Counted::of(kind), kind == Some("app/register"));
        if let Some(id) = message.and_then(|it| it.app_id()) {
            // The log may have to say which app is refused.
            self.outbox.log_app(id);
        }
        self.hub.handle(event);
        if !registers {
            self.answered_once();
            return (None, counted);
        }
        if let Some(by) = self.hub.registered_by(peer) {
            self.welcome(&by);
        }
        let attached = self.hub.attached(peer);
        if let Some(attached) = attached.as_ref().filter(|_| reads_files) {
            attached.reads_files(self.base.clone());
        }
        (attached.map(Stage::Attached), counted)
    }

    /// The connection belongs to an app of that identity now.
    fn welcome(&self, by: &Identity) {
        let limits = &self.hub.limits;
        let watch = &self.connection.watch;
        watch.allow(limits.frame_bytes.max(limits.message_bytes));
        self.connection.belongs_to(&self.hub, by, Role::App);
        drop(self.place.lock().take());
    }

    /// A message was answered. If the app has not registered, it gets no further answer.
    fn answered_once(&self) {
        if self.place.lock().is_some() {
            let reason = "Send app/register first";
            self.outbox.close(CloseCode::POLICY, reason.into());
        }
    }

    fn resume(&self, peer: PeerId, envelope: &Envelope<'_>) -> Result<Option<Stage>, Failure> {
        if self.hub.registered_by(peer).is_some() {
            let message = "This connection has registered its app";
            return Err(Error::new(Code::ALREADY_INITIALIZED, message));
        }
        let payload: ResumePayload<'_> = read(envelope)?;
        let by = match &self.identity {
            Some(identity) => Ok(identity.clone()),
            None => self
                .hub
                .tokens
                .identify(Role::App, payload.token.as_deref()),
        };
        let resume = Resume {
            token: &payload.resume,
            received: payload.received,
            id: envelope.id,
        };
        let resumed = by.map_err(|_| Lost::Unknown).and_then(|by| {
            let attached = self.hub.resume(resume, &by, self.outbox.clone())?;
            Ok((attached, by))
        });
        match resumed {
            Ok((attached, by)) => {
                self.welcome(&by);
                // The session has its own peer.
                self.hub.handle(Event::Gone { peer });
                Ok(Some(Stage::Attached(attached)))
            }
            Err(why) => {
                // Only one wrong token is allowed per connection.
                self.outbox
                    .push(self.hub.app_lost_message(envelope.id, why));
                self.outbox.close(CloseCode::POLICY, NOT_RESUMED.into());
                Ok(None)
            }
        }
    }

    fn refuse(&self, peer: PeerId, subject: Subject, error: Failure) {
        self.hub.handle(Event::refused(peer, subject, error));
    }

    fn over(&self) -> Stage {
        std::mem::replace(&mut *self.stage.lock(), Stage::Over)
    }
}

impl Endpoint for AppPeer {
    fn text(self: &Arc<Self>, text: &Utf8Bytes, bytes: usize) -> Counted {
        let shared = Bytes::from(text.clone());
        let mut stage = self.stage.lock();
        match &*stage {
            Stage::Plain(peer) => {
                let (next, counted) = self.plain(*peer, text, bytes, &shared);
                if let Some(next) = next {
                    *stage = next;
                }
                counted
            }
            Stage::Attached(attached) => attached.beginning(text, bytes, Some(&shared)),
            Stage::Over => Counted::Aside,
        }
    }

    fn rate(&self) -> Option<f64> {
        Some(self.hub.limits.app_messages_per_second)
    }

    fn binary_bytes(&self) -> usize {
        MOST_BINARY
    }

    fn binary(&self, frame: Bytes, bytes: usize) -> Counted {
        match &*self.stage.lock() {
            Stage::Plain(peer) => {
                self.refuse(*peer, Subject::default(), not_text(bytes));
                self.answered_once();
                Counted::Aside
            }
            Stage::Attached(attached) => attached.binary(frame, bytes),
            Stage::Over => Counted::Aside,
        }
    }

    fn relieved(&self, outbox: &Outbox) {
        match &*self.stage.lock() {
            Stage::Plain(peer) => self.hub.relieved(*peer, outbox),
            Stage::Attached(attached) => attached.relieved(),
            Stage::Over => {}
        }
    }

    /// An app must go on answering.
    fn is_urgent(&self) -> bool {
        true
    }

    /// The app must register before this deadline.
    fn deadline(&self) -> Option<Duration> {
        Some(self.hub.limits.register_timeout)
    }

    fn late(&self) {
        if let Stage::Plain(peer) = *self.stage.lock() {
            self.hub.handle(Event::RegisterTimeout { peer });
        }
    }

    fn gone(&self) {
        match self.over() {
            Stage::Plain(peer) => self.hub.handle(Event::Gone { peer }),
            Stage::Attached(attached) => attached.end(),
            Stage::Over => {}
        }
    }

    fn lost(&self) {
        match self.over() {
            Stage::Plain(peer) => self.hub.handle(Event::Gone { peer }),
            Stage::Attached(_) | Stage::Over => {}
        }
    }
}
