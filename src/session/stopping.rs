//! Stopping calls, from the moment their handlers are told to the moment the stop is known.
//!
//! A handler whose stop takes effect at once, such as a dropped future, and one that has not begun,
//! end here and now. One that can only be told is given its settle grace to end; its call stays in
//! flight until then, and everybody who cancels it meanwhile waits for the one outcome. One that can
//! be ended from outside is so after its grace, and stays in flight until that is proven, or until
//! the time for the proof is over.

use std::rc::Rc;

use super::state::{DeadlineOf, Phase};
use super::{CancelKey, ConnectionId, HostState};
use crate::call::{CallKey, Error, Millis, Outcome, Step, Stop, StoppedBy};
use crate::capability::Ending;
use crate::session::Action;

/// What is known of a call that is being stopped.
#[derive(Default)]
pub(super) struct Stopping {
    pub reason: Option<Rc<str>>,
    /// Whether its handler knows: it has taken its signal, or this cancel has ended a call or a
    /// question of it.
    pub told: bool,
    /// How far the stop of its own handler was seen, once that is known.
    pub own: Option<Stop>,
    /// The weakest of the calls below it that were stopped with it.
    pub below: Option<Stop>,
    /// When it was told.
    since: Millis,
    /// What has reached its handler, if that can be ended from outside.
    step: Option<Step>,
}

/// Who waits for the outcome of a cancel.
pub(super) enum Asker<P> {
    /// An agent, under the id of its request; the callId as it was written.
    Agent(ConnectionId, Option<P>, P),
    /// The app itself.
    App(CancelKey),
}

impl<P: Clone, H: Clone> HostState<P, H> {
    /// Cancels a call and everything below it. All handlers are told before anything is said of
    /// any of the calls, those at the leaves first.
    pub(super) fn cancel_tree(&mut self, key: CallKey, reason: Option<&Rc<str>>, now: Millis) {
        let keys = self.leaves_first(key);
        for &key in &keys {
            self.tell(key, reason, now);
        }
        for key in keys {
            let own = self.calls.get(&key).and_then(|call| call.stopping.own);
            if own == Some(Stop::Abandoned) {
                // Nothing is waited for, not even what it has started.
                self.grace_is_over(key, now);
            } else {
                self.finish_if_known(key, now);
            }
        }
    }

    /// Cancels every call of a connection.
    pub(super) fn cancel_all(
        &mut self,
        connection: ConnectionId,
        reason: Option<&Rc<str>>,
        now: Millis,
    ) {
        for key in self.calls_where(|call| call.connection == connection) {
            self.cancel_tree(key, reason, now);
        }
    }

    /// Has the handler of one call stopped, unless that is under way.
    fn tell(&mut self, key: CallKey, reason: Option<&Rc<str>>, now: Millis) {
        let Some(call) = self.calls.get_mut(&key) else {
            return;
        };
        if call.phase == Phase::Stopping {
            return;
        }
        let began = call.phase == Phase::Running;
        let (own, grace) = match call.capability.descriptor.ending {
            _ if !began => (Some(Stop::NeverStarted), 0.0),
            // It was ended before it could be told.
            _ if call.stopping.own.is_some() => (call.stopping.own, 0.0),
            Ending::AtOnce => (Some(Stop::Dropped), 0.0),
            Ending::Told { grace } if grace <= 0.0 => (Some(Stop::Abandoned), 0.0),
            Ending::Told { grace } | Ending::Forced { grace, .. } => (None, grace),
        };
        let questions = std::mem::take(&mut call.elicitations);
        self.tell_progress(key);
        self.stop_waiting(key);
        if let Some(call) = self.calls.get_mut(&key) {
            call.phase = Phase::Stopping;
            call.stopping = Stopping {
                reason: reason.cloned(),
                told: !questions.is_empty(),
                own,
                since: now,
                ..Stopping::default()
            };
            if own.is_none() {
                call.deadlines += 1;
            }
        }
        if began {
            let reason = reason.cloned();
            self.actions.push_back(Action::Stop { key, reason });
        }
        for question in questions {
            self.withdraw(question);
        }
        if own.is_none() {
            self.deadlines.insert(now + grace, DeadlineOf::Settle(key));
        }
    }

    /// A handler that is told to stop, and that can be ended from outside, knows of it by now; or,
    /// without a step, it has ended already, and what goes on after it cannot be ended.
    pub fn reached(&mut self, key: CallKey, step: Option<Step>) {
        let call = self.calls.get_mut(&key);
        if let Some(call) = call.filter(|it| it.phase == Phase::Stopping) {
            call.stopping.told = true;
            call.stopping.step = step;
        }
    }

