//! Agents: peers of the relay for as long as their connection.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;

use super::endpoint::Endpoint;
use super::hub::Hub;
use super::outbox::Outbox;
use crate::relay::{Event, PeerId};
use crate::wire::{Failure, Refusal, Subject};

/// An agent's connection.
pub(super) struct RelayPeer {
    pub hub: Arc<Hub>,
    pub peer: PeerId,
}

impl Endpoint for RelayPeer {
    fn text(self: &Arc<Self>, text: &Utf8Bytes) {
        let shared = Bytes::from(text.clone());
        self.hub.receive(self.peer, text, Some(&shared), None);
    }

    fn binary(&self, refused: Failure) {
        let refusal = Box::new(Refusal {
            subject: Subject::default(),
            error: refused,
        });
        self.hub.handle(Event::Refused {
            peer: self.peer,
            refusal,
        });
    }

    fn relieved(&self, outbox: &Outbox) {
        self.hub.relieved(self.peer, outbox);
    }

    fn gone(&self) {
        self.hub.handle(Event::Gone { peer: self.peer });
    }
}
