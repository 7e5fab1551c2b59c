//! Cancels of calls. All cancels of a call are one, whoever asks: the agent, a front for its client, an
//! operator, the gateway itself. The app is asked in the agent's name, under an id of the broker, and decides.
//! Who asks while the app has not answered joins those who wait.

use std::sync::Arc;

use serde_json::Value;

use super::calls::outcome::{
    ANSWERED_WITH_ERROR, CancelOutcome, cancel_failed, cancel_payload, not_cancelled, unconfirmed,
};
use super::calls::{AbpError, Asker, Cancelling, Live, RunId};
use super::message::Cancel;
use super::requests::{About, Asked, Unsent, over, too_many_bytes};
use super::sessions::pending::{AnswerTo, Entry};
use super::{Broker, PeerId, Seat};
use crate::wire::stops::Grade;
use crate::wire::{Envelope, Failure, Request, Said};
use caphost::call::{Code, Error, Stop};

/// The largest number of an agent's cancels of calls that wait for answers.
const WAITING: usize = 1_024;

impl Broker {
    /// An agent cancels a call of its own. Returns false if its app is asked as for any other request, because
    /// the broker knows no such call, or the app may know more of it.
    pub(super) fn agent_cancels(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'_>,
        cancel: &Cancel<'_>,
    ) -> Result<bool, Unsent> {
        // The worker of an agent keeps the agent's runs.
        let agent = self.sessions.get(&peer).filter(|agent| agent.is_here());
        let call_id = cancel.call_id.as_deref().unwrap_or_default();
        let run = self.calls.of(peer, call_id);
        let (Some(agent), Some(run)) = (agent, run) else {
            return Ok(false);
        };
        if let Some(outcome) = self.outcome_of_ended(run) {
            // Of work that it has abandoned the app may know more. A tool server is asked: its ended call may go
            // on as a subscription.
            let app = agent.app.and_then(|app| self.apps.get(&app));
            let is_app = app.is_some_and(|app| app.seat != Seat::Own);
            let may_know_more = !is_app || outcome.stop == Some(Stop::Abandoned);
            return match may_know_more && !self.calls.has_skipped(peer, call_id) {
                true => Ok(false),
                false => Err(Unsent::Known(Box::new(outcome))),
            };
        }
        let Some(call) = self.calls.live(run) else {
            return Ok(false);
        };
        if call.cancel.is_some() {
            self.may_join(peer, envelope.id)?;
        }
        let id: Option<Arc<str>> = envelope.id.map(Arc::from);
        if let Some(agent) = self.sessions.get_mut(&peer) {
            agent.pending.wait(id.as_ref());
        }
        let reason = cancel.reason.as_deref();
        self.cancel_as(run, Asker::Agent(id), reason, Some(envelope));
        Ok(true)
    }

    /// Whether one more cancel of an agent may wait. For the first cancel of a call there is always room.
    fn may_join(&self, peer: PeerId, id: Option<&str>) -> Result<(), Failure> {
        let Some(agent) = self.sessions.get(&peer) else {
            return Ok(());
        };
        if agent.pending.waiting() >= WAITING {
            let message = format!("{WAITING} cancels of calls wait for answers");
            return Err(over("inFlight", WAITING, message));
        }
        let used = self
            .sessions
            .unanswered(&agent.profile.owner.name, Request::Cancel)
            .bytes;
        let max = self.limits.retention.bytes;
        if !self.tokens.is_empty() && used + id.map_or(0, str::len) > max {
            return Err(too_many_bytes(max));
        }
        Ok(())
    }

    /// Somebody asks to cancel a call.
    pub(super) fn cancel(&mut self, run: RunId, asker: Asker, reason: Option<&str>) {
        self.cancel_as(run, asker, reason, None);
    }

