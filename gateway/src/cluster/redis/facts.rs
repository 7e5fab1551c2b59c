//! Small facts for all workers, such as who has taken an invocation. Redis keeps each
//! for a while.

use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use redis::aio::MultiplexedConnection;
use redis::{ExistenceCheck, FromRedisValue, Pipeline, RedisResult, SetExpiry, SetOptions, pipe};

use crate::cluster::Cluster;

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

/// Takes out a fact if it is still that one.
const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then \
    redis.call('DEL', KEYS[1]) return 1 end return 0";
/// Puts another in the place of a fact if it is still that one.
const REPLACE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then \
    redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) return 1 end return 0";

/// The facts of this worker, which Redis may lose.
#[derive(Debug, Default)]
pub struct Held(Mutex<HashMap<String, HeldFact>>);

#[derive(Debug)]
struct HeldFact {
    fact: Vec<u8>,
    until: Instant,
    /// It holds no more, and Redis may not have heard of it.
    released: bool,
}

impl Held {
    fn keep(&self, name: &str, fact: &[u8], time: Duration) {
        let Some(until) = Instant::now().checked_add(time) else {
            return;
        };
        let mut held = self.0.lock();
        if held.len() >= HELD {
            held.retain(|_, it| it.until > Instant::now());
        }
        if held.len() < HELD {
            let kept = HeldFact {
                fact: fact.into(),
                until,
                released: false,
            };
            held.insert(name.into(), kept);
        }
    }

    /// It holds no more: that is to be told.
    fn release(&self, name: &str, fact: &[u8]) {
        if let Some(held) = self.0.lock().get_mut(name).filter(|it| it.fact == fact) {
            held.released = true;
        }
    }

    /// Redis has heard that it holds no more.
    fn forget(&self, name: &str, fact: &[u8]) {
        let mut held = self.0.lock();
        let heard = held
            .get(name)
            .is_some_and(|it| it.released && it.fact == fact);
        if heard {
            held.remove(name);
        }
    }

    /// Those that still hold, or those that are released; and for how long they would.
    fn all(&self, released: bool) -> Vec<(String, Vec<u8>, Duration)> {
        let now = Instant::now();
        let mut held = self.0.lock();
        held.retain(|_, it| it.until > now);
        let meant = held.iter().filter(|(_, it)| it.released == released);
        meant
            .map(|(name, it)| (name.clone(), it.fact.clone(), it.until - now))
            .collect()
    }
}

/// What all workers know, by name.
impl Cluster {
    /// A fact, if there is one of that name.
    pub async fn fact(&self, name: &str) -> Result<Option<Vec<u8>>, Away> {
        let mut get = pipe();
        get.get(self.node.key(name));
        let (fact,) = self.command(get).await?;
        Ok(fact)
    }

    /// Makes it a fact for `time`, whatever there was.
    pub async fn set_fact(&self, name: &str, fact: &[u8], time: Duration) -> Result<(), Away> {
        let mut set = pipe();
        set.set_options(self.node.key(name), fact, lasting(time));
        let ((),) = self.command(set).await?;
        self.held.keep(name, fact, time);
        Ok(())
    }

    /// Makes it a fact for `time`, unless there is one: which one there was. While Redis is away it is
    /// told later, unless another has come by then.
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
        answer.map(|(before,)| before)
    }

    /// Makes it a fact for `time` in the place of another, if that is still one. Returns whether it was.
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

    /// Keeps a fact for `time` from now: which one there is, this one if there was none.
    pub async fn keep_fact(
        &self,
        name: &str,
        fact: &[u8],
        time: Duration,
    ) -> Result<Vec<u8>, Away> {
        let mut keep = pipe();
        let key = self.node.key(name);
        keep.atomic();
        keep.set_options(&key, fact, if_none(time)).ignore();
        keep.pexpire(&key, millis(time) as i64).ignore().get(&key);
        let (kept,): (Vec<u8>,) = self.command(keep).await?;
        self.held.keep(name, &kept, time);
        Ok(kept)
    }

    /// It is a fact no longer. What another worker has put in its place stays. While Redis is away it
    /// is told later.
    pub async fn release_fact(&self, name: &str, fact: &[u8]) -> Result<(), Away> {
        self.held.release(name, fact);
        let mut release = pipe();
        self.take_out(&mut release, name, fact);
        let () = self.command(release).await?;
        self.held.forget(name, fact);
        Ok(())
    }

    fn take_out(&self, commands: &mut Pipeline, name: &str, fact: &[u8]) {
        let key = self.node.key(name);
        let script = commands.cmd("EVAL").arg(RELEASE).arg(1).arg(key);
        script.arg(fact).ignore();
    }

    /// Tells Redis again what it may have lost.
    pub(super) async fn tell_again(
        &self,
        connection: &mut MultiplexedConnection,
    ) -> RedisResult<()> {
        for some in self.held.all(false).chunks(AT_ONCE) {
            let mut tell = pipe();
            for (name, fact, time) in some {
                let key = self.node.key(name);
                tell.set_options(key, fact.as_slice(), if_none(*time))
                    .ignore();
            }
            tell.exec_async(connection).await?;
        }
        Ok(())
    }

    /// Tells Redis what was released while it was away: once new releases go there by themselves.
    pub(super) async fn tell_released(
        &self,
        connection: &mut MultiplexedConnection,
    ) -> RedisResult<()> {
        for some in self.held.all(true).chunks(AT_ONCE) {
            let mut tell = pipe();
            for (name, fact, _) in some {
                self.take_out(&mut tell, name, fact);
            }
            tell.exec_async(connection).await?;
            for (name, fact, _) in some {
                self.held.forget(name, fact);
            }
        }
        Ok(())
    }

    pub(super) async fn command<T: FromRedisValue>(&self, commands: Pipeline) -> Result<T, Away> {
        let mut connection = self.commands.lock().clone().ok_or(Away)?;
        self.traffic.commands.add_many(commands.len());
        // The connection has a timeout of its own. Before it is over Redis may have heard of this.
        let answer = commands.query_async(&mut connection).await;
        answer.map_err(|error| {
            tracing::debug!(%error, "Redis");
            Away
        })
    }

    /// From now on there is that connection for commands, or none.
    pub(super) fn command_by(&self, connection: Option<MultiplexedConnection>) {
        *self.commands.lock() = connection;
    }
}

/// Milliseconds of a time in Redis, which takes none for an error.
fn millis(time: Duration) -> u64 {
    (time.as_millis() as u64).max(1)
}

fn lasting(time: Duration) -> SetOptions {
    SetOptions::default().with_expiration(SetExpiry::PX(millis(time)))
}

fn if_none(time: Duration) -> SetOptions {
    lasting(time).conditional_set(ExistenceCheck::NX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_released_while_redis_is_away_is_told_later() {
        let (held, time) = (Held::default(), Duration::from_secs(60));
        held.keep("a", b"1", time);
        held.keep("b", b"1", time);
        held.release("a", b"1");
        held.release("b", b"another's");
        let names = |released| {
            let all = held.all(released).into_iter();
            all.map(|(name, ..)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(false), ["b"]);
        assert_eq!(names(true), ["a"]);
        // It is a fact again before Redis has heard of it.
        held.keep("a", b"2", time);
        held.forget("a", b"1");
        assert_eq!((names(false).len(), names(true).len()), (2, 0));
        held.release("a", b"2");
        held.forget("a", b"2");
        assert_eq!((names(false).len(), names(true).len()), (1, 0));
    }
}
