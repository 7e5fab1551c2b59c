//! Stopping calls, from the moment their handlers are told until the stop is known.
//!
//! There are three kinds of handlers. A stop ends some at once: a dropped future, or a handler that
//! has not begun. Others can only be told: such a handler has its settle grace to end, its call
//! stays in flight until then, and everybody who cancels the call meanwhile waits for the same
//! outcome. The third kind can be ended from outside: this happens after the grace, and the call
//! stays in flight until the end is proven or the time for the proof is over.

use std::rc::Rc;

use super::action::Action;
use super::records::{DeadlineOf, Parent, Phase, Stopping};
use super::state::HostState;
use super::terms::ConnectionId;
use crate::call::{CallKey, Error, Millis, Outcome, Step, Stop, StoppedBy, in_order};
use crate::offers::Ending;

impl<P: Clone, H: Clone> HostState<P, H> {
    /// Cancels a call and everything below it, from the leaves up. All handlers are told before any
    /// of the calls is answered. A call that is being stopped is left alone with everything below it,
    /// as the first cancel has reached all of that.
    pub(super) fn cancel_tree(&mut self, key: CallKey, reason: Option<&Rc<str>>, now: Millis) {
        let keys = self.leaves_first(key, |call| call.phase != Phase::Stopping);
        let mut told = Vec::new();
        for &key in &keys {
            if self.tell(key, reason, now) && self.watched {
                told.push(key);
            }
        }
        for key in keys {
            let own = self.calls.get(&key).and_then(|call| call.stopping.own);
            if own == Some(Stop::Abandoned) {
                // Nothing can be seen of this handler, so there is nothing to wait for.
                self.grace_is_over(key, now);
            } else {
                self.finish_if_known(key, now);
            }
        }
        for call in told.iter().filter_map(|key| self.calls.get(key)) {
            self.actions.push_back(Action::Cancelling {
                session: call.session.clone(),
                id: call.id.clone(),
                reason: reason.cloned(),
            });
        }
    }

    /// Cancels every call of a connection.
    pub(super) fn cancel_all(
        &mut self,
        connection: ConnectionId,
        reason: Option<&Rc<str>>,
        now: Millis,
    ) {
        for key in self.calls_in(None, Some(connection)) {
            self.cancel_tree(key, reason, now);
        }
    }

    /// Stops the handler of one call. False if it is being stopped already.
    fn tell(&mut self, key: CallKey, reason: Option<&Rc<str>>, now: Millis) -> bool {
        let Some(call) = self.calls.get_mut(&key) else {
            return false;
        };
        if call.phase == Phase::Stopping {
            return false;
        }
        let began = call.phase == Phase::Running;
        let (own, grace) = match call.capability.descriptor.ending {
            _ if !began => (Some(Stop::NeverStarted), 0.0),
            // The handler was ended before it could be told.
            _ if call.stopping.own.is_some() => (call.stopping.own, 0.0),
            Ending::AtOnce => (Some(Stop::Dropped), 0.0),
            Ending::Told { grace } if grace <= 0.0 => (Some(Stop::Abandoned), 0.0),
            Ending::Told { grace } | Ending::Forced { grace, .. } => (None, grace),
        };
        let questions = call.take(|it| &mut it.elicitations);
        self.tell_progress(key);
        self.stop_waiting(key);
        self.stop_asking(key);
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
        for question in in_order(questions.into_iter()) {
            self.withdraw(question);
        }
        if own.is_none() {
            self.deadlines.insert(now + grace, DeadlineOf::Settle(key));
        }
        true
    }

    /// A handler that can be ended from outside has been reached by this step, and now knows that
    /// it is to stop. Without a step the handler has already ended, and what it has left running
    /// cannot be ended.
    pub fn reached(&mut self, key: CallKey, step: Option<Step>) {
        let call = self.calls.get_mut(&key);
        if let Some(call) = call.filter(|it| it.phase == Phase::Stopping) {
            call.stopping.told = true;
            call.stopping.step = step;
        }
    }

