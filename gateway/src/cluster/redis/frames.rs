//! Frames over Redis: reads this worker's stream, and writes to the streams of the other workers.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use redis::aio::MultiplexedConnection;
use redis::streams::{
    StreamAddOptions, StreamId, StreamReadOptions, StreamReadReply, StreamTrimOptions,
    StreamTrimmingMode,
};
use redis::{AsyncCommands, FromRedisValue, Pipeline, RedisError, RedisResult, Value, pipe};
use tokio::time::sleep;

use super::node::BLOCK;
use crate::cluster::WorkerId;
use crate::cluster::link::Frame;
use crate::cluster::member::Member;

/// How many entries are read at once.
const ENTRIES: usize = 32;
/// How many entries or bytes are read, or how much time passes, before they are trimmed.
const TRIM_ENTRIES: usize = 256;
const TRIM_BYTES: usize = 1 << 20;
const TRIM: Duration = Duration::from_millis(100);
/// The time between questions how far another worker has read.
const LOOK: Duration = Duration::from_millis(10);

/// Why a session with Redis ended.
pub(super) enum End {
    /// Redis does not answer, or answers with an error.
    Lost(RedisError),
    /// Another worker has taken this worker for dead.
    TakenForDead,
}

impl From<RedisError> for End {
    fn from(error: RedisError) -> Self {
        End::Lost(error)
    }
}

/// Reads until Redis fails or this worker counts as dead.
pub(super) async fn read(
    member: &Member,
    me: WorkerId,
    connection: &mut MultiplexedConnection,
) -> End {
    let streams = [member.node.stream(me)];
    let options = StreamReadOptions::default()
        .count(ENTRIES)
        .block(BLOCK.as_millis() as usize);
    // The stream is as new as this worker's id.
    let mut last = String::from("0");
    let (mut entries, mut bytes) = (0, 0);
    let mut trimmed = Instant::now();
    loop {
        member.traffic.commands.add();
        let reply = connection.xread_options(&streams, &[&last], &options).await;
        let reply: Option<StreamReadReply> = match reply {
            Ok(reply) => reply,
            Err(error) => return error.into(),
        };
        let idle = reply.is_none();
        let streams = reply.into_iter().flat_map(|reply| reply.keys);
        for entry in streams.flat_map(|stream| stream.ids) {
            entries += 1;
            last.clone_from(&entry.id);
            let Some(taken) = take(member, entry) else {
                return End::TakenForDead;
            };
            bytes += taken;
        }
        // The received messages are processed before more are read.
        tokio::task::yield_now().await;
        let is_late = idle || trimmed.elapsed() >= TRIM;
        if entries >= TRIM_ENTRIES || bytes >= TRIM_BYTES || (is_late && entries > 0) {
            (entries, bytes, trimmed) = (0, 0, Instant::now());
            member.peers().read = Some(last.clone());
            member.outgoing.notify_one();
        }
    }
}

/// Handles one entry of the stream. Returns its size in bytes, or `None` if the entry says that this worker
/// counts as dead.
fn take(member: &Member, mut entry: StreamId) -> Option<usize> {
    let worker = |field| entry.get::<String>(field)?.parse::<WorkerId>().ok();
    if let Some(by) = worker("d") {
        if member.leaving.load(Ordering::Relaxed) {
            // This worker itself has told the others that it leaves.
            return Some(0);
        }
        tracing::warn!(%by, "this worker was taken for dead: it joins again");
        return None;
    }
    let (Some(from), Some(number)) = (worker("f"), entry.get("n")) else {
        return Some(0);
    };
    let body = match entry.map.remove("m") {
        Some(Value::BulkString(body)) => Bytes::from(body),
        _ => Bytes::new(),
    };
    let bytes = body.len();
    member.receive(from, Frame { number, body });
    Some(bytes)
}

/// Writes everything that is due until Redis fails.
pub(super) async fn write(
    member: &Member,
    me: WorkerId,
    mut connection: MultiplexedConnection,
) -> RedisError {
    loop {
        let Batch {
            commands,
            frames,
            behind,
        } = collect(member, me);
        if commands.is_empty() {
            member.outgoing.notified().await;
            continue;
        }
        member.traffic.commands.add_many(commands.len());
        let answers: RedisResult<Vec<Value>> = commands.query_async(&mut connection).await;
        let answers = match answers {
            Ok(answers) => answers,
            Err(error) => return error,
        };
        let (written, left) = answers.split_at(frames.len().min(answers.len()));
        member.peers().written();
        for (worker, answer) in frames.into_iter().zip(written) {
            // Without a stream the worker is gone, and the frame is lost.
            if *answer == Value::Nil && member.knows(worker) {
                tracing::warn!(%worker, "another worker cannot be written to: it is given up");
                member.give_up(worker);
            }
        }
        for (worker, left) in behind.iter().zip(left) {
            let left = usize::from_redis_value_ref(left).unwrap_or_default();
            member.peers().left(*worker, left);
        }
        if !behind.is_empty() {
            sleep(LOOK).await;
        }
    }
}

/// The commands to write now.
struct Batch {
    commands: Pipeline,
    /// The workers of the frames, which are answered first.
    frames: Vec<WorkerId>,
    /// The workers of the questions how far they have read, which are answered next.
    behind: Vec<WorkerId>,
}

fn collect(member: &Member, me: WorkerId) -> Batch {
    let node = &member.node;
    let mut batch = Batch {
        commands: pipe(),
        frames: Vec::new(),
        behind: Vec::new(),
    };
    let commands = &mut batch.commands;
    // Other workers write only into a stream that exists.
    let existing = || StreamAddOptions::default().nomkstream();
    let mut peers = member.peers();
    let name = me.to_string();
    for (worker, frame) in peers.frames() {
        member.traffic.frames_sent.add();
        member.traffic.bytes_sent.add_many(frame.body.len());
        let number = frame.number.to_string();
        let fields: [(&str, &[u8]); 3] = [
            ("f", name.as_bytes()),
            ("n", number.as_bytes()),
            ("m", &frame.body),
        ];
        commands.xadd_options(node.stream(worker), "*", &fields, &existing());
        batch.frames.push(worker);
    }
    batch.behind = peers.behind();
    for worker in &batch.behind {
        commands.xlen(node.stream(*worker));
    }
    for worker in std::mem::take(&mut peers.obituaries) {
        let stream = node.stream(worker);
        commands
            .xadd_options(stream, "*", &[("d", &name)], &existing())
            .ignore();
    }
    if let Some(read) = peers.read.take() {
        let read = StreamTrimOptions::minid(StreamTrimmingMode::Exact, after(&read));
        commands.xtrim_options(node.stream(me), &read).ignore();
    }
    batch
}

/// The id that follows the entry's id.
fn after(id: &str) -> String {
    let parts = id.split_once('-');
    let parts = parts.and_then(|(time, count)| Some((time, count.parse::<u64>().ok()?)));
    match parts {
        Some((time, count)) => format!("{time}-{}", count.saturating_add(1)),
        None => id.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_last_is_trimmed_as_well() {
        assert_eq!(after("1795300000000-7"), "1795300000000-8");
    }
}
