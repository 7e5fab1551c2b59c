//! How the call of a task has ended, and what is kept of that.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::result::{ToolResult, is_blank};
use super::terms::{RELATED_TASK, related};
use crate::bounds::{Budget, Permit, QuotaKey};
use crate::broker::calls::RunId;
use crate::wire::Json;
use crate::wire::json_rpc::{RpcError, code};
use crate::wire::stops::{Grade, clause};
use caphost::call::{Stop, StoppedBy};

/// The end of a task's call.
pub enum End {
    /// The call has a result, perhaps that it has failed.
    Result {
        result: Json,
        is_error: bool,
        _room: Permit,
    },
    /// There is no result, but an error of the protocol.
    Failed(RpcError),
    /// The call is cancelled. The error is the answer to the request of the call.
    Cancelled(RpcError),
}

/// What is said of an end: the words for people, if there are any.
pub type Words = Option<String>;

impl End {
    /// The end of a task's call, from the answer to the request of the call, and from how far the stop of a
    /// cancelled call was seen. The result takes room of the holder.
    pub fn of(
        ended: Result<ToolResult, RpcError>,
        stopped: Option<(Stop, Option<StoppedBy>)>,
        (room, quota_key): (&Arc<Budget>, &QuotaKey),
    ) -> (Self, Words) {
        let result = match (ended, stopped) {
            (Ok(result), _) => result,
            (Err(error), Some((stop, by))) => {
                let late_end = None;
                let said = words(Grade { stop, by, late_end });
                return (End::Cancelled(error), Some(said));
            }
            (Err(error), None) => {
                let said = error.message.clone();
                return (End::Failed(error), Some(said));
            }
        };
        let is_error = result.is_error();
        let words = result.error()["message"].as_str();
        let words = words.filter(|it| !is_blank(it)).map(str::to_string);
        let text = serde_json::to_string(&result).unwrap_or_default();
        match room.take(quota_key, text.len()) {
            Ok(room) => {
                let end = End::Result {
                    result: text.into(),
                    is_error,
                    _room: room,
                };
                (end, words)
            }
            Err(full) => {
                let what = format!(
                    "The call has ended, but the gateway cannot keep its result of {} bytes: {full} \
                     (--mcp-max-task-bytes). A new call does the work again",
                    text.len()
                );
                let error = RpcError::new(code::INTERNAL_ERROR, &*what);
                (End::Failed(error), Some(what))
            }
        }
    }

    /// The status, as clients with or without sessions are told. With sessions a task fails if its result says
    /// so.
    pub fn status(&self, has_sessions: bool) -> &'static str {
        match self {
            End::Result { is_error: true, .. } if has_sessions => "failed",
            End::Result { .. } => "completed",
            End::Failed(_) => "failed",
            End::Cancelled(_) => "cancelled",
        }
    }

    /// The answer to the request of the call of that task, in a session.
    pub fn answer(&self, run: RunId) -> Result<Json, RpcError> {
        match self {
            End::Result { result, .. } => Ok(result.clone()),
            End::Failed(error) | End::Cancelled(error) => {
                let mut error = error.clone();
                let data = error.data.get_or_insert_with(|| json!({}));
                data["_meta"][RELATED_TASK] = related(run);
                Err(error)
            }
        }
    }

    /// The result, if there is one.
    pub fn result(&self) -> Option<Json> {
        match self {
            End::Result { result, .. } => Some(result.clone()),
            End::Failed(_) | End::Cancelled(_) => None,
        }
    }

    /// The error that clients without sessions are told.
    pub fn error(&self) -> Option<Value> {
        let End::Failed(error) = self else {
            return None;
        };
        let mut answer = error.clone().answer(&Value::Null);
        Some(answer["error"].take())
    }
}

/// How far a stop was seen, in words.
pub fn words(grade: Grade) -> String {
    format!("Cancelled ({}){}", grade.stop.as_str(), clause(grade))
}
