//! The connections to Redis, one after another, as long as the worker takes part.

use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::sleep;

use super::frames::End;
use super::node::READ;
use super::{frames, leases};
use crate::cluster::channel;
use crate::cluster::member::Member;

/// The time between attempts to connect.
const PAUSE: Duration = Duration::from_millis(250);

/// Connects again and again, forever.
pub async fn run(member: &Member) -> Infallible {
    let mut told = false;
    let alone = Alone(member);
    loop {
        let end = match attend(member).await {
            Ok(never) => match never {},
            Err(end) => end,
        };
        told &= !alone.now();
        match end {
            End::TakenForDead => continue,
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
    /// Marks this worker as alone. Messages on the way may be lost, so nothing is left between this worker
    /// and the others. Returns whether it was connected before.
    fn now(&self) -> bool {
        let Alone(member) = self;
        member.command_by(None);
        let was_connected = member.connected.swap(false, Ordering::Relaxed);
        if was_connected {
            member.here.reaches_others(false);
        }
        // A worker that is still joining may have met others already.
        if was_connected || member.standing().others > 0 {
            member.forget_all();
        }
        was_connected
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.now();
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
        peers.me
    };
    // The stream is made first, because a worker that sees the lease may write into the stream.
    leases::make_stream(member, me, &mut commands).await?;
    member.held.tell_all_again();
    member.command_by(Some(commands.clone()));
    let mut directory = leases::enter(member, me, &mut commands).await?;
    leases::renew(member, me, &mut directory, &mut commands).await?;
    member.agree(&mut commands).await?;
    member.connected.store(true, Ordering::Relaxed);
    member.traffic.connections.add();
    member.here.reaches_others(true);
    tracing::info!(worker = %me, address = node.address(), "connected to Redis");
    tokio::select! {
        end = frames::write(member, me, writes) => Err(end.into()),
        end = frames::read(member, me, &mut reads) => Err(end),
        end = channel::listen(member, channel) => Err(end.into()),
        end = leases::keep(member, me, directory, commands) => Err(end.into()),
    }
}
