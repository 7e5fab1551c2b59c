//! How calls end. The end of a run holds: whatever the app says later does not change it, unless nobody knew
//! the outcome.

use super::calls::outcome::{CancelOutcome, answer_by, not_cancelled};
use super::calls::{Asker, Outcome};
use super::sessions::pending::{AnswerTo, Entry};
use super::{Broker, PeerId, Seat};
use crate::broker::calls::{Ending, Lost, RunId, RunState};
use crate::wire::stops::{ALREADY_COMPLETED, Grade};
use crate::wire::{Failure, Said};
use caphost::call::{Code, Error, Millis};

/// How long past its timeout a call is left to the app, in milliseconds. Then the gateway cancels the call,
/// because some apps keep no timeouts.
pub(super) const SLACK_MS: Millis = 100.0;

impl Broker {
    /// The answer to a cancel of a run that has ended.
    pub(crate) fn outcome_of_ended(&self, run: RunId) -> Option<CancelOutcome> {
        let run = self.calls.get(run)?;
        match run.state {
            RunState::Cancelled => Some(CancelOutcome::confirmed(run.grade()?)),
            RunState::Completed | RunState::Failed => Some(not_cancelled(ALREADY_COMPLETED)),
            RunState::Queued | RunState::Running | RunState::Cancelling | RunState::Unknown => None,
        }
    }

    /// Whether a run has ended with an unknown outcome.
    pub(super) fn is_unknown(&self, run: RunId) -> bool {
        let run = self.calls.get(run);
        run.is_some_and(|run| run.state == RunState::Unknown)
    }

    /// If the answer to an agent's call or cancel would contradict the end of the run, the agent is told the
    /// end of the run. Returns whether that was so.
    pub(super) fn told_otherwise(&mut self, agent: PeerId, entry: &Entry, cancelled: bool) -> bool {
        let ended = entry.run.and_then(|run| self.outcome_of_ended(run));
        let ended = ended.filter(|ended| ended.cancelled() != cancelled);
        let (Some(ended), AnswerTo::Askers(_)) = (ended, &entry.answer_to) else {
            return false;
        };
        let payload = answer_by(&ended, entry.request, entry.call_id.as_deref());
        self.answer_all(agent, entry, &payload);
        true
    }

    /// A cancel of a run is confirmed. The app has the confirm timeout to answer the call as well.
    pub(super) fn run_cancelled(&mut self, run: RunId, grade: Grade) {
        let until = self.now.monotonic_ms + self.grace();
        self.calls.change(run, |call| call.give_up = Some(until));
        let ending = Ending::Cancelled(grade.stop, grade.by);
        self.end_run(run, ending, Outcome::disconnected);
    }

    /// Ends a run, unless it has already ended. The app may still have to answer the call. `outcome` is for a
    /// caller of the gateway itself, whose call is not cancelled.
    pub(super) fn end_run(
        &mut self,
        run: RunId,
        ending: Ending,
        outcome: impl FnOnce() -> Outcome,
    ) {
        match self.calls.live(run) {
            // It never went to the app, and now it never will.
            Some(call) if !call.is_sent() => self.run_over(run, ending, outcome),
            _ => drop(self.calls.end(run, ending, outcome, self.now.unix_ms)),
        }
    }

    /// The app has answered a call, or never will: all that hangs on the call ends with it.
    pub(super) fn run_over(
        &mut self,
        run: RunId,
        ending: Ending,
        outcome: impl FnOnce() -> Outcome,
    ) {
        let now = self.now.unix_ms;
        self.calls.end(run, ending, outcome, now);
        let Some(call) = self.calls.release(run, now) else {
            return;
        };
        let session = call.agent;
        self.tell_askers(run, call);
        let agent = self.sessions.get(&session);
        if agent.is_some_and(|agent| agent.left && agent.pending.calls().next().is_none()) {
            self.leave(session);
        }
    }

