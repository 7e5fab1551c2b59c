//! One connection after the other, for as long as the worker takes part.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use redis::RedisError;
use tokio::time::sleep;

use super::{adopting, channel, leases, reading, records, writing};
use crate::cluster::{Cluster, bridge};

/// Between attempts to connect.
const PAUSE: Duration = Duration::from_millis(250);
/// Between looks at whether Redis has come back.
const LOOK_MS: f64 = 50.0;

/// Why a session with Redis ended.
enum End {
    /// Redis does not answer, or not as it should.
    Lost(RedisError),
    /// This worker has another id.
    Reborn,
}

impl From<RedisError> for End {
    fn from(error: RedisError) -> Self {
        End::Lost(error)
    }
}

/// Connects, and connects again, for ever.
pub async fn run(cluster: &Cluster) -> Infallible {
    let mut told = false;
    let alone = Alone(cluster);
    loop {
        let end = {
            let mut session = pin!(session(cluster));
            let mut given_up = pin!(give_up(cluster));
            tokio::select! {
                end = &mut session => end,
                never = &mut given_up => match never {},
            }
        };
        told &= !alone.now();
        match end {
            End::Reborn => continue,
            End::Lost(error) if told => tracing::debug!(%error, "Redis"),
            End::Lost(error) => {
                told = true;
                let address = cluster.redis.address();
                tracing::warn!(%error, address, "Redis does not answer: this worker goes on alone");
            }
        }
        sleep(PAUSE).await;
    }
}

/// Knows that this worker is alone when its session with Redis ends, however that ends.
struct Alone<'a>(&'a Cluster);

impl Alone<'_> {
    /// Whether it was not before.
    fn now(&self) -> bool {
        let Alone(cluster) = self;
        cluster.records.end();
        cluster.disconnected();
        let was_connected = cluster.connected.swap(false, Ordering::Relaxed);
        if was_connected {
            cluster.hub.reaches_others(false);
        }
        was_connected
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.now();
    }
}

/// Gives the other workers up whenever Redis has been away for too long.
async fn give_up(cluster: &Cluster) -> Infallible {
    let patience = cluster.options.redis_patience.as_secs_f64() * 1_000.0;
    loop {
        let answered = cluster.answered.load(Ordering::Relaxed) as f64;
        let left = answered + patience - cluster.now();
        if left <= 0.0 && bridge::forget_all(cluster) {
            tracing::warn!("Redis has not come back: apps on other workers are given up");
        }
        sleep(Duration::from_secs_f64(left.max(LOOK_MS) / 1_000.0)).await;
    }
}

async fn session(cluster: &Cluster) -> End {
    match attend(cluster).await {
        Ok(never) => match never {},
        Err(end) => end,
    }
}

async fn attend(cluster: &Cluster) -> Result<Infallible, End> {
    let redis = &cluster.redis;
    let (mut commands, mut reads, channel) = tokio::try_join!(
        redis.connect(),
        redis.connect_to_wait(),
        channel::subscribe(cluster)
    )?;
    let now = cluster.now();
    let me = {
        let mut peers = cluster.peers();
        peers.membership.reconnected(now);
        peers.send_again();
        peers.take_part()
    };
    leases::renew(cluster, me, &mut commands).await?;
    records::begin(cluster, me, &mut commands).await?;
    cluster.tell_again(&mut commands).await?;
    cluster.connected.store(true, Ordering::Relaxed);
    cluster.traffic.connections.add(1);
    cluster.hub.reaches_others(true);
    cluster.connected_with(commands.clone());
    cluster.tell_released(&mut commands).await?;
    tracing::info!(worker = %me, address = redis.address(), "connected to Redis");
    tokio::select! {
        end = writing::write(cluster, commands.clone()) => Err(end.into()),
        end = reading::read(cluster, me, &mut reads) => Err(end.into()),
        end = channel::listen(cluster, channel) => Err(end.into()),
        end = channel::publish(cluster, commands.clone()) => Err(end.into()),
        end = leases::keep(cluster, me, commands) => Err(end.into()),
        never = adopting::adopt(cluster, me) => match never {},
        () = cluster.reborn.notified() => Err(End::Reborn),
    }
}
