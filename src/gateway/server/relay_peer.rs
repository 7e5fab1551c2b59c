//! Peers of the relay.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;

use super::endpoint::Endpoint;
use super::hub::Hub;
use super::outbox::Outbox;
use crate::gateway::relay::{Event, PeerId};
use crate::gateway::wire::{Failure, Refusal, Subject};

/// What a connection is to the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// It calls.
    Agent,
    /// It offers.
    App,
}

/// A peer of the relay.
pub(super) struct RelayPeer {
    pub hub: Arc<Hub>,
    pub peer: PeerId,
    pub side: Side,
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

    /// An app must go on answering.
    fn is_urgent(&self) -> bool {
        self.side == Side::App
    }

    /// An app has to register.
    fn deadline(&self) -> Option<Duration> {
        (self.side == Side::App).then_some(self.hub.limits.register_timeout)
    }

    fn late(&self) {
        self.hub.handle(Event::RegisterTimeout { peer: self.peer });
    }

    fn gone(&self) {
        self.hub.handle(Event::Gone { peer: self.peer });
    }
}
