//! The key of sessions that all workers share. The first worker makes the key.

use redis::aio::MultiplexedConnection;
use redis::{RedisResult, pipe};

use crate::cluster::Cluster;
use crate::session_key::SessionKey;

impl Cluster {
    /// The key of sessions that is in Redis. `None` before this worker has reached Redis.
    pub fn session_key(&self) -> Option<SessionKey> {
        self.session_key.lock().clone()
    }

    /// Reads the key from Redis. If Redis has lost the key, Redis gets it from this worker.
    pub(super) async fn agree(&self, connection: &mut MultiplexedConnection) -> RedisResult<()> {
        let known = self.session_key().unwrap_or_else(SessionKey::random);
        let name = self.node.key("session-key");
        let mut agree = pipe();
        agree.set_nx(&name, known.as_str()).ignore().get(&name);
        let (agreed,): (String,) = agree.query_async(connection).await?;
        *self.session_key.lock() = agreed.parse().ok();
        Ok(())
    }
}
