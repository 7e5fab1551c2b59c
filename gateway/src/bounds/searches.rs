//! Searches on other workers: a bound for each token.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::bounds::in_use::{InUse, permits};

/// How many searches of one token run at once.
const SEARCHES: usize = 16;
/// How long a search waits for others of its token.
const PATIENCE: Duration = Duration::from_secs(1);

/// The searches under way, by token name.
#[derive(Debug, Default)]
pub(crate) struct Searches(InUse<Arc<str>, Semaphore>);

impl Searches {
    /// Begins a search, which lasts as long as the permit. `None` if no other search of the token ends in
    /// time.
    pub async fn take(&self, name: &Arc<str>) -> Option<OwnedSemaphorePermit> {
        let room = self.0.get(name, || permits(SEARCHES));
        timeout(PATIENCE, room.acquire_owned()).await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn many_searches_of_one_token_wait_and_those_of_others_do_not() {
        let searches = Searches::default();
        let [a, b] = ["a", "b"].map(Arc::from);
        let mut held = Vec::new();
        for _ in 0..SEARCHES {
            held.push(searches.take(&a).await.unwrap());
        }
        assert!(searches.take(&a).await.is_none());
        assert!(searches.take(&b).await.is_some());
        held.pop();
        assert!(searches.take(&a).await.is_some());
    }
}
