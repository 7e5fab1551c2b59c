//! Delivers an invocation to its tool server, unless its call is over first.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::client::{ToolServerClient, describe};
use crate::pauses::Pauses;
use caphost::call::{Code, Error};

/// How many times an invocation is sent before its call fails.
const INVOKE_ATTEMPTS: u32 = 5;

/// The state that a call shares with the delivery of its invocation: whether the invocation was sent, and
/// whether the call is over. If the call is over first, the invocation is never sent. Both sides see the same
/// state.
#[derive(Debug, Default)]
pub(super) struct Dispatch {
    /// Whether the invocation was sent, once this is decided.
    sent: OnceLock<bool>,
    over: CancellationToken,
}

impl Dispatch {
    /// Must be called each time before the invocation is sent. Returns false if the invocation must not be
    /// sent.
    pub fn begin(&self) -> bool {
        *self.sent.get_or_init(|| true)
    }

    /// Whether the call is not over after that time. Waits until one or the other.
    pub async fn lasts_for(&self, time: Duration) -> bool {
        self.over.run_until_cancelled(sleep(time)).await.is_some()
    }

    /// Must be called when the call is over. From now on nothing is sent. Returns whether something was sent
    /// before.
    pub fn end(&self) -> bool {
        self.over.cancel();
        *self.sent.get_or_init(|| false)
    }
}

/// An invocation that no server has acknowledged.
#[derive(Debug)]
pub(super) struct Undelivered {
    /// The error that its call ends with.
    pub error: Error<Value>,
    /// Whether the tool may run nevertheless, because an answer was lost or the server failed.
    pub may_run: bool,
}

/// Sends an invocation until it is acknowledged or refused. Sends it again after a failed connection or an
/// answer of the 5xx class, but never after an answer of the 4xx class. If the call ends first, this ends
/// without an error, after the current attempt.
pub(super) async fn deliver(
    client: &ToolServerClient,
    endpoint: &Url,
    body: Bytes,
    dispatch: &Dispatch,
) -> Result<(), Undelivered> {
    let limits = &client.limits;
    let mut pauses = Pauses::new(limits.first_pause, limits.longest_pause);
    let (mut attempts, mut may_run) = (0, false);
    loop {
        let turn = tokio::select! {
            () = dispatch.over.cancelled() => return Ok(()),
            turn = client.turn() => turn,
        };
        if !dispatch.begin() {
            return Ok(());
        }
        let failure = match client.invoke(endpoint, body.clone()).await {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) if answer.status().is_server_error() => {
                may_run = true;
                format!("it answered {}", answer.status())
            }
            Ok(answer) => {
                let error = refused(answer.status(), answer.headers());
                return Err(Undelivered { error, may_run });
            }
            Err(error) => {
                may_run |= !error.is_connect();
                describe(error)
            }
        };
        drop(turn);
        attempts += 1;
        tracing::debug!(server = ?client.server, attempts, failure, "invocation not delivered");
        if attempts >= INVOKE_ATTEMPTS {
            let message = format!("The tool server cannot be reached: {failure}");
            let error = Error::new(Code::TRANSPORT_ERROR, message);
            return Err(Undelivered { error, may_run });
        }
        let pause = sleep(pauses.next());
        if dispatch.over.run_until_cancelled(pause).await.is_none() {
            return Ok(());
        }
    }
}

/// The error for an answer to an invocation. The answer's body is not read.
fn refused(status: StatusCode, headers: &HeaderMap) -> Error<Value> {
    let code = match status {
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Code::INVALID_PARAMS,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Code::PERMISSION_DENIED,
        StatusCode::TOO_MANY_REQUESTS => Code::RATE_LIMITED,
        _ => Code::OPERATION_FAILED,
    };
    let mut error = Error::new(code, format!("The tool server answered {status}"));
    let wait = headers
        .get(RETRY_AFTER)
        .and_then(|it| it.to_str().ok()?.parse::<u32>().ok());
    if status == StatusCode::TOO_MANY_REQUESTS {
        error.retry_after = wait.map(|seconds| f64::from(seconds) * 1_000.0);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_whose_fault_it_is() {
        let code = |status: u16| {
            let status = StatusCode::from_u16(status).unwrap();
            refused(status, &HeaderMap::new()).code.clone()
        };
        assert_eq!(code(400), Code::INVALID_PARAMS);
        assert_eq!(code(401), Code::PERMISSION_DENIED);
        for other in [302, 404, 409, 413] {
            assert_eq!(code(other), Code::OPERATION_FAILED, "{other}");
        }
        let headers = HeaderMap::from_iter([(RETRY_AFTER, "3".parse().unwrap())]);
        let error = refused(StatusCode::TOO_MANY_REQUESTS, &headers);
        assert_eq!((error.retryable, error.retry_after), (true, Some(3_000.0)));
    }

    #[test]
    fn what_is_called_off_is_not_sent() {
        let dispatch = Dispatch::default();
        assert!(!dispatch.end() && !dispatch.begin() && !dispatch.end());
    }

    #[test]
    fn what_is_sent_is_not_called_off() {
        let dispatch = Dispatch::default();
        assert!(dispatch.begin() && dispatch.begin() && dispatch.end() && dispatch.end());
    }
}
