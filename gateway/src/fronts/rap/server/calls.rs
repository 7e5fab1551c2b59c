//! The invocations of runtimes, by thread and by the ids that the runtimes choose, until their results are
//! delivered.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::bounds::InUse;
use crate::broker::calls::RunId;
use crate::fronts::rap::names::Identifier;
use crate::fronts::rpc::{InFlight, Request, Used};
use crate::tokens::Identity;

/// The threads with invocations. The callers choose the ids of threads and calls, so several invocations may have
/// the same ids.
#[derive(Default)]
pub(super) struct Threads(InUse<Identifier, InFlight<Name>>);

/// The key of an invocation in its thread.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub id: Identifier,
    pub app: String,
    pub owner: Identity,
    /// The run, once the call has ended: its result is to be delivered, and the other ids may be used again.
    pub ended: Option<RunId>,
    /// Distinguishes an invocation that is sent again from another invocation with the same id.
    pub fingerprint: u64,
}

impl Name {
    /// Whether a notification of `viewer` means this invocation. Without an id it means all invocations of the
    /// thread, and without an app those of all apps.
    pub fn is_meant(&self, id: Option<&str>, app: Option<&str>, viewer: &Identity) -> bool {
        id.is_none_or(|id| id == self.id.as_str())
            && app.is_none_or(|app| app == self.app)
            && viewer.may_see(&self.owner, Some(&self.app))
    }

    fn key(&self) -> impl Hash + Eq + '_ {
        (&self.id, &self.app, &self.owner, self.ended)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// Why an invocation does not become a call on this worker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// The call exists already: the runtime has sent the invocation again.
    Again,
    /// Another invocation with the same name is in flight.
    Taken,
    /// Another worker may have the invocation. This will be known soon.
    Unsure,
}

impl Threads {
    /// Begins an invocation, unless its name is in use.
    pub async fn begin(&self, thread: &Identifier, name: &Name) -> Result<Request<Name>, Denied> {
        let in_flight = self.0.get(thread, InFlight::default);
        loop {
            match in_flight.begin(name) {
                Ok(request) => return Ok(request),
                Err(Used { by, .. }) if by.fingerprint != name.fingerprint => {
                    return Err(Denied::Taken);
                }
                Err(Used { is_call: true, .. }) => return Err(Denied::Again),
                // The first of them may still be denied.
                Err(_) => in_flight.begun(name).await,
            }
        }
    }

    /// The invocations of a thread, if it has any.
    pub fn find(&self, thread: &str) -> Option<Arc<InFlight<Name>>> {
        self.0.find(thread)
    }
}

#[cfg(test)]
mod tests;
