//! Sending results to callback URLs: of each token a few at once to each URL and to each host, so that
//! one that hangs holds up no other, and a share of all, so that no token holds up another.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::CONTENT_TYPE;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::state::RapServer;
use crate::fronts::in_use::{InUse, permits};
use crate::fronts::rap::egress::is_forbidden;
use crate::gateway::Connected;
use crate::pauses::Pauses;
use crate::tokens::Identity;

/// Time between the first attempt and the second; each later pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Pauses do not grow past this.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// An answer's body up to this size is read, so that its connection can be used again.
const READ_BYTES: u64 = 64 << 10;

/// Results sent to one URL at once, 8.
pub(crate) const PER_URL: usize = 8;
/// Results sent to one port of a host at once, 32: a URL that hangs leaves room for the others.
pub(crate) const PER_HOST: usize = 32;
/// Results of one token sent at once, 64, where there are tokens: others do not wait for its hosts.
pub(crate) const PER_TOKEN: usize = 64;
/// To all hosts together, 256: each is an open connection, or a name being looked up by one of the
/// 512 threads that the runtime has for such.
pub(crate) const IN_ALL: usize = 256;

/// Why a callback URL has not taken a result.
struct Failure {
    why: String,
    /// Whether it may take it later.
    may_pass: bool,
}

impl RapServer {
    /// Sends `body` of `owner` to `url`, and again after a pause while the server fails (5xx) or cannot be
    /// reached, until time is up or `unwanted`. It is not sent again after a refusal (4xx), a redirect
    /// (3xx) or a missing answer: the result may have been taken, and must not come twice. `untried`
    /// is dropped after the first attempt. `Err` says why the result is lost.
    pub(super) async fn send_result(
        &self,
        owner: &Identity,
        url: &Url,
        body: Bytes,
        untried: Connected,
        unwanted: &CancellationToken,
    ) -> Result<(), String> {
        let retry_for = self.options.callback_retry_for;
        let mut untried = Some(untried);
        let mut pauses = Pauses::new(FIRST_PAUSE, LONGEST_PAUSE);
        let (began, mut retries) = (Instant::now(), 0);
        let delivered = loop {
            let Err(Failure { why, may_pass }) = self.attempt(owner, url, body.clone()).await
            else {
                break Ok(());
            };
            drop(untried.take());
            if !may_pass {
                break Err(why);
            }
            let pause = pauses.next();
            if began.elapsed() + pause > retry_for {
                break Err(format!("{why}, and no better for {retry_for:?}"));
            }
            if unwanted.run_until_cancelled(sleep(pause)).await.is_none() {
                break Err(format!("{why}, and the thread is closed"));
            }
            retries += 1;
        };
        self.hub.metrics.callback_ended(delivered.is_ok(), retries);
        delivered
    }

    async fn attempt(&self, owner: &Identity, url: &Url, body: Bytes) -> Result<(), Failure> {
        let _permits = self.sending.acquire(&owner.name, url).await;
        let request = self.clients.to(url).post(url.clone());
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        let response = request.send().await.map_err(Failure::of)?;
        let status = response.status();
        if response
            .content_length()
            .is_some_and(|length| length <= READ_BYTES)
        {
            let _ = response.bytes().await;
        }
        if status.is_success() {
            return Ok(());
        }
        Err(Failure {
            why: format!("it answered {}", status.as_u16()),
            may_pass: status.is_server_error(),
        })
    }
}

impl Failure {
    /// Without the URL, which may be a secret.
    fn of(error: reqwest::Error) -> Self {
        let (why, may_pass) = if is_forbidden(&error) {
            ("its name stands for an internal address", false)
        } else if error.is_builder() {
            ("it cannot be called", false)
        } else if error.is_connect() {
            ("it cannot be reached", true)
        } else if error.is_timeout() {
            ("it did not answer in time", false)
        } else {
            ("the connection broke", true)
        };
        Failure {
            why: why.into(),
            may_pass,
        }
    }
}

/// How many results are sent at once.
#[derive(Debug)]
pub(super) struct SendLimits {
    /// Places to send to, while somebody does or waits.
    places: InUse<String, Semaphore>,
    /// How many one owner may have.
    share: usize,
}

/// The right to send to a URL, until it is dropped.
type SendPermits = Vec<OwnedSemaphorePermit>;

impl SendLimits {
    /// Without tokens all results are those of one, which has no share.
    pub fn new(has_tokens: bool) -> Self {
        SendLimits {
            places: InUse::default(),
            share: if has_tokens { PER_TOKEN } else { IN_ALL },
        }
    }

    /// Waits until a result of `owner` may be sent to `url`.
    async fn acquire(&self, owner: &str, url: &Url) -> Result<SendPermits, AcquireError> {
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
        let limits = SendLimits::new(true);
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
        let limits = SendLimits::new(false);
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
        let limits = SendLimits::new(false);
        let mut busy = Vec::new();
        for number in 0..PER_HOST {
            busy.extend(taken(&limits, &format!("http://a/{number}"), 1).await);
        }
        assert!(at_once(&limits, "http://a/other").await.is_none());
        assert!(at_once(&limits, "http://a:81/other").await.is_some());
    }

    #[tokio::test]
    async fn urls_that_nobody_sends_to_are_forgotten() {
        let limits = SendLimits::new(false);
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
