//! This worker's runs in Redis.

use redis::aio::MultiplexedConnection;
use redis::{Pipeline, RedisResult, pipe};

use crate::broker::runs::RunId;
use crate::cluster::WorkerId;
use crate::cluster::member::Member;

/// Runs written at once.
const RUNS: usize = 512;
/// Milliseconds for which runs stay in Redis beyond the retention time: ten minutes.
const MARGIN_MS: u64 = 600_000;
/// What Redis takes as a time, with room to spare: 10 000 years.
const LONGEST_MS: u64 = 315_360_000_000_000;

/// Begins anew: whatever Redis has of this worker, under this id or another, may be out of date.
pub async fn begin(
    member: &Member,
    me: WorkerId,
    connection: &mut MultiplexedConnection,
) -> RedisResult<()> {
    // First the changes are collected, then what there is now.
    member.records.begin(me, Vec::new());
    let former = member.records.begin(me, member.here.run_ids());
    let mut forget = pipe();
    forget.cmd("UNLINK").arg(member.redis.runs(me));
    for id in &former {
        let (redis, name) = (&member.redis, id.to_string());
        forget.cmd("UNLINK").arg(redis.runs(*id));
        forget.cmd("UNLINK").arg(redis.lease(*id));
        forget.cmd("SREM").arg(redis.workers()).arg(name);
    }
    forget.exec_async(connection).await?;
    member.records.moved(&former);
    Ok(())
}

/// Adds runs that have changed. Whether no run that has begun is left out.
pub fn add(member: &Member, me: WorkerId, commands: &mut Pipeline) -> bool {
    let (changed, complete) = member.records.take(RUNS);
    write(member, me, changed, commands);
    complete
}

/// Writes these runs down as they are now; what is not remembered any more is taken out.
pub fn write(member: &Member, me: WorkerId, runs: Vec<RunId>, commands: &mut Pipeline) {
    let key = member.redis.runs(me);
    for (id, run) in member.here.runs_by_id(runs) {
        match run.and_then(|run| serde_json::to_vec(&run).ok()) {
            Some(run) => commands
                .cmd("HSET")
                .arg(&key)
                .arg(id.to_string())
                .arg(run)
                .ignore(),
            None => commands.cmd("HDEL").arg(&key).arg(id.to_string()).ignore(),
        };
    }
}

/// Keeps them from vanishing while the worker lives. Redis answers whether there are any.
pub fn keep(member: &Member, me: WorkerId, commands: &mut Pipeline) {
    let retention = member.profile.retention.as_millis() as u64;
    commands
        .cmd("PEXPIRE")
        .arg(member.redis.runs(me))
        .arg(retention.saturating_add(MARGIN_MS).min(LONGEST_MS));
}
