//! The channel `cancellation:cancel`, as ContextForge defines it: publishing cancels and hearing them.

use std::time::Duration;

use futures_util::StreamExt;
use redis::aio::PubSub;
use redis::{AsyncCommands, RedisError, RedisResult};
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::Cluster;
use super::cancel_message::CancelMessage;
use super::member::Member;
use super::redis::node::in_time;
use crate::tokens::Identity;

/// The name of the channel. The name has no prefix, because other kinds of gateways know the channel by this
/// name.
const CANCEL_CHANNEL: &str = "cancellation:cancel";
/// How many messages a second are read, whether or not they are obeyed.
pub(super) const HEARD_PER_SECOND: f64 = 2_000.0;
/// How often a listening connection is pinged.
const PING: Duration = Duration::from_secs(4);

impl Cluster {
    /// Tells gateways outside this cluster that `by` cancels. Does not wait.
    pub fn publish_cancel(&self, request_id: &str, reason: Option<&str>, by: &Identity) {
        if !self.profile.channel {
            return;
        }
        let message = json!({
            "run_id": request_id,
            "reason": reason,
            "requester": &*by.name,
            "worker": self.me().to_string(),
        });
        let connection = self.commands.lock().clone();
        tokio::spawn(async move {
            let published: RedisResult<()> = match connection {
                Some(mut redis) => redis.publish(CANCEL_CHANNEL, message.to_string()).await,
                None => Err(closed()),
            };
            if let Err(error) = published {
                tracing::warn!(%error, "a cancel could not be published");
            }
        });
    }

    /// Reads a message of the channel. Returns `None` if the message must not be obeyed.
    fn heard_on_channel(&self, message: &[u8]) -> Option<CancelMessage> {
        if self.channel_pace.check().is_err() {
            self.warn_of("too many messages come");
            return None;
        }
        let message = match CancelMessage::read(message) {
            Ok(message) => message,
            Err(error) => {
                self.warn_of(&error);
                return None;
            }
        };
        // Workers of this cluster send the cancel directly. A worker of another cluster has other callers
        // with the same names.
        if message.worker.is_some() {
            return None;
        }
        if message.requester.is_none() && self.options.require_requester == Some(true) {
            self.warn_of("it does not name its requester, which is required");
            return None;
        }
        Some(message)
    }

    fn warn_of(&self, error: &str) {
        if self.warned.is_due() {
            tracing::warn!(error, channel = CANCEL_CHANNEL, "a message is not obeyed");
        } else {
            tracing::debug!(error, channel = CANCEL_CHANNEL, "a message is not obeyed");
        }
    }
}

/// A connection that listens to the channel, if this worker listens at all.
pub(super) async fn subscribe(member: &Member) -> RedisResult<Option<PubSub>> {
    if !member.profile.channel {
        return Ok(None);
    }
    let mut connection = member.node.listen().await?;
    in_time(connection.subscribe(CANCEL_CHANNEL)).await?;
    Ok(Some(connection))
}

/// Obeys the messages of the channel until Redis fails.
pub(super) async fn listen(member: &Member, connection: Option<PubSub>) -> RedisError {
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
                let asked = timeout(member.options.redis_patience, asking.ping::<redis::Value>());
                match asked.await {
                    Ok(Ok(_)) => {}
                    Ok(Err(error)) => return error,
                    Err(_) => return closed(),
                }
            }
        }
    }
}

fn closed() -> RedisError {
    std::io::Error::from(std::io::ErrorKind::ConnectionAborted).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{ClusterOptions, WorkerProfile};

    #[test]
    fn a_flood_on_the_channel_is_not_obeyed() {
        let profile = WorkerProfile {
            process: uuid::Uuid::new_v4(),
            retention: Duration::from_secs(60),
            channel: true,
        };
        let options = ClusterOptions::default();
        let cluster = Cluster::new("redis://127.0.0.1:1", options, profile).unwrap();
        let message = br#"{"run_id":"1"}"#;
        let at_once = HEARD_PER_SECOND as usize;
        let flood = 5 * at_once;
        let heard = (0..flood).filter(|_| cluster.heard_on_channel(message).is_some());
        let heard = heard.count();
        assert!((at_once..flood).contains(&heard), "{heard}");
    }
}
