//! Calls of the gateway's own: what the broker is given, and what it tells of them.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Profile, Wanted};
use crate::broker::runs::{Ending, NewRun, Run};
use crate::wire::stops::{self, Grade};
use crate::wire::{Failure, Json, Request, said, stopped_by};
use caphost::call::{Code, Error, LateEnd, Millis, Stop, StoppedBy};

/// What came of a cancel.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct CancelOutcome<E = Reply> {
    /// How far the stop was seen; only of a call that was cancelled, which is a confirmed fact.
    #[serde(default, with = "stops::word")]
    pub stop: Option<Stop>,
    /// What has stopped it, if the app says.
    #[serde(default, with = "stopped_by::optional")]
    pub by: Option<StoppedBy>,
    /// How the handler of an abandoned call has ended since.
    #[serde(default, rename = "ended", with = "stops::late")]
    pub late_end: Option<LateEnd>,
    /// Why not.
    pub reason: Option<String>,
    /// The app's error, or one found here.
    pub error: Option<E>,
}

impl<E> CancelOutcome<E> {
    /// Whether the call was cancelled.
    pub fn cancelled(&self) -> bool {
        self.stop.is_some()
    }

    /// How far the stop was seen, and what else is known of it, if the call was cancelled.
    pub fn grade(&self) -> Option<Grade> {
        let (by, late_end) = (self.by, self.late_end);
        self.stop.map(|stop| Grade { stop, by, late_end })
    }

    /// The cancel is confirmed.
    pub fn confirmed(grade: Grade) -> Self {
        CancelOutcome {
            stop: Some(grade.stop),
            by: grade.by,
            late_end: grade.late_end,
            reason: None,
            error: None,
        }
    }

    /// The call is not cancelled.
    pub fn refused(reason: Option<String>, error: Option<E>) -> Self {
        CancelOutcome {
            stop: None,
            by: None,
            late_end: None,
            reason,
            error,
        }
    }

    /// The same, with its error as `read` makes it.
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

/// Whom a session of the gateway's own is for.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The app it wants.
    pub app: Wanted,
    /// Who it is.
    pub profile: Profile,
    /// The payload of its `initialize`.
    pub hello: Json,
}

/// A call of the gateway's own.
#[derive(Clone, Debug)]
pub struct NewOwnCall {
    /// The run it begins.
    pub run: NewRun,
    /// The payload of its `capabilities/call`, with the run's callId in it.
    pub payload: Json,
    /// Milliseconds after which the app is to cancel it.
    pub timeout: Option<Millis>,
}

/// What an app says, or the gateway in its stead.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The app's own words.
    Json(Json),
    /// The gateway's error.
    Failed(Failure),
}

/// What a call of the gateway's own does.
#[derive(Clone, Debug)]
pub enum Step {
    /// It says how far it is: a `ProgressInfo`.
    Progress(Json),
    /// It is over: its run, and what its caller is told if that is not cancelled.
    Ended(Arc<Run>, Option<Reply>),
    /// Its handler has ended after it was answered as abandoned.
    Late(LateEnd),
}

impl Reply {
    /// The code of its error.
    pub(super) fn code(&self) -> Option<Cow<'_, str>> {
        match self {
            Reply::Json(response) => said(response.as_str()).code,
            Reply::Failed(error) => Some(error.code.as_str().into()),
        }
    }

    /// How a run ends whose call is answered with this error.
    pub(super) fn ending(&self) -> Ending {
        let code = self.code().map(Cow::into_owned);
        let code = code.unwrap_or_else(|| Code::OPERATION_FAILED.as_str().into());
        match Code::leaves_open(&code) {
            true => Ending::Unknown(code),
            false => Ending::Failed(code),
        }
    }
}

/// The call is not cancelled.
pub(super) fn not_cancelled(reason: &str) -> CancelOutcome {
    CancelOutcome::refused(Some(reason.into()), None)
}

/// Nobody knows whether it is.
pub(super) fn cancel_failed(reason: &str, error: Failure) -> CancelOutcome {
    CancelOutcome::refused(Some(reason.into()), Some(Reply::Failed(error)))
}

/// The reason given to calls that a stopping gateway cancels.
pub const STOPPING: &str = "The gateway is shutting down";

/// The error of a call that comes after the gateway was told to stop.
pub(super) fn no_new_calls() -> Failure {
    let message = "The gateway is shutting down: it takes no new calls";
    Error::new(Code::CAPABILITY_UNAVAILABLE, message)
}

/// Why a cancel is not confirmed whose app has not answered in time.
pub(super) const UNCONFIRMED: &str = "No confirmation from the app";

/// Why a cancel is not confirmed that the app answers with an error.
pub(super) const ANSWERED_WITH_ERROR: &str = "The app answered the cancel with an error";

/// The error of a cancel that its app has not answered in time.
pub(super) fn unanswered() -> Failure {
    Error::new(Code::TIMEOUT, "The app did not confirm the cancel in time")
}

/// The outcome of a cancel that its app has not answered in time.
pub(crate) fn unconfirmed() -> CancelOutcome {
    cancel_failed(UNCONFIRMED, unanswered())
}

/// Why the agents of an app that is gone are closed.
pub(super) const APP_LEFT: &str = "The app disconnected";

/// The error of a call whose app is gone.
pub(super) fn disconnected() -> Failure {
    let message = "The app is disconnected: the outcome is unknown";
    Error::new(Code::DISCONNECTED, message)
}

/// What a call is answered with that fails with that error, as JSON.
pub(super) fn failed_with(error: &str) -> Reply {
    Reply::Json(format!(r#"{{"success":false,"error":{error}}}"#).into())
}

/// What a call that is cancelled, or a cancel of a call with that id as JSON, is answered with, as JSON.
pub(super) fn answer_by(
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
pub(super) fn cancel_payload(call_id: &str, reason: Option<&str>) -> String {
    let mut payload = json!({ "callId": call_id });
    if let Some(reason) = reason {
        payload["reason"] = reason.into();
    }
    payload.to_string()
}
