//! The lease of this worker, and the leases of the other workers.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use redis::aio::MultiplexedConnection;
use redis::{RedisError, RedisResult, SetExpiry, SetOptions, pipe};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::cluster::member::Member;
use crate::cluster::peers::Census;
use crate::cluster::{Away, Cluster, WorkerId};

/// How many times a lease is renewed during its lifetime, and during the time in which Redis must answer.
const RENEWALS: u32 = 4;
/// How many milliseconds the stream of a worker that is gone stays in Redis: one minute.
const STREAM_MS: i64 = 60_000;

/// The workers in the directory with the times of their last entries, as they were read last.
pub(super) type Directory = Vec<(WorkerId, f64)>;

/// Renews the lease until Redis fails.
pub(super) async fn keep(
    member: &Member,
    me: WorkerId,
    mut directory: Directory,
    mut connection: MultiplexedConnection,
) -> RedisError {
    let time = member.options.worker_lease;
    let patience = member.options.redis_patience;
    connection.set_response_timeout(patience);
    let mut tick = interval(time.min(patience) / RENEWALS);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut renewals = 0;
    loop {
        tick.tick().await;
        if member.leaving.load(Ordering::Relaxed) {
            continue;
        }
        let renewal = timeout(patience, async {
            renewals += 1;
            if renewals % RENEWALS == 0 {
                directory = enter(member, me, &mut connection).await?;
            }
            renew(member, me, &mut directory, &mut connection).await
        });
        match renewal.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return error,
            Err(_) => return lost("Redis has not answered in time"),
        }
    }
}

/// Enters this worker into the directory, so that the others find it, keeps its stream, and reads the directory,
/// once in the time of a lease. A worker without a lease stays in the directory as long as a run of it would be
/// remembered.
pub(super) async fn enter(
    member: &Member,
    me: WorkerId,
    connection: &mut MultiplexedConnection,
) -> RedisResult<Directory> {
    let node = &member.node;
    let mut enter = pipe();
    enter
        .zadd(node.directory(), me.to_string(), unix_ms())
        .ignore();
    enter.pexpire(node.stream(me), STREAM_MS);
    enter.zrange_withscores(node.directory(), 0, -1);
    let (is_kept, members): (bool, Vec<(String, f64)>) = enter.query_async(connection).await?;
    if !is_kept {
        return Err(lost("Redis has lost the messages to this worker"));
    }
    let members = members
        .iter()
        .filter_map(|(id, entered)| Some((id.parse::<WorkerId>().ok()?, *entered)));
    Ok(members.filter(|(id, _)| *id != me).collect())
}

/// Renews the lease, and reads the leases of the other workers. Tells Redis first the facts that it may not
/// know, because a worker that sees the lease looks for them.
pub(super) async fn renew(
    member: &Member,
    me: WorkerId,
    directory: &mut Directory,
    connection: &mut MultiplexedConnection,
) -> RedisResult<()> {
    member.tell_untold(connection).await?;
    let (former, entries): (Vec<_>, Vec<_>) = directory
        .iter()
        .copied()
        .partition(|(id, _)| id.process == me.process);
    // A worker that has come since the directory was read is known by its messages.
    let listed = entries.iter().map(|(id, _)| *id);
    let others: Vec<_> = member.peers().others.keys().copied().collect();
    let known: BTreeSet<_> = listed.chain(others).collect();
    let node = &member.node;
    let lease = member.options.worker_lease.as_millis() as u64;
    let lasting = SetOptions::default().with_expiration(SetExpiry::PX(lease));
    let mut renewal = pipe();
    let name = member.options.name();
    renewal.set_options(node.lease(me), name, lasting).ignore();
    let leases: Vec<_> = known.iter().map(|id| node.lease(*id)).collect();
    let mut alive = Vec::new();
    if leases.is_empty() {
        renewal.exec_async(connection).await?;
    } else {
        renewal.mget(&leases);
        let (leases,): (Vec<Option<String>>,) = renewal.query_async(connection).await?;
        let held = known
            .iter()
            .zip(leases)
            .filter(|(_, lease)| lease.is_some());
        alive = held.map(|(id, _)| *id).collect();
    }
    let Census { new, gone, undead } = {
        let mut peers = member.peers();
        peers.leases(&alive, member.now())
    };
    if !undead.is_empty() {
        member.peers().obituaries.extend(undead);
        member.outgoing.notify_one();
    }
    for id in new {
        // A later id of the same process may have replaced this one.
        if member.knows(id) {
            member.greet(id);
        }
    }
    for id in gone {
        tracing::warn!(worker = %id, "another worker has died");
        member.traffic.workers_lost.add();
        member.forget(id);
    }
    let retention = member.profile.retention.as_millis() as f64;
    let now = unix_ms();
    let is_past = |entered: f64| now as f64 - entered > retention;
    let is_over = |(id, entered): &&(WorkerId, f64)| !alive.contains(id) && is_past(*entered);
    let over = former.iter().chain(entries.iter().filter(is_over));
    let over: Vec<_> = over.map(|(id, _)| *id).collect();
    directory.retain(|(id, _)| !over.contains(id));
    let listed: Vec<_> = entries.iter().map(|(id, _)| *id).collect();
    member.peers().note_lost(&listed, &alive);
    forget_entries(member, over, connection).await
}

impl Cluster {
    /// Gives up the lease, so that a worker that starts from now on does not treat this worker as dead.
    pub(in crate::cluster) async fn give_lease_up(&self) {
        let mut give_up = pipe();
        give_up.unlink(self.node.lease(self.me())).ignore();
        let _: Result<(), Away> = self.command(give_up).await;
    }
}

/// Makes this worker's stream, because other workers write only into a stream that exists. The first entry
/// has no content.
pub(super) async fn make_stream(
    member: &Member,
    me: WorkerId,
    connection: &mut MultiplexedConnection,
) -> RedisResult<()> {
    let stream = member.node.stream(me);
    let mut make = pipe();
    make.xadd(&stream, "*", &[("o", "")]).ignore();
    make.pexpire(&stream, STREAM_MS).ignore();
    make.exec_async(connection).await
}

/// Removes what workers have left that are gone: former ids of this process, and workers that no longer matter.
async fn forget_entries(
    member: &Member,
    gone: Vec<WorkerId>,
    connection: &mut MultiplexedConnection,
) -> RedisResult<()> {
    let node = &member.node;
    let mut forget = pipe();
    for id in gone {
        forget.unlink(&[node.stream(id), node.lease(id)]).ignore();
        forget.zrem(node.directory(), id.to_string()).ignore();
    }
    match forget.is_empty() {
        true => Ok(()),
        false => forget.exec_async(connection).await,
    }
}

fn lost(why: &'static str) -> RedisError {
    std::io::Error::other(why).into()
}

/// The time on the clock of this machine, in Unix milliseconds.
fn unix_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_millis() as u64
}
