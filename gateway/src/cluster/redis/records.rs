//! Records the runs of this worker in Redis, so that another worker can take them over if this worker dies.
//! One of the remaining workers takes over the runs of a worker that is gone.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, ExistenceCheck, Pipeline, RedisResult, SetExpiry, SetOptions, pipe};
use tokio::time::timeout;

use crate::broker::runs::{News, Run, RunId};
use crate::cluster::WorkerId;
use crate::cluster::member::Member;
use crate::wire::for_log;

/// How many runs are written at once.
const WRITTEN_AT_ONCE: usize = 512;
/// How many milliseconds runs stay in Redis beyond the retention time: ten minutes.
const MARGIN_MS: u64 = 600_000;
/// The longest time for Redis, with a margin: 10 000 years.
const LONGEST_MS: u64 = 315_360_000_000_000;
/// How many milliseconds pass before another worker may try to take runs over: ten seconds.
const CLAIM_MS: u64 = 10_000;
/// How many runs are read at once when they are taken over, about.
const READ_AT_ONCE: usize = 200;
/// The time until the remaining runs are tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// The runs that have changed since they were written. The writer writes the current state of a run, so an
/// older state never follows a newer one.
#[derive(Debug, Default)]
pub struct Records(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Whether there is a Redis to write to.
    on: bool,
    /// The runs that have just begun. They are written before their calls leave this worker.
    begun: BTreeSet<RunId>,
    changed: BTreeSet<RunId>,
    /// Whether Redis had records of this worker when it was last asked.
    are_there: bool,
}

impl Records {
    /// From now on, notes the runs that change.
    fn begin(&self) {
        self.0.lock().on = true;
    }

    /// Nothing can be written now. Later, everything will be written again.
    pub fn end(&self) {
        let mut state = self.0.lock();
        state.on = false;
        state.begun.clear();
        state.changed.clear();
    }

    /// Sets whether Redis has records of this worker.
    pub(super) fn set_are_there(&self, are_there: bool) {
        self.0.lock().are_there = are_there;
    }

    fn are_there(&self) -> bool {
        self.0.lock().are_there
    }

    /// Takes runs to write now, beginning with runs that have just begun. Also returns whether no such run is
    /// left.
    fn take(&self, max: usize) -> (Vec<RunId>, bool) {
        let mut state = self.0.lock();
        let next = || {
            state
                .begun
                .pop_first()
                .or_else(|| state.changed.pop_first())
        };
        let some = std::iter::from_fn(next).take(max).collect();
        (some, state.begun.is_empty())
    }

    /// Whether everything is written or about to be written.
    pub fn is_empty(&self) -> bool {
        let state = self.0.lock();
        state.begun.is_empty() && state.changed.is_empty()
    }

    /// Notes events of runs.
    pub fn note(&self, news: &[News]) {
        let mut state = self.0.lock();
        if !state.on {
            return;
        }
        for event in news {
            match event {
                News::Registered(id, _) => {
                    state.changed.remove(id);
                    state.begun.insert(*id);
                }
                News::CancelRequested(id) | News::EndedLate(id, ..) | News::Forgotten(id) => {
                    state.change(*id);
                }
                News::Ended(run) => state.change(run.id),
                News::CancelRefused(..) | News::EarlyTaken(_) => {}
            }
        }
    }

    /// Notes that these runs must be written.
    fn changed(&self, runs: Vec<RunId>) {
        let mut state = self.0.lock();
        if state.on {
            runs.into_iter().for_each(|id| state.change(id));
        }
    }
}

impl State {
    fn change(&mut self, id: RunId) {
        if !self.begun.contains(&id) {
            self.changed.insert(id);
        }
    }
}

impl Member {
    /// Begins to write records. The records of this worker in Redis may be out of date. The records under
    /// this id stay until they are overwritten or removed: if the worker dies before that, old records are
    /// better than none.
    pub(super) async fn begin_records(
        &self,
        me: WorkerId,
        connection: &mut MultiplexedConnection,
    ) -> RedisResult<()> {
        self.records.begin();
        self.write_all_again();
        let written: Vec<String> = connection.hkeys(self.node.runs(me)).await?;
        let written = written.iter().filter_map(|id| id.parse().ok());
        self.records.changed(written.collect());
        Ok(())
    }

    /// Writes all runs again, because Redis has none or has lost them.
    pub(super) fn write_all_again(&self) {
        self.records.changed(self.here.run_ids());
        self.outgoing.notify_one();
    }

