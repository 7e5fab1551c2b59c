//! A run as it is shown.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::broker::runs::Run;
use crate::wire::stops;
use caphost::call::{LateEnd, Stop};

/// The shape; times are Unix milliseconds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunJson<'a> {
    run_id: String,
    name: String,
    dialect: &'static str,
    dialect_id: Option<&'a str>,
    owner: &'a str,
    thread: Option<&'a str>,
    app: Option<&'a str>,
    capability: &'a str,
    call_id: &'a str,
    state: &'static str,
    registered_at: u64,
    ended_at: Option<u64>,
    cancel_requested_at: Option<u64>,
    cancelled_at: Option<u64>,
    cancel_reason: Option<&'a str>,
    progress: Option<&'a RawValue>,
    error: Option<&'a str>,
    stop: Option<&'static str>,
    #[serde(with = "stops::late")]
    ended: Option<LateEnd>,
}

impl<'a> From<&'a Run> for RunJson<'a> {
    fn from(run: &'a Run) -> Self {
        RunJson {
            run_id: run.id.to_string(),
            name: run.name(),
            dialect: run.dialect.as_str(),
            dialect_id: run.dialect_id.as_deref(),
            owner: &run.owner.name,
            thread: run.thread.as_deref(),
            app: run.app.as_deref(),
            capability: &run.capability,
            call_id: &run.call_id,
            state: run.state.as_str(),
            registered_at: run.registered_at,
            ended_at: run.ended_at,
            cancel_requested_at: run.cancel_requested_at,
            cancelled_at: run.cancelled_at,
            cancel_reason: run.cancel_reason.as_deref(),
            progress: run.progress.as_deref(),
            error: run.error.as_deref(),
            stop: run.stop().map(Stop::as_str),
            ended: run.ended,
        }
    }
}