    /// [`cancel`](Self::cancel) with the message of the agent that asks, if one does.
    fn cancel_as(
        &mut self,
        run: RunId,
        asker: Asker,
        reason: Option<&str>,
        message: Option<&Envelope<'_>>,
    ) {
        let (now, grace) = (self.now, self.grace());
        let known = match self.calls.get(run) {
            None => Some(not_cancelled("Operation not found")),
            Some(_) if self.is_unknown(run) => Some(self.outcome_unknown(run)),
            Some(_) => self.outcome_of_ended(run),
        };
        let live = self.calls.live(run);
        let (Some(live), None) = (live, &known) else {
            let outcome = known.unwrap_or_else(unconfirmed);
            return tell([asker], &outcome);
        };
        let (agent, is_sent) = (live.agent, live.is_sent());
        self.calls.cancel_requested(run, reason, now.unix_ms);
        if !is_sent {
            // The call was not sent, and now it never will be.
            let stop = Stop::NeverStarted;
            tell([asker], &CancelOutcome::confirmed(stop.into()));
            return self.run_cancelled(run, stop.into());
        }
        let before = self.calls.change(run, |call| {
            if matches!(asker, Asker::Caller) {
                call.give_up.get_or_insert(now.monotonic_ms + grace);
            }
            match &mut call.cancel {
                // The app may still answer the one before, which answers this one too.
                Some(before)
                    if now.monotonic_ms < before.until
                        && before.by[usize::from(asker.is_other())] =>
                {
                    before.is_joined |= matches!(asker, Asker::Other(_));
                    before.askers.extend(Some(asker).filter(Asker::waits));
                    None
                }
                before => Some((before.take(), asker)),
            }
        });
        match before.flatten() {
            Some((before, asker)) => {
                let (mut askers, mut by) = (Vec::new(), [false; 2]);
                if let Some(before) = before {
                    self.give_up(agent, before.issued);
                    (askers, by) = (before.askers, before.by);
                }
                by[usize::from(asker.is_other())] = true;
                askers.push(asker);
                askers.retain(Asker::waits);
                self.send_cancel(agent, run, (askers, by), reason, message);
            }
            None => self.count_cancel(agent, run),
        }
    }

    /// Sends a cancel to the app of its call.
    fn send_cancel(
        &mut self,
        agent: PeerId,
        run: RunId,
        (askers, by): (Vec<Asker>, [bool; 2]),
        reason: Option<&str>,
        message: Option<&Envelope<'_>>,
    ) {
        let app = self.app_of(agent);
        let (Some(app), Some(call_id)) = (app, self.calls.get(run).map(|run| run.call_id.clone()))
        else {
            return;
        };
        let issued = self.issue();
        let until = self.now.monotonic_ms + self.grace();
        self.calls.change(run, |call| {
            call.cancel = Some(Cancelling {
                issued,
                until,
                is_joined: false,
                by,
                askers,
            });
        });
        let made = cancel_payload(&call_id, reason);
        let json = Value::from(&*call_id).to_string();
        let asked = Asked {
            request: Request::Cancel,
            answer_to: AnswerTo::Nobody,
            payload: message.and_then(|it| it.payload).unwrap_or(&made),
            shared: message.and_then(|it| it.shared),
            timestamp: message.and_then(|it| it.timestamp),
            call_id: Some(&json),
            about: About::Cancel(Cancel {
                call_id: Some((&*call_id).into()),
                reason: reason.map(Into::into),
            }),
        };
        self.pass_on(agent, app, asked, issued, Some(run), 0);
        self.count_cancel(agent, run);
    }

    /// Counts a cancel for its agent, if that waits.
    fn count_cancel(&mut self, agent: PeerId, run: RunId) {
        let cancel = self.calls.live(run).and_then(|call| call.cancel.as_ref());
        if let Some(cancel) = cancel {
            self.sessions.count(agent, cancel.issued, cancel.amount());
        }
    }

