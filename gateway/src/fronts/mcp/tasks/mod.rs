//! Tasks: calls that outlive the response to their request. The client asks for the state of its task, and for
//! the result, with further requests. A task is a run, and its id is the id of the run, which names the worker
//! that has the task.
//!
//! | module | contents |
//! |---|---|
//! | `mod` | the tasks of this worker, and their bounds |
//! | `becoming` | when the call of a request without a session becomes a task |
//! | `task`, `end` | one task and what clients are told of it; how its call has ended |
//! | `course` | a task from its beginning until its time to live is over |
//! | `requests` | the answers to requests |
//! | `terms` | the words of MCP for tasks |
//! | `waiting` | the stream of a request that waits for the end of a task |

mod becoming;
mod course;
mod end;
mod requests;
mod task;
pub mod terms;
mod waiting;

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::sessions::McpOptions;
use crate::bounds::{Bound, Budget, Full, Permit, QuotaKey};
use crate::broker::calls::RunId;
use crate::gateway::Hub;
use crate::tokens::Identity;
use crate::wire::json_rpc::{RpcError, code};

pub use becoming::Becoming;
pub use task::{Task, Work, task_changes};

/// The shortest time to live.
const SHORTEST: Duration = Duration::from_secs(1);

/// The tasks of this worker. A task is there until its time to live is over.
pub struct Tasks {
    hub: Arc<Hub>,
    /// The longest time to live.
    ttl: Duration,
    places: Arc<Budget>,
    /// The bytes of the results that are kept.
    bytes: Arc<Budget>,
    table: Mutex<HashMap<RunId, Arc<Task>>>,
}

/// The place of a task that is about to begin.
pub struct Place {
    owner: Identity,
    quota_key: QuotaKey,
    permit: Permit,
}

impl Tasks {
    /// No tasks.
    pub fn new(hub: Arc<Hub>, options: &McpOptions) -> Arc<Self> {
        let bytes = options.mcp_max_task_bytes;
        Arc::new(Tasks {
            hub,
            ttl: options.mcp_task_ttl.max(SHORTEST),
            places: Budget::new(options.mcp_max_tasks, options.mcp_max_tasks_per_token),
            bytes: Budget::of(Bound::with_last_kept(bytes, bytes)),
            table: Mutex::default(),
        })
    }

    /// What a server with sessions says of its tasks. Without tokens nobody may list tasks, because everybody
    /// counts as the same owner.
    pub fn capability(&self) -> Value {
        let mut tasks = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
        if self.are_listed() {
            tasks["list"] = json!({});
        }
        tasks
    }

    fn are_listed(&self) -> bool {
        !self.hub.tokens.is_empty()
    }

    /// A place for a task of that owner.
    pub fn place(&self, owner: &Identity, quota_key: &QuotaKey) -> Result<Place, Full> {
        Ok(Place {
            owner: owner.clone(),
            quota_key: quota_key.clone(),
            permit: self.places.take(quota_key, 1)?,
        })
    }

    /// The call becomes a task, which is there when this function returns. `ttl` is the time to live that the
    /// client wants.
    pub fn begin(self: &Arc<Self>, place: Place, ttl: Option<Duration>, work: Work) -> Arc<Task> {
        let ttl = ttl.map_or(self.ttl, |ttl| ttl.clamp(SHORTEST, self.ttl));
        let Place {
            owner,
            quota_key,
            permit,
        } = place;
        let task = Task::new(self.hub.clone(), (owner, permit), ttl, &work);
        let task = Arc::new(task);
        self.table.lock().insert(task.id, task.clone());
        tracing::debug!(task = %task.id, owner = &*task.owner.name, "begun");
        tokio::spawn(course::run(self.clone(), task.clone(), quota_key, work));
        task
    }

    /// The task of that run, if it is one of the owner.
    pub fn of(&self, run: RunId, owner: &Identity) -> Option<Arc<Task>> {
        let table = self.table.lock();
        let task = table.get(&run).filter(|task| task.owner == *owner);
        task.filter(|task| task.until > Instant::now()).cloned()
    }

    /// The task that a request of the owner names.
    fn find(&self, id: Option<&str>, owner: &Identity) -> Result<Arc<Task>, RpcError> {
        let run = id.map(RunId::from_str).and_then(Result::ok);
        let found = run.and_then(|run| self.of(run, owner));
        found.ok_or_else(|| {
            let is_elsewhere =
                run.is_some_and(|run| run.names_a_worker() && !run.is_of(self.hub.process));
            RpcError::new(
                code::INVALID_PARAMS,
                match (id, is_elsewhere) {
                    (None, _) => "`taskId` must be a string",
                    (_, true) => {
                        "Task not found: it is on another worker of the gateway, or was lost with that worker"
                    }
                    (_, false) => {
                        "Task not found: you have no task with this id, or its time to live is over"
                    }
                },
            )
        })
    }

    /// All tasks of the owner on this worker, the oldest first.
    fn all_of(&self, owner: &Identity) -> Vec<Arc<Task>> {
        let table = self.table.lock();
        let now = Instant::now();
        let own = (table.values()).filter(|task| task.owner == *owner && task.until > now);
        let mut own: Vec<_> = own.cloned().collect();
        drop(table);
        own.sort_by_key(|task| task.created);
        own
    }

    /// The time to live of that task is over.
    fn forget(&self, run: RunId) {
        self.table.lock().remove(&run);
    }
}
