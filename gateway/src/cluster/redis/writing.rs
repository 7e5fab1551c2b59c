//! Writing to Redis: frames for the other workers, and what goes with them.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Pipeline, RedisError, pipe};
use tokio::time::timeout;

use super::records;
use crate::cluster::member::Member;

/// Entries a stream is kept to, about: what its worker has not read by then is sent again.
const STREAM_ENTRIES: usize = 10_000;
/// The longest that nothing is looked for: for as long an acknowledgement may wait for a frame to go
/// with, so that nobody has to be woken for it.
const IDLE: Duration = Duration::from_millis(100);

/// Writes what there is to write until Redis fails.
pub async fn write(member: &Member, mut connection: MultiplexedConnection) -> RedisError {
    loop {
        let (commands, wait) = collect(member);
        if commands.is_empty() {
            let _ = timeout(wait, member.outgoing.notified()).await;
            continue;
        }
        member.traffic.commands.add(commands.len());
        if let Err(error) = commands.exec_async(&mut connection).await {
            return error;
        }
    }
}

/// What is to be written now, or for how long nothing is.
fn collect(member: &Member) -> (Pipeline, Duration) {
    let (redis, now) = (&member.redis, member.now());
    let mut commands = pipe();
    let me = member.peers().me;
    // Before the calls that begin them: if this worker dies, the others can tell what became of them.
    if !records::add(member, me, &mut commands) {
        return (commands, Duration::ZERO);
    }
    let mut peers = member.peers();
    let me = peers.me.to_string();
    for (worker, frame) in peers.frames(now) {
        member.traffic.frames_sent.add(1);
        member.traffic.bytes_sent.add(frame.body.len());
        commands
            .cmd("XADD")
            .arg(redis.stream(worker))
            .arg("NOMKSTREAM")
            .arg("MAXLEN")
            .arg("~")
            .arg(STREAM_ENTRIES)
            .arg("*")
            .arg("f")
            .arg(&me)
            .arg("n")
            .arg(frame.number)
            .arg("a")
            .arg(frame.ack)
            .arg("m")
            .arg(&frame.body[..])
            .ignore();
    }
    for worker in std::mem::take(&mut peers.obituaries) {
        commands
            .cmd("XADD")
            .arg(redis.stream(worker))
            .arg("NOMKSTREAM")
            .arg("*")
            .arg("d")
            .arg(&me)
            .ignore();
    }
    if let Some(read) = peers.read.take() {
        let stream = redis.stream(peers.me);
        commands
            .cmd("XTRIM")
            .arg(stream)
            .arg("MINID")
            .arg(after(&read))
            .ignore();
    }
    let wait = match peers.deadline() {
        Some(at) => {
            Duration::from_secs_f64(((at - now) / 1_000.0).clamp(0.001, IDLE.as_secs_f64()))
        }
        None => IDLE,
    };
    (commands, wait)
}

/// The id that follows an entry's.
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
