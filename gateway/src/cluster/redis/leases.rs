//! The lease of this worker, and the leases of the other workers.

use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, RedisError, RedisResult, SetExpiry, SetOptions, pipe};
use tokio::time::{MissedTickBehavior, interval};

use crate::cluster::member::Member;
use crate::cluster::peers::Census;
use crate::cluster::{Away, Cluster, WorkerId};

/// How many times a lease is renewed during its lifetime, and during the time in which Redis must answer.
const RENEWALS: u32 = 6;
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
/// A worker without a lease stays in the directory as long as a run of it would be remembered.
pub(super) async fn renew(
    member: &Member,
    me: WorkerId,
    connection: &mut MultiplexedConnection,
) -> RedisResult<()> {
    let node = &member.node;
    let (stream, directory) = (node.stream(me), node.directory());
    let lease = member.options.worker_lease.as_millis() as u64;
    let lease = SetOptions::default().with_expiration(SetExpiry::PX(lease));
    let now = unix_ms();
    let mut renewal = pipe();
    let name = member.options.name();
    renewal.set_options(node.lease(me), name, lease).ignore();
    renewal.zadd(&directory, me.to_string(), now).ignore();
    renewal.pexpire(&stream, STREAM_MS);
    renewal.zrange_withscores(&directory, 0, -1);
    let (expires, members): (bool, Vec<(String, f64)>) = renewal.query_async(connection).await?;
    if !expires {
        // Redis has lost everything.
        make_stream(member, me, connection).await?;
        member.held.tell_all_again();
    }
    member
        .answered
        .store(member.now() as u64, Ordering::Relaxed);
    member.tell_untold(connection).await?;
    let members = members
        .iter()
        .filter_map(|(id, renewed)| Some((id.parse::<WorkerId>().ok()?, *renewed)));
    let (own, entries): (Vec<_>, Vec<_>) = members.partition(|(id, _)| id.process == me.process);
    let former = own.into_iter().map(|(id, _)| id).filter(|id| *id != me);
    let others: Vec<_> = entries.iter().map(|(id, _)| *id).collect();
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
    let retention = member.profile.retention.as_millis() as f64;
    let is_past = |renewed: f64| now as f64 - renewed > retention;
    let without_lease = entries.iter().filter(|(id, _)| !alive.contains(id));
    let past = without_lease
        .filter(|(_, renewed)| is_past(*renewed))
        .map(|(id, _)| *id);
    member.peers().note_lost(&others, &alive);
    forget_entries(member, former.chain(past), connection).await
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
    gone: impl Iterator<Item = WorkerId>,
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

/// The time on the clock of this machine, in Unix milliseconds.
fn unix_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_millis() as u64
}
