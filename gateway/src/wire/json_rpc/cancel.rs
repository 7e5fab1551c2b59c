//! Cancels of requests. The core's table says how each dialect cancels, and whether the request is still
//! answered.

use serde_json::Value;

use super::Id;
use crate::wire::clipped;
use caphost::dialect::json_rpc::{MAX_REASON, Way};

/// A cancel of one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Cancel {
    /// The id of the request.
    pub id: Id,
    /// For logs and the handler.
    pub reason: Option<String>,
    /// Whether that request is still answered, with its result or with error -32800: then its caller waits
    /// for the answer. Otherwise the caller took the request for settled when it sent the cancel, and an
    /// answer is an error.
    pub answered: bool,
}

/// Reads a notification as a cancel. `None` if it is no cancel, or malformed: then it is ignored.
pub fn read_cancel(method: &str, params: Option<&str>) -> Option<Cancel> {
    let way = Way::of(method)?;
    let params: Value = serde_json::from_str(params?).ok()?;
    let reason = params.get("reason").filter(|_| way.reason);
    let reason = reason.and_then(Value::as_str);
    Some(Cancel {
        id: Id::read(params.get(way.id)?)?,
        reason: reason.map(|reason| clipped(reason, MAX_REASON).into()),
        answered: way.answered,
    })
}

#[cfg(test)]
mod tests;
