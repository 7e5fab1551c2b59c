//! The JSON of runs and of lists of runs.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::http::header::{CONTENT_TYPE, ETAG, HeaderMap, IF_NONE_MATCH, VARY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use url::form_urlencoded;

use crate::broker::calls::{Lost, Run};
use crate::fronts::refusal::Refusal;
use crate::gateway::Listed;
use crate::tokens::Identity;
use crate::wire::{stopped_by, stops};
use caphost::call::{LateEnd, Stop};

/// How many ended runs a list has by default.
pub(super) const LIST_LIMIT: usize = 500;
/// How many ended runs a list may have.
pub(super) const LIST_LIMIT_MAX: usize = 10_000;

/// A run in a list. Times are Unix milliseconds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunJson<'a> {
    run_id: String,
    name: String,
    dialect: &'static str,
    dialect_id: Option<&'a str>,
    owner: &'a str,
    agent: Option<&'a str>,
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
    lost: Option<&'static str>,
    stop: Option<&'static str>,
    step: Option<&'static str>,
    took: Option<Value>,
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
            agent: run.agent.as_deref(),
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
            lost: run.lost.map(Lost::as_str),
            stop: run.stop().map(Stop::as_str),
            step: run.by.map(|by| by.step.as_str()),
            took: run.by.map(|by| stopped_by::number(by.took)),
            ended: run.late_end,
        }
    }
}

/// The part of a list that stays the same while no run changes.
#[derive(Serialize)]
struct ListJson<'a> {
    runs: Vec<RunJson<'a>>,
    omitted: usize,
    /// Why other workers may have more runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<String>,
    viewer: Viewer<'a>,
}

#[derive(Serialize)]
struct Viewer<'a> {
    name: &'a str,
    role: &'static str,
}

/// The response with a list and the time in Unix milliseconds, unless the requester already has the same
/// list.
pub(super) fn respond(listed: String, now: u64, headers: &HeaderMap) -> Response {
    let tag = tag(&listed);
    let known = headers.get_all(IF_NONE_MATCH).iter();
    let known = known.filter_map(|value| value.to_str().ok()).any(|tags| {
        tags.split(',')
            .any(|it| it.trim().trim_start_matches("W/") == tag)
    });
    let etag = HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("\"\""));
    // Another token gets another list.
    let vary = HeaderValue::from_static("authorization");
    let head = [(ETAG, etag), (VARY, vary)];
    if known {
        return (StatusCode::NOT_MODIFIED, head).into_response();
    }
    let json = HeaderValue::from_static("application/json");
    (head, [(CONTENT_TYPE, json)], with_now(listed, now)).into_response()
}

/// How many ended runs the requester wants.
pub(super) fn limit(query: Option<&str>) -> Result<usize, Refusal> {
    let query = query.unwrap_or_default().as_bytes();
    let given = form_urlencoded::parse(query).find(|(name, _)| name == "limit");
    let Some((_, given)) = given else {
        return Ok(LIST_LIMIT);
    };
    match given.parse() {
        Ok(limit) if limit <= LIST_LIMIT_MAX => Ok(limit),
        _ => {
            let message = format!("`limit` must be a whole number from 0 to {LIST_LIMIT_MAX}");
            Err(Refusal::invalid_at("limit", message))
        }
    }
}

/// The list without the time.
pub(super) fn text(runs: &Listed, viewer: &Identity) -> String {
    let listed = ListJson {
        runs: runs.runs.iter().map(|run| RunJson::from(&**run)).collect(),
        omitted: runs.omitted,
        incomplete: runs.unsure.map(|unsure| unsure.to_string()),
        viewer: Viewer {
            name: &viewer.name,
            role: viewer.role.as_str(),
        },
    };
    serde_json::to_string(&listed).unwrap_or_default()
}

fn tag(listed: &str) -> String {
    let mut hasher = DefaultHasher::new();
    listed.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

fn with_now(mut listed: String, now: u64) -> String {
    listed.pop();
    listed.push_str(&format!(r#","now":{now}}}"#));
    listed
}
