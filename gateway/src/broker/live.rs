//! Calls that are not over. All that hangs on a call is here, and ends with it.

use std::collections::hash_map::Entry::Occupied;
use std::sync::Arc;

use super::call::{OwnRequest, Reply};
use super::deadlines::Due;
use super::{Broker, PeerId, Sink};
use crate::broker::runs::{Ending, RunId};
use caphost::call::Millis;

/// A call that is not over: its run has not ended, or the app has not answered it yet.
pub(super) struct Live {
    /// The agent of the call.
    pub agent: PeerId,
    /// The callId.
    pub call_id: Arc<str>,
    /// The number under which the call went to the app. `None` while the call waits for its session to open.
    pub issued: Option<u64>,
    /// The token of its progress, if that is not the callId.
    pub token: Option<Arc<str>>,
    /// The caller, if this is a call of the gateway itself and its run has not ended.
    pub own: Option<OwnCall>,
    /// The agent's cancel of the call, unless the app has refused that.
    pub cancelling: Option<Cancelling>,
    /// The cancel by somebody other than the agent that the app has not answered, if there is any.
    pub revoking: Option<Revoking>,
    /// Until when the app is to answer the call, once it has confirmed the cancel.
    pub response: Option<Millis>,
    /// The deadline that is set.
    due: Option<Millis>,
}

/// The caller's half of a call of the gateway itself.
#[derive(Debug)]
pub(super) struct OwnCall {
    /// Where the steps of the call go.
    pub sink: Sink,
    /// What the app gets, until the call is sent.
    pub request: Option<Box<OwnRequest>>,
    /// When the app should have cancelled the call at its timeout, and answered it.
    pub timeout: Option<Millis>,
    /// The gateway has cancelled the call at its timeout.
    pub is_overdue: bool,
}

/// A cancel of a call by its agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cancelling {
    /// The number it was passed on with.
    pub issued: u64,
    /// Until then others join it.
    pub until: Millis,
}

/// A cancel of a call by somebody else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Revoking {
    /// The number it was passed on with. Those who have asked for it wait for its answer.
    pub issued: u64,
    /// Until then others join it.
    pub until: Millis,
    /// Somebody has joined it: it is sent again if the app has not answered by then.
    pub is_joined: bool,
}

impl Live {
    /// A call of an agent that nobody has cancelled.
    pub fn new(agent: PeerId, call_id: Arc<str>, token: Option<Arc<str>>) -> Self {
        Live {
            agent,
            call_id,
            issued: None,
            token,
            own: None,
            cancelling: None,
            revoking: None,
            response: None,
            due: None,
        }
    }

    /// A call of the gateway itself, in that session.
    pub fn of_own(session: PeerId, call_id: Arc<str>, (request, sink): (OwnRequest, Sink)) -> Self {
        Live {
            own: Some(OwnCall {
                sink,
                request: Some(request.into()),
                timeout: None,
                is_overdue: false,
            }),
            ..Live::new(session, call_id, None)
        }
    }

    /// Whether the app has the call.
    pub fn is_sent(&self) -> bool {
        self.issued.is_some()
    }

    /// When the gateway stops waiting for the answer to a cancel, if it waits.
    fn confirmation(&self) -> Option<Millis> {
        let cancel = self.own.as_ref().and(self.cancelling);
        cancel.map(|cancel| cancel.until)
    }

    /// When the app should have ended the call at its timeout.
    fn timeout(&self) -> Option<Millis> {
        self.own.as_ref()?.timeout
    }

    /// When a cancel is sent again.
    fn again(&self) -> Option<Millis> {
        let joined = self.revoking.filter(|it| it.is_joined);
        joined.map(|revoking| revoking.until)
    }

    /// The next deadline of the call.
    fn next(&self) -> Option<Millis> {
        let timeout = self.timeout();
        let all = [self.response, self.confirmation(), timeout, self.again()];
        all.into_iter().flatten().reduce(Millis::min)
    }
}

