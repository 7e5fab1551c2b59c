//! The progress of a call, for its client.

use caphost::dialect::mcp::Version;
use serde_json::{Value, json};

/// Turns the `ProgressInfo`s of one call into notifications for its token.
#[derive(Debug)]
pub struct Progress {
    token: Value,
    /// Whether the client's version has `message`.
    has_message: bool,
    last: Option<f64>,
}

impl Progress {
    /// The progress of a call that has not reported yet.
    pub fn new(token: Value, version: &Version) -> Self {
        Progress {
            token,
            has_message: version.audio,
            last: None,
        }
    }

    /// The notification for `info`. `None` if the progress does not increase, which MCP does not allow.
    pub fn read(&mut self, info: &Value) -> Option<Value> {
        let (progress, total) = match info["progress"].as_f64() {
            Some(progress) => (progress, info["total"].as_f64()),
            None => (info["percentage"].as_f64()?, Some(100.0)),
        };
        if self.last.is_some_and(|last| progress <= last) {
            return None;
        }
        self.last = Some(progress);
        let mut said = json!({ "progressToken": self.token, "progress": progress });
        if let Some(total) = total {
            said["total"] = total.into();
        }
        let text = |key: &str| info[key].as_str();
        if self.has_message
            && let Some(message) = text("status").or_else(|| text("stage"))
        {
            said["message"] = message.into();
        }
        Some(said)
    }
}

#[cfg(test)]
mod tests {
    use caphost::dialect::mcp::STATELESS;

    use super::*;

    fn read(infos: &[Value]) -> Vec<Value> {
        let mut progress = Progress::new(json!(0), &STATELESS);
        let said = infos.iter().filter_map(|info| progress.read(info));
        said.collect()
    }

    #[test]
    fn progress_keeps_its_scale_and_its_words() {
        let said = read(&[
            json!({ "operationId": "x", "progress": 1, "total": 4, "status": "layout: 1 of 4", "stage": "layout" }),
            json!({ "progress": 2.5, "stage": "write" }),
            json!({ "percentage": 75 }),
        ]);
        assert_eq!(
            said,
            [
                json!({ "progressToken": 0, "progress": 1.0, "total": 4.0, "message": "layout: 1 of 4" }),
                json!({ "progressToken": 0, "progress": 2.5, "message": "write" }),
                json!({ "progressToken": 0, "progress": 75.0, "total": 100.0 }),
            ]
        );
    }

    #[test]
    fn what_does_not_increase_is_not_said() {
        let said = read(&[
            json!({ "progress": 5 }),
            json!({ "progress": 5, "status": "still" }),
            json!({ "progress": 4 }),
            json!({ "progress": "6" }),
            json!(null),
            json!({ "progress": 6 }),
        ]);
        assert_eq!(said.len(), 2);
    }
}