    /// The handler of a call that is being stopped has ended. `told` says that it has taken its
    /// signal.
    pub(super) fn settle_stopping(
        &mut self,
        key: CallKey,
        result: Result<P, Error<P>>,
        told: bool,
        now: Millis,
    ) {
        let Some(call) = self.calls.get_mut(&key) else {
            return;
        };
        call.stopping.told |= told;
        match result {
            // It never knew, and has done all of it.
            Ok(data) if !call.stopping.told => self.finish(key, Outcome::Completed(data), now),
            _ => {
                call.stopping.own = Some(Stop::Returned);
                self.finish_if_known(key, now);
            }
        }
    }

    /// The shell knows, now that it was told to stop a handler, how far that is seen to.
    pub fn stopped(&mut self, key: CallKey, stop: Stop, now: Millis) {
        let Some(call) = self.calls.get_mut(&key) else {
            // It was ended, but the proof of that has come too late.
            if self.is_abandoned(key) && stop != Stop::Abandoned {
                self.settle_late(key, false, now);
            }
            return;
        };
        if call.phase != Phase::Stopping {
            return;
        }
        call.stopping.own.get_or_insert(stop);
        if stop == Stop::Abandoned {
            self.grace_is_over(key, now);
        } else {
            self.finish_if_known(key, now);
        }
    }

    /// What ran a handler was ended from outside, for certain: it goes no further, and never
    /// settles. Its call is cancelled, unless that is under way; and so is the one it was ended for,
    /// `cancelled`, if that has made it.
    pub fn terminated(&mut self, key: CallKey, cancelled: &str, reason: &Rc<str>, now: Millis) {
        // What would have started in that job has its turn with the next.
        self.turn = 0;
        let Some(call) = self.calls.get_mut(&key) else {
            return self.settle_late(key, false, now);
        };
        match call.phase {
            Phase::Running => {
                call.stopping.own = Some(Stop::Terminated);
                let root = self.ancestor(key, cancelled).unwrap_or(key);
                self.cancel_tree(root, Some(reason), now);
            }
            _ => self.stopped(key, Stop::Terminated, now),
        }
    }

    /// A handler has stopped by itself: what it started is stopped with it.
    pub(super) fn stopped_itself(&mut self, key: CallKey, now: Millis) {
        let Some(call) = self.calls.get_mut(&key) else {
            return;
        };
        let ended_at_once = call.capability.descriptor.ending == Ending::AtOnce;
        let children = call.children.clone();
        call.phase = Phase::Stopping;
        call.stopping = Stopping {
            told: true,
            own: Some(if ended_at_once {
                Stop::Dropped
            } else {
                Stop::Returned
            }),
            since: now,
            ..Stopping::default()
        };
        for child in children {
            self.cancel_tree(child, Some(&PARENT_ENDED.into()), now);
        }
        self.finish_if_known(key, now);
    }

    /// Ends a call whose handler has stopped, once everything below it has, too.
    fn finish_if_known(&mut self, key: CallKey, now: Millis) {
        if let Some(seen) = self.known_stop(key) {
            self.finish(key, Outcome::Cancelled(seen), now);
        }
    }

    /// How far the stop of a call was seen, once nothing of it is waited for.
    pub(super) fn known_stop(&self, key: CallKey) -> Option<Stop> {
        let call = self.calls.get(&key)?;
        let waits = call.phase != Phase::Stopping || !call.children.is_empty();
        let own = call.stopping.own.filter(|_| !waits)?;
        Some(call.stopping.below.map_or(own, |below| below.max(own)))
    }

    /// The time that was given is over: for the handler to end, or for the proof of its end.
    pub(super) fn time_is_over(&mut self, key: CallKey, now: Millis) {
        if let Some(proof) = self.force(key) {
            self.deadlines.insert(now + proof, DeadlineOf::Settle(key));
        } else if !self.waits_for_proofs(key) {
            self.grace_is_over(key, now);
        }
    }