    /// The handler of a call that is being stopped has ended. `told` says that the handler has
    /// taken its signal.
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
            // The handler never knew of the cancel, and has done all of its work.
            Ok(data) if !call.stopping.told => self.finish(key, Outcome::Completed(data), now),
            _ => {
                call.stopping.own = Some(Stop::Returned);
                self.finish_if_known(key, now);
            }
        }
    }

    /// The shell has stopped a handler as told, and reports how far it has seen the stop.
    pub fn stopped(&mut self, key: CallKey, stop: Stop, now: Millis) {
        let Some(call) = self.calls.get_mut(&key) else {
            // The handler was ended, but the proof came too late.
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

    /// The worker of a handler was ended from outside, for certain: the handler goes no further and
    /// never settles. Its call is cancelled, unless that is under way. So is the call `cancelled`,
    /// for which the worker was ended, if that call has made this one.
    pub fn terminated(&mut self, key: CallKey, cancelled: &str, reason: &Rc<str>, now: Millis) {
        // Calls that would have started in this turn start in the next.
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

    /// The handler runs at a peer, which says how far it has seen the handler stop. The call is
    /// cancelled, unless that is under way: a handler may also be stopped by somebody else.
    pub fn stopped_at_peer(&mut self, key: CallKey, stop: Stop, now: Millis) {
        match self.calls.get_mut(&key) {
            Some(call) if call.phase == Phase::Running => {
                call.stopping.own = Some(stop);
                self.cancel_tree(key, None, now);
            }
            _ => self.stopped(key, stop, now),
        }
    }

    /// A handler has stopped by itself. The calls that it made are stopped too.
    pub(super) fn stopped_itself(&mut self, key: CallKey, now: Millis) {
        let Some(call) = self.calls.get_mut(&key) else {
            return;
        };
        let ended_at_once = call.capability.descriptor.ending == Ending::AtOnce;
        call.phase = Phase::Stopping;
        call.stopping = Stopping {
            own: Some(if ended_at_once {
                Stop::Dropped
            } else {
                Stop::Returned
            }),
            since: now,
            ..Stopping::default()
        };
        for child in self.children_of(key) {
            self.cancel_tree(child, Some(&PARENT_ENDED.into()), now);
        }
        self.finish_if_known(key, now);
    }

    /// Ends a call once its handler and everything below it have stopped.
    fn finish_if_known(&mut self, key: CallKey, now: Millis) {
        if let Some(seen) = self.known_stop(key) {
            self.finish(key, Outcome::Cancelled(seen), now);
        }
    }

    /// How far the stop of a call was seen, once nothing is waited for.
    pub(super) fn known_stop(&self, key: CallKey) -> Option<Stop> {
        let call = self.calls.get(&key)?;
        let waits = call.phase != Phase::Stopping || call.children().count > 0;
        let own = call.stopping.own.filter(|_| !waits)?;
        Some(call.stopping.below.map_or(own, |below| below.max(own)))
    }

    /// A deadline has passed: of the handler's grace, or of the proof of its end.
    pub(super) fn time_is_over(&mut self, key: CallKey, now: Millis) {
        if let Some(proof) = self.force(key) {
            self.deadlines.insert(now + proof, DeadlineOf::Settle(key));
        } else if !self.waits_for_proofs(key) {
            self.grace_is_over(key, now);
        }
    }

    /// Ends a handler from outside, if that can be done and was not done yet. Returns how long to
    /// wait for the proof.
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

    /// Whether only proofs are waited for: the handler has ended, and everything below it has ended
    /// or will be ended from outside. That takes longer than the call's own grace, but it ends.
    fn waits_for_proofs(&self, key: CallKey) -> bool {
        let call = self.calls.get(&key);
        if call.is_some_and(|call| call.stopping.own.is_none()) {
            return false;
        }
        let mut parts = self.leaves_first(key, |_| true).into_iter();
        parts.all(|part| {
            self.calls.get(&part).is_none_or(|call| {
                let forced = matches!(call.capability.descriptor.ending, Ending::Forced { .. });
                call.stopping.own.is_some() || (forced && part != key)
            })
        })
    }

    /// What has stopped a call, if its handler can be ended from outside and a step has reached it.
    pub(super) fn stopped_by(&self, key: CallKey, now: Millis) -> Option<StoppedBy> {
        let Stopping {
            step, since, own, ..
        } = self.calls.get(&key)?.stopping;
        let took = (now - since).max(0.0);
        // A handler that never started needed no step, whatever was tried.
        let step = step.filter(|_| own != Some(Stop::NeverStarted));
        Some(StoppedBy { step: step?, took })
    }

    /// The time of a handler is over. A handler that was not seen to end is abandoned, and still
    /// ended from outside if that can be done.
    pub(super) fn grace_is_over(&mut self, key: CallKey, now: Millis) {
        self.force(key);
        let call = self.calls.get(&key);
        if let Some(call) = call.filter(|it| it.phase == Phase::Stopping) {
            let own = call.stopping.own.unwrap_or(Stop::Abandoned);
            let waits = call.children().count > 0;
            let below = call.stopping.below.max(waits.then_some(Stop::Abandoned));
            let seen = below.map_or(own, |below| below.max(own));
            self.finish(key, Outcome::Cancelled(seen), now);
        }
    }

    /// Stops waiting for handlers, of one connection or of all, for example because the page goes
    /// away. Handlers that are being stopped and have not ended are abandoned.
    pub fn give_up(&mut self, connection: Option<ConnectionId>, now: Millis) {
        let keys = self.calls_in(Some(Phase::Stopping), connection);
        // The newest call first: a call's children are newer than the call.
        for key in keys.into_iter().rev() {
            self.grace_is_over(key, now);
        }
    }

    /// A call has ended that `parent` had made. Tells `parent`, if it is being stopped.
    pub(super) fn tell_parent(&mut self, parent: &Parent, stop: Option<Stop>) {
        self.leave_parent(parent);
        let Some(call) = self.calls.get_mut(&parent.key) else {
            return;
        };
        if call.phase == Phase::Stopping && stop.is_some() {
            call.stopping.told = true;
            call.stopping.below = call.stopping.below.max(stop);
        }
        if stop == Some(Stop::Abandoned) {
            call.more().abandoned_below += 1;
        }
    }

    /// Whether a call is being stopped. If so, the refusal of its request tells the handler.
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

    /// The newest call of that id that is being stopped on a connection whose session is over.
    pub(super) fn stopping_without_session(
        &self,
        connection: ConnectionId,
        id: &str,
    ) -> Option<CallKey> {
        let closing = self.closing.iter().rev();
        let mut closing = closing.filter(|it| it.connection == connection);
        closing.find_map(|it| it.ledger.key(id))
    }
}

/// The reason given when a call's end stops the calls that it made.
pub(super) const PARENT_ENDED: &str = "The call that made this one has ended";
