//! The lease of this worker, and the leases of the other workers.

use std::sync::atomic::Ordering;

use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, RedisError, RedisResult, SetExpiry, SetOptions, pipe};
use tokio::time::{MissedTickBehavior, interval};

use crate::cluster::member::Member;
use crate::cluster::peers::Census;
use crate::cluster::{Away, Cluster, WorkerId};

/// How many times a lease is renewed during its lifetime, and during the time in which Redis must answer.
const RENEWALS: u32 = 6;
/// How many milliseconds the set of workers stays in Redis: a day. After that nobody takes over the runs of a
/// worker that is gone.
const WORKERS_MS: i64 = 86_400_000;
/// How many milliseconds the stream of a worker that is gone stays in Redis: one minute.
const STREAM_MS: i64 = 60_000;

/// Renews the lease until Redis fails.
pub(super) async fn keep(
    member: &Member,
    me: WorkerId,
    mut connection: MultiplexedConnection,
) -> RedisError {
    let time = member.options.worker_lease;
    let mut tick = interval(time.min(member.options.redis_patience) / RENEWALS);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        if member.leaving.load(Ordering::Relaxed) {
            continue;
        }
        if let Err(error) = renew(member, me, &mut connection).await {
            return error;
        }
    }
}

/// Renews the lease, tells Redis the facts that it may not know, and reads the leases of the other workers.
pub(super) async fn renew(
    member: &Member,
    me: WorkerId,
    connection: &mut MultiplexedConnection,
) -> RedisResult<()> {
    let node = &member.node;
    let (stream, workers) = (node.stream(me), node.workers());
    let lease = member.options.worker_lease.as_millis() as u64;
    let lease = SetOptions::default().with_expiration(SetExpiry::PX(lease));
    let mut renewal = pipe();
    let name = member.options.name();
    renewal.set_options(node.lease(me), name, lease).ignore();
    renewal.sadd(&workers, me.to_string()).ignore();
    member.keep_runs(me, &mut renewal);
    renewal.pexpire(&workers, WORKERS_MS).ignore();
    renewal.pexpire(&stream, STREAM_MS).smembers(&workers);
    let (kept, expires, members): (bool, bool, Vec<String>) =
        renewal.query_async(connection).await?;
    member.records.set_are_there(kept);
    if !kept {
        // Redis had no records, or has lost them.
        member.write_all_again();
    }
    if !expires {
        // Redis has lost everything.
        make_stream(member, me, connection).await?;
        member.held.tell_all_again();
    }
    member
        .answered
        .store(member.now() as u64, Ordering::Relaxed);
    member.tell_untold(connection).await?;
    let members = members.iter().filter_map(|id| id.parse::<WorkerId>().ok());
    let (own, others): (Vec<_>, Vec<_>) = members.partition(|id| id.process == me.process);
    forget_former(member, own.into_iter().filter(|id| *id != me), connection).await?;
    let mut alive = Vec::new();
    if !others.is_empty() {
        let leases: Vec<_> = others.iter().map(|id| node.lease(*id)).collect();
        let leases: Vec<Option<String>> = connection.mget(&leases).await?;
        let held = others.iter().zip(leases);
        let held = held.filter(|(_, lease)| lease.is_some());
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
    new.into_iter().for_each(|id| member.greet(id));
    for id in gone {
        tracing::warn!(worker = %id, "another worker has died");
        member.traffic.workers_lost.add();
        member.forget(id);
    }
    look_for_orphans(member, &others, &alive);
    Ok(())
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

/// Removes the records and leases that this process has left under other ids.
async fn forget_former(
    member: &Member,
    former: impl Iterator<Item = WorkerId>,
    connection: &mut MultiplexedConnection,
) -> RedisResult<()> {
    let node = &member.node;
    let mut forget = pipe();
    for id in former {
        forget.unlink(&[node.runs(id), node.lease(id)]).ignore();
        forget.srem(node.workers(), id.to_string()).ignore();
    }
    match forget.is_empty() {
        true => Ok(()),
        false => forget.exec_async(connection).await,
    }
}

/// Finds the workers whose runs can be taken over: all workers without a lease, whether or not this worker
/// has known them. A worker that is no longer in the set has been taken over.
fn look_for_orphans(member: &Member, others: &[WorkerId], alive: &[WorkerId]) {
    let now = member.now();
    let mut peers = member.peers();
    peers.orphans.retain(|id, _| others.contains(id));
    let are_back = peers.leases_are_back(now);
    for id in others {
        if peers.others.contains_key(id) {
            continue;
        }
        let due = are_back && !alive.contains(id);
        *peers.orphans.entry(*id).or_default() |= due;
    }
    if peers.orphans.values().any(|due| *due) {
        member.orphaned.notify_one();
    }
}
