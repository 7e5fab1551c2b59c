//! How a worker stands with its cluster, and what is counted of it.

use crate::count::Count;

/// How a worker stands with its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether the way to the others works.
    pub connected: bool,
    /// The other workers known.
    pub others: usize,
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
