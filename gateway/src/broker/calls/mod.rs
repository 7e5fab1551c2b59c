//! The record of calls, without clocks or sockets. A call and what is remembered of it are one record, in two
//! phases: live, until the app has answered the call or never will, and then ended.
//!
//! The first event that ends a run decides. Only an unknown outcome may still become known. Ended runs are
//! remembered for a time, up to a bound.

mod abp_error;
#[cfg(test)]
mod bounds_tests;
mod deadlines;
mod early;
mod in_flight;
mod kept;
mod lists;
mod live;
mod mark;
mod namesakes;
mod new_call;
mod news;
mod of_session;
pub(super) mod outcome;
mod run;
#[cfg(test)]
mod shared_tests;
mod steps;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use smallvec::SmallVec;

use super::PeerId;
use crate::limits::Retention;
pub use abp_error::AbpError;
use caphost::call::{LateEnd, Millis, Stop};
pub(super) use deadlines::Deadlines;
pub use early::EarlyCancel;
use early::EarlyCancels;
use in_flight::InFlight;
use kept::EndedRuns;
#[cfg(test)]
pub(crate) use kept::PROGRESS_BYTES;
pub(super) use kept::name;
pub use kept::{ID_CHARS, REASON_CHARS};
pub use lists::{Found, leave_out, newest};
pub use live::Asker;
pub use live::CallRequest;
pub(crate) use live::{Cancelling, Live};
pub use mark::RunMark;
use namesakes::Namesakes;
pub use new_call::NewCall;
pub use news::{CancelNotice, News, NoticedRun};
use of_session::OfSession;
pub use outcome::Outcome;
pub use run::{Dialect, Ending, Lost, NewRun, Run, RunId, RunState};
use rustc_hash::FxHashMap;
pub use steps::CallEvent;
pub(crate) use steps::{Sink, Steps, steps};

/// All calls. Times are Unix milliseconds, except for deadlines.
#[derive(Debug, Default)]
pub struct Calls {
    retention: Retention,
    calls: FxHashMap<RunId, Call>,
    by_dialect_id: Namesakes,
    by_session: FxHashMap<PeerId, OfSession>,
    /// The live calls by owner.
    live: InFlight,
    /// The calls that are not live any more.
    ended: EndedRuns,
    deadlines: Deadlines<RunId>,
    early: EarlyCancels,
    /// Rises with every run that is registered.
    last_sequence: u64,
    news: SmallVec<[News; 2]>,
}

/// One call.
#[derive(Debug)]
struct Call {
    /// Behind an `Arc`, so that a reader keeps a run as it was without a copy under the lock. A new run takes
    /// the memory of the run just forgotten, and not a cold place in a large map.
    run: Arc<Run>,
    /// Where the steps go, if a front has made the call: until its end, or the late end of its handler.
    sink: Option<Sink>,
    /// Whether the call has ever gone to its app.
    is_sent: bool,
    live: Option<Box<Live>>,
}

impl Calls {
    /// No calls.
    pub fn new(retention: Retention) -> Self {
        Calls {
            retention,
            ..Calls::default()
        }
    }

    /// Enters a call. If an early cancel meets it, the call is over and must not be sent: then the ended run
    /// is returned.
    pub(crate) fn enter(
        &mut self,
        new: NewRun,
        live: Live,
        sink: Option<Sink>,
        now: u64,
    ) -> Option<Arc<Run>> {
        self.expire(now);
        let early = self.early.take(&new);
        let id = new.id;
        self.last_sequence += 1;
        let run = Arc::new(Run::new(new, self.last_sequence, now));
        self.by_dialect_id.add(&run);
        self.live.add(&run);
        self.news.push(News::Registered(id, run.dialect));
        let live = Some(live.into());
        let is_sent = false;
        let call = Call {
            run,
            sink,
            is_sent,
            live,
        };
        self.calls.insert(id, call);
        let early = early?;
        self.cancel_requested(id, early.reason.as_deref(), now);
        let ended = self.end(
            id,
            Ending::Cancelled(Stop::NeverStarted, None),
            Outcome::disconnected,
            now,
        );
        self.release(id, now);
        self.news.push(News::EarlyTaken(Box::new(early)));
        ended
    }

