//! One call of the gateway itself, from its start to its end.

use super::{OwnSession, Phase};
use crate::broker::call::{NewOwnCall, NewSession, cancel_payload};
use crate::broker::calls::{Live, Reply, RunId};
use crate::broker::message::Cancel;
use crate::broker::pending::Entry;
use crate::broker::requests::About;
use crate::broker::{Broker, PeerId, Seat};
use crate::wire::{Failure, Request};
use caphost::call::{Code, Error, Millis, Stop};

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
        let run = call.run.id;
        let live = Live::new(session, None, Some(call.request));
        let ended = self
            .calls
            .enter(call.run, live, Some(call.sink), self.now.unix_ms);
        if ended.is_some() {
            return;
        }
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
        let request = self.calls.change(run, |call| call.request.take());
        let Some(call) = request.flatten() else {
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
        self.calls.change(run, |call| call.timeout = until);
    }

    /// The app should have ended a call at its timeout. The gateway asks for that, and then waits only a
    /// little longer.
    pub(in crate::broker) fn own_timed_out(&mut self, run: RunId) {
        let until = self.now.monotonic_ms + (self.grace() - SLACK_MS).max(0.0);
        let before = self.calls.change(run, |call| {
            call.timeout = Some(until);
            std::mem::replace(&mut call.is_overdue, true)
        });
        match before {
            Some(true) => self.own_unanswered(run),
            _ => self.own_cancel(run, None),
        }
    }

    /// The caller cancels its call. If the app does not tell the outcome in time, the gateway stops waiting
    /// for the call. Until then, further cancels join this one.
    pub(in crate::broker) fn own_cancel(&mut self, run: RunId, reason: Option<String>) {
        let (Some(call), Some(known)) = (self.calls.live(run), self.calls.get(run)) else {
            return;
        };
        if call.cancelling.is_some() || known.state.is_over() {
            return;
        }
        let (session, call_id) = (call.agent, known.call_id.clone());
        if !call.is_sent() {
            // The call was not sent, and now it never will be.
            let (reason, now) = (reason.as_deref(), self.now.unix_ms);
            self.calls.cancel_requested(run, reason, now);
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
        let Some(call) = self.calls.live(run) else {
            return;
        };
        let session = call.agent;
        let cancel = call.cancelling.map(|cancel| cancel.issued);
        for issued in [cancel, call.issued].into_iter().flatten() {
            let entry = self.give_up(session, issued);
            if let (Some(app), Some(entry)) = (self.app_of(session), entry) {
                self.keep_given_up(app, session, entry, Seat::Own);
            }
        }
        let message = "The app gave no answer in time: the outcome is unknown";
        let reply = Reply::Failed(Error::new(Code::TIMEOUT, message));
        self.run_over(run, reply.ending(), || Some(reply));
    }

    /// The agent's cancel of a call is answered, and the call goes on unless it has ended.
    pub(in crate::broker) fn cancel_over(&mut self, run: RunId) {
        self.calls.change(run, |call| call.cancelling = None);
    }

    pub(super) fn fail_own(&mut self, run: RunId, error: Failure) {
        let reply = Reply::Failed(error);
        self.end_run(run, reply.ending(), || Some(reply));
    }
}
