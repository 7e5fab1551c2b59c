//! Sends results to callback URLs, and sends them again while this may help.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::CONTENT_TYPE;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::state::RapServer;
use crate::fronts::rap::egress::is_forbidden;
use crate::gateway::Connected;
use crate::pauses::Pauses;
use crate::tokens::Identity;

/// The pause between the first and the second attempt. Each later pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The size up to which an answer's body is read, so that the connection can be used again.
const READ_BYTES: u64 = 64 << 10;

/// Why a callback URL has not accepted a result.
struct Failure {
    why: String,
    /// Whether the URL may accept the result later.
    may_pass: bool,
}

impl RapServer {
    /// Sends `body` of `owner` to `url`. While the server fails (5xx) or cannot be reached, sends it again
    /// after a pause, until the time is up or `unwanted` is cancelled. After a refusal (4xx), a redirect
    /// (3xx) or a missing answer, does not send it again: the server may have accepted the result, and must
    /// not get it twice. Drops `untried` after the first attempt. The error says why the result is lost.
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
                break Err(format!("{why}, for {retry_for:?}"));
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
    /// The reason without the URL, which may be a secret.
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