    /// The call goes to that app now, under that number. `false` if the call is over: then it must not go.
    pub fn sent(&mut self, id: RunId, app: Option<Arc<str>>, issued: u64) -> bool {
        let Some(call) = self.calls.get_mut(&id) else {
            return false;
        };
        let Some(live) = &mut call.live else {
            return false;
        };
        live.issued = Some(issued);
        call.is_sent = true;
        let run = Arc::make_mut(&mut call.run);
        run.app = app.or(run.app.take());
        run.state = RunState::Running;
        let of_session = self.by_session.entry(live.agent).or_default();
        of_session.add(run.call_id.clone(), live.token.clone(), id);
        true
    }

    /// Somebody asks to cancel the run.
    pub fn cancel_requested(&mut self, id: RunId, reason: Option<&str>, now: u64) {
        let Some(run) = self.run_mut(id).filter(|run| !run.state.is_over()) else {
            return;
        };
        if run.state == RunState::Running {
            run.state = RunState::Cancelling;
        }
        if run.cancel_requested_at.is_some() {
            return;
        }
        run.cancel_requested_at = Some(now);
        let owner = run.owner.name.clone();
        let reason = reason.map(kept::reason).map(|reason| {
            match self
                .live
                .has_room(&owner, reason.len(), self.retention.bytes)
            {
                true => reason,
                false => kept::code(reason),
            }
        });
        let bytes = reason.as_ref().map_or(0, String::len);
        self.live.change(&owner, 0, bytes);
        if let Some(run) = self.run_mut(id) {
            run.cancel_reason = reason;
        }
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

    /// Ends the run, unless it has already ended, and tells its caller. `outcome` is for a caller whose call is
    /// not cancelled. Returns the run if it ends now. A run that has ended with an unknown outcome gets the
    /// outcome that its app tells late.
    pub(crate) fn end(
        &mut self,
        id: RunId,
        ending: Ending,
        outcome: impl FnOnce() -> Outcome,
        now: u64,
    ) -> Option<Arc<Run>> {
        let call = self.calls.get_mut(&id)?;
        if call.run.state.is_over() {
            if call.run.state == RunState::Unknown && ending.is_known() {
                Arc::make_mut(&mut call.run).settle(ending, now);
                self.news.push(News::Settled(call.run.clone()));
            }
            return None;
        }
        Arc::make_mut(&mut call.run).finish(ending, now);
        let ended = call.run.clone();
        let questions = call
            .live
            .as_mut()
            .map(|live| std::mem::take(&mut live.questions));
        if let Some(sink) = &call.sink {
            for (number, _) in questions.unwrap_or_default() {
                sink.push(CallEvent::Withdrawn(number));
            }
            let outcome = match ended.stop() {
                Some(stop) => Outcome::Cancelled {
                    reason: ended.cancel_reason.clone(),
                    stop,
                    by: ended.by,
                },
                None => outcome(),
            };
            sink.push(CallEvent::Ended(ended.clone(), outcome));
        }
        if !ended.may_end() {
            call.sink = None;
        }
        self.news.push(News::Ended(ended.clone()));
        self.change(id, |call| call.timeout = None);
        Some(ended)
    }

    /// The app has answered a call that has ended, or never will: nothing hangs on the call any more.
    pub(super) fn release(&mut self, id: RunId, now: u64) -> Option<Live> {
        let call = self.calls.get_mut(&id)?;
        let live = *call.live.take()?;
        let run = call.run.clone();
        // An agent on a socket may ask again. Of other calls, only what the app tells later is of interest.
        let is_found =
            call.sink.is_some() || run.dialect == Dialect::Abp || run.state == RunState::Unknown;
        self.deadlines.change(id, live.due, None);
        self.live.remove(&run);
        if let Some(known) = self.by_session.get_mut(&live.agent) {
            known.end(&run.call_id, live.token.clone(), id);
        }
        if live.is_sent() && is_found {
            self.remember_of(live.agent, run.call_id.clone(), id);
        }
        self.remember(&run, now);
        Some(live)
    }

    /// The handler of an abandoned run has ended after all. Returns whether this is news.
    pub fn ended_late(&mut self, id: RunId, end: LateEnd) -> bool {
        let call = self.calls.get_mut(&id);
        let Some(call) = call.filter(|call| call.run.may_end()) else {
            return false;
        };
        Arc::make_mut(&mut call.run).late_end = Some(end);
        if let Some(sink) = call.sink.take() {
            sink.push(CallEvent::Late(end));
        }
        let dialect = call.run.dialect;
        self.news.push(News::EndedLate(id, dialect, end));
        true
    }

    /// Notes the progress of the run. Returns where its caller hears of it, if a front has made the call.
    pub(crate) fn progress(&mut self, id: RunId, info: &str) -> Option<&Sink> {
        let call = self.calls.get_mut(&id)?;
        if call.run.state.is_over() {
            return None;
        }
        let (owner, before) = (&call.run.owner.name, call.run.progress_bytes());
        let more = info.len().saturating_sub(before);
        if self.live.has_room(owner, more, self.retention.bytes)
            && let Some(progress) = kept::progress(info)
        {
            self.live.change(owner, before, info.len());
            Arc::make_mut(&mut call.run).progress = Some(progress);
        }
        call.sink.as_ref()
    }

    /// Where the caller of a run hears of it, if a front has made the call.
    pub(super) fn sink(&self, id: RunId) -> Option<&Sink> {
        self.calls.get(&id)?.sink.as_ref()
    }

    /// The live half of a call.
    pub(super) fn live(&self, id: RunId) -> Option<&Live> {
        self.calls.get(&id)?.live.as_deref()
    }

    /// Changes the live half of a call, and so perhaps its deadline.
    pub(super) fn change<T>(
        &mut self,
        id: RunId,
        change: impl FnOnce(&mut Live) -> T,
    ) -> Option<T> {
        let live = self.calls.get_mut(&id)?.live.as_deref_mut()?;
        let result = change(live);
        let at = live.next();
        let before = std::mem::replace(&mut live.due, at);
        if before != at {
            self.deadlines.change(id, before, at);
        }
        Some(result)
    }

    /// The next deadline of a call, on the monotonic clock.
    pub fn next_deadline(&self) -> Option<Millis> {
        self.deadlines.first()
    }

    /// A call whose deadline has passed.
    pub(super) fn take_due(&mut self, now: Millis) -> Option<RunId> {
        let id = self.deadlines.pop(now)?;
        if let Some(live) = self.calls.get_mut(&id).and_then(|call| call.live.as_mut()) {
            live.due = None;
        }
        Some(id)
    }

    /// The events since the last call of this function, in order.
    pub fn take_news(&mut self) -> SmallVec<[News; 2]> {
        std::mem::take(&mut self.news)
    }

    /// The run with that id.
    pub fn get(&self, id: RunId) -> Option<&Run> {
        self.calls.get(&id).map(|call| &*call.run)
    }

    /// The run with that id, to keep.
    pub fn shared(&self, id: RunId) -> Option<Arc<Run>> {
        self.calls.get(&id).map(|call| call.run.clone())
    }

    /// The runs in flight.
    pub fn in_flight(&self) -> Vec<RunId> {
        let mut live = self.live.newest(None, usize::MAX).0;
        live.retain(|id| self.get(*id).is_some_and(|run| !run.state.is_over()));
        live
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
        let call = self.calls.get_mut(&id)?;
        Some(Arc::make_mut(&mut call.run))
    }

    /// A call is not live any more. Others may now be too many.
    fn remember(&mut self, run: &Run, now: u64) {
        let (owner, at) = (&run.owner.name, run.ended_at.unwrap_or(now));
        self.ended.add(owner, at, (run.id, run.bytes()));
        while let Some(id) = self.ended.surplus(owner, &self.retention) {
            self.forget(id);
        }
    }

    fn forget(&mut self, id: RunId) {
        if let Some(call) = self.calls.remove(&id) {
            self.by_dialect_id.remove(&call.run);
        }
    }
}
