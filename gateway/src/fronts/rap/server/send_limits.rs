//! How many results are sent at once. Each token sends a few to each URL and to each host, so that one that
//! hangs holds up no other. It has a share of all, so that no token holds up another.

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use url::Url;

use crate::bounds::in_use::{InUse, permits};

/// Results sent to one URL at once, 8.
pub(crate) const PER_URL: usize = 8;
/// Results sent to one port of a host at once, 32: a URL that hangs leaves room for the others.
pub(crate) const PER_HOST: usize = 32;
/// Results of one token sent at once, 64: others do not wait for its hosts. Without tokens all results are
/// those of one owner, which has no such bound.
pub(crate) const PER_TOKEN: usize = 64;
/// To all hosts together, 256: each is an open connection, or a name being looked up by one of the
/// 512 threads that the runtime has for such.
pub(crate) const IN_ALL: usize = 256;

/// How many results are sent at once.
#[derive(Debug)]
pub(super) struct SendLimits {
    /// Places to send to, while somebody does or waits.
    places: InUse<String, Semaphore>,
    /// How many one owner may have.
    share: usize,
}

/// The right to send to a URL, until it is dropped.
pub(super) type SendPermits = Vec<OwnedSemaphorePermit>;

impl SendLimits {
    /// One owner may have so many of them.
    pub fn new(share: usize) -> Self {
        SendLimits {
            places: InUse::default(),
            share,
        }
    }

    /// Waits until a result of `owner` may be sent to `url`.
    pub async fn acquire(&self, owner: &str, url: &Url) -> Result<SendPermits, AcquireError> {
        let host = url.origin().ascii_serialization();
        // The narrowest first: one that waits for a URL that hangs must hold no place of others. No URL
        // and no origin has a space in it.
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
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    async fn taken(limits: &SendLimits, text: &str, count: usize) -> Vec<SendPermits> {
        let mut permits = Vec::new();
        for _ in 0..count {
            permits.push(at_once(limits, text).await.unwrap());
        }
        permits
    }

    async fn at_once(limits: &SendLimits, text: &str) -> Option<SendPermits> {
        let url = Url::parse(text).unwrap();
        let permits = timeout(
            Duration::from_millis(50),
            limits.acquire(url.username(), &url),
        );
        permits.await.ok().map(Result::unwrap)
    }

    #[tokio::test]
    async fn hosts_of_one_token_that_hang_hold_up_itself_only() {
        let limits = SendLimits::new(PER_TOKEN);
        let mut busy = Vec::new();
        for number in 0..PER_TOKEN {
            let text = format!("http://greedy@a:{}/{number}", 80 + number % 16);
            busy.extend(taken(&limits, &text, 1).await);
        }
        assert!(at_once(&limits, "http://greedy@other/").await.is_none());
        assert!(at_once(&limits, "http://modest@a:80/0").await.is_some());
        busy.clear();
        assert!(at_once(&limits, "http://greedy@other/").await.is_some());
    }

    #[tokio::test]
    async fn a_busy_url_holds_up_itself_only() {
        let limits = SendLimits::new(IN_ALL);
        let mut busy = taken(&limits, "http://a/1", PER_URL).await;
        assert!(at_once(&limits, "http://a/1").await.is_none());
        assert!(at_once(&limits, "http://a/2").await.is_some());
        busy.pop();
        assert!(at_once(&limits, "http://a/1").await.is_some());
        busy.clear();
        assert_eq!(limits.places.in_use(), 0);
    }

    #[tokio::test]
    async fn a_busy_host_holds_up_itself_only() {
        let limits = SendLimits::new(IN_ALL);
        let mut busy = Vec::new();
        for number in 0..PER_HOST {
            busy.extend(taken(&limits, &format!("http://a/{number}"), 1).await);
        }
        assert!(at_once(&limits, "http://a/other").await.is_none());
        assert!(at_once(&limits, "http://a:81/other").await.is_some());
    }

    #[tokio::test]
    async fn urls_that_nobody_sends_to_are_forgotten() {
        let limits = SendLimits::new(IN_ALL);
        let busy = taken(&limits, "http://a/", PER_URL).await;
        for number in 0..1_000 {
            let other = format!("http://{number}.example/");
            assert!(at_once(&limits, &other).await.is_some());
        }
        assert!(limits.places.len() < 100);
        assert!(at_once(&limits, "http://a/").await.is_none());
        drop(busy);
        assert!(at_once(&limits, "http://a/").await.is_some());
    }
}
