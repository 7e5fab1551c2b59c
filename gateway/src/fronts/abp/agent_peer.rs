//! Agents. An agent is a peer of the broker as long as its connection lasts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bytes::Bytes;
use tungstenite::Utf8Bytes;

use crate::bounds::Permit;
use crate::broker::{Event, PeerId};
use crate::fronts::socket::Endpoint;
use crate::gateway::{Counted, Hub, Outbox};
use crate::wire::abp::{kind, large_message};
use crate::wire::{Envelope, Incoming, Subject, member, not_text};

/// An agent may ask to be told of messages with more bytes than this before they come.
const LARGE: usize = 64 << 10;

/// An agent's connection.
pub(crate) struct AgentPeer {
    pub hub: Arc<Hub>,
    pub peer: PeerId,
    pub _share: Option<Permit>,
    /// Whether the agent has asked to be told of a large message before it comes.
    pub wants_sizes: AtomicBool,
}

impl Endpoint for AgentPeer {
    fn text(self: &Arc<Self>, text: &Utf8Bytes, bytes: usize) -> Counted {
        let shared = Bytes::from(text.clone());
        let limits = &self.hub.limits;
        let incoming = Incoming::beginning(text, bytes, Some(&shared), limits);
        let read = incoming.envelope(limits);
        if let Ok(initialize) = &read
            && initialize.kind == kind::INITIALIZE
        {
            self.wants_sizes.store(wants_sizes(initialize), Relaxed);
        }
        let counted = Counted::of(read.as_ref().ok().map(|it| &*it.kind));
        let event = Event::received(self.peer, read);
        match self.hub.handle_with(event, |_| {}) && counted == Counted::Message {
            true => Counted::Refused,
            false => counted,
        }
    }

    fn binary(&self, _: Bytes, bytes: usize) -> Counted {
        let refused = Event::refused(self.peer, Subject::default(), not_text(bytes));
        self.hub.handle(refused);
        Counted::Aside
    }

    /// A WebSocket shows a message to the agent only when it is complete. Until then a large message looks
    /// like silence.
    fn announcement(&self, bytes: usize) -> Option<String> {
        let is_told = bytes > LARGE && self.wants_sizes.load(Relaxed);
        let now = || self.hub.now().unix_ms as f64;
        is_told.then(|| large_message(bytes, now()).to_string())
    }

    fn relieved(&self, outbox: &Outbox) {
        self.hub.relieved(self.peer, outbox);
    }

    fn gone(&self) {
        self.hub.handle(Event::Gone { peer: self.peer });
    }
}

/// Whether the agent asks for this in its `initialize`.
fn wants_sizes(initialize: &Envelope<'_>) -> bool {
    let payload = initialize.payload.unwrap_or_default().as_bytes();
    let life = member(payload, "life");
    life.and_then(|life| member(life, "large")) == Some(b"true")
}
