//! Getting an invocation to its tool server.

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;
use tokio::time::sleep;
use url::Url;

use super::super::pauses::Pauses;
use super::errand::Errand;
use super::limits::RuntimeLimits;
use super::requests::{Requests, describe};
use caphost::call::{Code, Error};

/// An invocation that no server has acknowledged.
#[derive(Debug)]
pub(super) struct Undelivered {
    /// What its call ends with.
    pub error: Error<Value>,
    /// Whether the tool may run nevertheless.
    pub may_run: bool,
}

/// Sends an invocation until it is acknowledged or refused: again after a failed connection or an
/// answer of the 5xx class, never after one of the 4xx class. Ends early, without an error, when the
/// call does; an attempt that is under way then is still awaited.
pub(super) async fn deliver(
    requests: &Requests,
    endpoint: &Url,
    body: Bytes,
    limits: &RuntimeLimits,
    errand: &Errand,
) -> Result<(), Undelivered> {
    let mut pauses = Pauses::new(limits.first_pause, limits.longest_pause);
    let mut may_run = false;
    let mut attempts = 0;
    loop {
        let turn = tokio::select! {
            () = errand.over() => return Ok(()),
            turn = requests.turn() => turn,
        };
        if !errand.begin() {
            return Ok(());
        }
        attempts += 1;
        let failure = match requests.invoke(endpoint, body.clone()).await {
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
        tracing::debug!(server = ?requests.server, attempts, failure, "invocation not delivered");
        if attempts >= limits.invoke_attempts {
            let message = format!("The tool server cannot be reached: {failure}");
            let error = Error::new(Code::TRANSPORT_ERROR, message);
            return Err(Undelivered { error, may_run });
        }
        tokio::select! {
            () = errand.over() => return Ok(()),
            () = sleep(pauses.next()) => {}
        }
    }
}

/// The error that an answer to an invocation stands for; its body is not read.
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
}
