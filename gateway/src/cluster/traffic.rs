//! The standing of a worker in its cluster, and the counts of its traffic.

use crate::count::Count;

/// The standing of a worker in its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether this worker can reach the others.
    pub connected: bool,
    /// How many other workers are known.
    pub others: usize,
}

/// The counts of the traffic with other workers since the start.
#[derive(Debug, Default)]
pub struct Traffic {
    /// How many connections to Redis were made.
    pub connections: Count,
    /// How many commands were sent to Redis, without leases.
    pub commands: Count,
    /// How many frames were sent to other workers.
    pub frames_sent: Count,
    /// How many bytes of messages these frames had.
    pub bytes_sent: Count,
    /// How many frames came from other workers.
    pub frames_received: Count,
    /// How many messages of other workers could not be read, or made this worker panic.
    pub messages_unread: Count,
    /// How many workers were taken for dead.
    pub workers_lost: Count,
}

/// A metric of a cluster: its name, its description, and its counter.
pub type ClusterMetric = (&'static str, &'static str, fn(&Traffic) -> &Count);

/// All metrics of a cluster.
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
        "Frames sent to other workers.",
        |it| &it.frames_sent,
    ),
    (
        "caphost_cluster_bytes_sent_total",
        "Bytes of the messages in the frames sent.",
        |it| &it.bytes_sent,
    ),
    (
        "caphost_cluster_frames_received_total",
        "Frames that came from other workers.",
        |it| &it.frames_received,
    ),
    (
        "caphost_cluster_messages_unread_total",
        "Messages of other workers that were skipped: of a later version, or faulty.",
        |it| &it.messages_unread,
    ),
    (
        "caphost_workers_lost_total",
        "Other workers that were taken for dead.",
        |it| &it.workers_lost,
    ),
];
