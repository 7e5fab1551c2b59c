//! Small facts that all workers are to know, such as who has taken an invocation: in Redis, each
//! for a while.

use std::fmt;
use std::sync::PoisonError;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{FromRedisValue, Pipeline, pipe};
use tokio::time::timeout;

use super::Cluster;

/// For Redis to answer, while somebody waits for this worker to answer.
const ANSWER: Duration = Duration::from_millis(700);

/// Redis does not answer: what the other workers know is not known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Away;

impl fmt::Display for Away {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redis does not answer")
    }
}

impl std::error::Error for Away {}

impl Cluster {
    /// A fact, if there is one of that name.
    pub async fn fact(&self, name: &str) -> Result<Option<Vec<u8>>, Away> {
        let mut get = pipe();
        get.cmd("GET").arg(self.redis.fact(name));
        let (fact,) = self.command(get).await?;
        Ok(fact)
    }

    /// Makes it a fact for `time`, whatever there was.
    pub async fn set_fact(&self, name: &str, fact: &[u8], time: Duration) -> Result<(), Away> {
        let mut set = pipe();
        let millis = time.as_millis() as u64;
        let name = self.redis.fact(name);
        set.cmd("SET").arg(name).arg(fact).arg("PX").arg(millis);
        let ((),) = self.command(set).await?;
        Ok(())
    }

    /// Makes it a fact for `time`, unless there is one: which one there was.
    pub async fn claim_fact(
        &self,
        name: &str,
        fact: &[u8],
        time: Duration,
    ) -> Result<Option<Vec<u8>>, Away> {
        let mut claim = pipe();
        let name = self.redis.fact(name);
        claim.atomic().cmd("GET").arg(&name);
        self.set_if_none(&mut claim, &name, fact, time);
        let (before,) = self.command(claim).await?;
        Ok(before)
    }

    /// Keeps a fact for `time` from now: which one there is, this one if there was none.
    pub async fn keep_fact(
        &self,
        name: &str,
        fact: &[u8],
        time: Duration,
    ) -> Result<Vec<u8>, Away> {
        let mut keep = pipe();
        let name = self.redis.fact(name);
        keep.atomic();
        self.set_if_none(&mut keep, &name, fact, time);
        let millis = time.as_millis() as u64;
        keep.cmd("PEXPIRE").arg(&name).arg(millis).ignore();
        keep.cmd("GET").arg(&name);
        let (fact,) = self.command(keep).await?;
        Ok(fact)
    }

    /// It is a fact no more.
    pub async fn drop_fact(&self, name: &str) -> Result<(), Away> {
        let mut drop = pipe();
        drop.cmd("DEL").arg(self.redis.fact(name)).ignore();
        self.command(drop).await
    }

    fn set_if_none(&self, commands: &mut Pipeline, name: &str, fact: &[u8], time: Duration) {
        let millis = time.as_millis() as u64;
        let set = commands.cmd("SET").arg(name).arg(fact).arg("PX");
        set.arg(millis).arg("NX").ignore();
    }

    async fn command<T: FromRedisValue>(&self, commands: Pipeline) -> Result<T, Away> {
        let connection = {
            let commands = self.commands.lock();
            commands.unwrap_or_else(PoisonError::into_inner).clone()
        };
        let mut connection = connection.ok_or(Away)?;
        self.traffic.commands.add(commands.len());
        let answer = timeout(ANSWER, commands.query_async(&mut connection)).await;
        answer.map_err(|_| Away)?.map_err(|error| {
            tracing::debug!(%error, "Redis");
            Away
        })
    }

    pub(super) fn connected_with(&self, connection: MultiplexedConnection) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        *commands = Some(connection);
    }

    pub(super) fn disconnected(&self) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        *commands = None;
    }
}
