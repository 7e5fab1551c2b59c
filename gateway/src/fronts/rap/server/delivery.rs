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
use super::lanes::Lanes;
use crate::fronts::rap::pauses::Pauses;
use crate::gateway::Connected;
use crate::gateway::metrics::Metrics;
use crate::http_client;

/// Between the first attempt and the second; each later pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Past which pauses do not grow.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// An answer's body up to this size is read, so that its connection can be used again.
const READ_BYTES: u64 = 64 << 10;

/// Sends results. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    client: Client,
    lanes: Arc<Lanes>,
    retry_for: Duration,
    metrics: Arc<Metrics>,
}

/// How a delivery ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Delivered {
    /// The callback URL has it.
    Taken,
    /// It will not come to have it, and why.
    Lost(String),
}

enum Attempt {
    Taken,
    /// Not worth repeating.
    Refused(String),
    /// It may work later.
    Failed(String),
}

impl Delivery {
    /// Gives an attempt `timeout`, and begins no more of them `retry_for` after the first.
    pub(super) fn new(timeout: Duration, retry_for: Duration, metrics: Arc<Metrics>) -> Self {
        Delivery {
            client: http_client::client(timeout),
            lanes: Lanes::new(),
            retry_for,
            metrics,
        }
    }

    /// Sends `body` to `url`: again after a while as long as the server fails (5xx) or cannot be
    /// reached, until time is up; not again once it refuses (4xx), points elsewhere (3xx), keeps its
    /// answer to itself (it may have taken the result, which must not come twice), or after
    /// `unwanted`. Drops `untried` after the first attempt.
    pub(super) async fn send(
        &self,
        url: &Url,
        body: Bytes,
        untried: Connected,
        unwanted: &CancellationToken,
    ) -> Delivered {
        let mut retries = 0;
        let sending = self.send_counted(url, body, untried, unwanted, &mut retries);
        let delivered = sending.await;
        let taken = delivered == Delivered::Taken;
        self.metrics.callback_ended(taken, retries);
        delivered
    }

    async fn send_counted(
        &self,
        url: &Url,
        body: Bytes,
        untried: Connected,
        unwanted: &CancellationToken,
        retries: &mut u32,
    ) -> Delivered {
        let mut untried = Some(untried);
        let first = Instant::now();
        let mut pauses = Pauses::new(FIRST_PAUSE, LONGEST_PAUSE);
        loop {
            let why = match self.attempt(url, body.clone()).await {
                Attempt::Taken => return Delivered::Taken,
                Attempt::Refused(why) => return Delivered::Lost(why),
                Attempt::Failed(why) => why,
            };
            drop(untried.take());
            let pause = pauses.next();
            if first.elapsed() + pause > self.retry_for {
                return Delivered::Lost(format!("{why}, and no better for {:?}", self.retry_for));
            }
            tracing::debug!(
                to = origin(url),
                why,
                ?pause,
                "result not taken: will be sent again"
            );
            tokio::select! {
                () = sleep(pause) => *retries += 1,
                () = unwanted.cancelled() => {
                    return Delivered::Lost(format!("{why}, and the thread is closed"));
                }
            }
        }
    }

    async fn attempt(&self, url: &Url, body: Bytes) -> Attempt {
        let _turn = self.lanes.turn(url).await;
        let json = HeaderValue::from_static("application/json");
        let request = self.client.post(url.clone()).header(CONTENT_TYPE, json);
        let response = match request.body(body).send().await {
            Ok(response) => response,
            Err(error) if error.is_builder() => {
                return Attempt::Refused("it cannot be called".into());
            }
            Err(error) if error.is_timeout() && !error.is_connect() => {
                return Attempt::Refused("it did not answer in time".into());
            }
            Err(error) => return Attempt::Failed(failure(&error)),
        };
        let status = response.status();
        if response
            .content_length()
            .is_some_and(|length| length <= READ_BYTES)
        {
            let _ = response.bytes().await;
        }
        if status.is_success() {
            return Attempt::Taken;
        }
        let why = format!("it answered {}", status.as_u16());
        if status.is_server_error() {
            Attempt::Failed(why)
        } else {
            Attempt::Refused(why)
        }
    }
}

/// What went wrong, without the URL: it may be a secret.
fn failure(error: &reqwest::Error) -> String {
    let what = if error.is_connect() {
        "it cannot be reached"
    } else {
        "the connection broke"
    };
    what.into()
}
