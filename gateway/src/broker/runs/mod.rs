//! The ledger of runs: the calls to apps, in flight and ended, for everybody who may see or cancel
//! them. Without clocks or sockets.
//!
//! The first event that ends a run decides. Only an unknown outcome may still become known. Ended runs are remembered for a time, up to a bound.

#[cfg(test)]
mod bounds_tests;
mod early;
mod flying;
mod kept;
mod lists;
mod mark;
mod namesakes;
mod news;
mod run;
#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::limits::Retention;
use caphost::call::{LateEnd, Stop};
pub use early::EarlyCancel;
use early::EarlyCancels;
use flying::Flying;
use kept::EndedRuns;
#[cfg(test)]
pub(crate) use kept::PROGRESS_BYTES;
pub(super) use kept::name;
pub use kept::{ID_CHARS, REASON_CHARS};
pub use lists::{Found, leave_out, newest};
pub use mark::RunMark;
use namesakes::Namesakes;
pub use news::{CancelNotice, News, NoticedRun};
pub use run::{Dialect, Ending, Lost, NewRun, Run, RunId, RunState};
use rustc_hash::FxHashMap;

/// The ledger. Times are Unix milliseconds.
#[derive(Debug, Default)]
pub struct Runs {
    retention: Retention,
    /// Behind an `Arc`, so that a reader keeps a run as it was without a copy under the lock. A new run takes
    /// the memory of the run just forgotten, and not a cold place in a large map.
    runs: FxHashMap<RunId, Arc<Run>>,
    by_dialect_id: Namesakes,
    ended: EndedRuns,
    flying: Flying,
    early: EarlyCancels,
    /// Rises with every run that is registered.
    last_sequence: u64,
    news: SmallVec<[News; 2]>,
}

impl Runs {
    /// An empty ledger.
    pub fn new(retention: Retention) -> Self {
        Runs {
            retention,
            ..Runs::default()
        }
    }

    /// Enters a run. If an early cancel meets it, the run is over and its call must not be sent: then the
    /// ended run is returned.
    pub fn register(&mut self, new: NewRun, now: u64) -> Option<Arc<Run>> {
        self.expire(now);
        let early = self.early.take(&new);
        let id = new.id;
        let dialect_id = new.dialect_id.and_then(kept::id);
        self.last_sequence += 1;
        let run = Arc::new(Run {
            id,
            dialect: new.dialect,
            dialect_id,
            owner: new.owner,
            agent: new.agent.map(kept::name),
            thread: new.thread,
            app: new.app,
            capability: kept::name(new.capability),
            call_id: kept::name(new.call_id),
            state: RunState::Queued,
            registered_at: now,
            ended_at: None,
            cancel_requested_at: None,
            cancelled_at: None,
            cancel_reason: None,
            progress: None,
            error: None,
            lost: None,
            seen: None,
            by: None,
            late_end: None,
            sequence: self.last_sequence,
        });
        self.by_dialect_id.add(&run);
        self.flying.add(&run);
        self.news.push(News::Registered(id, run.dialect));
        self.runs.insert(id, run);
        let early = early?;
        self.cancel_requested(id, early.reason.as_deref(), now);
        let ended = self.end(id, Ending::Cancelled(Stop::NeverStarted, None), now);
        self.news.push(News::EarlyTaken(Box::new(early)));
        ended
    }

    /// The call of the run goes to that app now. `false` if the run is over, perhaps even forgotten: then the
    /// call must not go.
    pub fn sent(&mut self, id: RunId, app: Option<Arc<str>>) -> bool {
        let Some(run) = self.run_mut(id) else {
            return false;
        };
        run.app = app.or(run.app.take());
        if run.state == RunState::Queued {
            run.state = RunState::Running;
        }
        !run.state.is_over()
    }

    /// Somebody asks to cancel the run.
    pub fn cancel_requested(&mut self, id: RunId, reason: Option<&str>, now: u64) {
        let Some(run) = self.runs.get_mut(&id).map(Arc::make_mut) else {
            return;
        };
        if run.state == RunState::Running {
            run.state = RunState::Cancelling;
        }
        if run.state.is_over() || run.cancel_requested_at.is_some() {
            return;
        }
        run.cancel_requested_at = Some(now);
        let room = self.retention.bytes;
        run.cancel_reason = reason.map(|reason| {
            let reason = kept::reason(reason);
            match self.flying.has_room(&run.owner.name, reason.len(), room) {
                true => reason,
                false => kept::code(reason),
            }
        });
        let bytes = run.cancel_reason.as_ref().map_or(0, String::len);
        self.flying.change(&run.owner.name, 0, bytes);
        self.news.push(News::CancelRequested(id));
    }

