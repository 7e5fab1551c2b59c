//! What this worker's hub has the other workers told, if there are any.

use crate::broker::PeerId;

/// Tells the other workers what concerns them. It is called within no lock, and does not wait.
pub(crate) trait Announcer: Send + Sync {
    /// An app of this worker has come or gone, or offers something else.
    fn offered(&self, app: PeerId);

    /// An app here says something to an agent that has left it: one of another worker, perhaps.
    fn tell_left(&self, agent: PeerId, text: String);
}