    /// The app has answered a cancel of a call. `grade` says how far it has seen the stop.
    pub(super) fn cancel_answered(
        &mut self,
        agent: PeerId,
        run: RunId,
        entry: &mut Entry,
        (said, grade): (&Said<'_>, Grade),
    ) {
        let is_own = self
            .sessions
            .get(&agent)
            .is_some_and(|agent| agent.internal.is_some());
        let is_lost = is_own && said.code.as_deref().is_some_and(Code::says_no_session);
        if is_lost && self.is_closing(agent) {
            // The answer to the shutdown will tell what became of the call.
            return;
        }
        // The end of the run counts, whatever the app says later.
        let outcome = self.outcome_of_ended(run);
        let outcome = outcome.unwrap_or_else(|| match said.cancelled {
            true => CancelOutcome::confirmed(grade),
            false => {
                let error = said.error.as_ref().map(|_| AbpError::said(said, None));
                let reason = said.reason.as_deref().map(str::to_string);
                let reason = reason.or_else(|| error.as_ref().map(|_| ANSWERED_WITH_ERROR.into()));
                CancelOutcome::refused(reason, error)
            }
        });
        self.settle_cancel(agent, run, entry, &outcome, said.cancelled);
        if said.cancelled {
            return self.run_cancelled(run, grade);
        }
        self.calls.cancel_refused(run);
        if is_lost && self.is_calling(agent) {
            self.gone(agent);
        }
    }

    /// The app will not answer a cancel of a call.
    pub(super) fn cancel_lost(
        &mut self,
        agent: PeerId,
        run: RunId,
        entry: &mut Entry,
        (reason, error): (&str, &Failure),
    ) {
        let known = self.outcome_of_ended(run);
        let outcome = known.unwrap_or_else(|| cancel_failed(reason, error.clone()));
        self.settle_cancel(agent, run, entry, &outcome, false);
    }

    /// Tells those who have asked for a cancel its outcome. The agent gets the answer to that entry, which is
    /// the app's own.
    fn settle_cancel(
        &mut self,
        agent: PeerId,
        run: RunId,
        entry: &mut Entry,
        outcome: &CancelOutcome,
        is_confirmed: bool,
    ) {
        let issued = entry.issued;
        // A confirmation answers all cancels of the call. What refuses an earlier one says nothing of the last.
        let settled = self.calls.change(run, |call| {
            let cancel = call
                .cancel
                .take_if(|it| is_confirmed || it.issued == issued)?;
            call.give_up = None;
            Some(cancel)
        });
        let mut askers = entry.answer_to.take_askers();
        if settled.is_none() && is_confirmed {
            // The call is over. Those who have asked last may still wait.
            let agent_of = self.sessions.get(&agent);
            let last = agent_of.and_then(|it| it.pending.cancel_of(run));
            if let Some(mut last) = last.and_then(|issued| self.give_up(agent, issued)) {
                askers.extend(last.answer_to.take_askers());
            }
        }
        if let Some(cancel) = settled.flatten() {
            if cancel.issued != issued {
                self.give_up(agent, cancel.issued);
            }
            for asker in &cancel.askers {
                self.answered(agent, asker);
            }
            askers.extend(cancel.askers);
        }
        let (agents, others): (Vec<_>, Vec<_>) = askers
            .into_iter()
            .partition(|asker| matches!(asker, Asker::Agent(_)));
        if !agents.is_empty() {
            entry.answer_to = AnswerTo::Askers(agents.into());
        }
        tell(others, outcome);
    }

    /// A call is over. Its agent waits for the app's own answer to the cancel. Others are told how the call has
    /// ended, and wait too if nobody knows that.
    pub(super) fn tell_askers(&mut self, run: RunId, call: Live) {
        let Some(cancel) = call.cancel else { return };
        let mut askers = cancel.askers;
        for asker in &askers {
            self.answered(call.agent, asker);
        }
        if let Some(outcome) = self.outcome_of_ended(run) {
            let others = askers.extract_if(.., |it| it.is_other());
            tell(others, &outcome);
        }
        askers.retain(Asker::waits);
        if askers.is_empty() {
            self.give_up(call.agent, cancel.issued);
        } else if let Some(agent) = self.sessions.get_mut(&call.agent) {
            let bytes = agent.pending.hand(cancel.issued, askers);
            if let Some(app) = agent.app.and_then(|app| self.apps.get_mut(&app)) {
                app.give_up(&agent.profile.owner.name, bytes);
            }
        }
    }

    /// An agent that has asked for the cancel of a call is about to be told its outcome.
    fn answered(&mut self, agent: PeerId, asker: &Asker) {
        if let (Asker::Agent(id), Some(agent)) = (asker, self.sessions.get_mut(&agent)) {
            agent.pending.answered(id.as_ref());
        }
    }

    /// The answer to a cancel of a run that has ended with an unknown outcome.
    fn outcome_unknown(&self, run: RunId) -> CancelOutcome {
        let code = self.calls.get(run).and_then(|run| run.error.clone());
        let code = code.map_or(Code::DISCONNECTED, Code::from);
        let message = "Nobody was asked: the run had ended before, and its outcome is not known";
        let mut error = Error::new(code, message);
        // A repeated cancel asks nobody either.
        error.retryable = false;
        cancel_failed("The run has ended, and its outcome is not known", error)
    }
}

/// Tells those who are not agents on sockets the outcome of their cancel.
fn tell(askers: impl IntoIterator<Item = Asker>, outcome: &CancelOutcome) {
    for asker in askers {
        if let Asker::Other(waiter) = asker {
            // Some wait no longer.
            let _ = waiter.send(outcome.clone());
        }
    }
}
