//! Frames over Redis: reads this worker's stream, and writes to the streams of the other workers.

use std::future::pending;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use redis::aio::MultiplexedConnection;
use redis::streams::{
    StreamAddOptions, StreamId, StreamReadOptions, StreamReadReply, StreamTrimOptions,
    StreamTrimStrategy, StreamTrimmingMode,
};
use redis::{AsyncCommands, Pipeline, RedisError, pipe};
use tokio::time::timeout;

use super::node::BLOCK;
use crate::cluster::WorkerId;
use crate::cluster::link::Frame;
use crate::cluster::member::Member;

/// How many entries are read at once.
const ENTRIES: usize = 32;
/// How many entries or bytes are read before they are trimmed.
const TRIM_ENTRIES: usize = 256;
const TRIM_BYTES: usize = 1 << 20;
/// How many entries a stream keeps, about. Frames that are lost this way are sent again.
const STREAM_ENTRIES: usize = 10_000;
/// How long the writer waits at most. An acknowledgement may wait this long for a frame that can carry it, so
/// nobody has to wake the writer for an acknowledgement.
const IDLE: Duration = Duration::from_millis(100);

/// Reads until Redis fails or this worker has another id.
pub(super) async fn read(
    member: &Member,
    me: WorkerId,
    connection: &mut MultiplexedConnection,
) -> RedisError {
    let streams = [member.node.stream(me)];
    let options = StreamReadOptions::default()
        .count(ENTRIES)
        .block(BLOCK.as_millis() as usize);
    // Starts from the beginning, because the stream's ids may have begun anew. The links recognise repeated
    // frames.
    let mut last = String::from("0");
    let (mut entries, mut bytes) = (0, 0);
    loop {
        member.traffic.commands.add();
        let reply = connection.xread_options(&streams, &[&last], &options).await;
        let reply: Option<StreamReadReply> = match reply {
            Ok(reply) => reply,
            Err(error) => return error,
        };
        let idle = reply.is_none();
        let streams = reply.into_iter().flat_map(|reply| reply.keys);
        for entry in streams.flat_map(|stream| stream.ids) {
            entries += 1;
            last.clone_from(&entry.id);
            let Some(taken) = take(member, entry) else {
                // The entries after it are for an id that this worker no longer has.
                return pending().await;
            };
            bytes += taken;
        }
        // The received messages are processed before more are read.
        tokio::task::yield_now().await;
        if entries >= TRIM_ENTRIES || bytes >= TRIM_BYTES || (idle && entries > 0) {
            (entries, bytes) = (0, 0);
            member.peers().read = Some(last.clone());
            member.outgoing.notify_one();
        }
    }
}

/// Handles one entry of the stream. Returns its size in bytes, or `None` if this worker joins again because
/// of it.
fn take(member: &Member, mut entry: StreamId) -> Option<usize> {
    let worker = |field| entry.get::<String>(field)?.parse::<WorkerId>().ok();
    if let Some(by) = worker("d") {
        if member.leaving.load(Ordering::Relaxed) {
            // This worker itself has told the others that it leaves.
            return Some(0);
        }
        tracing::warn!(%by, "this worker was taken for dead: it joins again");
        member.forget_all();
        return None;
    }
    let (Some(from), Some(number), Some(ack)) = (worker("f"), entry.get("n"), entry.get("a"))
    else {
        return Some(0);
    };
    let body = match entry.map.remove("m") {
        Some(redis::Value::BulkString(body)) => Bytes::from(body),
        _ => Bytes::new(),
    };
    let bytes = body.len();
    member.receive(from, Frame { number, ack, body });
    Some(bytes)
}

/// Writes everything that is due until Redis fails.
pub(super) async fn write(
    member: &Member,
    me: WorkerId,
    mut connection: MultiplexedConnection,
) -> RedisError {
    loop {
        let began = member.now();
        let (commands, wait) = collect(member, me, began);
        if commands.is_empty() {
            let _ = timeout(wait, member.outgoing.notified()).await;
            continue;
        }
        member.traffic.commands.add_many(commands.len());
        if let Err(error) = commands.exec_async(&mut connection).await {
            return error;
        }
        // Writing megabytes may have taken some time.
        member.peers().written(began, member.now());
    }
}

/// The commands to write now. If there are none, also the time until the next ones.
fn collect(member: &Member, me: WorkerId, now: f64) -> (Pipeline, Duration) {
    let node = &member.node;
    let mut commands = pipe();
    // Other workers write only into a stream that exists.
    let existing = || StreamAddOptions::default().nomkstream();
    let most = StreamTrimStrategy::maxlen(StreamTrimmingMode::Approx, STREAM_ENTRIES);
    let short = existing().trim(most);
    let mut peers = member.peers();
    if peers.me != me {
        // The worker must join again before it speaks under another id.
        return (commands, IDLE);
    }
    let name = me.to_string();
    for (worker, frame) in peers.frames(now) {
        member.traffic.frames_sent.add();
        member.traffic.bytes_sent.add_many(frame.body.len());
        let (number, ack) = (frame.number.to_string(), frame.ack.to_string());
        let fields: [(&str, &[u8]); 4] = [
            ("f", name.as_bytes()),
            ("n", number.as_bytes()),
            ("a", ack.as_bytes()),
            ("m", &frame.body),
        ];
        let stream = node.stream(worker);
        commands.xadd_options(stream, "*", &fields, &short).ignore();
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
    let wait = match peers.deadline() {
        Some(at) => {
            Duration::from_secs_f64(((at - now) / 1_000.0).clamp(0.001, IDLE.as_secs_f64()))
        }
        None => IDLE,
    };
    (commands, wait)
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
