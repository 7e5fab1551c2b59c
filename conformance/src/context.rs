//! What the scenarios share: the peer, the oracle, and chance.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::broken;
use crate::call::{Answer, Call};
use crate::finding::Finding;
use crate::peer::{Connection, NewCall, Peer, Tool, Traits};

/// How long a peer may take to answer what needs no time.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How long a peer may take to start and to open a session.
pub const START: Duration = Duration::from_secs(60);
/// How long nothing may come, to count as silence.
pub const SILENCE: Duration = Duration::from_millis(300);
/// Steps of a call that is to be cancelled: ten seconds of work.
pub const MANY: u64 = 1000;
/// The milliseconds of a step.
pub const STEP: u64 = 10;

/// A peer under test, and the means to test it.
pub struct Context {
    pub peer: Box<dyn Peer>,
    /// How many calls race with their cancels.
    pub races: u32,
    /// How long work may go on after its cancel.
    pub grace: Duration,
    chance: Mutex<fastrand::Rng>,
    /// Makes the keys of this run different from those of all others.
    run: String,
    keys: AtomicU64,
    connection: tokio::sync::Mutex<Option<Arc<dyn Connection>>>,
    reader: tokio::sync::Mutex<Option<Arc<dyn Connection>>>,
}

impl Context {
    pub fn new(peer: Box<dyn Peer>, races: u32, grace: Duration, seed: u64) -> Self {
        Self {
            peer,
            races,
            grace,
            chance: Mutex::new(fastrand::Rng::with_seed(seed)),
            run: uuid::Uuid::new_v4().simple().to_string()[..8].to_owned(),
            keys: AtomicU64::new(0),
            connection: Default::default(),
            reader: Default::default(),
        }
    }

    pub fn traits(&self) -> Traits {
        self.peer.traits()
    }

    /// A number within `range`, drawn from the seed.
    pub fn random(&self, range: std::ops::RangeInclusive<u64>) -> u64 {
        self.chance.lock().u64(range)
    }

    /// The connection that scenarios share, opened anew if it has ended.
    pub async fn connection(&self) -> Result<Arc<dyn Connection>, Finding> {
        let mut kept = self.connection.lock().await;
        match kept.as_ref().filter(|it| !it.is_over()) {
            Some(connection) => Ok(connection.clone()),
            None => Ok(kept.insert(self.open().await?).clone()),
        }
    }

    /// A connection that nothing was sent on. Where each connection is a program of its own, it takes the place of the shared
    /// one, because the oracle must ask the same program.
    pub async fn fresh(&self) -> Result<Arc<dyn Connection>, Finding> {
        if self.traits().shared {
            return self.open().await;
        }
        self.forget().await;
        self.connection().await
    }

    async fn open(&self) -> Result<Arc<dyn Connection>, Finding> {
        self.peer
            .connect()
            .await
            .map_err(|why| Finding::NotRun(format!("no connection: {why}")))
    }

    /// A second connection to the same peer.
    pub async fn second(&self) -> Result<Arc<dyn Connection>, Finding> {
        if !self.traits().shared {
            return Err(Finding::NotRun(
                "each connection over standard input and output is a program of its own".into(),
            ));
        }
        self.open().await
    }

    /// Forgets the shared connection, for example because the peer was seen to misbehave on it.
    pub async fn forget(&self) {
        if let Some(connection) = self.connection.lock().await.take() {
            connection.cut();
        }
    }

    /// A call of `steps` steps of `ms` milliseconds each, under a key of its own.
    pub fn counting(&self, steps: u64, ms: u64) -> NewCall {
        let key = format!("{}-{}", self.run, self.keys.fetch_add(1, Ordering::Relaxed));
        NewCall {
            tool: Tool::Count,
            arguments: json!({ "key": key, "steps": steps, "ms": ms }),
            id: None,
            timeout: None,
        }
    }

    /// Starts ten seconds of work, and waits until the oracle has seen it begin.
    pub async fn working(&self, connection: &Arc<dyn Connection>) -> Result<Arc<Call>, Finding> {
        let call = connection.call(self.counting(MANY, STEP));
        self.begins(&call).await?;
        Ok(call)
    }

