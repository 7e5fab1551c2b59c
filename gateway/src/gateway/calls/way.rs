//! The connection of a client to its app.

use std::fmt;
use std::sync::Arc;

use crate::broker::{Event, NewSession, PeerId};
use crate::gateway::Hub;

/// The connection of a client to the app, which the client and its calls share. The client leaves the app
/// when this value is dropped.
pub(super) struct Way {
    pub hub: Arc<Hub>,
    pub peer: PeerId,
    pub client: NewSession,
}

impl Way {
    /// A connection for that client, which its first call opens.
    pub fn new(hub: Arc<Hub>, client: NewSession) -> Arc<Self> {
        let peer = hub.next_peer();
        Arc::new(Way { hub, peer, client })
    }
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Way").field(&self.peer.0).finish()
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        let session = self.peer;
        self.hub.handle(Event::Left { session });
    }
}