    /// The deadline of a call has passed.
    pub(super) fn call_due(&mut self, run: RunId) {
        let now = self.now.monotonic_ms;
        let Some(call) = self.calls.live(run) else {
            return;
        };
        let is_past = |at: Option<Millis>| at.is_some_and(|at| at <= now);
        if is_past(call.give_up) {
            return self.unanswered(run);
        }
        let (timed_out, again) = (is_past(call.timeout), is_past(call.again()));
        if timed_out {
            self.timed_out(run);
        }
        if again {
            let reason = self
                .calls
                .get(run)
                .and_then(|run| run.cancel_reason.clone());
            self.cancel(run, Asker::Gateway, reason.as_deref());
        }
        // The deadline that has passed is set no longer.
        self.calls.change(run, |_| {});
    }

    /// The app should have ended a call at its timeout. The gateway asks for that, and then waits only a little
    /// longer.
    fn timed_out(&mut self, run: RunId) {
        let until = self.now.monotonic_ms + (self.grace() - SLACK_MS).max(0.0);
        let before = self.calls.change(run, |call| {
            call.timeout = Some(until);
            std::mem::replace(&mut call.is_overdue, true)
        });
        match before {
            Some(true) => self.unanswered(run),
            _ => self.cancel(run, Asker::Caller, None),
        }
    }

    /// The app has not answered a call in time. A late answer still settles the run, if its outcome is unknown.
    fn unanswered(&mut self, run: RunId) {
        let call = self.calls.live(run);
        let sent = call.and_then(|call| Some((call.agent, call.issued?)));
        if let Some((agent, issued)) = sent
            && let Some(entry) = self.give_up(agent, issued)
        {
            self.told_otherwise(agent, &entry, false);
        }
        let message = "The app gave no answer in time: the outcome is unknown";
        let error: Failure = Error::new(Code::TIMEOUT, message);
        let ending = Ending::of_error(error.code.as_str());
        self.run_over(run, ending, || Outcome::Failed((&error).into()));
    }

    /// How the call of an agent has ended by that answer of the app. When nobody knows the end, the worker of
    /// an app elsewhere decides, and this worker decides for a tool server.
    pub(super) fn ending_of_answer(&self, agent: PeerId, said: &Said<'_>, grade: Grade) -> Ending {
        let app = self.app_of(agent).and_then(|app| self.apps.get(&app));
        let seat = app.map(|app| app.seat);
        match (ending_of(said, grade), seat) {
            (Ending::Failed(code), Some(Seat::Elsewhere))
                if code == Code::DISCONNECTED.as_str() =>
            {
                Ending::Lost(Lost::App)
            }
            (Ending::Failed(code), Some(Seat::Elsewhere | Seat::Own))
                if code == Code::TRANSPORT_ERROR.as_str() =>
            {
                Ending::Unknown(code)
            }
            (ending, _) => ending,
        }
    }
}

fn ending_of(said: &Said<'_>, grade: Grade) -> Ending {
    match (said.success, said.cancelled) {
        (Some(true), _) => Ending::Completed,
        (_, true) => Ending::Cancelled(grade.stop, grade.by),
        _ => {
            let code = said.code.as_deref().unwrap_or("OPERATION_FAILED");
            Ending::Failed(code.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::said;
    use caphost::call::Stop;

    #[test]
    fn how_a_call_ended_is_read_off_its_response() {
        let failed = r#"{"success":false,"error":{"code":"TIMEOUT"}}"#;
        for (payload, ending) in [
            (r#"{"success":true,"data":1}"#, Ending::Completed),
            (
                r#"{"success":false,"cancelled":true}"#,
                Ending::Cancelled(Stop::Abandoned, None),
            ),
            (
                r#"{"success":false,"cancelled":true,"metadata":{"stop":"dropped"}}"#,
                Ending::Cancelled(Stop::Dropped, None),
            ),
            (failed, Ending::Failed("TIMEOUT".into())),
            (r#"{}"#, Ending::Failed("OPERATION_FAILED".into())),
            (r#"{"succ\u0065ss":true}"#, Ending::Completed),
            (r#"{"success":false,"success":true}"#, Ending::Completed),
            (
                r#"{"error":{"code":"A"},"error":{}}"#,
                Ending::Failed("OPERATION_FAILED".into()),
            ),
        ] {
            let said = said(payload);
            assert_eq!(ending_of(&said, said.grade), ending, "{payload}");
        }
    }
}
