//! The end of calls: what is remembered, freed and answered.

use std::rc::Rc;

use super::action::{Action, Answer, CallState, ReplyTo};
use super::records::{Asker, Call, Phase};
use super::state::HostState;
use super::stopping::PARENT_ENDED;
use crate::call::{CallKey, CancelAnswer, End, Millis, Outcome, Response, Stop};

impl<P: Clone, H: Clone> HostState<P, H> {
    /// Ends one call with the result of its handler. Calls that the handler made and did not wait
    /// for are cancelled.
    pub(super) fn end(&mut self, key: CallKey, outcome: Outcome<P>, now: Millis) {
        let children = self
            .calls
            .get_mut(&key)
            .map(|call| std::mem::take(&mut call.children));
        for child in children.unwrap_or_default() {
            self.cancel_tree(child, Some(&PARENT_ENDED.into()), now);
        }
        self.finish(key, outcome, now);
    }

    /// The tree below a call, children before parents, the call itself last.
    pub(super) fn leaves_first(&self, root: CallKey) -> Vec<CallKey> {
        let mut order = Vec::new();
        let mut stack = vec![root];
        while let Some(key) = stack.pop() {
            if let Some(call) = self.calls.get(&key) {
                order.push(key);
                stack.extend(&call.children);
            }
        }
        order.reverse();
        order
    }

    /// The ancestor of `key` that has that callId.
    pub(super) fn ancestor(&self, key: CallKey, id: &str) -> Option<CallKey> {
        let mut call = self.calls.get(&key)?;
        loop {
            let parent = call.parent.as_ref()?;
            call = self.calls.get(&parent.key)?;
            if parent.id.as_str() == id {
                return Some(parent.key);
            }
        }
    }

    /// Ends one call, and every ancestor that has waited for this end only.
    pub(super) fn finish(&mut self, key: CallKey, outcome: Outcome<P>, now: Millis) {
        let mut parent = self.finish_one(key, outcome, now);
        while let Some(key) = parent
            && let Some(seen) = self.known_stop(key)
        {
            parent = self.finish_one(key, Outcome::Cancelled(seen), now);
        }
    }

    /// Removes a call: remembers its end, frees its slot, withdraws its questions, answers its
    /// cancels and then its caller. Returns the call that made it, if any.
    fn finish_one(&mut self, key: CallKey, outcome: Outcome<P>, now: Millis) -> Option<CallKey> {
        self.tell_progress(key);
        let by = self.stopped_by(key, now);
        let mut call = self.calls.remove(&key)?;
        let runs = matches!(call.stopping.own, None | Some(Stop::Abandoned));
        let (outcome, stop) = match outcome {
            Outcome::Cancelled(_) if call.abandoned_below > 0 => {
                (Outcome::Cancelled(Stop::Abandoned), Some(Stop::Abandoned))
            }
            Outcome::Cancelled(stop) => (outcome, Some(stop)),
            _ => (outcome, None),
        };
        let end = stop.map_or(End::Completed, End::Cancelled);
        if let Some(session) = self
            .session_mut(call.connection)
            .filter(|session| Rc::ptr_eq(&session.id, &call.session))
        {
            session.ledger.end(&call.id, end);
            session.bytes -= call.bytes;
            if let Some(by) = by {
                session.ledger.stopped_by(&call.id, by);
            }
        }
        self.counters.cancelled += u64::from(stop.is_some());
        self.free_slot(key, &call);
        for elicitation in std::mem::take(&mut call.elicitations) {
            self.withdraw(elicitation);
        }
        for _ in 0..call.deadlines {
            self.forget_deadline();
        }
        if stop == Some(Stop::Abandoned) {
            self.abandon(key, &call, runs, now);
        }
        if let Some(parent) = call.parent.as_ref().map(|parent| parent.key) {
            self.tell_parent(key, parent, stop);
            if stop != Some(Stop::Abandoned) && self.is_abandoned(parent) {
                self.ended_below(Some(parent), now);
            }
        }
        let by = by.filter(|_| stop.is_some());
        let answer = stop.map_or(CancelAnswer::AlreadyCompleted, |stop| {
            let ended = None;
            CancelAnswer::Cancelled { stop, ended, by }
        });
        for asker in std::mem::take(&mut call.askers) {
            self.confirm(&call, asker, answer);
        }
        let reason = call.stopping.reason.take();
        let response = Response {
            outcome,
            duration: Some((now - call.accepted).max(0.0)),
            by,
        };
        if self.watched {
            let state = CallState::Ended(response.clone(), reason.filter(|_| stop.is_some()));
            let event = self.event(&call, state);
            self.actions.push_back(Action::Call(event));
        }
        let to = std::mem::replace(&mut call.reply, ReplyTo::Nobody);
        self.say(Action::Respond { key, to, response });
        self.close_if_over(&call.session);
        call.parent.map(|parent| parent.key)
    }

    /// Answers a cancel.
    fn confirm(
        &mut self,
        call: &Call<P, H>,
        asker: (Asker<P>, Option<Rc<str>>),
        answer: CancelAnswer,
    ) {
        let (asker, reason) = asker;
        if self.watched {
            self.actions.push_back(Action::CancelAnswered {
                session: call.session.clone(),
                id: call.id.clone(),
                answer,
                reason,
            });
        }
        self.say(match asker {
            Asker::Agent(to, id, given) => Action::Answer {
                to,
                id,
                answer: Answer::Cancelled(given, Ok(answer)),
            },
            Asker::App(key) => Action::Confirm {
                key,
                answer: Ok(answer),
            },
        });
    }

    /// Removes a call from the line for a slot.
    pub(super) fn stop_waiting(&mut self, key: CallKey) {
        let call = self.calls.get(&key);
        if let Some(call) = call.filter(|call| call.phase == Phase::Waiting) {
            call.capability.slots.borrow_mut().abandon(key);
            self.note_waiting(key, false);
        }
    }

    fn free_slot(&mut self, key: CallKey, call: &Call<P, H>) {
        if !call.has_slot {
            return;
        }
        let next = call.capability.slots.borrow_mut().leave(key);
        if let Some(next) = next {
            self.note_waiting(next, false);
        }
        if let Some(next) = next
            && let Some(waiting) = self.calls.get_mut(&next)
        {
            waiting.has_slot = true;
            waiting.phase = Phase::Ready;
            self.ready.push_back(next);
            self.wake();
        }
    }
}