    /// The run was not cancelled, and goes on.
    pub fn cancel_refused(&mut self, id: RunId) {
        if let Some(run) = self.run_mut(id)
            && run.state == RunState::Cancelling
        {
            run.state = RunState::Running;
            let news = News::CancelRefused(id, run.dialect);
            self.news.push(news);
        }
    }

    /// Ends the run, unless it has already ended. Returns the run if it ends now. A run that has ended with
    /// an unknown outcome gets the outcome that its app tells late.
    pub fn end(&mut self, id: RunId, ending: Ending, now: u64) -> Option<Arc<Run>> {
        let known = self.runs.get_mut(&id)?;
        if known.state.is_over() {
            if known.state == RunState::Unknown && ending.is_known() {
                Arc::make_mut(known).settle(ending, now);
                self.news.push(News::Settled(known.clone()));
            }
            return None;
        }
        let run = Arc::make_mut(known);
        self.flying.remove(run);
        run.finish(ending, now);
        let ended = known.clone();
        self.news.push(News::Ended(ended.clone()));
        self.remember(&ended.owner.name, now, (id, ended.bytes()));
        Some(ended)
    }

    /// The handler of an abandoned run has ended after all.
    pub fn ended_late(&mut self, id: RunId, end: LateEnd) {
        if let Some(run) = self.run_mut(id)
            && run.stop() == Some(Stop::Abandoned)
            && run.late_end.is_none()
        {
            run.late_end = Some(end);
            let news = News::EndedLate(id, run.dialect, end);
            self.news.push(news);
        }
    }

    /// Notes the progress of the run.
    pub fn progress(&mut self, id: RunId, info: &str) {
        let run = self.runs.get_mut(&id).map(Arc::make_mut);
        let Some(run) = run.filter(|run| !run.state.is_over()) else {
            return;
        };
        let (owner, before) = (&run.owner.name, run.progress_bytes());
        let more = info.len().saturating_sub(before);
        if !self.flying.has_room(owner, more, self.retention.bytes) {
            return;
        }
        if let Some(progress) = kept::progress(info) {
            self.flying.change(owner, before, info.len());
            run.progress = Some(progress);
        }
    }

    /// The events since the last call of this function, in order.
    pub fn take_news(&mut self) -> SmallVec<[News; 2]> {
        std::mem::take(&mut self.news)
    }

    /// The run with that id.
    pub fn get(&self, id: RunId) -> Option<&Run> {
        self.runs.get(&id).map(Arc::as_ref)
    }

    /// The run with that id, to keep.
    pub fn shared(&self, id: RunId) -> Option<Arc<Run>> {
        self.runs.get(&id).cloned()
    }

    /// The runs in flight.
    pub fn in_flight(&self) -> Vec<RunId> {
        self.flying.newest(None, usize::MAX).0
    }

    fn since(&self, now: u64) -> u64 {
        now.saturating_sub(self.retention.time.as_millis() as u64)
    }

    fn early_since(&self, now: u64) -> u64 {
        now.saturating_sub(self.retention.early.as_millis() as u64)
    }

    fn expire(&mut self, now: u64) {
        let (since, early_since) = (self.since(now), self.early_since(now));
        self.early.expire(early_since);
        while let Some(id) = self.ended.pop_before(since) {
            self.forget(id);
        }
    }

    /// The run, copied first if somebody else reads it.
    fn run_mut(&mut self, id: RunId) -> Option<&mut Run> {
        self.runs.get_mut(&id).map(Arc::make_mut)
    }

    /// A run of `owner` has ended. Others may now be too many.
    fn remember(&mut self, owner: &Arc<str>, at: u64, run: (RunId, usize)) {
        self.ended.add(owner, at, run);
        self.forget_surplus(owner);
    }

    /// Forgets ended runs of `owner` that are over the bound.
    fn forget_surplus(&mut self, owner: &Arc<str>) {
        while let Some(id) = self.ended.surplus(owner, &self.retention) {
            self.forget(id);
        }
    }

    fn forget(&mut self, id: RunId) {
        if let Some(run) = self.runs.remove(&id) {
            self.by_dialect_id.remove(&run);
        }
    }
}
