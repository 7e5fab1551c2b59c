//! The outcomes of calls and of cancels, and what is said in place of an app.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::oneshot;

use super::AbpError;
use crate::wire::stops::{self, Grade};
use crate::wire::{Failure, Json, Request, Said, stopped_by};
use caphost::call::{Code, Error, LateEnd, Stop, StoppedBy};

/// How a call has ended, as its caller is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The call has returned its result.
    Done {
        /// The handler's return value. `None` means null.
        data: Option<Json>,
        /// `{duration, cached?}`, if the app sent it.
        metadata: Option<Json>,
    },
    /// The call failed.
    Failed(AbpError),
    /// The call is cancelled, and the app or the gateway confirms it.
    Cancelled {
        /// The reason that was given, if there is one.
        reason: Option<String>,
        /// How far the work was seen to stop.
        stop: Stop,
        /// What has stopped the work, if the app says so.
        by: Option<StoppedBy>,
    },
}

impl Outcome {
    /// The outcome of a call that is not cancelled, by the app's answer. `shared` is the buffer of the answer,
    /// if it may be shared.
    pub(in crate::broker) fn of(said: &Said<'_>, shared: Option<&Bytes>) -> Self {
        if said.success != Some(true) {
            return Outcome::Failed(AbpError::said(said, shared));
        }
        let keep = |text| Json::keep(text, shared);
        Outcome::Done {
            data: said.data.map(keep),
            metadata: said.metadata.map(keep),
        }
    }

    /// The outcome of a call whose app is gone.
    pub(crate) fn disconnected() -> Self {
        Outcome::Failed(AbpError::disconnected())
    }

    /// The same outcome without line breaks in the result, for readers of lines.
    pub(crate) fn in_one_line(self) -> Self {
        match self {
            Outcome::Done { data, metadata } => Outcome::Done {
                data: data.map(Json::in_one_line),
                metadata: metadata.map(Json::in_one_line),
            },
            other => other,
        }
    }
}

/// The outcome of a cancel.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct CancelOutcome {
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
    pub error: Option<AbpError>,
}

impl CancelOutcome {
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
    pub fn refused(reason: Option<String>, error: Option<AbpError>) -> Self {
        CancelOutcome {
            stop: None,
            by: None,
            late_end: None,
            reason,
            error,
        }
    }

    /// The cancel itself has failed.
    pub fn failed(error: AbpError) -> Self {
        CancelOutcome::refused(Some(error.message.clone()), Some(error))
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
    CancelOutcome::refused(Some(reason.into()), Some(AbpError::from(&error)))
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

#[cfg(test)]
mod tests;
