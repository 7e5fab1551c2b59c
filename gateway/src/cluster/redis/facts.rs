//! Small facts for all workers, for example which worker has taken an invocation. Redis keeps each fact for a
//! while.

use std::fmt;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{ExistenceCheck, FromRedisValue, Pipeline, RedisResult, SetExpiry, SetOptions, pipe};

use crate::cluster::Cluster;

/// How many facts are told at once.
const AT_ONCE: usize = 256;

/// Redis does not answer, so this worker does not know what the other workers know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Away;

impl fmt::Display for Away {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redis does not answer")
    }
}

impl std::error::Error for Away {}

/// Removes a fact if it is unchanged.
const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then \
    redis.call('DEL', KEYS[1]) return 1 end return 0";
/// Replaces a fact if it is unchanged.
const REPLACE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then \
    redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) return 1 end return 0";

/// Facts that all workers know, by name. Redis is told later of facts that it may not have heard or may have
/// lost.
impl Cluster {
    /// The fact of that name, if there is one.
    pub async fn fact(&self, name: &str) -> Result<Option<Vec<u8>>, Away> {
        let mut get = pipe();
        get.get(self.node.key(name));
        let (fact,) = self.command(get).await?;
        Ok(fact)
    }

    /// Sets the fact of that name for `time`, unless there is one. Returns the existing fact. While Redis is
    /// away, Redis is told later, unless there is another fact by then.
    pub async fn claim_fact(
        &self,
        name: &str,
        fact: &[u8],
        time: Duration,
    ) -> Result<Option<Vec<u8>>, Away> {
        let mut claim = pipe();
        let key = self.node.key(name);
        claim.atomic().get(&key);
        claim.set_options(&key, fact, if_none(time)).ignore();
        let answer: Result<(Option<Vec<u8>>,), Away> = self.command(claim).await;
        if !matches!(answer, Ok((Some(_),))) {
            self.held.keep(name, fact, time);
        }
        let (before,) = self.tell_later_if(answer, name)?;
        Ok(before)
    }

    /// Replaces the fact `before` with `fact` for `time`. Returns whether `before` was still the fact.
    pub async fn replace_fact(
        &self,
        name: &str,
        before: &[u8],
        fact: &[u8],
        time: Duration,
    ) -> Result<bool, Away> {
        let mut replace = pipe();
        let script = replace.cmd("EVAL").arg(REPLACE).arg(1);
        script.arg(self.node.key(name)).arg(before).arg(fact);
        script.arg(millis(time));
        let (replaced,): (bool,) = self.command(replace).await?;
        if replaced {
            self.held.keep(name, fact, time);
        }
        Ok(replaced)
    }

    /// Redis knows this fact. This worker tells Redis again if Redis loses the fact within `time`.
    pub fn hold_fact(&self, name: &str, fact: &[u8], time: Duration) {
        self.held.keep(name, fact, time);
    }

    /// Whether this worker tells Redis a fact of that name again if Redis has not heard it or loses it.
    pub fn holds_fact(&self, name: &str) -> bool {
        self.held.has(name)
    }

    /// Removes the fact. A fact that another worker has put in its place stays. While Redis is away, Redis is
    /// told later.
    pub async fn release_fact(&self, name: &str, fact: &[u8]) -> Result<(), Away> {
        self.held.release(name, fact);
        let mut release = pipe();
        self.take_out(&mut release, name, fact);
        let answer = self.command(release).await;
        let () = self.tell_later_if(answer, name)?;
        self.held.forget(name, fact);
        Ok(())
    }

    fn take_out<'a>(
        &self,
        commands: &'a mut Pipeline,
        name: &str,
        fact: &[u8],
    ) -> &'a mut Pipeline {
        let key = self.node.key(name);
        let script = commands.cmd("EVAL").arg(RELEASE).arg(1).arg(key);
        script.arg(fact).ignore()
    }

    /// Tells Redis the facts that it may not have heard or may have lost.
    pub(super) async fn tell_untold(
        &self,
        connection: &mut MultiplexedConnection,
    ) -> RedisResult<()> {
        loop {
            let some = self.held.take_untold(AT_ONCE);
            if some.is_empty() {
                return Ok(());
            }
            let mut tell = pipe();
            for (name, held) in &some {
                let (key, fact) = (self.node.key(name), held.fact.as_slice());
                let time = held.until.saturating_duration_since(Instant::now());
                match held.is_over {
                    false => tell.set_options(key, fact, if_none(time)).ignore(),
                    true => self.take_out(&mut tell, name, fact),
                };
            }
            tell.exec_async(connection).await?;
            for (name, held) in &some {
                self.held.forget(name, &held.fact);
            }
        }
    }

    /// If Redis has not answered, Redis is told the fact of that name later.
    fn tell_later_if<T>(&self, answer: Result<T, Away>, name: &str) -> Result<T, Away> {
        answer.inspect_err(|Away| self.held.tell_later(name))
    }

    pub(super) async fn command<T: FromRedisValue>(&self, commands: Pipeline) -> Result<T, Away> {
        let mut connection = self.commands.lock().clone().ok_or(Away)?;
        self.traffic.commands.add_many(commands.len());
        // The connection has its own timeout. Even if the timeout passes, Redis may have heard of this.
        let answer = commands.query_async(&mut connection).await;
        answer.map_err(|error| {
            tracing::debug!(%error, "Redis");
            Away
        })
    }

    /// Sets the connection for commands, or removes it.
    pub(super) fn command_by(&self, connection: Option<MultiplexedConnection>) {
        *self.commands.lock() = connection;
    }
}

/// The time in milliseconds, at least one: Redis rejects zero.
fn millis(time: Duration) -> u64 {
    (time.as_millis() as u64).max(1)
}

fn if_none(time: Duration) -> SetOptions {
    let lasting = SetOptions::default().with_expiration(SetExpiry::PX(millis(time)));
    lasting.conditional_set(ExistenceCheck::NX)
}
