//! The connections to Redis, one after another, as long as the worker takes part.

use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::Duration;

use redis::RedisError;
use tokio::time::sleep;

use super::node::READ;
use super::{frames, leases};
use crate::cluster::channel;
use crate::cluster::member::Member;

/// The time between attempts to connect.
const PAUSE: Duration = Duration::from_millis(250);
/// The time between checks whether Redis has come back.
const LOOK: Duration = Duration::from_millis(50);

/// Why a session with Redis ended.
enum End {
    /// Redis does not answer, or answers with an error.
    Lost(RedisError),
    /// This worker has another id.
    Reborn,
}

impl From<RedisError> for End {
    fn from(error: RedisError) -> Self {
        End::Lost(error)
    }
}

/// Connects again and again, forever.
pub async fn run(member: &Member) -> Infallible {
    tokio::select! {
        never = connect(member) => never,
        never = give_up(member) => never,
    }
}

async fn connect(member: &Member) -> Infallible {
    let mut told = false;
    let alone = Alone(member);
    loop {
        let end = match attend(member).await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        told &= !alone.now();
        match end {
            End::Reborn => continue,
            End::Lost(error) if told => tracing::debug!(%error, "Redis"),
            End::Lost(error) => {
                told = true;
                let address = member.node.address();
                tracing::warn!(%error, address, "Redis does not answer: this worker goes on alone");
            }
        }
        sleep(PAUSE).await;
    }
}

/// Marks this worker as alone when its session with Redis ends, however the session ends.
struct Alone<'a>(&'a Member);

impl Alone<'_> {
    /// Marks this worker as alone. Returns whether it was connected before.
    fn now(&self) -> bool {
        let Alone(member) = self;
        member.command_by(None);
        let was_connected = member.connected.swap(false, Ordering::Relaxed);
        if was_connected {
            member.here.reaches_others(false);
        }
        was_connected
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.now();
    }
}

/// Gives the other workers up and joins again once Redis has been away for too long. Does this once until
/// Redis answers again. Before Redis has answered at all, no workers are known.
async fn give_up(member: &Member) -> Infallible {
    let patience = member.options.redis_patience.as_millis() as u64;
    let mut given_up = 0;
    loop {
        let answered = member.answered.load(Ordering::Relaxed);
        let left = (answered + patience).saturating_sub(member.now() as u64);
        if left == 0 && given_up != answered {
            given_up = answered;
            let others = member.standing().others;
            member.forget_all();
            tracing::warn!(
                others,
                "Redis has not come back: apps on other workers are given up"
            );
        }
        sleep(Duration::from_millis(left).max(LOOK)).await;
    }
}

async fn attend(member: &Member) -> Result<Infallible, End> {
    let node = &member.node;
    let mut commands = node.find().await?;
    // Frames may have megabytes. Each kind of command has its own connection, because a lease would expire if
    // its renewal waited behind frames.
    let (mut reads, writes, channel) = tokio::try_join!(
        node.connect_for(READ),
        node.connect_for(member.options.redis_patience),
        channel::subscribe(member)
    )?;
    let now = member.now();
    let me = {
        let mut peers = member.peers();
        // Leases may have been lost with Redis, and come back.
        peers.healthy_since = now;
        peers.send_again();
        peers.me
    };
    // The stream is made first, because a worker that sees the lease may write into the stream.
    leases::make_stream(member, me, &mut commands).await?;
    member.held.tell_all_again();
    leases::renew(member, me, &mut commands).await?;
    member.connected.store(true, Ordering::Relaxed);
    member.traffic.connections.add();
    member.here.reaches_others(true);
    member.command_by(Some(commands.clone()));
    tracing::info!(worker = %me, address = node.address(), "connected to Redis");
    tokio::select! {
        end = frames::write(member, me, writes) => Err(end.into()),
        end = frames::read(member, me, &mut reads) => Err(end.into()),
        end = channel::listen(member, channel) => Err(end.into()),
        end = leases::keep(member, me, commands) => Err(end.into()),
        () = member.until_reborn(me) => Err(End::Reborn),
    }
}
