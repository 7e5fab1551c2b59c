//! One call of the gateway itself, from its start to its end.

use std::sync::Arc;

use super::{OwnSession, Phase};
use crate::broker::call::{NewOwnCall, NewSession, Reply, Step, cancel_payload};
use crate::broker::live::{Live, OwnCall};
use crate::broker::message::Cancel;
use crate::broker::pending::Entry;
use crate::broker::requests::About;
use crate::broker::runs::{Run, RunId};
use crate::broker::{Broker, PeerId, Sink};
use crate::wire::{Failure, Json, Request};
use caphost::call::{Code, Error, LateEnd, Millis, Stop};

/// How long past its timeout a call is left to the app, in milliseconds. Then the gateway cancels the call,
/// because some apps keep no timeouts.
const SLACK_MS: Millis = 100.0;

impl Broker {
    /// Makes a call: registers its run, and opens the session if it is not open.
    pub(in crate::broker) fn own_call(
        &mut self,
        session: PeerId,
        client: &NewSession,
        call: NewOwnCall,
    ) {
        let (run, call_id) = (call.run.id, call.run.call_id.clone());
        if let Some(ended) = self.runs.register(call.run, self.now.unix_ms) {
            return self.tell_end(session, call.sink, ended, None);
        }
        let live = Live::of_own(session, call_id, (call.request, call.sink));
        self.live.insert(run, live);
        match self.own_session(session) {
            Some(OwnSession {
                phase: Phase::Opening(calls),
                ..
            }) => calls.push(run),
            Some(_) => self.send_own(session, run),
            None => self.open_own(session, client, run),
        }
    }

    /// Sends a call in its open session.
    pub(super) fn send_own(&mut self, session: PeerId, run: RunId) {
        let own = self.own_call_mut(run);
        let Some(call) = own.and_then(|own| own.request.take()) else {
            return;
        };
        let sent = self.own_request(
            session,
            Request::Call,
            &call.payload,
            About::OwnCall(run, &call),
        );
        if let Err(error) = sent {
            return self.fail_own(run, error);
        }
        let slack = SLACK_MS.min(self.grace());
        let until = call.timeout.map(|it| self.now.monotonic_ms + it + slack);
        if let Some(own) = self.own_call_mut(run) {
            own.timeout = until;
            self.reschedule(run);
        }
    }

    /// The app should have ended a call at its timeout. The gateway asks for that, and then waits only a
    /// little longer.
    pub(in crate::broker) fn own_timed_out(&mut self, run: RunId) {
        let until = self.now.monotonic_ms + (self.grace() - SLACK_MS).max(0.0);
        let Some(own) = self.own_call_mut(run) else {
            return;
        };
        if own.is_overdue {
            return self.own_unanswered(run);
        }
        own.is_overdue = true;
        own.timeout = Some(until);
        self.own_cancel(run, None);
    }

    /// The caller cancels its call. If the app does not tell the outcome in time, the gateway stops waiting
    /// for the call. Until then, further cancels join this one.
    pub(in crate::broker) fn own_cancel(&mut self, run: RunId, reason: Option<String>) {
        let call = self.live.get(&run).filter(|call| call.own.is_some());
        let Some(call) = call.filter(|call| call.cancelling.is_none()) else {
            return;
        };
        let (session, call_id) = (call.agent, call.call_id.clone());
        if !call.is_sent() {
            // The call was not sent, and now it never will be.
            let (reason, now) = (reason.as_deref(), self.now.unix_ms);
            self.runs.cancel_requested(run, reason, now);
            return self.run_cancelled(run, Stop::NeverStarted.into());
        }
        let payload = cancel_payload(&call_id, reason.as_deref()).into();
        let cancel = Cancel {
            call_id: Some((&*call_id).into()),
            reason: reason.map(Into::into),
        };
        let about = About::Cancel(cancel);
        // No bound refuses a cancel. Without an app the call ends with the app.
        let _ = self.own_request(session, Request::Cancel, &payload, about);
    }

    /// The app has answered a cancel of a call, with that error if there was any. A call that is not over now
    /// goes on.
    pub(super) fn own_cancel_answered(
        &mut self,
        session: PeerId,
        entry: &Entry,
        error: Option<&Reply>,
    ) {
        let code = error.and_then(Reply::code);
        let is_lost = code.is_some_and(|code| Code::says_no_session(&code));
        if is_lost && self.is_closing(session) {
            // The answer to the shutdown will tell what became of the call.
            return;
        }
        if let Some(run) = entry.run {
            self.cancel_over(run);
        }
        if is_lost && self.is_calling(session) {
            self.gone(session);
        }
    }

    /// The app has not answered a call or its cancel in time. A late answer still settles the run.
    pub(in crate::broker) fn own_unanswered(&mut self, run: RunId) {
        let Some(call) = self.live.get(&run) else {
            return;
        };
        let session = call.agent;
        let cancel = call.cancelling.map(|cancel| cancel.issued);
        for issued in [cancel, call.issued].into_iter().flatten() {
            let entry = self.give_up(session, issued);
            if let (Some(app), Some(entry)) = (self.app_of(session), entry) {
                self.keep_given_up(app, session, entry);
            }
        }
        let message = "The app gave no answer in time: the outcome is unknown";
        let reply = Reply::Failed(Error::new(Code::TIMEOUT, message));
        self.run_over(run, reply.ending(), || Some(reply));
    }

    /// Progress of a call.
    pub(in crate::broker) fn own_progress(&mut self, session: PeerId, operation: &str, info: Json) {
        let agent = self.agents.get(&session);
        if let Some(run) = agent.and_then(|agent| agent.calls.get(operation).copied())
            && let Some(own) = self.own_call_mut(run)
        {
            own.sink.push(Step::Progress(info));
        }
    }

    /// The handler of an abandoned call has ended.
    pub(in crate::broker) fn own_ended_late(
        &mut self,
        session: PeerId,
        call_id: &str,
        end: LateEnd,
    ) {
        let own = self.own_session(session);
        if let Some(sink) = own.and_then(|own| own.abandoned.remove(call_id)) {
            sink.push(Step::Late(end));
        }
    }

    /// The agent's cancel of a call is answered, and the call goes on unless it has ended.
    pub(in crate::broker) fn cancel_over(&mut self, run: RunId) {
        if let Some(call) = self.live.get_mut(&run) {
            call.cancelling = None;
            self.reschedule(run);
        }
    }

    fn own_call_mut(&mut self, run: RunId) -> Option<&mut OwnCall> {
        self.live.get_mut(&run)?.own.as_mut()
    }

    /// Tells a caller the end of its call, and later how the handler of an abandoned call has ended.
    pub(in crate::broker) fn tell_end(
        &mut self,
        session: PeerId,
        sink: Sink,
        ended: Arc<Run>,
        reply: Option<Reply>,
    ) {
        let is_abandoned = ended.stop() == Some(Stop::Abandoned);
        let call_id = ended.call_id.clone();
        sink.push(Step::Ended(ended, reply));
        if let Some(own) = self.own_session(session).filter(|_| is_abandoned) {
            own.abandoned.insert(call_id, sink);
        }
    }

    pub(super) fn fail_own(&mut self, run: RunId, error: Failure) {
        let reply = Reply::Failed(error);
        self.end_run(run, reply.ending(), || Some(reply));
    }
}