    /// Waits until the oracle has seen two steps of a call.
    pub async fn begins(&self, call: &Call) -> Result<(), Finding> {
        let until = Instant::now() + PATIENCE;
        while self.steps(&call.key).await? < 2 {
            if let Some(answer) = call.answers().first() {
                broken!(
                    "a call that nobody cancelled was answered with {}, before its work began",
                    answer.words()
                );
            }
            if call.is_closed() {
                broken!("the connection ended before the work of a call began");
            }
            if Instant::now() > until {
                broken!(
                    "the work of a call did not begin within {} s",
                    PATIENCE.as_secs()
                );
            }
            sleep(Duration::from_millis(3 * STEP)).await;
        }
        Ok(())
    }

    /// The steps that were counted under `key`, as the peer's own tool says.
    pub async fn steps(&self, key: &str) -> Result<u64, Finding> {
        let connection = self.reader().await?;
        let call = connection.call(NewCall {
            tool: Tool::Read,
            arguments: json!({ "key": key }),
            id: None,
            timeout: None,
        });
        match call.answer(PATIENCE).await {
            Some(Answer::Completed(value)) => match value.get("steps").and_then(Value::as_u64) {
                Some(steps) => Ok(steps),
                None => Err(Finding::Broken(format!(
                    "{} gave no `steps`, but {}",
                    Tool::Read.name(),
                    Answer::Completed(value).words()
                ))),
            },
            Some(answer) => Err(Finding::Broken(format!(
                "{} was answered with {}",
                Tool::Read.name(),
                answer.words()
            ))),
            None => Err(Finding::Broken(format!(
                "{} was not answered within {} s",
                Tool::Read.name(),
                PATIENCE.as_secs()
            ))),
        }
    }

    async fn reader(&self) -> Result<Arc<dyn Connection>, Finding> {
        if !self.traits().shared {
            return self.connection().await;
        }
        let mut kept = self.reader.lock().await;
        match kept.as_ref().filter(|it| !it.is_over()) {
            Some(connection) => Ok(connection.clone()),
            None => Ok(kept.insert(self.open().await?).clone()),
        }
    }

    /// Waits until the work under `key` stands still, and gives its steps. Broken if it goes on after the grace, or has run to
    /// its end of `total` steps.
    pub async fn stops(&self, key: &str, total: u64, ms: u64) -> Result<u64, Finding> {
        let until = Instant::now() + self.grace;
        let pause = Duration::from_millis((6 * ms).max(60));
        let mut asked = Instant::now();
        let mut before = self.steps(key).await?;
        loop {
            sleep(pause).await;
            let now_asked = Instant::now();
            let now = self.steps(key).await?;
            if now >= total {
                broken!("the work ran to its end, {total} steps, although it was cancelled");
            }
            if now == before {
                return Ok(now);
            }
            // Both were asked after the grace. A peer that is slow to tell does not count as one that is slow to stop.
            if asked > until {
                broken!(
                    "the work went on: {before} steps, then {now}, more than {} ms after the cancel",
                    self.grace.as_millis()
                );
            }
            (asked, before) = (now_asked, now);
        }
    }

    /// Broken unless the peer answers another call of the connection, in full.
    pub async fn still_answers(&self, connection: &Arc<dyn Connection>) -> Result<(), Finding> {
        let call = connection.call(self.counting(2, 1));
        match call.answer(PATIENCE).await {
            Some(answer) if answer.count() == Some(2) => Ok(()),
            Some(answer) => Err(Finding::Broken(format!(
                "the next call was answered with {}",
                answer.words()
            ))),
            None if call.is_closed() => Err(Finding::Broken("the connection ended".into())),
            None => Err(Finding::Broken(format!(
                "the next call was not answered within {} s",
                PATIENCE.as_secs()
            ))),
        }
    }

    /// Ends both connections.
    pub async fn close(&self) {
        for kept in [&self.connection, &self.reader] {
            if let Some(connection) = kept.lock().await.take() {
                let _ = tokio::time::timeout(Duration::from_secs(2), connection.end()).await;
                connection.cut();
            }
        }
    }
}
