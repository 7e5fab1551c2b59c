//! This worker's runs in Redis.

use redis::aio::MultiplexedConnection;
use redis::{Pipeline, RedisResult, pipe};

use crate::broker::runs::RunId;
use crate::cluster::{Cluster, WorkerId};

/// Runs written at once.
const RUNS: usize = 512;
/// Milliseconds for which runs stay in Redis beyond the retention time: ten minutes.
const MARGIN_MS: u64 = 600_000;
/// What Redis takes as a time, with room to spare: 10 000 years.
const LONGEST_MS: u64 = 315_360_000_000_000;

/// Begins anew: whatever Redis has of this worker, under this id or another, may be out of date.
pub async fn begin(
    cluster: &Cluster,
    me: WorkerId,
    connection: &mut MultiplexedConnection,
) -> RedisResult<()> {
    // First the changes are collected, then what there is now.
    cluster.records.begin(me, Vec::new());
    let former = cluster.records.begin(me, cluster.hub.run_ids());
    let mut forget = pipe();
    forget.cmd("UNLINK").arg(cluster.redis.runs(me));
    for id in &former {
        let (redis, name) = (&cluster.redis, id.to_string());
        forget.cmd("UNLINK").arg(redis.runs(*id));
        forget.cmd("UNLINK").arg(redis.lease(*id));
        forget.cmd("SREM").arg(redis.workers()).arg(name);
    }
    forget.exec_async(connection).await?;
    cluster.records.moved(&former);
    Ok(())
}

/// Adds runs that have changed. Whether no run that has begun is left out.
pub fn add(cluster: &Cluster, me: WorkerId, commands: &mut Pipeline) -> bool {
    let (changed, complete) = cluster.records.take(RUNS);
    write(cluster, me, changed, commands);
    complete
}

/// Writes these runs down as they are now; what is not remembered any more is taken out.
pub fn write(cluster: &Cluster, me: WorkerId, runs: Vec<RunId>, commands: &mut Pipeline) {
    let key = cluster.redis.runs(me);
    for (id, run) in cluster.hub.runs_by_id(runs) {
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
pub fn keep(cluster: &Cluster, me: WorkerId, commands: &mut Pipeline) {
    let retention = cluster.hub.limits.retention.time.as_millis() as u64;
    commands
        .cmd("PEXPIRE")
        .arg(cluster.redis.runs(me))
        .arg(retention.saturating_add(MARGIN_MS).min(LONGEST_MS));
}
