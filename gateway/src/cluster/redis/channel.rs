//! The channel on which cancels are published and heard.

use std::time::Duration;

use futures_util::StreamExt;
use redis::aio::{MultiplexedConnection, PubSub};
use redis::{RedisError, RedisResult};
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::{ANSWER, timed_out};
use crate::cluster::channel::CANCEL_CHANNEL;
use crate::cluster::member::Member;

/// How often a connection that only listens is asked whether it is there.
const PING: Duration = Duration::from_secs(1);

/// A connection that listens on the channel, if this worker is to.
pub async fn subscribe(member: &Member) -> RedisResult<Option<PubSub>> {
    if !member.profile.channel {
        return Ok(None);
    }
    let mut connection = member.redis.listen().await?;
    let subscribed = timeout(ANSWER, connection.subscribe(CANCEL_CHANNEL)).await;
    subscribed.unwrap_or_else(|_| Err(timed_out()))?;
    Ok(Some(connection))
}

/// Obeys what is heard until Redis fails.
pub async fn listen(member: &Member, connection: Option<PubSub>) -> RedisError {
    let Some(connection) = connection else {
        return std::future::pending().await;
    };
    let (mut asking, mut heard) = connection.split();
    let mut ping = interval(PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            message = heard.next() => match message {
                Some(message) => {
                    let heard = member.heard_on_channel(message.get_payload_bytes());
                    if let Some(cancel) = heard {
                        member.here.cancel_heard(cancel);
                    }
                }
                None => return closed(),
            },
            _ = ping.tick() => {
                let answered = timeout(ANSWER, asking.ping::<redis::Value>()).await;
                if let Err(error) = answered.unwrap_or_else(|_| Err(timed_out())) {
                    return error;
                }
            }
        }
    }
}

fn closed() -> RedisError {
    std::io::Error::from(std::io::ErrorKind::ConnectionAborted).into()
}

/// Publishes what there is to publish until Redis fails.
pub async fn publish(member: &Member, mut connection: MultiplexedConnection) -> RedisError {
    loop {
        let message = member.published.next().await;
        let mut publish = redis::cmd("PUBLISH");
        publish.arg(CANCEL_CHANNEL).arg(message);
        if let Err(error) = publish.exec_async(&mut connection).await {
            tracing::warn!(%error, "a cancel could not be published");
            return error;
        }
    }
}
