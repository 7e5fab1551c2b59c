//! Agents: peers of the broker for as long as their connection.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;

use crate::broker::{Event, PeerId};
use crate::fronts::socket::Endpoint;
use crate::gateway::Hub;
use crate::gateway::Outbox;
use crate::wire::{Failure, Refusal, Subject};

/// An agent's connection.
pub(crate) struct AgentPeer {
    pub hub: Arc<Hub>,
    pub peer: PeerId,
}

impl Endpoint for AgentPeer {
    fn text(self: &Arc<Self>, text: &Utf8Bytes) {
        let shared = Bytes::from(text.clone());
        self.hub.receive(self.peer, text, Some(&shared));
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