    /// Writes changed runs. Returns whether all runs that have just begun are included.
    pub(super) fn write_changed(&self, me: WorkerId, commands: &mut Pipeline) -> bool {
        let (changed, complete) = self.records.take(WRITTEN_AT_ONCE);
        let is_first = !changed.is_empty() && !self.records.are_there();
        self.write_runs(me, changed, commands);
        if is_first {
            // The expiry is set now, because the worker may die before it renews the expiry.
            self.keep_runs(me, commands);
        }
        complete
    }

    /// Writes the current state of these runs. Removes the records of runs that are not remembered any more.
    fn write_runs(&self, me: WorkerId, runs: Vec<RunId>, commands: &mut Pipeline) {
        let key = self.node.runs(me);
        for (id, run) in self.here.runs_by_id(runs) {
            let id = id.to_string();
            match run.and_then(|run| serde_json::to_vec(&run).ok()) {
                Some(run) => commands.hset(&key, id, run).ignore(),
                None => commands.hdel(&key, id).ignore(),
            };
        }
    }

    /// Extends the expiry of the records. The worker calls this again and again as long as it lives. Redis
    /// answers whether there are records.
    pub(super) fn keep_runs(&self, me: WorkerId, commands: &mut Pipeline) {
        let retention = self.profile.retention.as_millis() as u64;
        let time = retention.saturating_add(MARGIN_MS).min(LONGEST_MS);
        commands.pexpire(self.node.runs(me), time as i64);
    }

    /// Takes over the runs of workers that are gone, forever. Tries again after an error.
    pub(super) async fn adopt(&self, me: WorkerId) -> Infallible {
        loop {
            let gone = self.peers().to_adopt();
            for gone in gone {
                match self.take_over(me, gone).await {
                    Ok(Some(runs)) => tracing::info!(worker = %gone, runs, "took over its runs"),
                    Ok(None) => {}
                    Err(error) => {
                        tracing::warn!(worker = %gone, %error, "cannot take over its runs");
                    }
                }
            }
            let _ = timeout(AGAIN, self.orphaned.notified()).await;
        }
    }

    /// Takes over the runs of a worker that is gone. Returns how many runs it had, or `None` if another
    /// worker takes them over.
    async fn take_over(&self, me: WorkerId, gone: WorkerId) -> RedisResult<Option<usize>> {
        let node = &self.node;
        // This uses its own connection, because there may be much to read.
        let mut connection = node.connect().await?;
        let claim = node.adoption(gone);
        let if_none = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::PX(CLAIM_MS));
        let claimed = connection.set_options(&claim, me.to_string(), if_none);
        let claimed: Option<String> = claimed.await?;
        if claimed.is_none() {
            return Ok(None);
        }
        let (mut cursor, mut count) = (0, 0);
        loop {
            let mut scan = redis::cmd("HSCAN");
            scan.arg(node.runs(gone)).arg(cursor);
            scan.arg("COUNT").arg(READ_AT_ONCE);
            let (next, fields): (u64, Vec<(String, Vec<u8>)>) =
                scan.query_async(&mut connection).await?;
            let runs = fields.iter().filter_map(|(_, run)| read(run));
            let adopted = self.here.adopt(gone, runs.collect());
            count += adopted.len();
            // The runs are remembered on this worker now.
            let mut commands = pipe();
            commands.pexpire(&claim, CLAIM_MS as i64).ignore();
            self.write_runs(me, adopted, &mut commands);
            self.keep_runs(me, &mut commands);
            commands.exec_async(&mut connection).await?;
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
        let mut settle = pipe();
        settle.atomic().unlink(node.runs(gone)).ignore();
        settle.srem(node.workers(), gone.to_string()).ignore();
        settle.exec_async(&mut connection).await?;
        self.peers().orphans.remove(&gone);
        Ok(Some(count))
    }
}

fn read(run: &[u8]) -> Option<Arc<Run>> {
    let run = serde_json::from_slice(run);
    let run = run.inspect_err(|error: &serde_json::Error| {
        // The error may quote the run.
        let error = for_log(error);
        tracing::warn!(error, "cannot read a run of another worker");
    });
    run.ok().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::runs::Dialect;

    #[test]
    fn what_changes_while_there_is_no_redis_is_not_collected() {
        let records = Records::default();
        let (one, two) = (RunId::random(), RunId::random());
        records.changed(vec![one]);
        assert!(records.is_empty());
        records.begin();
        records.changed(vec![one]);
        records.changed(vec![one, two]);
        assert_eq!(records.take(1).0.len(), 1);
        assert_eq!(records.take(9).0.len(), 1, "each once");
        records.note(&[News::Registered(two, Dialect::Abp)]);
        records.changed(vec![one, two]);
        assert_eq!(records.take(0), (vec![], false));
        assert_eq!(
            records.take(1),
            (vec![two], true),
            "what has begun goes first"
        );
        records.end();
        assert!(records.is_empty());
    }
}
