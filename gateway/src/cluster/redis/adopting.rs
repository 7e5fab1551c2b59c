//! Taking over the runs of workers that are gone: of all that are left, one does.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{RedisResult, pipe};
use tokio::time::timeout;

use super::records;
use crate::broker::runs::Run;
use crate::cluster::WorkerId;
use crate::cluster::member::Member;

/// Milliseconds after which another worker may try: ten seconds.
const CLAIM_MS: u64 = 10_000;
/// Runs read at once, about.
const RUNS: usize = 200;
/// After which those left are tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Takes over whatever there is to take over, for ever. What fails is tried again.
pub async fn adopt(member: &Member, me: WorkerId) -> std::convert::Infallible {
    loop {
        for gone in due(member) {
            match take_over(member, me, gone).await {
                Ok(Some(runs)) => tracing::info!(worker = %gone, runs, "took over its runs"),
                Ok(None) => {}
                Err(error) => tracing::warn!(worker = %gone, %error, "cannot take over its runs"),
            }
        }
        let _ = timeout(AGAIN, member.orphaned.notified()).await;
    }
}

/// Workers that are gone for good.
fn due(member: &Member) -> Vec<WorkerId> {
    let peers = member.peers();
    let due = peers.orphans.iter().filter(|(_, due)| **due);
    due.map(|(id, _)| *id).collect()
}

/// How many runs it had. Nothing if another worker takes them.
async fn take_over(member: &Member, me: WorkerId, gone: WorkerId) -> RedisResult<Option<usize>> {
    let redis = &member.redis;
    // Of its own: there may be much to read.
    let mut connection = redis.connect().await?;
    let claim = redis.adoption(gone);
    let mut set = redis::cmd("SET");
    set.arg(&claim).arg(me.to_string()).arg("NX");
    set.arg("PX").arg(CLAIM_MS);
    let claimed: Option<String> = set.query_async(&mut connection).await?;
    if claimed.is_none() {
        return Ok(None);
    }
    let (mut cursor, mut count) = (0, 0);
    loop {
        let mut scan = redis::cmd("HSCAN");
        scan.arg(redis.runs(gone)).arg(cursor);
        scan.arg("COUNT").arg(RUNS);
        let (next, fields): (u64, Vec<(String, Vec<u8>)>) =
            scan.query_async(&mut connection).await?;
        let runs = fields.iter().filter_map(|(_, run)| read(run));
        count += enter(member, me, runs.collect(), &claim, &mut connection).await?;
        cursor = next;
        if cursor == 0 {
            break;
        }
    }
    let mut settle = pipe();
    settle.atomic();
    settle.cmd("UNLINK").arg(redis.runs(gone)).ignore();
    let workers = redis.workers();
    settle
        .cmd("SREM")
        .arg(workers)
        .arg(gone.to_string())
        .ignore();
    settle.exec_async(&mut connection).await?;
    member.peers().orphans.remove(&gone);
    Ok(Some(count))
}

fn read(run: &[u8]) -> Option<Run> {
    let run = serde_json::from_slice(run);
    run.inspect_err(|error| tracing::warn!(%error, "cannot read a run of another worker"))
        .ok()
}

/// Remembers runs here, and writes down that they are here now.
async fn enter(
    member: &Member,
    me: WorkerId,
    runs: Vec<Run>,
    claim: &str,
    connection: &mut MultiplexedConnection,
) -> RedisResult<usize> {
    let ids = member.here.adopt(runs);
    let count = ids.len();
    let mut commands = pipe();
    commands.cmd("PEXPIRE").arg(claim).arg(CLAIM_MS).ignore();
    records::write(member, me, ids, &mut commands);
    records::keep(member, me, &mut commands);
    commands.exec_async(connection).await?;
    Ok(count)
}
