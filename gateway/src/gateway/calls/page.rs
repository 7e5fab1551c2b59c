//! The session with the app, as its client and the calls in it share it.

use std::fmt;
use std::sync::Arc;

use crate::broker::{self, Event, PeerId};
use crate::gateway::Hub;

/// It lasts as long as this.
pub(crate) struct Page {
    pub(super) hub: Arc<Hub>,
    pub(super) peer: PeerId,
    pub(super) client: broker::Client,
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Page").field(&self.peer.0).finish()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let session = self.peer;
        self.hub.handle(Event::Left { session });
    }
}