    /// Has a handler ended from outside that has not ended by itself: how long the proof is waited
    /// for. Once, and only where that can be done.
    fn force(&mut self, key: CallKey) -> Option<Millis> {
        let call = self.calls.get_mut(&key)?;
        let stopping = &mut call.stopping;
        let forced = stopping.own.is_some() || stopping.step == Some(Step::Terminate);
        let Ending::Forced { proof, .. } = call.capability.descriptor.ending else {
            return None;
        };
        if call.phase != Phase::Stopping || forced {
            return None;
        }
        (stopping.told, stopping.step) = (true, Some(Step::Terminate));
        call.deadlines += 1;
        self.actions.push_back(Action::Terminate { key });
        Some(proof)
    }

    /// Whether the handler of a call has ended, and all that is waited for below it either has as
    /// well or will be ended from outside: that takes longer than its own grace, but not for ever.
    fn waits_for_proofs(&self, key: CallKey) -> bool {
        let mut parts = self.leaves_first(key).into_iter();
        parts.all(|part| {
            self.calls.get(&part).is_none_or(|call| {
                let forced = matches!(call.capability.descriptor.ending, Ending::Forced { .. });
                call.stopping.own.is_some() || (forced && part != key)
            })
        })
    }

    /// What has stopped a call, if its handler can be ended from outside and was reached.
    pub(super) fn stopped_by(&self, key: CallKey, now: Millis) -> Option<StoppedBy> {
        let Stopping {
            step, since, own, ..
        } = self.calls.get(&key)?.stopping;
        let took = (now - since).max(0.0);
        // Whatever was tried: there was nothing to stop.
        let step = step.filter(|_| own != Some(Stop::NeverStarted));
        Some(StoppedBy { step: step?, took })
    }

    /// A handler has been given all the time it gets: what was not seen to end by now is abandoned.
    /// It is ended all the same, if it can be.
    pub(super) fn grace_is_over(&mut self, key: CallKey, now: Millis) {
        self.force(key);
        let call = self.calls.get(&key);
        if let Some(call) = call.filter(|it| it.phase == Phase::Stopping) {
            let own = call.stopping.own.unwrap_or(Stop::Abandoned);
            let waits = !call.children.is_empty();
            let below = call.stopping.below.max(waits.then_some(Stop::Abandoned));
            let seen = below.map_or(own, |below| below.max(own));
            self.finish(key, Outcome::Cancelled(seen), now);
        }
    }

    /// Waits for no handler any more, of one connection or of all, say because the page goes away:
    /// what is being stopped and has not ended is abandoned.
    pub fn give_up(&mut self, connection: Option<ConnectionId>, now: Millis) {
        let keys = self.calls_where(|call| {
            call.phase == Phase::Stopping && connection.is_none_or(|it| it == call.connection)
        });
        // The last made first: what a call has made comes before it.
        for key in keys.into_iter().rev() {
            self.grace_is_over(key, now);
        }
    }

    /// A call has ended, and `parent` had made it. Whether a call that is being stopped is told.
    pub(super) fn tell_parent(&mut self, key: CallKey, parent: CallKey, stop: Option<Stop>) {
        let Some(call) = self.calls.get_mut(&parent) else {
            return;
        };
        // In order, as they were made: those that end first tend to stand first.
        if let Some(place) = call.children.iter().position(|child| *child == key) {
            call.children.remove(place);
        }
        if call.phase == Phase::Stopping && stop.is_some() {
            call.stopping.told = true;
            call.stopping.below = call.stopping.below.max(stop);
        }
        if stop == Some(Stop::Abandoned) {
            call.abandoned_below += 1;
        }
    }

    /// Whether a call is being stopped; then its handler is told by what it asked for being refused.
    pub(super) fn refuses(&mut self, key: CallKey) -> bool {
        match self.calls.get_mut(&key) {
            Some(call) if call.phase == Phase::Stopping => {
                call.stopping.told = true;
                true
            }
            Some(_) => false,
            None => true,
        }
    }

    /// The last call of that id that is being stopped on a connection that has no session any more.
    pub(super) fn stopping_without_session(
        &self,
        connection: ConnectionId,
        id: &str,
    ) -> Option<CallKey> {
        let mut calls = self.calls_where(|call| {
            call.connection == connection && call.id.as_str() == id && call.phase == Phase::Stopping
        });
        calls.pop()
    }

    /// Whether anything of a session has not ended.
    pub(super) fn has_calls_of(&self, session: &Rc<str>) -> bool {
        let mut calls = self.calls.values();
        calls.any(|call| Rc::ptr_eq(&call.session, session))
    }
}

/// Why what a call has started is stopped when the call has ended.
pub(super) const PARENT_ENDED: &str = "The call that made this one has ended";
