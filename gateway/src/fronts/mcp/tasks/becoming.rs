//! When the call of a request without a session becomes a task.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::super::server::Asker;
use super::{Place, Tasks};
use crate::bounds::QuotaKey;
use crate::tokens::Identity;

/// A call that ends, or asks a question, within this time is answered at once. After this time it becomes a
/// task, if its client takes tasks.
const AT_ONCE: Duration = Duration::from_millis(500);

/// Whether and when a call becomes a task.
pub struct Becoming {
    tasks: Arc<Tasks>,
    owner: Identity,
    quota_key: QuotaKey,
    at: Option<Instant>,
}

impl Becoming {
    /// For a call that has just begun.
    pub fn new(tasks: &Arc<Tasks>, asker: &Asker, takes_tasks: bool) -> Self {
        let mut becoming = Becoming {
            tasks: tasks.clone(),
            owner: asker.caller.identity.clone(),
            quota_key: asker.quota_key.clone(),
            at: None,
        };
        becoming.renew(takes_tasks);
        becoming
    }

    /// The call goes on in another request.
    pub fn renew(&mut self, takes_tasks: bool) {
        self.at = takes_tasks.then(|| Instant::now() + AT_ONCE);
    }

    /// Waits for the next step of the call. `None` if the call is to become a task first.
    pub async fn not_yet<T>(&self, next: impl Future<Output = T>) -> Option<T> {
        match self.at {
            Some(at) => timeout_at(at, next).await.ok(),
            None => Some(next.await),
        }
    }

    /// A place among the tasks. If there is none, the call is answered when it ends.
    pub fn place(&mut self) -> Option<(Arc<Tasks>, Place)> {
        self.at = None;
        let place = self.tasks.place(&self.owner, &self.quota_key).ok()?;
        Some((self.tasks.clone(), place))
    }
}
