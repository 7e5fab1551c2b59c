//! Limits how many results are sent at once. Each token sends only a few results to each URL and to each
//! host, so that a hanging host holds up no other host. Each token has a share of all, so that no token holds
//! up another.

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use url::Url;

use crate::bounds::{InUse, permits};

/// How many results are sent to one URL at once: 8.
pub(crate) const PER_URL: usize = 8;
/// How many results are sent to one port of a host at once: 32. So a hanging URL leaves room for the host's
/// other URLs.
pub(crate) const PER_HOST: usize = 32;
/// How many results of one token are sent at once: 64. Other tokens do not wait for the hosts of this token.
/// Without tokens all results belong to one owner, which has no such limit.
pub(crate) const PER_TOKEN: usize = 64;
/// How many results are sent to all hosts together: 256. Each is an open connection, or a name lookup in one
/// of the runtime's 512 threads for such work.
pub(crate) const IN_ALL: usize = 256;

/// The limits of results that are sent at once.
#[derive(Debug)]
pub(super) struct SendLimits {
    /// The places for sending, while something is sent or waits.
    places: InUse<String, Semaphore>,
    /// How many places one owner may have.
    share: usize,
}

/// The right to send to a URL, until it is dropped.
pub(super) type SendPermits = Vec<OwnedSemaphorePermit>;

impl SendLimits {
    /// One owner may have `share` places.
    pub fn new(share: usize) -> Self {
        SendLimits {
            places: InUse::default(),
            share,
        }
    }

    /// Waits until a result of `owner` may be sent to `url`.
    pub async fn acquire(&self, owner: &str, url: &Url) -> Result<SendPermits, AcquireError> {
        let host = url.origin().ascii_serialization();
        // The narrowest place is taken first: a result that waits for a hanging URL must not hold places of
        // others. No URL or origin contains a space.
        let places = [
            (format!("{url} {owner}"), PER_URL),
            (format!("{host} {owner}"), PER_HOST),
            (format!("anywhere {owner}"), self.share),
            ("anywhere".into(), IN_ALL),
        ];
        let mut held = Vec::with_capacity(places.len());
        for (place, most) in places {
            let place = self.places.get(&place, || permits(most));
            held.push(place.acquire_owned().await?);
        }
        Ok(held)
    }
}

#[cfg(test)]
mod tests;
