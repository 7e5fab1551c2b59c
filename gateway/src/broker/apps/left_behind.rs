//! What agents that have left an app have left behind: abandoned calls whose handlers may still end.

use std::sync::Arc;

use crate::broker::PeerId;
use crate::broker::calls::RunId;
use crate::remembered::Remembered;

/// How many abandoned calls of agents that have left one app are remembered.
const REMEMBERED: usize = 1_024;

/// Abandoned calls of agents that have left an app. The late ends of these calls are news of their runs.
#[derive(Debug, Default)]
pub(in crate::broker) struct LeftBehind {
    /// By the agents' names in messages to the app, and the callIds.
    runs: Remembered<(String, Arc<str>), RunId, REMEMBERED>,
    /// Agents of other workers, by their names in messages to the app. Their workers are told the late ends.
    elsewhere: Remembered<String, PeerId, REMEMBERED>,
}

impl LeftBehind {
    /// An agent of another worker has left.
    pub fn keep_elsewhere(&mut self, handle: &str, peer: PeerId) {
        self.elsewhere.insert(handle.into(), peer);
    }

    /// The agent of another worker that had that name.
    pub fn of_elsewhere(&self, handle: &str) -> Option<PeerId> {
        self.elsewhere.get(handle).copied()
    }

    /// An agent has left.
    pub fn keep(&mut self, handle: &str, abandoned: Vec<(Arc<str>, RunId)>) {
        for (call_id, run) in abandoned {
            self.runs.insert((handle.to_string(), call_id), run);
        }
    }

    pub fn take(&mut self, handle: &str, call_id: &str) -> Option<RunId> {
        self.runs.remove(&(handle.to_string(), call_id.into()))
    }
}
