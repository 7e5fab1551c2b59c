//! Turns at work that takes long: large messages, TLS handshakes, searches on other workers. Only a few are
//! handled at once, and fewer of one party. So the rest of the gateway goes on, and nobody waits behind
//! everything that another party has sent.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::in_use::{InUse, permits};
use super::quota_key::QuotaKey;

/// How many turns there are at once, and how many of them one party may have.
#[derive(Debug)]
pub(crate) struct Turns {
    all: Arc<Semaphore>,
    share: usize,
    by_key: InUse<QuotaKey, Semaphore>,
}

/// A turn. Dropping the turn ends it.
pub(crate) type Turn = Option<[OwnedSemaphorePermit; 2]>;

impl Turns {
    /// Turns for half the processors. One party gets a quarter of the processors.
    pub fn of_processors() -> Arc<Self> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let turns = Turns::new((processors / 2).max(1), (processors / 4).max(1));
        Arc::new(turns)
    }

    /// So many turns at once, of which one party may have `share`.
    pub fn new(most: usize, share: usize) -> Self {
        Turns {
            all: Arc::new(permits(most)),
            share,
            by_key: InUse::default(),
        }
    }

    /// Waits for a turn of that party.
    pub async fn take(&self, key: &QuotaKey) -> Turn {
        // In this order a party never has more than its share in the common queue. Neither semaphore is ever
        // closed.
        let own = self.by_key.get(key, || permits(self.share));
        let of_key = own.acquire_owned().await.ok()?;
        let of_all = self.all.clone().acquire_owned().await.ok()?;
        Some([of_key, of_all])
    }

    /// Waits for a turn of that party, but not longer than that.
    pub async fn take_within(&self, patience: Duration, key: &QuotaKey) -> Turn {
        timeout(patience, self.take(key)).await.ok().flatten()
    }
}

#[cfg(test)]
mod tests;
