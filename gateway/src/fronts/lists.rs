//! Rate limit for long lists, in bytes. Each holder gets one list at a time. The size of a list is known only
//! when it is made, so the holder pays afterwards.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use super::refusal::Refusal;
use super::socket::PeerAddress;
use crate::bounds::QuotaKey;
use crate::gateway::Hub;
use crate::tokens::Identity;

/// The cost of the shortest list that needs a search.
const LEAST: usize = 32 << 10;
/// The cost of the shortest list of one app. Agents ask for such lists before many calls.
const LEAST_OF_OFFER: usize = 1 << 10;
/// How far a holder may be in debt.
const AHEAD: Duration = Duration::from_secs(1);

/// The rate limit of one kind of list.
pub(crate) struct Listing {
    pub hub: Arc<Hub>,
    /// The cost of the shortest list.
    least: usize,
    /// The holders that ask for a list or have to wait.
    of: Mutex<HashMap<QuotaKey, Paid>>,
}

/// Until when a holder has used up its rate. The lock is the holder's turn.
type Paid = Arc<tokio::sync::Mutex<Instant>>;

/// The turn of a holder, which has one turn at a time.
#[derive(Debug)]
pub(crate) struct ListTurn {
    per_second: usize,
    least: usize,
    paid: OwnedMutexGuard<Instant>,
}

impl Listing {
    /// The limit of lists that need a search.
    pub fn new(hub: Arc<Hub>) -> Arc<Self> {
        Self::with(hub, LEAST)
    }

    /// The limit of lists of one app.
    pub fn of_offers(hub: Arc<Hub>) -> Arc<Self> {
        Self::with(hub, LEAST_OF_OFFER)
    }

    fn with(hub: Arc<Hub>, least: usize) -> Arc<Self> {
        let of = Mutex::default();
        Arc::new(Listing { hub, least, of })
    }

    /// Waits for the turn of `viewer`. 429 if the viewer has to come later.
    pub async fn turn(&self, viewer: &Identity, address: PeerAddress) -> Result<ListTurn, Refusal> {
        let quota_key = QuotaKey::of(&self.hub.tokens, viewer, address.0.ip());
        self.turn_of(&quota_key).await
    }

    /// Waits for the turn of `quota_key`. 429 if the holder has had too much and has to come later.
    pub async fn turn_of(&self, quota_key: &QuotaKey) -> Result<ListTurn, Refusal> {
        let paid = self.paid(quota_key).lock_owned().await;
        self.begin(paid)
    }

    /// The turn of `quota_key`, if the holder need not wait.
    pub fn turn_now(&self, quota_key: &QuotaKey) -> Option<Result<ListTurn, Refusal>> {
        let paid = self.paid(quota_key).try_lock_owned().ok()?;
        Some(self.begin(paid))
    }

    fn begin(&self, paid: OwnedMutexGuard<Instant>) -> Result<ListTurn, Refusal> {
        let ahead = paid.saturating_duration_since(Instant::now());
        if let Some(wait) = ahead.checked_sub(AHEAD).filter(|wait| !wait.is_zero()) {
            let message = "Too many long lists per second";
            return Err(Refusal::later(StatusCode::TOO_MANY_REQUESTS, message, wait));
        }
        let mut turn = ListTurn {
            per_second: self.hub.limits.listed_bytes_per_second,
            least: self.least,
            paid,
        };
        // Paid even if nobody waits for the list any more.
        turn.pay(self.least);
        Ok(turn)
    }

    fn paid(&self, quota_key: &QuotaKey) -> Paid {
        let mut all = self.of.lock();
        if let Some(known) = all.get(quota_key) {
            return known.clone();
        }
        // This happens seldom, and keeps the table about as small as what is in use.
        if all.len() == all.capacity() {
            let now = Instant::now();
            all.retain(|_, it| {
                it.try_lock().is_ok_and(|paid| *paid > now) || Arc::strong_count(it) > 1
            });
        }
        let new = Paid::new(tokio::sync::Mutex::new(Instant::now()));
        all.insert(quota_key.clone(), new.clone());
        new
    }
}

impl ListTurn {
    /// Pays for a list of that size.
    pub(crate) fn end(mut self, bytes: usize) {
        self.pay(bytes.saturating_sub(self.least));
    }

    fn pay(&mut self, bytes: usize) {
        let time = Duration::from_secs_f64(bytes as f64 / self.per_second as f64);
        *self.paid = (*self.paid).max(Instant::now()) + time;
    }
}

#[cfg(test)]
mod tests;
