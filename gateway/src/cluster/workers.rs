//! What the layers above know of the other workers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::count::Count;

/// Names a worker while it takes part: one that joins anew has a new id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkerId {
    /// Its process, which stays the same.
    pub process: Uuid,
    /// How often it has joined anew.
    life: u32,
}

impl WorkerId {
    /// That of a process which has not taken part yet.
    pub fn of(process: Uuid) -> Self {
        WorkerId { process, life: 0 }
    }

    /// The next of the same process.
    pub(super) fn reborn(self) -> Self {
        WorkerId {
            life: self.life + 1,
            ..self
        }
    }

    /// Some worker's.
    #[cfg(test)]
    pub fn random() -> Self {
        WorkerId::of(Uuid::new_v4())
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.process.simple(), self.life)
    }
}

impl From<WorkerId> for String {
    fn from(worker: WorkerId) -> Self {
        worker.to_string()
    }
}

impl FromStr for WorkerId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = |text: &str| {
            let (process, life) = text.rsplit_once('-')?;
            let (process, life) = (process.parse().ok()?, life.parse().ok()?);
            Some(WorkerId { process, life })
        };
        read(text).ok_or("no worker's id")
    }
}

impl TryFrom<String> for WorkerId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// How a worker stands with its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether the way to the others works.
    pub connected: bool,
    /// The other workers known.
    pub others: usize,
}

/// What is known of a worker that something is kept of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It is this one.
    Here,
    /// It takes part.
    There,
    /// It has left, or has died.
    Over,
    /// Not all may be known yet.
    Unsure,
}

/// What went to and from the other workers since the start.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Connections to Redis that were made.
    pub connections: Count,
    /// Commands sent to Redis, without leases.
    pub commands: Count,
    /// Frames sent to other workers, those sent again included.
    pub frames_sent: Count,
    /// Bytes of the messages in them.
    pub bytes_sent: Count,
    /// Frames that came from other workers, repeated ones included.
    pub frames_received: Count,
    /// Messages of other workers that could not be read, or made this one panic.
    pub messages_unread: Count,
    /// Workers that were taken for dead.
    pub workers_lost: Count,
}

/// What is counted of a cluster: its name, what it is, and where it stands.
pub type ClusterMetric = (&'static str, &'static str, fn(&Traffic) -> &Count);

/// All there is.
pub const METRICS: &[ClusterMetric] = &[
    (
        "caphost_redis_connections_total",
        "Connections to Redis that were made.",
        |it| &it.connections,
    ),
    (
        "caphost_redis_commands_total",
        "Commands sent to Redis, without the renewal of leases.",
        |it| &it.commands,
    ),
    (
        "caphost_cluster_frames_sent_total",
        "Frames sent to other workers, those sent again included.",
        |it| &it.frames_sent,
    ),
    (
        "caphost_cluster_bytes_sent_total",
        "Bytes of the messages in the frames sent.",
        |it| &it.bytes_sent,
    ),
    (
        "caphost_cluster_frames_received_total",
        "Frames that came from other workers, repeated ones included.",
        |it| &it.frames_received,
    ),
    (
        "caphost_cluster_messages_unread_total",
        "Messages of other workers that were passed over: of a later version, or faulty.",
        |it| &it.messages_unread,
    ),
    (
        "caphost_workers_lost_total",
        "Other workers that were taken for dead.",
        |it| &it.workers_lost,
    ),
];
