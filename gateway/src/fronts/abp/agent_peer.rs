//! Agents: peers of the broker for as long as their connection.

use std::sync::Arc;

use bytes::Bytes;
use tungstenite::Utf8Bytes;

use crate::bounds::shares::Share;
use crate::broker::{Event, PeerId};
use crate::fronts::socket::Endpoint;
use crate::gateway::{Counted, Hub, Outbox};
use crate::wire::{Incoming, Subject, not_text};

/// An agent's connection.
pub(crate) struct AgentPeer {
    pub hub: Arc<Hub>,
    pub peer: PeerId,
    pub _share: Option<Share>,
}

impl Endpoint for AgentPeer {
    fn text(self: &Arc<Self>, text: &Utf8Bytes, bytes: usize) -> Counted {
        let shared = Bytes::from(text.clone());
        let limits = &self.hub.limits;
        let incoming = Incoming::beginning(text, bytes, Some(&shared), limits);
        let read = incoming.envelope(limits);
        let counted = Counted::of(read.as_ref().ok().map(|it| &*it.kind));
        let event = Event::received(self.peer, read);
        match self.hub.handle_with(event, |_| {}) && counted == Counted::Message {
            true => Counted::Refused,
            false => counted,
        }
    }

    fn binary(&self, bytes: usize) {
        let refused = Event::refused(self.peer, Subject::default(), not_text(bytes));
        self.hub.handle(refused);
    }

    fn relieved(&self, outbox: &Outbox) {
        self.hub.relieved(self.peer, outbox);
    }

    fn gone(&self) {
        self.hub.handle(Event::Gone { peer: self.peer });
    }
}
