//! Small facts that all workers are to know, such as who has taken an invocation: in Redis, each
//! for a while.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{FromRedisValue, Pipeline, RedisResult, pipe};
use tokio::time::timeout;

use super::Cluster;

/// For Redis to answer, while somebody waits for this worker to answer.
const ANSWER: Duration = Duration::from_millis(700);
/// Facts of this worker that are kept to be told again, 65 536.
const HELD: usize = 65_536;
/// How many of them are told at once.
const AT_ONCE: usize = 256;

/// Redis does not answer: what the other workers know is not known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Away;

impl fmt::Display for Away {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redis does not answer")
    }
}

impl std::error::Error for Away {}

/// The facts of this worker, which Redis may lose: until when each holds.
#[derive(Debug, Default)]
pub(super) struct Held(Mutex<HashMap<String, (Vec<u8>, Instant)>>);

impl Held {
    fn keep(&self, name: &str, fact: &[u8], time: Duration) {
        let Some(until) = Instant::now().checked_add(time) else {
            return;
        };
        let mut held = self.held();
        if held.len() >= HELD {
            held.retain(|_, (_, until)| *until > Instant::now());
        }
        if held.len() < HELD {
            held.insert(name.into(), (fact.into(), until));
        }
    }

    fn drop(&self, name: &str) {
        self.held().remove(name);
    }

    /// Those that still hold, and for how long.
    fn all(&self) -> Vec<(String, Vec<u8>, Duration)> {
        let now = Instant::now();
        let mut held = self.held();
        held.retain(|_, (_, until)| *until > now);
        let all = held.iter();
        all.map(|(name, (fact, until))| (name.clone(), fact.clone(), *until - now))
            .collect()
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, (Vec<u8>, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cluster {
    /// A fact, if there is one of that name.
    pub async fn fact(&self, name: &str) -> Result<Option<Vec<u8>>, Away> {
        let mut get = pipe();
        get.cmd("GET").arg(self.redis.fact(name));
        let (fact,) = self.command(get).await?;
        Ok(fact)
    }

    /// Makes it a fact for `time`, whatever there was.
    pub async fn set_fact(&self, given: &str, fact: &[u8], time: Duration) -> Result<(), Away> {
        let mut set = pipe();
        let millis = time.as_millis() as u64;
        let name = self.redis.fact(given);
        set.cmd("SET").arg(name).arg(fact).arg("PX").arg(millis);
        let ((),) = self.command(set).await?;
        self.held.keep(given, fact, time);
        Ok(())
    }

    /// Makes it a fact for `time`, unless there is one: which one there was.
    pub async fn claim_fact(
        &self,
        given: &str,
        fact: &[u8],
        time: Duration,
    ) -> Result<Option<Vec<u8>>, Away> {
        let mut claim = pipe();
        let name = self.redis.fact(given);
        claim.atomic().cmd("GET").arg(&name);
        self.set_if_none(&mut claim, &name, fact, time);
        let (before,): (Option<Vec<u8>>,) = self.command(claim).await?;
        if before.is_none() {
            self.held.keep(given, fact, time);
        }
        Ok(before)
    }

    /// Keeps a fact for `time` from now: which one there is, this one if there was none.
    pub async fn keep_fact(
        &self,
        given: &str,
        fact: &[u8],
        time: Duration,
    ) -> Result<Vec<u8>, Away> {
        let mut keep = pipe();
        let name = self.redis.fact(given);
        keep.atomic();
        self.set_if_none(&mut keep, &name, fact, time);
        let millis = time.as_millis() as u64;
        keep.cmd("PEXPIRE").arg(&name).arg(millis).ignore();
        keep.cmd("GET").arg(&name);
        let (kept,): (Vec<u8>,) = self.command(keep).await?;
        self.held.keep(given, &kept, time);
        Ok(kept)
    }

    /// It is a fact no more.
    pub async fn drop_fact(&self, name: &str) -> Result<(), Away> {
        self.held.drop(name);
        let mut drop = pipe();
        drop.cmd("DEL").arg(self.redis.fact(name)).ignore();
        self.command(drop).await
    }

    fn set_if_none(&self, commands: &mut Pipeline, name: &str, fact: &[u8], time: Duration) {
        let millis = time.as_millis() as u64;
        let set = commands.cmd("SET").arg(name).arg(fact).arg("PX");
        set.arg(millis).arg("NX").ignore();
    }

    /// Tells Redis again what it may have lost.
    pub(super) async fn tell_again(
        &self,
        connection: &mut MultiplexedConnection,
    ) -> RedisResult<()> {
        for some in self.held.all().chunks(AT_ONCE) {
            let mut tell = pipe();
            for (name, fact, time) in some {
                self.set_if_none(&mut tell, &self.redis.fact(name), fact, *time);
            }
            tell.exec_async(connection).await?;
        }
        Ok(())
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
