//! Sending results to callback URLs.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Client;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::callback_url::origin;
use super::send_limits::SendLimits;
use crate::fronts::rap::pauses::Pauses;
use crate::gateway::Connected;
use crate::gateway::metrics::Metrics;
use crate::http_client;

/// Between the first attempt and the second; each later pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Pauses do not grow past this.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// An answer's body up to this size is read, so that its connection can be used again.
const READ_BYTES: u64 = 64 << 10;

/// Sends results. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    client: Client,
    limits: Arc<SendLimits>,
    retry_for: Duration,
    metrics: Arc<Metrics>,
}

/// Why a callback URL has not taken a result.
struct Failure {
    why: String,
    /// Whether it may take it later.
    may_pass: bool,
}

impl Delivery {
    /// An attempt may take `timeout`. No attempt begins later than `retry_for` after the first.
    pub(super) fn new(timeout: Duration, retry_for: Duration, metrics: Arc<Metrics>) -> Self {
        Delivery {
            client: http_client::client(timeout),
            limits: SendLimits::new(),
            retry_for,
            metrics,
        }
    }

    /// Sends `body` to `url`, and again after a pause while the server fails (5xx) or cannot be
    /// reached, until time is up or `unwanted`. It is not sent again after a refusal (4xx), a redirect
    /// (3xx) or a missing answer: the result may have been taken, and must not come twice. `untried`
    /// is dropped after the first attempt. `Err` says why the result is lost.
    pub(super) async fn send(
        &self,
        url: &Url,
        body: Bytes,
        untried: Connected,
        unwanted: &CancellationToken,
    ) -> Result<(), String> {
        let mut untried = Some(untried);
        let mut retries = 0;
        let first = Instant::now();
        let mut pauses = Pauses::new(FIRST_PAUSE, LONGEST_PAUSE);
        let delivered = loop {
            let Err(Failure { why, may_pass }) = self.attempt(url, body.clone()).await else {
                break Ok(());
            };
            if !may_pass {
                break Err(why);
            }
            drop(untried.take());
            let pause = pauses.next();
            if first.elapsed() + pause > self.retry_for {
                break Err(format!("{why}, and no better for {:?}", self.retry_for));
            }
            let to = origin(url);
            tracing::debug!(to, why, ?pause, "result not taken: will be sent again");
            tokio::select! {
                () = sleep(pause) => retries += 1,
                () = unwanted.cancelled() => break Err(format!("{why}, and the thread is closed")),
            }
        };
        self.metrics.callback_ended(delivered.is_ok(), retries);
        delivered
    }

    async fn attempt(&self, url: &Url, body: Bytes) -> Result<(), Failure> {
        let _permit = self.limits.acquire(url).await;
        let json = HeaderValue::from_static("application/json");
        let request = self.client.post(url.clone()).header(CONTENT_TYPE, json);
        let response = request.body(body).send().await.map_err(Failure::of)?;
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
        let (why, may_pass) = if error.is_builder() {
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