impl Broker {
    /// The call has changed: its deadline may be another.
    pub(super) fn reschedule(&mut self, run: RunId) {
        if let Some(call) = self.live.get_mut(&run) {
            let at = call.next();
            let before = std::mem::replace(&mut call.due, at);
            self.deadlines.change(Due::Call(run), before, at);
        }
    }

    /// The deadline of a call has passed.
    pub(super) fn call_due(&mut self, run: RunId) {
        let now = self.now.monotonic_ms;
        let Some(call) = self.live.get_mut(&run) else {
            return;
        };
        call.due = None;
        let is_past = |at: Option<Millis>| at.is_some_and(|at| at <= now);
        if is_past(call.response) {
            return self.response_overdue(run);
        }
        if is_past(call.confirmation()) {
            return self.own_unanswered(run);
        }
        let again = is_past(call.again());
        if is_past(call.timeout()) {
            self.own_timed_out(run);
        }
        if again {
            self.revoke_again(run);
        }
        self.reschedule(run);
    }

    /// The app has answered a call, or never will: all that hangs on the call ends with it.
    pub(super) fn run_over(
        &mut self,
        run: RunId,
        ending: Ending,
        reply: impl FnOnce() -> Option<Reply>,
    ) {
        let Some(call) = self.live.remove(&run) else {
            // The broker waits for the answer no longer, and the run may still have no known outcome.
            return self.finish(run, None, ending, reply);
        };
        self.deadlines.change(Due::Call(run), call.due, None);
        let mut is_last = false;
        if let Some(agent) = self.agents.get_mut(&call.agent) {
            if agent.is_connected() && call.is_sent() {
                agent.over.insert(call.call_id.clone(), run);
            }
            // A later call may have the same callId, and use the same token.
            let is_its = |it: &RunId| *it == run;
            if let Occupied(entry) = agent.calls.entry(call.call_id)
                && is_its(entry.get())
            {
                entry.remove();
            }
            if let Some(Occupied(entry)) = call.token.map(|token| agent.tokens.entry(token))
                && is_its(entry.get())
            {
                entry.remove();
            }
            is_last = agent.left && agent.pending.calls().next().is_none();
        }
        let own = call.own.map(|own| (call.agent, own.sink));
        self.finish(run, own, ending, reply);
        if is_last {
            self.leave(call.agent);
        }
    }

    /// Ends a run, unless it has already ended. The app may still have to answer the call. `reply` is for a
    /// caller of the gateway itself, whose call is not cancelled.
    pub(super) fn end_run(
        &mut self,
        run: RunId,
        ending: Ending,
        reply: impl FnOnce() -> Option<Reply>,
    ) {
        match self.live.get_mut(&run) {
            // It never went to the app, and now it never will.
            Some(call) if !call.is_sent() => self.run_over(run, ending, reply),
            Some(call) => {
                let own = call.own.take().map(|own| (call.agent, own.sink));
                self.reschedule(run);
                self.finish(run, own, ending, reply);
            }
            None => self.finish(run, None, ending, reply),
        }
    }

    fn finish(
        &mut self,
        run: RunId,
        own: Option<(PeerId, Sink)>,
        ending: Ending,
        reply: impl FnOnce() -> Option<Reply>,
    ) {
        let ended = self.runs.end(run, ending, self.now.unix_ms);
        if let (Some(ended), Some((session, sink))) = (ended, own) {
            let reply = if ended.stop().is_some() {
                None
            } else {
                reply()
            };
            self.tell_end(session, sink, ended, reply);
        }
    }
}

#[cfg(test)]
impl Broker {
    /// Whether each deadline of a call is that of a call that is not over.
    pub(super) fn is_tidy(&self) -> bool {
        let due = self.live.values().filter(|call| call.due.is_some());
        due.count() == self.deadlines.calls()
    }
}
