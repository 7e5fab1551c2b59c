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
    parties: InUse<QuotaKey, Semaphore>,
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
            parties: InUse::default(),
        }
    }

    /// Waits for a turn of that party.
    pub async fn take(&self, party: &QuotaKey) -> Turn {
        // In this order a party never has more than its share in the common queue. Neither semaphore is ever
        // closed.
        let own = self.parties.get(party, || permits(self.share));
        let of_party = own.acquire_owned().await.ok()?;
        let of_all = self.all.clone().acquire_owned().await.ok()?;
        Some([of_party, of_all])
    }

    /// Waits for a turn of that party, but not longer than that.
    pub async fn take_within(&self, patience: Duration, party: &QuotaKey) -> Turn {
        timeout(patience, self.take(party)).await.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt;

    use super::*;

    fn party(last: u8) -> QuotaKey {
        QuotaKey::Stranger([10, 0, 0, last].into())
    }

    #[tokio::test]
    async fn who_waits_with_many_does_not_keep_others_waiting_for_all_of_them() {
        let turns = Turns::new(1, 1);
        let (greedy_party, honest_party) = (party(1), party(2));
        let first = turns.take(&greedy_party).await;
        let mut greedy: Vec<_> = (0..10)
            .map(|_| Box::pin(turns.take(&greedy_party)))
            .collect();
        for waiting in &mut greedy {
            assert!(waiting.now_or_never().is_none());
        }
        let mut honest = pin!(turns.take(&honest_party));
        assert!(honest.as_mut().now_or_never().is_none());
        drop(first);
        // One request of the greedy party enters the common queue, behind the honest party.
        assert!(greedy[0].as_mut().now_or_never().is_none());
        let turn = honest.now_or_never().unwrap();
        assert!(greedy[0].as_mut().now_or_never().is_none());
        drop(turn);
        for waiting in greedy {
            drop(waiting.await);
        }
        assert_eq!(turns.parties.in_use(), 0);
    }

    #[tokio::test]
    async fn a_party_that_gives_up_waiting_takes_no_turn() {
        let turns = Turns::new(2, 1);
        let (greedy_party, honest_party) = (party(1), party(2));
        let first = turns.take(&greedy_party).await;
        assert!(turns.take(&greedy_party).now_or_never().is_none());
        assert!(turns.take(&honest_party).now_or_never().is_some());
        drop(first);
        assert!(turns.take(&greedy_party).now_or_never().is_some());
        assert_eq!(turns.parties.in_use(), 0);
    }

    #[tokio::test]
    async fn who_is_patient_gets_a_turn_that_ends_in_time_or_none() {
        let (turns, patience) = (Turns::new(usize::MAX, 1), Duration::from_millis(50));
        let (one, other) = (party(1), party(2));
        let first = turns.take_within(patience, &one).await;
        assert!(turns.take_within(patience, &one).await.is_none());
        assert!(turns.take_within(patience, &other).await.is_some());
        drop(first);
        assert!(turns.take_within(patience, &one).await.is_some());
    }
}
