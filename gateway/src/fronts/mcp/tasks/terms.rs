//! The words of MCP for tasks. This module uses no other module of MCP.

use serde_json::{Value, json};

use crate::broker::calls::RunId;
use caphost::dialect::mcp::{Version, WITH_SESSIONS};

/// The extension of versions without sessions.
pub const TASKS: &str = "io.modelcontextprotocol/tasks";
/// The key of `_meta` that names the task of a message without a `taskId`.
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// The value of [`RELATED_TASK`].
pub fn related(run: RunId) -> Value {
    json!({ "taskId": run.to_string() })
}

/// Whether sessions of that version have tasks.
pub fn has_tasks(version: &Version) -> bool {
    version.name == WITH_SESSIONS.name
}
