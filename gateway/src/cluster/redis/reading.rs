//! Reading this worker's stream.

use std::collections::HashMap;

use bytes::Bytes;
use redis::RedisError;
use redis::aio::MultiplexedConnection;

use super::BLOCK;
use crate::cluster::WorkerId;
use crate::cluster::link::Frame;
use crate::cluster::member::Member;

/// Entries read at once.
const ENTRIES: usize = 128;
/// Entries, or bytes, read after which they are trimmed away.
const TRIM_ENTRIES: usize = 256;
const TRIM_BYTES: usize = 1 << 20;

type Fields = HashMap<String, Vec<u8>>;
type Streams = Vec<(String, Vec<(String, Fields)>)>;

/// Reads until Redis fails.
pub async fn read(
    member: &Member,
    me: WorkerId,
    connection: &mut MultiplexedConnection,
) -> RedisError {
    let stream = member.redis.stream(me);
    // From the beginning, for its ids may have begun anew: what had come before is recognised.
    let mut last = String::from("0");
    let (mut entries, mut bytes) = (0, 0);
    loop {
        let mut read = redis::cmd("XREAD");
        read.arg("COUNT")
            .arg(ENTRIES)
            .arg("BLOCK")
            .arg(BLOCK.as_millis() as u64);
        read.arg("STREAMS").arg(&stream).arg(&last);
        member.traffic.commands.add(1);
        let streams: Option<Streams> = match read.query_async(connection).await {
            Ok(streams) => streams,
            Err(error) => return error,
        };
        let idle = streams.is_none();
        for (id, fields) in streams
            .into_iter()
            .flatten()
            .flat_map(|(_, entries)| entries)
        {
            entries += 1;
            bytes += fields.get("m").map_or(0, Vec::len);
            last = id;
            take(member, fields);
        }
        // What has come goes on its way before more is asked for.
        tokio::task::yield_now().await;
        if entries >= TRIM_ENTRIES || bytes >= TRIM_BYTES || (idle && entries > 0) {
            (entries, bytes) = (0, 0);
            member.peers().read = Some(last.clone());
            member.outgoing.notify_one();
        }
    }
}

fn take(member: &Member, mut fields: Fields) {
    let worker = |fields: &Fields, key| -> Option<WorkerId> {
        std::str::from_utf8(fields.get(key)?).ok()?.parse().ok()
    };
    if let Some(by) = worker(&fields, "d") {
        tracing::warn!(%by, "this worker was taken for dead: it joins anew");
        member.forget_all();
        return;
    }
    let number = |fields: &Fields, key| -> Option<u64> {
        std::str::from_utf8(fields.get(key)?).ok()?.parse().ok()
    };
    let from = worker(&fields, "f");
    let (Some(from), Some(number), Some(ack)) = (from, number(&fields, "n"), number(&fields, "a"))
    else {
        return;
    };
    let body = Bytes::from(fields.remove("m").unwrap_or_default());
    member.receive(from, Frame { number, ack, body });
}
