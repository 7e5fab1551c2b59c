//! The outcomes of cancels, and what is said in place of an app.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::oneshot;

use crate::broker::calls::Reply;
use crate::wire::stops::{self, Grade};
use crate::wire::{Failure, Request, stopped_by};
use caphost::call::{Code, Error, LateEnd, Stop, StoppedBy};

/// The outcome of a cancel.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct CancelOutcome<E = Reply> {
    /// How far the stop was seen. Only a call that was cancelled for certain has this.
    #[serde(default, with = "stops::word")]
    pub stop: Option<Stop>,
    /// What has stopped the call, if the app says so.
    #[serde(default, with = "stopped_by::optional")]
    pub by: Option<StoppedBy>,
    /// How the handler of an abandoned call has ended since.
    #[serde(default, rename = "ended", with = "stops::late")]
    pub late_end: Option<LateEnd>,
    /// Why the call is not cancelled.
    pub reason: Option<String>,
    /// The app's error, or an error of the gateway.
    pub error: Option<E>,
}

impl<E> CancelOutcome<E> {
    /// Whether the call was cancelled.
    pub fn cancelled(&self) -> bool {
        self.stop.is_some()
    }

    /// The grade of the stop, if the call was cancelled.
    pub fn grade(&self) -> Option<Grade> {
        let (by, late_end) = (self.by, self.late_end);
        self.stop.map(|stop| Grade { stop, by, late_end })
    }

    /// A confirmed cancel.
    pub fn confirmed(grade: Grade) -> Self {
        CancelOutcome {
            stop: Some(grade.stop),
            by: grade.by,
            late_end: grade.late_end,
            reason: None,
            error: None,
        }
    }

    /// A cancel of a call that is not cancelled.
    pub fn refused(reason: Option<String>, error: Option<E>) -> Self {
        CancelOutcome {
            stop: None,
            by: None,
            late_end: None,
            reason,
            error,
        }
    }

    /// The same outcome with its error read by `read`.
    pub fn with_error<F>(self, read: impl FnOnce(E) -> F) -> CancelOutcome<F> {
        CancelOutcome {
            stop: self.stop,
            by: self.by,
            late_end: self.late_end,
            reason: self.reason,
            error: self.error.map(read),
        }
    }
}

/// Who is told the outcome of a cancel.
pub type Waiter = oneshot::Sender<CancelOutcome>;

/// A cancel of a call that is not cancelled, for that reason.
pub(in crate::broker) fn not_cancelled(reason: &str) -> CancelOutcome {
    CancelOutcome::refused(Some(reason.into()), None)
}

/// A cancel whose outcome is unknown.
pub(in crate::broker) fn cancel_failed(reason: &str, error: Failure) -> CancelOutcome {
    CancelOutcome::refused(Some(reason.into()), Some(Reply::Failed(error)))
}

/// The reason with which a stopping gateway cancels calls.
pub const STOPPING: &str = "The gateway is shutting down";

/// The error of a call that comes while the gateway is stopping.
pub(in crate::broker) fn no_new_calls() -> Failure {
    let message = "The gateway is shutting down: it takes no new calls";
    Error::new(Code::CAPABILITY_UNAVAILABLE, message)
}

/// Why a cancel is not confirmed when the app has not answered in time.
pub(in crate::broker) const UNCONFIRMED: &str = "No confirmation from the app";

/// Why a cancel is not confirmed when the app answers with an error.
pub(in crate::broker) const ANSWERED_WITH_ERROR: &str = "The app answered the cancel with an error";

/// The error of a cancel that the app has not answered in time.
pub(in crate::broker) fn unanswered() -> Failure {
    Error::new(Code::TIMEOUT, "The app did not confirm the cancel in time")
}

/// The outcome of a cancel that the app has not answered in time.
pub(crate) fn unconfirmed() -> CancelOutcome {
    cancel_failed(UNCONFIRMED, unanswered())
}

/// Why agents are closed when their app is gone.
pub(in crate::broker) const APP_LEFT: &str = "The app disconnected";

/// The error of a call whose app is gone.
pub(in crate::broker) fn disconnected() -> Failure {
    let message = "The app is disconnected: the outcome is unknown";
    Error::new(Code::DISCONNECTED, message)
}

/// The reply to a call that fails with that error, which is JSON.
pub(in crate::broker) fn failed_with(error: &str) -> Reply {
    Reply::Json(format!(r#"{{"success":false,"error":{error}}}"#).into())
}

/// The reply to a cancelled call, or to a cancel of the call with that id, as JSON.
pub(in crate::broker) fn answer_by(
    outcome: &CancelOutcome,
    request: Request,
    call_id: Option<&str>,
) -> String {
    let said = match outcome.grade() {
        Some(grade) => json!({ "cancelled": true, "metadata": stops::metadata(grade) }),
        None => json!({ "cancelled": false, "reason": outcome.reason }),
    };
    let said = said.to_string();
    let about = match request {
        Request::Cancel => format!(r#""callId":{}"#, call_id.unwrap_or("null")),
        _ => r#""success":false"#.into(),
    };
    format!("{{{about},{}", &said[1..])
}

/// The payload of a cancel: `{ callId, reason? }`.
pub(in crate::broker) fn cancel_payload(call_id: &str, reason: Option<&str>) -> String {
    let mut payload = json!({ "callId": call_id });
    if let Some(reason) = reason {
        payload["reason"] = reason.into();
    }
    payload.to_string()
}
